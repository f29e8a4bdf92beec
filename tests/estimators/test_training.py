"""Training: repeatable, by the loss that was asked for, on the sets that count."""

from typing import Any

import numpy as np
import polars as pl
import pytest

import clearset as cs
from clearset.datasets import make_reviews
from clearset.engines import Engine, engine
from clearset.functions import SetFunction, ShapeConstraints
from clearset.sets import Binning
from clearset.training import Fitting


@pytest.fixture(scope="module")
def reviews() -> Any:
    return make_reviews(250)


@pytest.fixture(scope="module")
def curve() -> tuple[np.ndarray, np.ndarray]:
    """One feature, a smooth label with a little noise."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(400, 1))
    return X, np.exp(1.5 * X[:, 0]) + 0.1 * rng.normal(size=400)


FEATURES = [cs.Feature("star_rating", monotonic="increasing"), "num_helpful", "price", cs.SIZE]


RISING = [cs.Feature("x0", monotonic="increasing")]


def fit(X: Any, y: Any, **options: Any) -> Any:
    cls = options.pop("cls", cs.SetRegressor)
    fit_options = {name: options.pop(name) for name in ("sample_weight", "validation_data") if name in options}
    return cls(**{"epochs": 60, "random_state": 0, "n_jobs": 1} | options).fit(X, y, **fit_options)


@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize(
    "options", [{"width": 2}, {"constraints": "light_touch", "lattices": "ensemble"}, {"restarts": 2}]
)
def test_one_seed_one_model_whatever_the_threads(
    reviews: Any, options: dict[str, Any], single: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if single:
        monkeypatch.setattr("clearset.training._prepared.DOUBLE_PRECISION_VALUES", 0)
    options = {"features": FEATURES, "epochs": 3} | options
    expected = fit(reviews.frame, reviews.sales, **options).predict(reviews.frame)
    for n_jobs in (1, 2, 3):
        model = fit(reviews.frame, reviews.sales, n_jobs=n_jobs, **options)
        assert np.array_equal(model.predict(reviews.frame), expected)
    other = fit(reviews.frame, reviews.sales, random_state=1, **options)
    assert not np.array_equal(other.predict(reviews.frame), expected)


def test_fitting_the_same_object_again_gives_the_same_model(curve: Any) -> None:
    X, y = curve
    model = fit(X, y, epochs=5)
    first = model.predict(X)
    assert np.array_equal(model.fit(X, y).predict(X), first)


def test_squared_error(curve: Any) -> None:
    X, y = curve
    model = fit(X, y, features=RISING)
    assert np.mean((model.predict(X) - y) ** 2) < 0.1 * np.var(y)
    assert model.history_[-1]["loss"] < 0.1 * np.var(y)
    assert model.history_[-1]["loss"] == pytest.approx(np.mean((model.predict(X) - y) ** 2), rel=0.3)


def test_absolute_error_follows_the_median(curve: Any) -> None:
    X, y = curve
    y = y.copy()
    y[::10] += 100.0  # a tenth of far outliers moves the mean by 10, the median hardly
    model = fit(X, y, features=RISING, loss="absolute_error", epochs=60)
    inliers = np.arange(len(y)) % 10 != 0
    constant = np.abs(y[inliers] - np.median(y)).mean()
    assert np.abs(model.predict(X) - y)[inliers].mean() < 0.4 * constant


@pytest.mark.parametrize("quantile", [0.1, 0.5, 0.9])
def test_quantile_covers_its_share(quantile: float) -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 1, size=(1500, 1))
    y = 5 * X[:, 0] + (1 + X[:, 0]) * rng.exponential(size=1500)
    model = fit(X, y, features=RISING, loss="quantile", quantile=quantile, epochs=30)
    assert np.mean(y <= model.predict(X)) == pytest.approx(quantile, abs=0.04)
    upper = X[:, 0] > 0.5  # in every part, not only overall
    assert np.mean(y[upper] <= model.predict(X)[upper]) == pytest.approx(quantile, abs=0.06)


def test_poisson_predicts_positive_rates() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 3, size=(800, 1))
    rate = np.exp(X[:, 0] - 1)
    y = rng.poisson(rate)
    model = fit(X, y, loss="poisson", features=RISING)
    predicted = model.predict(X)
    assert (predicted > 0).all()
    assert np.mean(np.abs(predicted / rate - 1)) < 0.15

    def deviance(mean: Any) -> float:
        return float(np.mean(mean - y * np.log(mean)))

    assert deviance(predicted) < deviance(y.mean()) - 0.5 * (deviance(y.mean()) - deviance(rate))
    assert np.isfinite(model.predict([[1e9], [np.nan]])).all()


@pytest.mark.parametrize("loss", ["log_loss", "hinge"])
def test_two_classes(reviews: Any, loss: str) -> None:
    y = np.where(reviews.truth > np.median(reviews.truth), "popular", "dull")
    model = fit(reviews.frame, y, cls=cs.SetClassifier, features=FEATURES, loss=loss, epochs=100)
    assert model.score(reviews.frame, y) > 0.85
    sign = model.decision_function(reviews.frame) > 0
    assert np.array_equal(model.predict(reviews.frame), np.where(sign, "popular", "dull"))
    if loss == "log_loss":
        chance = model.predict_proba(reviews.frame)
        assert chance.sum(axis=1) == pytest.approx(np.ones(250))
        assert np.array_equal(model.classes_[chance.argmax(axis=1)], model.predict(reviews.frame))
        assert -np.mean(np.log(chance[np.arange(250), (y == "popular").astype(int)])) < 0.5 * np.log(2)


@pytest.mark.parametrize("loss", ["log_loss", "hinge"])
@pytest.mark.parametrize("width", [1, 2])
def test_three_classes(loss: str, width: int) -> None:
    """Sets whose tokens gather around the class's own place on a circle."""
    rng = np.random.default_rng(0)
    y = np.arange(240) % 3
    sizes = rng.integers(2, 8, size=240)
    angle = 2 * np.pi / 3 * np.repeat(y, sizes)
    values = np.stack([np.cos(angle), np.sin(angle)], axis=1) + 0.5 * rng.normal(size=(len(angle), 2))
    X = cs.SetData(values, np.concatenate([[0], np.cumsum(sizes)]), ["a", "b"])
    names = np.array(["left", "right", "top"])[y]
    model = fit(X[:160], names[:160], cls=cs.SetClassifier, loss=loss, width=width, epochs=80)
    assert model.score(X[160:], names[160:]) > 0.9
    assert model.decision_function(X).shape == (240, 3)
    assert model.phi(X).scores.shape == (len(values), 3, width)
    if loss == "log_loss":
        assert model.predict_proba(X).sum(axis=1) == pytest.approx(np.ones(240))


