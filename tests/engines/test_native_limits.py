"""Without memory, threads or much of a stack, native functions do their work or raise; the process goes on."""

import subprocess
import sys
from pathlib import Path

import pytest

from clearset.engines import available_engines

if "native" not in available_engines():
    pytest.skip("clearset._native is not built", allow_module_level=True)
if sys.platform != "linux":
    pytest.skip("memory can be limited on Linux only", allow_module_level=True)

from .native_arguments import TRAINERS
from .native_limits import CALLS

SCRIPTS = [
    *(("native_limits", function) for function in CALLS),
    *(("native_trainer_limits", trainer, kind) for trainer in TRAINERS for kind in ("plain", "crossed")),
    ("native_trainer_limits", "Trainer_float32", "packed"),
]


# What it needs may be free on the heap already.
NEEDS_LITTLE = [("native_limits", "crossed_forward_float64")]


def run(script, *arguments):
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-m", f"tests.engines.{script}", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[2],
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.parametrize("script", SCRIPTS, ids=" ".join)
def test_what_is_not_done_for_want_of_memory_is_an_exception(script):
    endings = run(*script)
    assert set(endings) <= {"MemoryError", "same"}
    assert script in NEEDS_LITTLE or "MemoryError" in endings
    assert endings[-2:] == ["same", "same"]


@pytest.mark.parametrize("script", SCRIPTS, ids=" ".join)
def test_a_stack_of_128_kilobytes_is_enough(script):
    assert run("native_stack", *script[1:]) == ["done"]
