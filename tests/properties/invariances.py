"""What changes no bit of a prediction, whatever the model: order, pieces, a file."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import clearset as cs

ASKED = ("predict", "predict_proba", "decision_function", "transform")
Frame = Callable[[np.ndarray], Any]
"""Gives chosen rows as a model reads them."""


def answers(model: Any, X: Any) -> dict[str, np.ndarray]:
    """Return all that a model says of some sets."""
    return {name: np.asarray(getattr(model, name)(X)) for name in ASKED if hasattr(model, name)}


def assert_same_bits(found: dict[str, np.ndarray], expected: dict[str, np.ndarray], what: str) -> None:
    """Compare two answers bit by bit."""
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        assert found[name].dtype == values.dtype, (what, name)
        assert found[name].tolist() == values.tolist(), (what, name)


def assert_finite(found: dict[str, np.ndarray]) -> None:
    """See that no number is missing or infinite, and that probabilities are some."""
    for name, values in found.items():
        if values.dtype.kind == "f":
            assert np.isfinite(values).all(), name
    shares = found.get("predict_proba")
    if shares is not None:
        assert (shares >= 0).all()
        np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-12)


def assert_rows_stand_alone(model: Any, frame: Frame, n: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Ask of all rows, in another order, in two calls, and one at a time; return the answers."""
    whole = answers(model, frame(np.arange(n)))
    assert_finite(whole)
    order = rng.permutation(n)
    cut = int(rng.integers(1, n))
    parts = {
        "in another order": [order],
        "in two calls": [np.arange(cut), np.arange(cut, n)],
        "one at a time": np.arange(n)[:, None],
    }
    for what, pieces in parts.items():
        told = [answers(model, frame(rows)) for rows in pieces]
        found = {name: np.concatenate([part[name] for part in told]) for name in told[0]}
        rows = np.concatenate(pieces)
        assert_same_bits(found, {name: values[rows] for name, values in whole.items()}, what)
    return whole


def assert_a_file_keeps_all(model: Any, X: Any, expected: dict[str, np.ndarray]) -> None:
    """Save and load, and ask the same."""
    with tempfile.TemporaryDirectory(dir=_quickest_folder()) as folder:
        model.save(Path(folder) / "model")
        again = cs.load(Path(folder) / "model")
    told = answers(again, X)
    assert_same_bits({name: told[name] for name in expected}, expected, "loaded")


def _quickest_folder() -> str | None:
    # A file is flushed to its disk before it counts as written, which takes longer than all else.
    shared = Path("/dev/shm")  # noqa: S108
    return str(shared) if shared.is_dir() else None
