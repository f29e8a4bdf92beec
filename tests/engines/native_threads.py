"""Everything in the compiled module that works in several threads, on data that give all of them something to do.

Run as a script, it compares the results of four threads with those of one, bit by bit. ThreadSanitizer watches it in
``make sanitize``: nothing here needs torch, whose threads it does not know.
"""

import threading

import numpy as np

from .native_arguments import TRAINERS, Made, call
from .native_calls import GOOD
from .native_limits import CALLS, RESULTS
from .native_trainer_limits import go_on, start, training_of

TRAININGS = [*((name, kind) for name in TRAINERS for kind in ("plain", "crossed")), ("Trainer_float32", "packed")]


def results_of(function, arguments):
    results = call(function, arguments)
    parts = [arguments[name] for name in RESULTS if name in arguments] if results is None else results
    return b"".join(part.tobytes() for part in parts)


def prediction(rng):
    """Return means of values of many sets, some of them empty."""
    n_sets = 3000
    offsets = np.concatenate([[0], np.cumsum(rng.integers(0, 40, n_sets))])
    tokens, sets = rng.normal(size=offsets[-1]), rng.normal(size=n_sets)
    column = GOOD["ValueColumn"]
    columns = [
        Made("ValueColumn", {**column, "values": tokens}),
        Made("ValueColumn", {**column, "values": sets, "per_set": True, "first_slot": 5, "missing_slot": 9}),
    ]
    return {**GOOD["means_of_values"], "columns": columns, "offsets": offsets, "means": np.zeros((n_sets, 1))}


def mining_with_progress(rng):
    """Return a mining of n-grams that calls back."""
    return {**CALLS["mine_tokens"](rng), "ngrams": True, "on_progress": lambda share: None}


WORK = {
    **{(name, name): make for name, make in CALLS.items()},
    ("means_of_values", "means_of_values"): prediction,
    ("mine_tokens", "n-grams"): mining_with_progress,
}


def lanes_of(order):
    """Return the order of an epoch of ten steps of four lanes each."""
    ends = np.linspace(0, len(order), 41).astype(np.int64)[1:].reshape(10, 4)
    return {"order": order, "draws": None, "ends": ends, "totals": np.full(10, len(order) // 10), "exchange": None}


def trained_in_lanes(name, method, threads):
    given, order = training_of(name, method)
    trainer = start(name, method, threads, given)
    lanes = {**lanes_of(order), "exchange": lambda numbers: None}
    call(f"{name}.epoch", {"self": trainer, **lanes})
    return trainer.average().tobytes()


def trained(name, method, threads):
    given, order = training_of(name, method)
    return go_on(start(name, method, threads, given), order)


def main():
    for (function, what), make in WORK.items():
        one, many = (results_of(function, {**make(np.random.default_rng(0)), "threads": n}) for n in (1, 4))
        assert one == many, what
        print(what, flush=True)
    for name, method in TRAININGS:
        ways = (trained,) if method == "crossed" else (trained, trained_in_lanes)
        for way in ways:
            assert way(name, method, 1) == way(name, method, 4), (name, method)
            print(way.__name__, name, method, flush=True)
    # At the same time: calls let go of Python's lock, and must share nothing that changes.
    alone = trained("Trainer_float32", "plain", 2)
    found = []
    threads = [threading.Thread(target=lambda: found.append(trained("Trainer_float32", "plain", 2))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [alone] * 3
    print("side by side")


if __name__ == "__main__":
    main()
