"""Native trainers that are made step by step, and data for them."""

import numpy as np

from .native_arguments import Made, call, prepared
from .native_calls import GOOD
from .native_trainer_arguments import PACE


def sets(name, method, **changes):
    """Copies of arguments that make a good call, to be changed by the test."""
    arguments = {key: value for key, value in GOOD[f"{name}.{method}"].items() if key != "self"}
    return {
        key: value.copy() if isinstance(value, np.ndarray) else value for key, value in {**arguments, **changes}.items()
    }


def make(name, method, pace=(), correct=False):
    one = GOOD[f"{name}.{method}"]["self"]
    arguments = {**one.arguments, "pace": Made("Pace", {**PACE, **dict(pace)})}
    calls = [step for step in one.calls if step[0] != "correct" or correct]
    return prepared(one._replace(arguments=arguments, calls=tuple(calls)))


def give(trainer, method, arguments):
    call(f"{type(trainer).__name__}.{method}", {"self": trainer, **arguments})


def results(trainer):
    corrections = trainer.average_corrections()
    return trainer.average().tobytes() + (b"" if corrections is None else corrections.tobytes())


def many_sets(name, method, n_sets=2000, size=50):
    """Return so many that a step has several slices."""
    rng = np.random.default_rng(0)
    good, n_tokens = sets(name, method), n_sets * size
    n_classes = 3 if method == "crossed" else 2
    if method == "packed":
        tokens = {
            "packed": rng.integers(0, 2**32, 2 * n_tokens, np.uint32),
            "offsets": np.arange(0, n_tokens + 1, size),
        }
        targets = rng.integers(0, n_classes, n_sets).astype(float)
        return {**good, **tokens, "targets": targets, "weights": np.ones(n_sets)}
    dtype = good["fractions"].dtype
    tokens = {
        "slots": np.repeat(good["slots"][:, :1], n_tokens, axis=1),
        "fractions": rng.random((len(good["slots"]), n_tokens), np.float32).astype(dtype),
        "offsets": np.arange(0, n_tokens + 1, size),
    }
    if method == "crossed":
        tokens["rows"] = rng.integers(-1, 4, n_tokens).astype(np.int32)
        tokens["corrected"] = rng.integers(-1, 2, n_tokens).astype(np.int32)
        tokens["values"] = rng.random((4, 3)).astype(dtype)
    targets = rng.integers(0, n_classes, n_sets).astype(float)
    return {**good, **tokens, "chosen": None, "targets": targets, "weights": np.ones(n_sets)}


def many_labels(count):
    """Return labels that make an epoch of few sets last."""
    chosen = np.random.default_rng(0).integers(0, 10, count)
    return {"chosen": chosen, "targets": np.zeros(count), "weights": np.ones(count)}
