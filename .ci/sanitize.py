"""Build the native module with the sanitizers of gcc, and run the tests that call it.

AddressSanitizer and UndefinedBehaviorSanitizer watch the tests of each folder that calls native code, with the best
instructions of this machine and with the least, and random calls; ThreadSanitizer watches what works in threads.
A finding ends the process. Each build is an editable install in a virtual environment of its own, which sees the
packages of the first one.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
import time
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
FLAGS = {
    "address": "-fsanitize=address,undefined,float-cast-overflow -fno-sanitize-recover=all -D_GLIBCXX_ASSERTIONS",
    "thread": "-fsanitize=thread",
}
# Those whose children and functions are mostly native. Left out: what limits memory, for a sanitizer needs terabytes of
# addresses, and what needs torch, which is slow to watch and not ours.
PARTS = [
    "engines/test_native_border.py", "engines/test_native_fuzz.py", "functions/projections",
    "sets/test_lists_of_doubles.py", "sets/test_packed.py", "tokens/test_mining.py", "tokens/test_vocabulary.py",
]  # fmt: skip


def library(kind: str) -> str:
    """Return the path of a sanitizer's library; empty where the compiler has none."""
    compiler = os.environ.get("CXX", "c++")
    name = {"address": "libasan.so", "thread": "libtsan.so"}[kind]
    said = subprocess.run([compiler, f"-print-file-name={name}"], capture_output=True, text=True, check=False)
    path = Path(said.stdout.strip())
    return str(path.resolve()) if path.is_absolute() and path.exists() else ""


def built(kind: str) -> Path:
    """Return the interpreter of the environment that has the module with these sanitizers."""
    home = ROOT / "build" / "sanitize" / kind
    python, stamp = home / "bin" / "python", home / ".built"
    sources = [ROOT / "CMakeLists.txt", ROOT / "pyproject.toml", *(ROOT / "native").iterdir()]
    newest = max(source.stat().st_mtime for source in sources)
    if stamp.exists() and stamp.read_text() == FLAGS[kind] and newest < stamp.stat().st_mtime:
        return python
    print(f"Building with {FLAGS[kind]}", file=sys.stderr, flush=True)
    begun = time.time()
    shutil.rmtree(home, ignore_errors=True)
    venv.create(home, with_pip=False, symlinks=True)
    site = sysconfig.get_path("purelib", vars={"base": str(home)})
    # A path in such a file is searched, but files of this kind in it are not read: the ordinary install stays out.
    Path(site, "packages.pth").write_text(sysconfig.get_path("purelib") + "\n")
    settings = {
        "build-dir": str(home / "build"),
        "cmake.build-type": "RelWithDebInfo",
        "cmake.define.CLEARSET_OPTIMIZE": "-O1",
        "cmake.define.CMAKE_CXX_FLAGS": f"{FLAGS[kind]} -g1 -fno-omit-frame-pointer",
    }
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps", "--editable", "."]
    options = [f"--config-settings={name}={value}" for name, value in settings.items()]
    subprocess.run([*pip, *options], cwd=ROOT, check=True)
    stamp.write_text(FLAGS[kind])
    os.utime(stamp, (begun, begun))  # what has changed meanwhile is built the next time
    return python


def watched(kind: str, arguments: list[str], **settings: str) -> int:
    """Run Python with the module of a kind, and return how it ended."""
    environment = {
        **os.environ,
        # The C++ library next to it: a sanitizer looks for its functions when it is loaded, Python loads it later.
        "LD_PRELOAD": " ".join([library(kind), "libstdc++.so.6"]),
        # Python keeps much until it ends, so that leaks are not told from what is in use. Memory may be refused, and is
        # where gigabytes are asked for: to mark them all takes minutes.
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1:max_allocation_size_mb=4096",
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "TSAN_OPTIONS": "halt_on_error=1",
        # Memory of Python's objects comes from malloc, so that what is read behind it is seen.
        "PYTHONMALLOC": "malloc",
        **settings,
    }
    # Where addresses are too random, ThreadSanitizer finds no room for its own.
    fixed = ["setarch", "-R"] if kind == "thread" and shutil.which("setarch") else []
    print(f"With {FLAGS[kind]} {settings or ''}: {' '.join(arguments)}", file=sys.stderr, flush=True)
    return subprocess.run([*fixed, str(built(kind)), *arguments], cwd=ROOT, env=environment, check=False).returncode


def main() -> int:
    """Run everything for which the compiler has a sanitizer; or what is asked for, with one of them."""
    if len(sys.argv) > 1:
        return watched(sys.argv[1], sys.argv[2:])
    found = {kind: bool(library(kind)) for kind in FLAGS}
    for kind in FLAGS:
        if not found[kind]:
            print(f"The compiler has no library of the {kind} sanitizer: nothing is watched by it.")
    if found["address"]:
        for settings in ({}, {"CLEARSET_ISA": "baseline"}):
            tests = ["-m", "pytest", "-q", *(f"tests/{part}" for part in PARTS)]
            if watched("address", tests, **settings):
                return 1
    return watched("thread", ["-m", "tests.engines.native_threads"]) if found["thread"] else 0


if __name__ == "__main__":
    sys.exit(main())
