"""CUDA C++ to machine code at run time (NVRTC), kept on disk."""

import ctypes
import functools
import hashlib
import os
import sys
from collections.abc import Callable
from importlib import resources
from pathlib import Path

import torch

from clearset.artifact import write_file

OPTIONS = ("--std=c++17", "--fmad=true")


def compiled(name: str, definitions: dict[str, str], device: torch.device) -> bytes:
    """Return the machine code of ``kernels/<name>.cu`` with some macros defined, for the processor of a device."""
    major, minor = torch.cuda.get_device_capability(device)
    options = [
        *OPTIONS,
        f"--gpu-architecture=sm_{major}{minor}",
        *(f"-D{key}={value}" for key, value in definitions.items()),
    ]
    folder = resources.files("clearset.engines.cuda").joinpath("kernels")
    sources = {item.name: item.read_text() for item in folder.iterdir() if item.name.endswith((".h", ".cu"))}
    source = sources.pop(f"{name}.cu")
    headers = {file: text for file, text in sorted(sources.items()) if file.endswith(".h")}
    digest = hashlib.sha256("\0".join([_version(), *options, source, *headers.values()]).encode()).hexdigest()
    kept = _cache_folder() / f"{name}-{digest[:32]}.cubin"
    try:
        return kept.read_bytes()
    except OSError:
        pass
    code = _compile(f"{name}.cu", source, headers, options)
    _keep(kept, code)
    return code


def _cache_folder() -> Path:
    """Return where programs of this user keep what they can make again."""
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "clearset" / "cuda"


def _keep(path: Path, code: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_file(path, code)
    except OSError:  # nothing can be written there, so nothing is kept
        return


@functools.cache
def _nvrtc() -> ctypes.CDLL:
    # Torch has loaded its own by now, under this name.
    major = (torch.version.cuda or "").split(".")[0]
    names = [f"libnvrtc.so.{major}", "libnvrtc.so", f"nvrtc64_{major}0_0.dll"]
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    raise ImportError(f"NVIDIA's compiler for run time was not found ({', '.join(names)}). Install torch with CUDA.")


def _version() -> str:
    major, minor = ctypes.c_int(), ctypes.c_int()
    _check(_nvrtc().nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)))
    return f"{major.value}.{minor.value}"


def _compile(name: str, source: str, headers: dict[str, str], options: list[str]) -> bytes:
    nvrtc, program = _nvrtc(), ctypes.c_void_p()
    texts = (ctypes.c_char_p * len(headers))(*(text.encode() for text in headers.values()))
    names = (ctypes.c_char_p * len(headers))(*(file.encode() for file in headers))
    arguments = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
    _check(nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), name.encode(), len(headers), texts, names))
    try:
        if nvrtc.nvrtcCompileProgram(program, len(options), arguments):
            log = _text(program, nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog)
            raise RuntimeError(f"{name} does not compile for this GPU:\n{log.decode()}")
        return _text(program, nvrtc.nvrtcGetCUBINSize, nvrtc.nvrtcGetCUBIN)
    finally:
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))


def _text(program: ctypes.c_void_p, size_of: Callable[..., int], get: Callable[..., int]) -> bytes:
    size = ctypes.c_size_t()
    _check(size_of(program, ctypes.byref(size)))
    buffer = ctypes.create_string_buffer(size.value)
    _check(get(program, buffer))
    return buffer.raw


def _check(result: int) -> None:
    if result:
        text = _nvrtc().nvrtcGetErrorString
        text.restype = ctypes.c_char_p
        raise RuntimeError(f"NVIDIA's compiler reports {text(result).decode()}.")
