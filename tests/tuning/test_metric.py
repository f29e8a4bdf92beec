from functools import partial

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, PoissonRegressor, Ridge, RidgeClassifier
from sklearn.metrics import log_loss, make_scorer, mean_absolute_error
from sklearn.pipeline import make_pipeline

import clearset as cs
from clearset.tuning._metric import read_metric, tells_classes

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2))
Y = X[:, 0] + 0.5 * RNG.normal(size=60)
CLASSES = np.array(["no", "yes"])[(Y > 0).astype(int)]
WEIGHTS = RNG.integers(1, 4, size=60).astype(float)


@pytest.mark.parametrize(
    ("estimator", "name"),
    [
        (cs.SetRegressor(), "mean squared error"),
        (cs.SetRegressor(loss="absolute_error"), "mean absolute error"),
        (cs.SetRegressor(loss="quantile", quantile=0.9), "pinball loss"),
        (cs.SetRegressor(loss="poisson"), "Poisson deviance"),
        (cs.SemanticRegressor(loss="absolute_error"), "mean absolute error"),
        (cs.SetClassifier(), "log loss"),
        (cs.SetClassifier(loss="hinge"), "error rate"),
        (cs.SemanticClassifier(), "log loss"),
        (make_pipeline(LogisticRegression()), "log loss"),
        (RidgeClassifier(), "error rate"),
        (cs.SemanticFeatureEngine(), "mean squared error"),
        (cs.SemanticFeatureEngine(loss="log_loss"), "log loss"),
    ],
)
def test_by_default_the_loss_of_the_estimator(estimator, name):
    metric = read_metric(estimator, None, Y)
    assert metric.name == name
    assert not metric.higher_is_better
    assert metric.loss(2.0) == 2.0


def test_labels_of_an_engine():
    assert tells_classes(cs.SemanticFeatureEngine(), CLASSES)
    assert not tells_classes(cs.SemanticFeatureEngine(), Y)


@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_values(weights):
    w = np.ones(60) if weights is None else weights
    ridge, logistic = Ridge().fit(X, Y), LogisticRegression().fit(X, CLASSES)
    errors = Y - ridge.predict(X)

    def score(estimator, model, y):
        return read_metric(estimator, None, y).score(model, X, y, weights)

    assert score(ridge, ridge, Y) == pytest.approx(np.average(errors**2, weights=w))
    absolute = cs.SetRegressor(loss="absolute_error")
    assert score(absolute, ridge, Y) == pytest.approx(np.average(abs(errors), weights=w))
    quantile = cs.SetRegressor(loss="quantile", quantile=0.9)
    pinball = np.where(errors > 0, 0.9 * errors, -0.1 * errors)
    assert score(quantile, ridge, Y) == pytest.approx(np.average(pinball, weights=w))
    poisson = PoissonRegressor().fit(X, np.exp(Y))
    rate, count = poisson.predict(X), np.exp(Y)
    deviance = 2 * (count * np.log(count / rate) - count + rate)
    assert score(cs.SetRegressor(loss="poisson"), poisson, count) == pytest.approx(np.average(deviance, weights=w))
    shares = logistic.predict_proba(X)[np.arange(60), (CLASSES == "yes").astype(int)]
    assert score(logistic, logistic, CLASSES) == pytest.approx(-np.average(np.log(shares), weights=w))
    wrong = RidgeClassifier().fit(X, CLASSES)
    expected = np.average(wrong.predict(X) != CLASSES, weights=w)
    assert score(wrong, wrong, CLASSES) == pytest.approx(expected)


def test_an_engine_is_scored_by_its_estimates():
    baskets = [["bread", "milk"], ["beer", "crisps"], ["milk"], ["beer"]] * 10
    options = {"tokens": cs.Items(), "epochs": 2, "random_state": 0, "n_jobs": 1}
    labels = ["a", "b", "a", "b"] * 10
    engine = cs.SemanticFeatureEngine(**options).fit(baskets, labels)
    metric = read_metric(engine, None, labels)
    second = engine.transform(baskets)[:, 0]
    assert metric.score(engine, baskets, labels, None) == pytest.approx(log_loss(labels, second))


def test_scorers_are_better_when_higher():
    metric = read_metric(Ridge(), "neg_mean_absolute_error", Y)
    model = Ridge().fit(X, Y)
    assert metric.name == "neg_mean_absolute_error"
    assert metric.higher_is_better
    assert metric.loss(-3.0) == 3.0
    assert metric.score(model, X, Y, None) == pytest.approx(-mean_absolute_error(Y, model.predict(X)))
    weighted = -np.average(abs(Y - model.predict(X)), weights=WEIGHTS)
    assert metric.score(model, X, Y, WEIGHTS) == pytest.approx(weighted)
    made = read_metric(Ridge(), make_scorer(mean_absolute_error, greater_is_better=False), Y)
    assert made.score(model, X, Y, None) == metric.score(model, X, Y, None)

    def best(model, X, y):
        return 7

    assert read_metric(Ridge(), best, Y).name == "best"
    assert read_metric(Ridge(), best, Y).score(model, X, Y, None) == 7.0


def test_weights_where_a_scorer_takes_them():
    model = Ridge().fit(X, Y)
    errors = abs(Y - model.predict(X))

    def plain(model, X, y):
        return -abs(y - model.predict(X)).mean()

    def anything(model, X, y, **options):
        return options["sample_weight"].sum()

    assert read_metric(Ridge(), plain, Y).score(model, X, Y, WEIGHTS) == pytest.approx(-errors.mean())
    assert read_metric(Ridge(), anything, Y).score(model, X, Y, WEIGHTS) == WEIGHTS.sum()
    most = read_metric(Ridge(), "neg_max_error", Y).score(model, X, Y, WEIGHTS)
    assert most == pytest.approx(-errors.max())


def test_what_has_no_name_is_said_without_its_place_in_memory():
    def share(model, X, y, above):
        return 1.0

    assert " at 0x" not in read_metric(Ridge(), partial(share, above=1), Y).name


def test_a_search_by_accuracy():
    tuning = cs.tune(
        LogisticRegression(), X, CLASSES, (X, CLASSES), 5, space={"C": (1e-4, 10.0, "log")}, scoring="accuracy",
        random_state=0, verbose=0,
    )  # fmt: skip
    assert tuning.higher_is_better
    assert tuning.best_score_ == max(trial["score"] for trial in tuning.trials)
    assert tuning.best_score_ == np.mean(tuning.best_estimator_.predict(X) == CLASSES)
