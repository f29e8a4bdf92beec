"""What is expected of examples of which nothing is known: the usual, unless many such examples say otherwise."""

import numpy as np
import pytest

import clearset as cs
from clearset.functions import Loss
from clearset.training import expected_of_nothing

RNG = np.random.default_rng(0)
LABELS, WEIGHTS = RNG.normal(size=1000), RNG.uniform(0.5, 2.0, 1000)
NONE = np.zeros(1000, dtype=bool)


def loss_of(loss: Loss, guess: float) -> float:
    difference = LABELS - guess
    slope = {"absolute_error": 0.5, "quantile": loss.quantile}.get(loss.name)
    each = difference**2 if slope is None else np.maximum(slope * difference, (slope - 1) * difference)
    return float(WEIGHTS @ each)


@pytest.mark.parametrize(
    "loss", [Loss("squared_error"), Loss("absolute_error"), Loss("quantile", 0.9), Loss("quantile", 0.1)]
)
def test_where_none_was_seen_it_is_the_constant_of_the_least_loss(loss):
    guess = float(expected_of_nothing(loss, LABELS, WEIGHTS, NONE, 1)[0])
    assert all(loss_of(loss, guess) <= loss_of(loss, other) + 1e-9 for other in np.linspace(-3, 3, 2001))


def test_of_classes_it_is_their_shares():
    labels = np.repeat([0.0, 1.0, 2.0], [500, 300, 200])
    np.testing.assert_allclose(expected_of_nothing(Loss("log_loss"), labels, np.ones(1000), NONE, 3), [0.5, 0.3, 0.2])


def test_examples_move_what_is_said_by_their_number_and_never_far():
    labels = (np.arange(10_000) < 1000).astype(float)
    few, many = (np.arange(10_000) < n for n in (1, 950))
    said = [float(expected_of_nothing(Loss("log_loss"), labels, np.ones(10_000), empty, 1)[0]) for empty in (few, many)]
    assert said[0] == pytest.approx(0.1 + 1 / 51 * 0.9)
    assert said[1] == pytest.approx(0.1 + 0.049)
    number = float(expected_of_nothing(Loss("squared_error"), 100 * labels, np.ones(10_000), many, 1)[0])
    assert number == pytest.approx(10 + 0.19 * 30)
    shares = expected_of_nothing(Loss("log_loss"), 2 * labels, np.ones(10_000), many, 3)
    np.testing.assert_allclose(shares, [0.851, 0.0, 0.149])
    common = np.arange(10_000) < 4000
    said = float(expected_of_nothing(Loss("log_loss"), labels, np.ones(10_000), common, 1, 4000)[0])
    assert said == pytest.approx(0.1 + 4000 / 4050 * 0.15)


def baskets(n: int, labels: str):
    rng = np.random.default_rng(1)
    worth = rng.normal(size=60)
    items = [rng.integers(0, 60, rng.integers(5, 12)) for _ in range(n)]
    signal = np.array([worth[basket].mean() for basket in items]) + 0.2 * rng.normal(size=n)
    X = [[f"item {item}" for item in basket] for basket in items]
    if labels == "number":
        return X, 100 + 20 * signal
    cuts = [0.2] if labels == "two" else np.quantile(signal, [0.5, 0.7, 0.9])
    return X, np.digitize(signal, cuts)


@pytest.mark.parametrize("labels", ["two", "four"])
def test_unknown_items_get_the_shares_of_the_classes(labels):
    X, y = baskets(400, labels)
    model = cs.SemanticClassifier(tokens=cs.Items(), epochs=10, random_state=0, n_jobs=1).fit(X, y)
    shares = np.bincount(y) / len(y)
    unknown = [["?"], ["?", "!"], [], [f"new {n}" for n in range(30)]]
    np.testing.assert_allclose(model.predict_proba(unknown), np.tile(shares, (4, 1)))
    explained = model.explain(unknown[:1])
    assert explained.prediction[0] == pytest.approx(shares[-1] if labels == "two" else shares.max())


def test_unknown_items_get_the_mean_number():
    X, y = baskets(400, "number")
    model = cs.SemanticRegressor(tokens=cs.Items(), epochs=10, random_state=0, n_jobs=1).fit(X, y)
    np.testing.assert_allclose(model.predict([["?"], []]), y.mean())


def test_it_is_kept_in_files(tmp_path):
    X, y = baskets(400, "two")
    model = cs.SemanticClassifier(
        tokens=cs.Items(), features=["log_odds", "count"], epochs=5, random_state=0, n_jobs=1
    ).fit(X, y)
    model.save(tmp_path / "model.clearset")
    model.freeze().save(tmp_path / "frozen.parquet")
    read = cs.load(tmp_path / "model.clearset"), cs.FrozenModel.load(tmp_path / "frozen.parquet")
    for other in read:
        np.testing.assert_array_equal(other.predict_proba([["?"]]), model.predict_proba([["?"]]))
