"""A good call of every function of the compiled module."""

from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

# Those that take arrays; the others take addresses, for they are called for every batch.
ARRAYS = ("project_chains", "project_half_spaces", "mine_tokens", "find_tokens")


class Made(NamedTuple):
    """An argument that is itself made by the compiled module."""

    name: str
    arguments: dict[str, Any]


class Misaligned(NamedTuple):
    """The address of an array, one byte too far."""

    array: np.ndarray


def ints(*values, dtype=np.int32):
    return np.array(values, dtype)


def longs(*values):
    return np.array(values, np.int64)


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


GOOD: dict[str, dict[str, Any]] = {
    "instruction_set": {},
    "PhiLayout": LAYOUT.arguments,
    "CrossedSizes": CROSSED_SIZES,
    "CrossedInputs": crossed_inputs(np.float64),
    "project_chains": {
        "values": np.zeros((2, 5)),
        "starts": longs(0, 3),
        "stops": longs(2, 5),
        "lower": -1.0,
        "upper": 1.0,
    },
    "project_half_spaces": {
        "values": np.array([[3.0, 2.0, 1.0]]),
        "duals": np.zeros((1, 2)),
        "indices": ints([0, 1], [1, 2]),
        "coefficients": np.array([[-0.6, 0.8], [-0.6, 0.8]]),
        "lower": -np.inf,
        "upper": np.inf,
        "tolerance": 1e-9,
        "max_sweeps": 100,
    },
    "mine_tokens": {
        "codes": ints(0, 1, 2, 1, 2, 2),
        "offsets": longs(0, 3, 5, 6),
        "channels": ints(0, 1, 1),
        "n_channels": 2,
        "adding": np.ones((3, 1)),
        "ngrams": False,
        "boundary": -1,
        "max_items": 3,
        "min_count": 1,
        "limit": 100,
        "threads": 2,
        "on_progress": None,
    },
    # The tree of the tokens 0, 1, 2, 01, 12 and 012; items below 3.
    "find_tokens": {
        "codes": ints(0, 1, 2, 1, 2, 2),
        "offsets": longs(0, 3, 5, 6),
        "views": ints(0, 0, 0, dtype=np.uint8),
        "items": ints(0, 1, 2, 1, 2, 2),
        "child_offsets": ints(3, 4, 5, 5, 6, 6, 6),
        "masks": np.ones(6, np.uint32),
        "first": ints(0, 1, 2),
        "n_codes": 3,
        "ngrams": False,
        "cover": True,
        "limit": 100,
        "threads": 2,
    },
}
BY_ADDRESS = {"phi": phi_arguments, "crossed": crossed_arguments, "rho": rho_arguments}
for kernel, make in BY_ADDRESS.items():
    for precision in (np.float32, np.float64):
        for direction in ("forward", "backward"):
            name = f"{kernel}_{direction}_{precision.__name__}"
            GOOD[name] = make(precision, direction == "backward")
            if kernel != "rho" and direction == "backward":
                GOOD[name] = {"grad_means" if k == "means" else k: v for k, v in GOOD[name].items()}
            elif kernel == "rho" and direction == "backward":
                GOOD[name] = {"grad_outputs" if k == "outputs" else k: v for k, v in GOOD[name].items()}


def call(function, arguments):
    """Call a function of the compiled module; arrays become addresses where it takes addresses."""
    native = import_module("clearset._native")

    def given(value):
        if isinstance(value, Made):
            return call(value.name, value.arguments)
        if isinstance(value, Misaligned):
            return value.array.ctypes.data + 1
        if isinstance(value, np.ndarray) and function not in ARRAYS:
            return value.ctypes.data
        return value

    return getattr(native, function)(*[given(value) for value in arguments.values()])