def test_adagrad(curve: Any) -> None:
    X, y = curve
    adam, adagrad = (
        fit(X, y, features=RISING, optimizer=name, learning_rate=0.1, epochs=30) for name in ("adam", "adagrad")
    )
    assert np.mean((adagrad.predict(X) - y) ** 2) < 0.2 * np.var(y)
    assert not np.array_equal(adam.predict(X), adagrad.predict(X))


@pytest.mark.parametrize("cls", [cs.SetRegressor, cs.SetClassifier])
def test_a_weight_of_zero_is_absence_and_whole_weights_are_copies(cls: Any) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(14, 2))
    y = X[:, 0] > 0 if cls is cs.SetClassifier else X[:, 0] + X[:, 1] ** 2
    weights = rng.integers(0, 4, size=14)
    order = rng.permutation(14)
    weighted = fit(X[order], y[order], cls=cls, epochs=20, sample_weight=weights[order])
    repeated = fit(np.repeat(X, weights, axis=0), np.repeat(y, weights), cls=cls, epochs=20)
    method = "decision_function" if cls is cs.SetClassifier else "predict"
    assert getattr(weighted, method)(X) == pytest.approx(getattr(repeated, method)(X), abs=1e-6)
    plain = fit(X, y, cls=cls, epochs=20)
    assert np.abs(getattr(plain, method)(X) - getattr(repeated, method)(X)).max() > 1e-3


