"""What is learned, from what, and which epoch is kept."""

from typing import Any

import numpy as np
import pytest
import torch
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import log_loss

import clearset as cs
from clearset.baselines import (
    AveragedDNNRegressor,
    AveragedLinearClassifier,
    AveragedLinearRegressor,
    DeepSetsClassifier,
    DeepSetsRegressor,
    MultiHotDNNClassifier,
)


def sets(n: int, seed: int = 0) -> cs.SetData:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 6, n)
    return cs.SetData(
        rng.uniform(-1, 1, size=(int(sizes.sum()), 2)), np.concatenate([[0], np.cumsum(sizes)]), ["a", "b"]
    )


def means(X: cs.SetData) -> np.ndarray:
    return np.add.reduceat(X.values, X.offsets[:-1]) / X.sizes[:, None]


def largest(X: cs.SetData) -> np.ndarray:
    return np.maximum.reduceat(X.values[:, 0], X.offsets[:-1])


def test_the_linear_model_is_least_squares() -> None:
    X = sets(400)
    y = 1000.0 + 50.0 * (means(X) @ [3.0, -2.0]) + np.random.default_rng(1).normal(size=400)
    model = AveragedLinearRegressor(epochs=300, early_stopping=False, random_state=0).fit(X, y)
    expected = LinearRegression().fit(means(X), y).predict(means(X))
    np.testing.assert_allclose(model.predict(X), expected, atol=0.5)


def test_the_absolute_error_aims_at_the_median() -> None:
    y = np.random.default_rng(1).exponential(size=400)
    shared: dict[str, Any] = {"epochs": 60, "early_stopping": False, "random_state": 0}
    flat = cs.SetData(np.zeros((400, 1)), np.arange(401), ["a"])
    found = AveragedLinearRegressor(loss="absolute_error", **shared).fit(flat, y).predict(flat)[0]
    assert found == pytest.approx(np.median(y), abs=0.03)
    found = AveragedLinearRegressor(**shared).fit(flat, y).predict(flat)[0]
    assert found == pytest.approx(np.mean(y), abs=0.03)


def test_the_linear_classifier_is_logistic_regression() -> None:
    X = sets(600)
    scores = means(X) @ [[4.0, -4.0, 0.0], [0.0, 4.0, -4.0]]
    y = np.array(["u", "v", "w"])[(scores + np.random.default_rng(2).gumbel(size=scores.shape)).argmax(axis=1)]
    model = AveragedLinearClassifier(epochs=200, early_stopping=False, random_state=0).fit(X, y)
    best = LogisticRegression(C=1e6).fit(means(X), y)
    assert log_loss(y, model.predict_proba(X)) < log_loss(y, best.predict_proba(means(X))) + 0.002
    assert model.decision_function(X).shape == (600, 3)
    assert (model.predict(X) == model.classes_[model.predict_proba(X).argmax(axis=1)]).all()


def test_deep_sets_learn_a_maximum_that_averages_cannot_tell() -> None:
    X, fresh = sets(1500), sets(500, seed=7)
    y = 10.0 * largest(X)
    shared: dict[str, Any] = {"random_state": 0, "learning_rate": 0.01, "epochs": 40}
    errors = {
        cls: np.abs(cls(**shared).fit(X, y).predict(fresh) - 10.0 * largest(fresh)).mean()
        for cls in (AveragedLinearRegressor, AveragedDNNRegressor, DeepSetsRegressor)
    }
    assert errors[DeepSetsRegressor] < 0.5
    assert errors[AveragedDNNRegressor] > 1.5
    assert errors[AveragedLinearRegressor] > 1.5


def test_the_order_of_tokens_does_not_matter() -> None:
    X = sets(100)
    places = np.concatenate([np.arange(b - 1, a - 1, -1) for a, b in zip(X.offsets, X.offsets[1:], strict=False)])
    backwards = cs.SetData(X.values[places], X.offsets, ["a", "b"])
    model = DeepSetsClassifier(epochs=5, random_state=0).fit(X, largest(X) > 0.5)
    np.testing.assert_allclose(model.predict_proba(backwards), model.predict_proba(X), rtol=1e-12)


def test_large_data_are_trained_in_single_precision_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    X = sets(300)
    shared: dict[str, Any] = {"random_state": 0, "epochs": 5}
    double = DeepSetsRegressor(**shared).fit(X, largest(X)).predict(X)
    monkeypatch.setattr("clearset.baselines._network_estimator.DOUBLE_PRECISION_VALUES", 0)
    single = DeepSetsRegressor(**shared).fit(X, largest(X)).predict(X)
    np.testing.assert_allclose(single, double, atol=1e-3)
    assert not np.array_equal(single, double)


