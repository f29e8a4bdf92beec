"""Compiled kernels in the memory of a device, and their launches (CUDA's driver, by ctypes)."""

import ctypes
import functools
from typing import Any

import torch

from clearset.engines.cuda._compile import compiled

MAX_SHARED_MEMORY = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES


class Module:
    """The kernels of one file, loaded anew: its constants belong to whoever has made the module.

    Parameters
    ----------
    name : str
        The file without ``.cu``.
    device : torch.device
        Where the kernels are to run.
    **definitions : int or str
        Macros that the file is compiled with.
    """

    def __init__(self, name: str, device: torch.device, **definitions: int | str) -> None:
        self._handle = ctypes.c_void_p()
        self._functions: dict[str, ctypes.c_void_p] = {}
        self._device = device
        code = compiled(name, {key: str(value) for key, value in definitions.items()}, device)
        with torch.cuda.device(device):
            torch.cuda.current_stream()  # there is a context now
            _check(_driver().cuModuleLoadData(ctypes.byref(self._handle), code))

    def __del__(self) -> None:
        if self._handle and _driver is not None:  # at the end of the program there may be no driver any more
            _driver().cuModuleUnload(self._handle)

    def launch(self, name: str, grid: int | tuple[int, int], block: int, *arguments: Any, shared: int = 0) -> None:
        """Start a kernel on torch's current stream.

        Arguments are tensors (their address), Python's integers (int), floats (double), None (null), and ctypes values.
        """
        values = [_argument(value) for value in arguments]
        pointers = (ctypes.c_void_p * len(values))(*(ctypes.addressof(value) for value in values))
        columns, rows = grid if isinstance(grid, tuple) else (grid, 1)
        stream = ctypes.c_void_p(torch.cuda.current_stream(self._device).cuda_stream)
        function = self._function(name, shared)
        _check(_driver().cuLaunchKernel(function, columns, rows, 1, block, 1, 1, shared, stream, pointers, None))

    def constant(self, name: str) -> tuple[ctypes.c_void_p, int]:
        """Return the address and the bytes of a constant."""
        address, size = ctypes.c_void_p(), ctypes.c_size_t()
        _check(_driver().cuModuleGetGlobal_v2(ctypes.byref(address), ctypes.byref(size), self._handle, name.encode()))
        return address, size.value

    def set_constant(self, name: str, values: torch.Tensor) -> None:
        """Copy values of the same device into a constant, in the order of torch's current stream."""
        address, size = self.constant(name)
        n_bytes = values.numel() * values.element_size()
        assert n_bytes <= size  # noqa: S101
        stream = ctypes.c_void_p(torch.cuda.current_stream(self._device).cuda_stream)
        source = ctypes.c_void_p(values.data_ptr())
        _check(_driver().cuMemcpyDtoDAsync_v2(address, source, ctypes.c_size_t(n_bytes), stream))

    def _function(self, name: str, shared: int) -> ctypes.c_void_p:
        if name not in self._functions:
            function = ctypes.c_void_p()
            _check(_driver().cuModuleGetFunction(ctypes.byref(function), self._handle, name.encode()))
            self._functions[name] = function
        if shared > 48 * 1024:
            _check(_driver().cuFuncSetAttribute(self._functions[name], MAX_SHARED_MEMORY, shared))
        return self._functions[name]


def _argument(value: Any) -> Any:
    if value is None:
        return ctypes.c_void_p()
    if isinstance(value, torch.Tensor):
        return ctypes.c_void_p(value.data_ptr())
    if isinstance(value, int):
        return ctypes.c_int(value)
    if isinstance(value, float):
        return ctypes.c_double(value)
    return value


@functools.cache
def _driver() -> ctypes.CDLL:
    for name in ("libcuda.so.1", "nvcuda.dll"):
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    raise ImportError("The driver of NVIDIA GPUs was not found (libcuda.so.1).")


def _check(result: int) -> None:
    if result:
        text = ctypes.c_char_p()
        _driver().cuGetErrorString(result, ctypes.byref(text))
        raise RuntimeError(f"CUDA reports: {(text.value or b'an unknown error').decode()}.")
