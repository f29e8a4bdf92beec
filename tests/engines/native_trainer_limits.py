"""Trainings under limits of memory that rise step by step.

Run as a script with the name of a trainer and the kind of its sets, it writes for every limit how a training with four
threads ended, and last for no limit and one thread. One that ended well must have the results of the last one, bit by
bit. Another trainer goes on from limit to limit, whatever happened to it before.
"""

import sys

import numpy as np

from .native_limits import KILOBYTES, fill_heap, limit_memory, thread_starts
from .native_training import give, make, many_sets, results

N_CORRECTIONS = 2000


def start(name, method, threads, given):
    trainer = make(name, method, {"threads": threads, "batch_size": 400}, correct=False)
    if method == "crossed":
        give(trainer, "correct", {"initial": np.zeros((N_CORRECTIONS, 3)), "rate": 0.1, "pull": 0.01})
    for validates in (False, True):
        give(trainer, method, {**given, "validates": validates})
    return trainer


def go_on(trainer, order):
    return np.array([trainer.epoch(order, None), trainer.validation_loss()]).tobytes() + results(trainer)


def ending(function, *arguments):
    try:
        return function(*arguments)
    except MemoryError as error:
        return type(error).__name__


def training_of(name, method):
    """Return sets and the order of an epoch."""
    given = many_sets(name, method, 1000, 100)
    rng = np.random.default_rng(0)
    if method == "crossed":
        given["corrected"] = rng.integers(-1, N_CORRECTIONS, given["offsets"][-1]).astype(np.int32)
    return given, rng.permutation(1000)


def main(name, method):
    given, order = training_of(name, method)
    lasting = start(name, method, 4, given)
    limit_memory(0)
    assert not thread_starts()
    taken = fill_heap()  # a small training would find there what it needs
    limit_memory(None)
    endings, later = [], []
    for kilobytes in (*KILOBYTES, None):
        limit_memory(kilobytes)
        threads = 1 if kilobytes is None else 4
        endings.append(ending(lambda threads=threads: go_on(start(name, method, threads, given), order)))
        later.append(ending(go_on, lasting, order))
        limit_memory(None)
    del taken
    assert not isinstance(later[-1], str)
    assert np.isfinite(lasting.average()).all()
    for one in endings:
        print("same" if one == endings[-1] else one if isinstance(one, str) else "different")


if __name__ == "__main__":
    main(*sys.argv[1:])
