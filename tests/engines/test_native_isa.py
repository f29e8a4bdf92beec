"""CLEARSET_ISA chooses the instruction set of the native kernels."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from clearset.engines import available_engines

if "native" not in available_engines():
    pytest.skip("clearset._native is not built", allow_module_level=True)


def run(isa, *arguments):
    return subprocess.run(  # noqa: S603
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[2],
        env={**os.environ, "CLEARSET_ISA": isa},
    )


@pytest.mark.parametrize("isa", ["baseline", "avx2", "avx512"])
def test_every_instruction_set_gives_what_the_reference_gives(isa):
    done = run(isa, "-m", "tests.engines.native_isa")
    if done.returncode and "an instruction set that this machine lacks" in done.stderr:
        pytest.skip(f"this machine has no {isa}")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [isa]


def test_an_empty_variable_means_the_best():
    script = "import clearset._native as n; print(n.instruction_set())"
    best = next(isa for isa in ("avx512", "avx2", "baseline") if run(isa, "-c", script).returncode == 0)
    assert run("", "-c", script).stdout.split() == [best]


@pytest.mark.parametrize(
    ("isa", "module"),
    [
        ("sse9", "engines.torch"),
        ("sse9", "tokens"),
        ("sse9", "functions.projections"),
        ("AVX2", "_native"),
        ("baseline,avx2", "_native"),
    ],
)
def test_an_unknown_instruction_set_is_refused(isa, module):
    done = run(isa, "-c", f"import clearset.{module}")
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith(f"ImportError: The environment variable CLEARSET_ISA is '{isa}', which is no instruction")
    assert last.endswith("baseline, or unset it for the best.")


def test_it_is_refused_as_often_as_it_is_asked_for():
    script = """
import clearset
for _ in range(3):
    try:
        import clearset._native
    except ImportError as error:
        print(str(error).split("'")[1])
"""
    assert run("sse9", "-c", script).stdout.split() == ["sse9"] * 3
