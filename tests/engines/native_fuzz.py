"""Random calls of everything in the compiled module: each returns or raises, and the process goes on.

Run as a script with a seed, the number of a first call and how many to make, it writes for each a line of JSON: what
was called, and what it raised or that it returned. The call of a number is the same whatever was called before it. One
that takes longer than a minute ends the process.
"""

import contextlib
import json
import signal
import sys
import warnings
from importlib import import_module
from operator import attrgetter

import numpy as np

from .native_arguments import TRAINERS, call, given
from .native_calls import GOOD
from .native_mutations import OTHERS, other_arguments, other_batch, other_method, pick

# What a call may raise; anything else is a defect of the border, and so is the end of the process.
RAISED = (TypeError, ValueError, OverflowError, FloatingPointError, MemoryError, RuntimeError, IndexError, KeyError)
SECONDS = 60
# Where a trainer has been told of something, whatever it was, it goes on.
AFTER = ("begin", "epoch", "validation_loss", "average", "average_corrections")


def changed(function, rng):
    """Return the arguments of a call: those of a good one, of which some have become something else."""
    good = GOOD[function]
    if function == "list_columns":
        return dict(zip(good, other_batch(rng), strict=True)) if rng.random() < 0.8 else other_arguments(good, rng)
    found = other_arguments(good, rng, least=0 if rng.random() < 0.05 else 1)
    if "self" in found:
        found["self"] = other_method(found["self"], rng)
    return found


def callbacks(name, arguments, keeps):
    """Replace what is called back by something that misbehaves, now and then."""

    def raises(*_):
        raise KeyError(name)

    wicked = (raises, keeps.append, lambda array: array.fill(np.nan), lambda *_: None)
    return {
        key: wicked[len(keeps) % 4] if key in ("exchange", "on_progress") and callable(value) else value
        for key, value in arguments.items()
    }


def one(number, seed):
    """Make the call of a number, and return its outcome."""
    rng = np.random.default_rng([seed, number])
    function = pick(rng, list(GOOD))
    native = import_module("clearset._native")
    keeps = []
    try:
        arguments = callbacks(function, changed(function, rng), keeps)
        values = [given(value) for value in arguments.values()]
        if rng.random() < 0.02:
            values = values[:-1] if rng.random() < 0.5 else [*values, pick(rng, OTHERS)]
        result = attrgetter(function)(native)(*values)
        outcome = "returned"
        if function.split(".")[0] in TRAINERS:
            go_on(values[0] if "." in function else result)
        elif function == "Vocabulary":
            result.encode_lists([["ab", "z"], []])
        for array in keeps:
            array.sum()  # what was handed to Python may be read later
    except RAISED as error:
        outcome = type(error).__name__
    return function, outcome


def go_on(trainer):
    """Train with whatever the trainer was told."""
    good = GOOD[f"{type(trainer).__name__}.epoch"]
    for method in AFTER:
        arguments = {key: value for key, value in good.items() if key != "self"} if method == "epoch" else {}
        with contextlib.suppress(*RAISED):
            call(f"{type(trainer).__name__}.{method}", {"self": trainer, **arguments})
            if method == "epoch":  # without Light Touch there are no draws
                call(f"{type(trainer).__name__}.{method}", {"self": trainer, **arguments, "draws": None})


def main(seed, first, count):
    warnings.simplefilter("ignore")
    for number in range(first, first + count):
        signal.alarm(SECONDS)  # nobody handles it, so the process ends
        print(json.dumps(one(number, seed)), flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