def test_validation_data_choose_the_epoch(curve: Any) -> None:
    """Training labels that are noise, validated by their own opposite: the start is the best there is."""
    rng = np.random.default_rng(0)
    X, y = rng.uniform(size=(300, 1)), rng.normal(size=300)
    model = fit(X, y, validation_data=(X, -y), smoothness=0.0, keypoints=50, patience=5, epochs=24)
    losses = [entry["validation_loss"] for entry in model.history_]
    assert len(losses) == model.n_iter_ < 24
    assert model.best_epoch_ == 1 + int(np.argmin(losses))
    assert model.n_iter_ - model.best_epoch_ == 5
    assert np.mean((model.predict(X) + y) ** 2) == pytest.approx(min(losses), rel=0.05)


def test_validation_labels_are_in_the_labels_unit(curve: Any) -> None:
    X, y = curve
    model = fit(X, 1000 * y, validation_data=(X[:100], 1000 * y[:100]), epochs=20)
    best = model.history_[model.best_epoch_ - 1]["validation_loss"]
    assert best == pytest.approx(np.mean((model.predict(X[:100]) - 1000 * y[:100]) ** 2), rel=1e-6)


def test_a_share_is_kept_for_validation_where_there_is_enough(curve: Any) -> None:
    X, y = curve
    assert "validation_loss" in fit(X, y, early_stopping=True, validation_fraction=0.5, epochs=1).history_[0]
    assert "validation_loss" not in fit(X, y, early_stopping=False, epochs=1).history_[0]
    with pytest.warns(UserWarning, match="none of the 20 sets are held out"):
        assert "validation_loss" not in fit(X[:20], y[:20], early_stopping=True, epochs=1).history_[0]


def test_of_many_sets_some_are_held_out_and_of_few_none() -> None:
    X = np.random.default_rng(0).uniform(size=(10_000, 1))
    assert "validation_loss" in fit(X, X[:, 0], epochs=1).history_[0]
    assert "validation_loss" not in fit(X[1:], X[1:, 0], epochs=1).history_[0]


def test_the_best_epoch_may_be_one_of_the_beginning() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.uniform(size=(300, 1)), rng.normal(size=300)
    model = fit(X, y, validation_data=(X, -y), smoothness=0.0, keypoints=50, epochs=60)
    losses = [entry["validation_loss"] for entry in model.history_]
    assert [entry["epoch"] for entry in model.history_] == list(range(1, len(losses) + 1))
    assert model.best_epoch_ == 1 + int(np.argmin(losses))
    assert np.mean((model.predict(X) + y) ** 2) == pytest.approx(min(losses), rel=0.05)


def test_early_stopping_can_be_left_out(curve: Any) -> None:
    X, y = curve
    noise = np.random.default_rng(0).normal(size=len(y))
    stopped = fit(X, noise, early_stopping=True, validation_fraction=0.5, patience=1, epochs=100)
    assert stopped.n_iter_ < 100
    whole = fit(X, noise, early_stopping=False, patience=1, epochs=30)
    assert (whole.n_iter_, whole.best_epoch_) == (30, 30)


def test_warm_start_goes_on(curve: Any) -> None:
    X, y = curve
    model = fit(X, y, features=RISING, epochs=2, warm_start=True)
    keypoints, loss = model.binning_.keypoints[0].copy(), np.mean((model.predict(X) - y) ** 2)
    model.fit(X[:380], y[:380])
    assert np.array_equal(model.binning_.keypoints[0], keypoints)
    assert np.mean((model.predict(X) - y) ** 2) < 0.9 * loss
    cold = fit(X, y, features=RISING, epochs=2)
    assert model.history_[0]["loss"] < 0.5 * cold.history_[0]["loss"]
    model.set_params(warm_start=False).fit(X, y)
    assert np.array_equal(model.predict(X), cold.predict(X))


