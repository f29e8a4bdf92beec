"""Without memory, or without threads, native functions do their work or raise; the process goes on."""

import subprocess
import sys
from pathlib import Path

import pytest

from clearset.engines import available_engines

if "native" not in available_engines():
    pytest.skip("clearset._native is not built", allow_module_level=True)
if sys.platform != "linux":
    pytest.skip("memory can be limited on Linux only", allow_module_level=True)

from .native_limits import CALLS


@pytest.mark.parametrize("function", CALLS)
def test_what_is_not_done_for_want_of_memory_is_an_exception(function):
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-m", "tests.engines.native_limits", function],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[2],
    )
    assert done.returncode == 0, done.stderr
    endings = done.stdout.split()
    assert set(endings) == {"MemoryError", "same"}
    assert endings[-2:] == ["same", "same"]
