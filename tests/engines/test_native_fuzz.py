"""Whatever is handed to the compiled module, a call returns or raises; the process goes on.

Many more calls, and under the sanitizers: ``python -m benchmarks.native_fuzz``.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from clearset.engines import available_engines

from .native_calls import GOOD

if "native" not in available_engines():
    pytest.skip("clearset._native is not built", allow_module_level=True)

CALLS = 4000


def test_random_calls_return_or_raise():
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-m", "tests.engines.native_fuzz", "0", "0", str(CALLS)],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[2],
    )
    outcomes = [json.loads(line) for line in done.stdout.splitlines()]
    assert (done.returncode, len(outcomes)) == (0, CALLS), f"call {len(outcomes)}: {done.stderr[-2000:]}"
    # Border tests see to it that every function of the module is among the good calls.
    assert {function for function, _ in outcomes} == set(GOOD)
    # Good arguments are changed, not replaced: some calls still do their work, most do not.
    returned = sum(outcome == "returned" for _, outcome in outcomes)
    assert 0.1 < returned / CALLS < 0.6
