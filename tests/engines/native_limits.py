"""Threaded functions of the compiled module under limits of memory that rise step by step.

Run as a script with the name of a call, it writes for every limit how the call with four threads ended, and last for no
limit and one thread. A call that ended well must have the results of the last one, bit by bit.
"""

import resource
import sys
import threading
from pathlib import Path

import numpy as np

from .native_arguments import Made, call

KILOBYTES = (0, 64, 256, 512, *(1024 * megabytes for megabytes in (1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 256)))


def phi_arguments(rng, *gradients):
    """Return what makes four slices."""
    n_features, n_outputs, n_sets, n_tokens = 12, 2, 500, 33_200
    slots = np.repeat(np.arange(n_features, dtype=np.int32), n_tokens)
    shapes = {
        "means": (n_sets, n_outputs),
        "grad_calibration": (n_outputs, n_features),
        "grad_vertices": (n_outputs, 2**n_features),
    }
    return {
        "layout": Made("PhiLayout", {"sizes": [2] * n_features, "subsets": [list(range(n_features))]}),
        "threads": 4,
        "slots": slots.reshape(n_features, n_tokens),
        "fractions": rng.random((n_features, n_tokens)),
        "offsets": np.linspace(0, n_tokens, n_sets + 1).astype(np.int64),
        "calibration": rng.random((n_outputs, n_features)),
        "vertices": rng.random((n_outputs, 2**n_features)),
        "means": rng.random(shapes["means"]),
        **{name: np.zeros(shapes[name]) for name in gradients},
        **({"grad_fractions": None} if gradients else {}),  # not wanted
    }


def crossed_arguments(rng, *gradients):
    """Return what makes four slices, whose gradients have 3 MB each."""
    n_tokens, n_sets, n_corrections, n_classes = 50_000, 500, 10_000, 40
    tables = {
        "values": rng.random((100, n_classes)),
        "corrections": rng.random((n_corrections, n_classes)),
        "keypoints": np.linspace(0.0, 2.0, 5),
        "calibration": rng.random((2, 8)),
        "vertices": rng.random((2, 4)),
    }
    tokens = {
        "slots": np.full((1, n_tokens), 6, np.int32),
        "fractions": np.zeros((1, n_tokens)),
        "offsets": np.linspace(0, n_tokens, n_sets + 1).astype(np.int64),
        "rows": rng.integers(0, 100, n_tokens).astype(np.int32),
        "refined": rng.integers(0, n_corrections, n_tokens).astype(np.int32),
        "sets": rng.permutation(n_sets),
    }
    return {
        "threads": 4,
        **tokens,
        **tables,
        "means": rng.random((n_sets, n_classes, 2)),
        **{name: np.zeros_like(tables[name.removeprefix("grad_")]) for name in gradients},
    }


def mining_arguments(rng):
    rows = np.sort(rng.permuted(np.tile(np.arange(200, dtype=np.int32), (3000, 1)), axis=1)[:, :12], axis=1)
    return {
        "codes": rows.reshape(-1),
        "offsets": np.arange(0, 12 * 3000 + 1, 12),
        "channels": rng.integers(0, 4, 3000).astype(np.int32),
        "n_channels": 4,
        "adding": None,
        "ngrams": False,
        "boundary": -1,
        "max_items": 3,
        "min_count": 2,
        "limit": 2**31 - 1,
        "threads": 4,
        "on_progress": None,
    }


def finding_arguments(rng):
    """Return many rows, and as many codes as make a thread need 16 MB."""
    n_nodes = 1000
    rows = np.sort(rng.permuted(np.tile(np.arange(n_nodes, dtype=np.int32), (2000, 1)), axis=1)[:, :10], axis=1)
    return {
        "codes": rows.reshape(-1),
        "offsets": np.arange(0, 10 * 2000 + 1, 10),
        "views": None,
        "items": np.arange(n_nodes, dtype=np.int32),
        "child_offsets": np.full(n_nodes + 1, n_nodes, np.int32),
        "masks": np.ones(n_nodes, np.uint32),
        "first": np.arange(n_nodes, dtype=np.int32),
        "n_codes": 2**21,
        "ngrams": False,
        "cover": True,
        "limit": 2**31 - 1,
        "threads": 4,
    }


CALLS = {
    "phi_forward_float64": lambda rng: phi_arguments(rng),
    "phi_backward_float64": lambda rng: phi_arguments(rng, "grad_calibration", "grad_vertices"),
    "crossed_forward_float64": lambda rng: crossed_arguments(rng),
    "crossed_backward_float64": lambda rng: crossed_arguments(
        rng, "grad_calibration", "grad_vertices", "grad_corrections"
    ),
    "mine_tokens": mining_arguments,
    "find_tokens": finding_arguments,
}
RESULTS = ("means", "grad_calibration", "grad_vertices", "grad_corrections")


def limit_memory(kilobytes):
    """Allow so much more than there is now; None: as much as there can be."""
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    now = most
    if kilobytes is not None:  # else there may be no memory to read a file
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        now = pages * resource.getpagesize() + 1024 * kilobytes
    resource.setrlimit(resource.RLIMIT_AS, (now, most))


def fill_heap():
    """Take what is free on the heap in pieces of 16 kilobytes, until there is no more under the limit."""
    taken = []
    try:
        while True:
            taken.append(bytearray(2**14))
    except MemoryError:
        return taken


def thread_starts():
    thread = threading.Thread(target=int)
    try:
        thread.start()
    except RuntimeError:
        return False
    thread.join()
    return True


def main(function):
    arguments = CALLS[function](np.random.default_rng(0))
    call("instruction_set", {})  # so that the module is loaded
    limit_memory(0)
    assert not thread_starts()
    endings = []
    for kilobytes in (*KILOBYTES, None):
        arguments["threads"] = 1 if kilobytes is None else 4
        limit_memory(kilobytes)
        try:
            results = call(function, arguments)
        except (MemoryError, RuntimeError) as error:
            results = type(error).__name__
        limit_memory(None)
        if results is None:
            results = [arguments[name] for name in RESULTS if name in arguments]
        endings.append(results if isinstance(results, str) else b"".join(part.tobytes() for part in results))
    for ending in endings:
        print("same" if ending == endings[-1] else ending if isinstance(ending, str) else "different")


if __name__ == "__main__":
    main(sys.argv[1])
