"""Bad arguments of the compiled module's functions are refused by an error; none of them ends the process."""

import json
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from clearset.engines import available_engines

from .native_arguments import call
from .native_bad_calls import bad_calls
from .native_calls import GOOD

if "native" not in available_engines():
    pytest.skip("clearset._native is not built", allow_module_level=True)

BAD = bad_calls()


@pytest.fixture(scope="module")
def outcomes():
    """What each bad call raised. A process that dies is the outcome of the call it died of; another one goes on."""
    found = []
    while len(found) < len(BAD):
        done = subprocess.run(  # noqa: S603
            [sys.executable, "-m", "tests.engines.native_bad_calls", str(len(found))],
            capture_output=True,
            text=True,
            check=False,
            cwd=Path(__file__).parents[2],
        )
        found += [json.loads(line) for line in done.stdout.splitlines()]
        if len(found) < len(BAD):
            found.append([f"the process ended with {done.returncode}", done.stderr[-2000:]])
    return found


def test_every_function_is_in_the_table():
    native = import_module("clearset._native")
    found = {name: part for name, part in vars(native).items() if not name.startswith("_")}
    methods = {
        f"{name}.{method}"
        for name, part in found.items()
        if isinstance(part, type)
        for method in vars(part)
        if not method.startswith("_")
    }
    assert found.keys() | methods == set(GOOD)


@pytest.mark.parametrize("function", GOOD)
def test_what_the_bad_calls_change_is_a_good_one(function):
    call(function, GOOD[function])


@pytest.mark.parametrize("function", [name for name in GOOD if name != "instruction_set"])
def test_bad_arguments_are_refused(outcomes, function):
    cases = [(bad, *outcome) for bad, outcome in zip(BAD, outcomes, strict=True) if bad.function == function]
    assert len(cases) >= min(10, 3 * len(GOOD[function]))
    wrong = [
        (bad, kind, message)
        for bad, kind, message in cases
        if kind not in ("ValueError", "TypeError") or not re.search(bad.message, message)
    ]
    assert not wrong, wrong