def test_warm_start_keeps_the_classes() -> None:
    X = np.linspace(0, 1, 60)[:, None]
    classes = np.array(["a", "b", "c"])[np.arange(60) // 20]
    model = fit(X, classes, cls=cs.SetClassifier, warm_start=True, epochs=30)
    model.fit(X[:40], classes[:40])
    assert model.classes_.tolist() == ["a", "b", "c"]


def test_restarts_keep_the_best(monkeypatch: pytest.MonkeyPatch, curve: Any) -> None:
    X, y = curve
    found, shapes = [], []
    native = type(engine())
    train, trainer = Fitting.train, native.trainer

    def watched(fitting: Fitting, *arguments: Any, **options: Any) -> Any:
        found.append(train(fitting, *arguments, **options))
        return found[-1]

    def watched_trainer(own_engine: Engine, problem: Any, *arguments: Any) -> Any:
        shapes.append(problem.shape)
        return trainer(own_engine, problem, *arguments)

    monkeypatch.setattr(Fitting, "train", watched)
    monkeypatch.setattr(native, "trainer", watched_trainer)
    model = fit(X, y, restarts=3, epochs=3, width=2)
    losses = [attempt.best_loss for attempt in found]
    assert len(set(losses)) == 3
    assert len(set(map(id, shapes))) == 3  # a projection starts where the last one of its own training ended
    assert model.history_ is found[int(np.argmin(losses))].history


class _Interrupting:
    """Stand in for the progress bar: raise an interrupt after some epochs, as Ctrl-C would."""

    def __init__(self, after: int) -> None:
        self.after, self.seen = after, 0

    def __call__(self, _: dict[str, Any]) -> "_Interrupting":
        return self

    def __enter__(self) -> Any:
        return self.on_epoch

    def __exit__(self, *_: object) -> None:
        pass

    def on_epoch(self, _: dict[str, float]) -> None:
        self.seen += 1
        if self.seen == self.after:
            raise KeyboardInterrupt


@pytest.mark.parametrize("restarts", [1, 3])
@pytest.mark.parametrize("after", [1, 7])
@pytest.mark.parametrize("validated", [True, False])
def test_an_interrupt_keeps_what_was_reached(
    monkeypatch: pytest.MonkeyPatch, curve: Any, validated: bool, after: int, restarts: int
) -> None:
    X, y = curve
    options = {"validation_fraction": 0.5, "early_stopping": validated, "epochs": 12, "restarts": restarts}
    monkeypatch.setattr("clearset.estimators._set_estimator.progress_bar", _Interrupting(after))
    with pytest.warns(UserWarning, match="interrupted after"):
        model = fit(X, y, features=RISING, **options)
    assert model.interrupted_
    assert model.n_iter_ == after
    assert np.isfinite(model.predict(X)).all()
    assert model.certificate_
    monkeypatch.undo()
    assert not fit(X, y, features=RISING, **options).interrupted_
    if validated and after > 1:
        # The best parameters so far, not the last.
        half = fit(X, y, features=RISING, **options | {"restarts": 1})
        losses = [entry["validation_loss"] for entry in half.history_[: after - 1]]
        assert model.best_epoch_ == 1 + int(np.argmin(losses))


def test_an_interrupted_restart_does_not_replace_a_better_one(monkeypatch: pytest.MonkeyPatch, curve: Any) -> None:
    X, y = curve
    complete = fit(X, y, epochs=10)
    monkeypatch.setattr("clearset.estimators._set_estimator.progress_bar", _Interrupting(after=11))
    with pytest.warns(UserWarning, match="interrupted after"):
        model = fit(X, y, epochs=10, restarts=3)
    assert model.interrupted_
    assert np.array_equal(model.predict(X), complete.predict(X))


def test_light_touch_nearly_holds_before_the_last_projection(monkeypatch: pytest.MonkeyPatch) -> None:
    """Against data that ask for the opposite, penalties alone come close to what is declared."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(400, 2))
    y = np.sin(6 * X[:, 0]) * X[:, 1] - X[:, 1]
    features = [cs.Feature("x0", monotonic="increasing"), cs.Feature("x1", monotonic="increasing")]
    seen: list[float] = []
    exactly = ShapeConstraints.project_exactly

    def largest_violation(model: SetFunction, binning: Binning) -> float:
        declared = Binning(tuple(features), binning.keypoints, binning.categories)
        shape = ShapeConstraints.of(model, declared, ())
        return max(violation for _, _, violation in shape.violations(model.tables))

    def watched(self: ShapeConstraints, tables: Any) -> None:
        seen.append(max(violation for _, _, violation in self.violations(tables)))
        exactly(self, tables)

    monkeypatch.setattr(ShapeConstraints, "project_exactly", watched)
    model = fit(X, y, features=features, constraints="light_touch", epochs=60)
    free = fit(X, y, epochs=60)
    assert seen[0] < 0.1
    assert largest_violation(free.set_function_, free.binning_) > 5 * seen[0]
    assert model.certificate_


def test_history_and_attributes(curve: Any) -> None:
    X, y = curve
    model = fit(X, y, epochs=7)
    assert [entry["epoch"] for entry in model.history_] == list(range(1, 8))
    assert (model.n_iter_, model.interrupted_, model.n_features_in_) == (7, False, 1)
    assert model.history_[-1]["loss"] < model.history_[0]["loss"]


def test_rho_of_the_mean_score_is_the_output(reviews: Any) -> None:
    model = fit(reviews.frame, reviews.sales, features=FEATURES, width=3, epochs=5)
    scores, offsets = model.phi(reviews.frame)
    means = np.add.reduceat(scores, offsets[:-1], axis=0) / np.diff(offsets)[:, None]
    assert model.rho(means) == pytest.approx(model.predict(reviews.frame), rel=1e-12)
    assert (np.abs(scores) <= 1).all()


def test_a_random_frame_of_noise_is_not_learned_by_heart() -> None:
    """With the smoothness that is the default, validation on noise ends near the mean."""
    rng = np.random.default_rng(0)
    frame, y = pl.DataFrame(rng.normal(size=(100, 3)), schema=["a", "b", "c"]), rng.normal(size=100)
    later = pl.DataFrame(rng.normal(size=(500, 3)), schema=["a", "b", "c"])
    assert np.mean((fit(frame, y, epochs=100).predict(later) - y.mean()) ** 2) < 1.0


def test_the_strength_that_was_found_can_be_asked_for() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    y = np.abs(X[:, 0]) + 0.1 * rng.normal(size=80)
    found = cs.SetRegressor(epochs=5, random_state=0, n_jobs=1).fit(X, y)
    asked = cs.SetRegressor(epochs=5, random_state=0, n_jobs=1, smoothness=found.smoothness_).fit(X, y)
    np.testing.assert_array_equal(found.predict(X), asked.predict(X))
    assert cs.SetRegressor(epochs=1, n_jobs=1, smoothness=np.float32(30)).fit(X, y).smoothness_ == 30.0


@pytest.mark.parametrize("seed", range(6))
def test_steep_beginnings_of_counts_do_not_overflow(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(600, 4))
    counts = np.round(np.abs(X[:, 0] ** 2 + X[:, 0] * X[:, 1]))
    model = cs.SetRegressor(loss="poisson", epochs=2, random_state=0, n_jobs=1).fit(X, counts)
    assert np.isfinite(model.predict(X)).all()


@pytest.mark.parametrize("smoothness", [0.0, 1e-310, 1e-100, 1e-5])
def test_any_smoothness_is_taken(smoothness: float) -> None:
    X = np.random.default_rng(0).normal(size=(60, 2))
    model = cs.SetRegressor(smoothness=smoothness, epochs=2, random_state=0, n_jobs=1).fit(X, X[:, 0])
    assert model.smoothness_ == smoothness
