"""A fitted model read from its parts in plain Python, one set, one class and one token at a time."""

from itertools import product
from typing import Any

import numpy as np
import pytest

import clearset as cs

from .items import KINDS, engine, labels, sets

X = sets(300)
FRESH = [*sets(25, seed=9), [], ["never seen"], ["item a", "never seen", "item a"]]
FEATURES = ["count", "items", "tokens", "whole", "size"]


def lattice(inputs: list[float], vertices: np.ndarray) -> float:
    """Interpolate between the corners of a cube, the first input varying slowest."""
    corners = product([0, 1], repeat=len(inputs))
    weights = [np.prod([x if bit else 1 - x for x, bit in zip(inputs, c, strict=True)]) for c in corners]
    return float(np.dot(weights, vertices))


class ByHand:
    """Tokens are subsets of up to two items; nothing of the estimator is called but its parts' arrays."""

    def __init__(self, model: Any, kind: str, value: str) -> None:
        self.model, self.value, self.kind = model, value, kind
        self.rows = {tuple(sorted(row["token"])): row for row in model.token_table_.to_arrow().to_pylist()}
        prior = np.atleast_1d(model.token_table_.prior)
        self.prior = prior[1:] if kind == "two" else prior

    def values(self, token: tuple[str, ...]) -> np.ndarray:
        row = self.rows[token]
        mean = np.atleast_1d(row["mean"])
        values = (row["weight"] * mean + 1.0 * self.prior) / (row["weight"] + 1.0)
        if self.value == "log_odds":
            values = np.log(values / (1 - values)) - np.log(self.prior / (1 - self.prior))
        if row.get("correction") is not None:
            values = values + np.atleast_1d(row["correction"])
        return values

    def tokens(self, items: set[str]) -> list[tuple[str, ...]]:
        found = [t for t in self.rows if set(t) <= items]
        if not self.model.setting_.cover:
            return found
        covered = {item for t in found if len(t) == 2 for item in t}
        return [t for t in found if len(t) == 2 or t[0] not in covered]

    def calibrated(self, k: int, d: int, x: float | None) -> float:
        binning, table = self.model.binning_, self.model.set_function_.calibration[k]
        start, stop = binning.slot_offsets[d : d + 2]
        if x is None:
            return float(table[stop - 1])
        return float(np.interp(x, binning.keypoints[d], table[start : stop - 1]))

    def outputs(self, example: list[str]) -> np.ndarray:
        items = set(example)
        tokens = self.tokens(items)
        n_tokens = len(tokens)
        if not tokens:
            return self.model.as_model().link.nothing
        function = self.model.set_function_
        means = np.zeros((len(self.prior), function.width))
        for token in tokens:
            told: dict[str, float | None] = {"items": len(items), "tokens": n_tokens}
            told |= {"count": self.rows[token]["count"], "size": len(token)}
            told["whole"] = float(len(token) == len(items))
            for c, k in np.ndindex(*means.shape):
                inputs = [self.calibrated(k, 0, self.values(token)[c])]
                inputs += [self.calibrated(k, d + 1, told.get(name)) for d, name in enumerate(FEATURES)]
                means[c, k] += lattice(inputs, function.vertices[k]) / n_tokens
        return np.array([self.rho(mean) for mean in means])

    def rho(self, mean: np.ndarray) -> float:
        rho = self.model.set_function_.rho
        curves, output = rho.calibrators, rho.output[0]
        places = np.linspace(-1, 1, len(output))
        inputs = [float(np.interp(m, places, curve)) for m, curve in zip(mean, curves, strict=True)]
        fused = lattice(inputs, rho.vertices[0])
        return float(np.interp(fused, places, output))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("refine", [False, True, 2])
@pytest.mark.parametrize("cover", [False, True])
def test_outputs_by_hand(kind: str, refine: int, cover: bool) -> None:
    value = "mean_label" if kind == "number" else "log_odds"
    model = engine(
        tokens=cs.Subsets(2),
        filters=[cs.MinCount(3)],
        cover=cover,
        width=2,
        refine=refine,
        features=[value, *FEATURES],
        epochs=3,
        early_stopping=False,  # corrections that do not help on validation data would be left
    ).fit(X, labels(X, kind))
    hand = ByHand(model, kind, value)
    corrected = [t for t, row in hand.rows.items() if row.get("correction") is not None]
    assert {len(token) for token in corrected} == set(range(1, int(refine) + 1))
    # Tokens that just pass the filter may pass it outside of no fold, and then nothing is learned of them.
    learned = [np.any(hand.rows[token]["correction"]) for token in corrected]
    assert not learned or np.mean(learned) > 0.5
    expected = np.stack([hand.outputs(example) for example in FRESH])
    np.testing.assert_allclose(model.as_model().read(FRESH).outputs(), expected, rtol=1e-8, atol=1e-8)
    assert np.ptp(expected, axis=0).min() > 0
