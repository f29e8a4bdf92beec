"""Arguments of the compiled kernels, and how they are handed over."""

from importlib import import_module
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

PRECISIONS = (np.float32, np.float64)
TRAINERS = tuple(f"Trainer_{precision.__name__}" for precision in PRECISIONS)
# Those that take arrays; the others take addresses, for they are called for every batch.
ARRAYS = (
    "project_chains",
    "project_half_spaces",
    "mine_tokens",
    "find_tokens",
    "Vocabulary",
    "place_values",
    "ValueColumn",
    "means_of_values",
    "losses",
    "pack_sets",
    "unpack_sets",
    "move_sets",
    *TRAINERS,
)


def takes_arrays(function):
    return function.split(".")[0] in ARRAYS


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


class Misaligned(NamedTuple):
    """The address of an array, one byte too far."""

    array: np.ndarray


def ints(*values, dtype=np.int32):
    return np.array(values, dtype)


def longs(*values):
    return np.array(values, np.int64)


def call(function, arguments):
    """Call a function of the compiled module; arrays become addresses where it takes addresses.

    A method is called with its object as the first argument.
    """
    native = import_module("clearset._native")

    def given(value):
        if isinstance(value, list) and value and isinstance(value[0], Made):
            return [given(each) for each in value]
        if isinstance(value, Made):
            return call(value.name, value.arguments)
        if isinstance(value, Prepared):
            return prepared(value)
        if isinstance(value, Misaligned):
            return value.array.ctypes.data + 1
        if isinstance(value, np.ndarray) and not takes_arrays(function):
            return value.ctypes.data
        return value

    return attrgetter(function)(native)(*[given(value) for value in arguments.values()])


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
        "n_tokens": N_TOKENS,
        "n_sets": 2,
        "n_outputs": 2,
        "n_slots": 5,
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


CROSSED_SIZES = {
    "tokens": N_TOKENS,
    "sets": 2,
    "chosen": 3,
    "rows": 4,
    "corrections": 2,
    "classes": 3,
    "outputs": 2,
    "slots": 6,
    "keypoints": 3,
    "plain": 1,
}


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
    arguments = {
        "threads": 2,
        "sizes": Made("CrossedSizes", CROSSED_SIZES),
        "inputs": Made("CrossedInputs", crossed_inputs(dtype)),
        "means": np.zeros((3, 3, 2), dtype),
    }
    if backward:
        arguments["grad_calibration"] = np.zeros((2, 6), dtype)
        arguments["grad_vertices"] = np.zeros((2, 4), dtype)
        arguments["grad_corrections"] = np.zeros((2, 3), dtype)
    return arguments


def rho_arguments(dtype, backward):
    arguments = {
        "n_sets": 2,
        "n_functions": 2,
        "width": 3,
        "n_keypoints": 4,
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
