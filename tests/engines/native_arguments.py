"""Arguments of the compiled kernels, and how they are handed over."""

from importlib import import_module
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

PRECISIONS = (np.float32, np.float64)
TRAINERS = tuple(f"Trainer_{precision.__name__}" for precision in PRECISIONS)


class Made(NamedTuple):
    """An argument that is itself made by the compiled module."""

    name: str
    arguments: dict[str, Any]


class Prepared(NamedTuple):
    """An object of the compiled module, after calls of some of its methods."""

    name: str
    arguments: dict[str, Any]
    calls: tuple[tuple[str, dict[str, Any]], ...] = ()

    def after(self, *calls):
        return self._replace(calls=(*self.calls, *calls))


def misaligned(array):
    """Return a copy that begins at an odd address."""
    room = np.empty(array.nbytes + 1, np.uint8)
    copy = room[1:].view(array.dtype).reshape(array.shape)
    copy[:] = array
    return copy


def ints(*values, dtype=np.int32):
    return np.array(values, dtype)


def longs(*values):
    return np.array(values, np.int64)


def call(function, arguments):
    """Call a function of the compiled module; a method with its object as the first argument."""
    return attrgetter(function)(import_module("clearset._native"))(*map(given, arguments.values()))


def given(value):
    """Return an argument as it is handed over: an object of the compiled module is made first."""
    if isinstance(value, list) and any(isinstance(each, Made) for each in value):
        return [given(each) for each in value]
    if isinstance(value, Made):
        return call(value.name, value.arguments)
    if isinstance(value, Prepared):
        return prepared(value)
    return value


def prepared(wanted):
    one = call(wanted.name, wanted.arguments)
    for method, arguments in wanted.calls:
        call(f"{wanted.name}.{method}", {"self": one, **arguments})
    return one


LAYOUT = Made("PhiLayout", {"sizes": [2, 3], "subsets": [[0, 1], [1]]})
N_TOKENS = 300  # more than two tiles
SLOTS = np.tile(ints(0, 3), (N_TOKENS, 1)).T.copy()


def phi_arguments(dtype, backward):
    arguments = {
        "layout": LAYOUT,
        "threads": 2,
        "slots": SLOTS,
        "fractions": np.zeros((2, N_TOKENS), dtype),
        "offsets": longs(0, 200, N_TOKENS),
        "calibration": np.zeros((2, 5), dtype),
        "vertices": np.zeros((2, 9), dtype),
        "means": np.zeros((2, 2), dtype),
    }
    if backward:
        arguments["grad_calibration"] = np.zeros((2, 5), dtype)
        arguments["grad_vertices"] = np.zeros((2, 9), dtype)
        arguments["grad_fractions"] = np.zeros((2, N_TOKENS), dtype)
    return arguments


def crossed_inputs(dtype):
    return {
        "slots": np.full((1, N_TOKENS), 4, np.int32),
        "fractions": np.zeros((1, N_TOKENS), dtype),
        "offsets": longs(0, 200, N_TOKENS),
        "rows": np.full(N_TOKENS, 3, np.int32),
        "refined": np.full(N_TOKENS, 1, np.int32),
        "sets": longs(1, 0, 1),
        "values": np.zeros((4, 3), dtype),
        "corrections": np.zeros((2, 3), dtype),
        "keypoints": np.arange(3, dtype=dtype),
        "calibration": np.zeros((2, 6), dtype),
        "vertices": np.zeros((2, 4), dtype),
    }


def crossed_arguments(dtype, backward):
    arguments = {"threads": 2, **crossed_inputs(dtype), "means": np.zeros((3, 3, 2), dtype)}
    if backward:
        arguments["grad_calibration"] = np.zeros((2, 6), dtype)
        arguments["grad_vertices"] = np.zeros((2, 4), dtype)
        arguments["grad_corrections"] = np.zeros((2, 3), dtype)
    return arguments


def rho_arguments(dtype, backward):
    arguments = {
        "means": np.zeros((2, 6), dtype),
        "calibrators": np.zeros((6, 4), dtype),
        "vertices": np.zeros((2, 8), dtype),
        "output": np.zeros((2, 4), dtype),
        "outputs": np.zeros((2, 2), dtype),
    }
    if backward:
        arguments["grad_means"] = np.zeros((2, 6), dtype)
        arguments["grad_calibrators"] = np.zeros((6, 4), dtype)
        arguments["grad_vertices"] = np.zeros((2, 8), dtype)
        arguments["grad_output"] = np.zeros((2, 4), dtype)
    return arguments