def test_the_best_epoch_is_kept() -> None:
    X, y = sets(60), np.random.default_rng(0).normal(size=60)
    other, theirs = sets(60, seed=1), np.random.default_rng(1).normal(size=60)
    model = AveragedDNNRegressor(learning_rate=0.03, patience=5, random_state=0)
    model.fit(X, y, validation_data=(other, theirs))
    losses = [entry["validation_loss"] for entry in model.history_]
    assert model.best_epoch_ == 1 + int(np.argmin(losses))
    assert model.n_iter_ == len(losses) == model.best_epoch_ + 5
    assert np.mean((model.predict(other) - theirs) ** 2) == pytest.approx(min(losses))
    model.set_params(early_stopping=False, epochs=20).fit(X, y, validation_data=(other, theirs))
    assert model.best_epoch_ == model.n_iter_ == 20
    assert np.mean((model.predict(other) - theirs) ** 2) == pytest.approx(model.history_[-1]["validation_loss"])


def test_a_share_is_held_out_unless_there_are_too_few() -> None:
    X, y = sets(600), largest(sets(600))
    assert "validation_loss" in AveragedLinearRegressor(epochs=1).fit(X, y).history_[0]
    assert "validation_loss" not in AveragedLinearRegressor(epochs=1).fit(X[:100], y[:100]).history_[0]


def test_sets_of_weight_0_are_left_out() -> None:
    X, y = sets(200), largest(sets(200))
    weights = np.arange(200) % 2
    shared: dict[str, Any] = {"epochs": 3, "random_state": 0}
    weighted = DeepSetsRegressor(**shared).fit(X, np.where(weights, y, 1e6), sample_weight=weights)
    alone = DeepSetsRegressor(**shared).fit(X[np.flatnonzero(weights)], y[weights == 1])
    np.testing.assert_allclose(weighted.predict(X), alone.predict(X), rtol=1e-9)
    rows = [["a", "b"], ["b"], ["c"]] * 40
    labels = np.array(["x", "y", "z"] * 40)
    model = MultiHotDNNClassifier(**shared).fit(rows, labels, sample_weight=[1.0, 1.0, 0.0] * 40)
    assert model.categories_.names.tolist() == ["a", "b"]


def interrupt_after(n_steps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Ctrl-C come with one of the optimizer's steps."""
    step, taken = torch.optim.AdamW.step, []

    def interrupted(*arguments: Any) -> Any:
        taken.append(1)
        if len(taken) > n_steps:
            raise KeyboardInterrupt
        return step(*arguments)

    monkeypatch.setattr(torch.optim.AdamW, "step", interrupted)


def test_an_interrupt_before_the_first_epoch_ends_leaves_the_last_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = sets(600), largest(sets(600))
    model = DeepSetsRegressor(epochs=2, random_state=0).fit(X, y)
    before, predicted = vars(model).copy(), model.predict(X)
    interrupt_after(5, monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X[:300], y[:300])
    assert vars(model) == before
    assert np.array_equal(model.predict(X), predicted)


def test_training_that_diverges_leaves_the_last_fit() -> None:
    X, y = sets(100), np.where(largest(sets(100)) > 0.5, "high", "low")
    model = DeepSetsClassifier(epochs=2, random_state=0).fit(X, y)
    before = vars(model).copy()
    model.set_params(learning_rate=1e300)
    with pytest.raises(FloatingPointError):
        model.fit(X[:50], y[:50])
    assert vars(model) == before | {"learning_rate": 1e300}


def test_an_interrupt_keeps_the_best_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = sets(600), largest(sets(600))
    interrupt_after(54, monkeypatch)  # 17 steps an epoch
    with pytest.warns(UserWarning, match="interrupted after 3 of 9 epochs"):
        model = DeepSetsRegressor(epochs=9, random_state=0).fit(X, y)
    assert model.interrupted_
    assert model.best_epoch_ in (1, 2, 3)
    assert np.isfinite(model.predict(X)).all()


@pytest.mark.parametrize("epochs", [1, 20])
@pytest.mark.parametrize("n", [60, 600])
def test_training_that_diverges_is_an_error(n: int, epochs: int) -> None:
    X, y = sets(n), largest(sets(n))
    options: dict[str, Any] = {"learning_rate": 1e300, "epochs": epochs, "random_state": 0}
    for model in (DeepSetsRegressor(**options), AveragedDNNRegressor(**options)):
        with pytest.raises(FloatingPointError, match=r"Training has diverged.*Use a smaller learning_rate"):
            model.fit(X, y)


def test_a_progress_bar_where_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    AveragedLinearRegressor(epochs=2, verbose=1).fit(sets(60), largest(sets(60)))
    assert "epochs" in capsys.readouterr().err
    AveragedLinearRegressor(epochs=2).fit(sets(60), largest(sets(60)))
    assert capsys.readouterr().err == ""
