import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, log_loss, mean_squared_error
from sklearn.model_selection import PredefinedSplit, cross_val_predict

import clearset as cs
from clearset.datasets import make_reviews
from clearset.tuning._examples import read_examples

from .bowl import FITTED, HOOKS, SPACE, Bowl, X, Y, bowl


def tuned(budget=4, estimator=None, *, folds=5, **options):
    options = {"space": SPACE, "random_state": 0, "verbose": 0, **options}
    return cs.tune(Bowl() if estimator is None else estimator, X, Y, budget=budget, folds=folds, **options)


def dealt(y, folds, *, seed=0, stratify=True):
    """Return the fold of each example, as the splits themselves show it; -1 where it is in none."""
    n = len(y)
    _, splits = read_examples(np.arange(n)[:, None], y, None, None, folds, seed, stratify=stratify)
    numbers = np.full(n, -1)
    for fold, (rest, held) in enumerate(splits):
        assert sorted([*rest.X[:, 0], *held.X[:, 0]]) == list(range(n))
        assert (numbers[held.X[:, 0]] == -1).all()
        numbers[held.X[:, 0]] = fold
    return numbers


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("folds", [2, 5, 31])
def test_scores_are_those_of_a_cross_validation_of_numbers(folds, weighted):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(53, 3))
    y = X[:, 0] + rng.normal(size=53)
    weights = rng.uniform(0.1, 3.0, 53) if weighted else None
    tuning = cs.tune(
        Ridge(), X, y, budget=4, folds=folds, space={"alpha": (0.1, 100.0, "log")}, sample_weight=weights,
        random_state=7, verbose=0,
    )  # fmt: skip
    split = PredefinedSplit(dealt(y, folds, seed=7, stratify=False))
    assert split.get_n_splits() == folds
    for trial in tuning.trials:
        ridge = Ridge(**trial["params"], random_state=7)
        predicted = cross_val_predict(ridge, X, y, cv=split, params={"sample_weight": weights} if weighted else {})
        expected = mean_squared_error(y, predicted, sample_weight=weights)
        assert trial["score"] == pytest.approx(expected, rel=1e-12)
    best = Ridge(**tuning.best_params_).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(tuning.best_estimator_.coef_, best.coef_, rtol=1e-12)


@pytest.mark.parametrize("scoring", [None, "accuracy"])
def test_scores_are_those_of_a_cross_validation_of_classes(scoring):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(47, 2))
    y = np.where(X[:, 0] + rng.normal(size=47) > 0.5, "yes", "no")
    tuning = cs.tune(
        LogisticRegression(), X, y, budget=5, folds=5, space={"C": (1e-3, 10.0, "log")}, scoring=scoring,
        random_state=0, verbose=0,
    )  # fmt: skip
    split = PredefinedSplit(dealt(y, 5))
    for trial in tuning.trials:
        model = LogisticRegression(**trial["params"])
        shares = cross_val_predict(model, X, y, cv=split, method="predict_proba")
        if scoring is None:
            expected = log_loss(y, shares)
        else:
            expected = accuracy_score(y, np.where(shares[:, 1] > 0.5, "yes", "no"))
        assert trial["score"] == pytest.approx(expected, rel=1e-9)
    found = [trial["score"] for trial in tuning.trials]
    assert tuning.best_score_ == (min(found) if scoring is None else max(found))
    best = LogisticRegression(**tuning.best_params_).fit(X, y)
    np.testing.assert_allclose(tuning.best_estimator_.predict_proba(X), best.predict_proba(X), rtol=1e-9)


def test_a_fold_has_its_share_of_every_class():
    y = np.random.default_rng(0).permutation(np.repeat(["a", "b", "c", "d"], [50, 31, 7, 2]))
    numbers = dealt(y, 5)
    assert np.ptp(np.bincount(numbers)) <= 1
    for name in "abcd":
        assert np.ptp(np.bincount(numbers[y == name], minlength=5)) <= 1
    assert (numbers != dealt(y, 5, seed=1)).any()
    np.testing.assert_array_equal(numbers, dealt(y, 5))


def test_numbers_are_dealt_evenly_and_at_random():
    numbers = dealt(np.zeros(1003), 5, stratify=False)
    assert sorted(np.bincount(numbers)) == [200, 200, 201, 201, 201]
    assert 150 < (numbers[:-1] == numbers[1:]).sum() < 250  # a fifth of all


def test_a_class_that_is_nowhere_else_is_always_learned():
    y = np.array(["a", "b", "once"] + ["a", "b"] * 8)
    assert np.flatnonzero(dealt(y, 5) == -1).tolist() == [2]
    X = np.random.default_rng(0).normal(size=(19, 1))
    tuning = cs.tune(LogisticRegression(), X, y, budget=2, folds=5, space={"C": (0.1, 1.0)}, random_state=0, verbose=0)
    assert [trial["state"] for trial in tuning.trials] == ["complete"] * 2
    assert tuning.best_estimator_.classes_.tolist() == ["a", "b", "once"]


def test_each_setting_without_each_fold_and_the_best_once_on_all():
    class Counting(Bowl):
        def fit(self, X, y, validation_data=None):
            assert validation_data is None
            sizes.append(len(y))
            return super().fit(X, y)

    sizes: list[int] = []
    tuning = tuned(6, Counting(), folds=3)
    assert sizes == [13, 13, 14] * 6 + [20]
    assert FITTED[-1] == tuple(tuning.best_params_.values())
    for trial, first in zip(tuning.trials, FITTED[::3], strict=False):
        assert tuple(trial["params"].values()) == first
        assert trial["score"] == pytest.approx(bowl(**trial["params"]))


def test_a_setting_that_fails_without_one_fold_has_failed():
    HOOKS[7] = ValueError("not enough")
    tuning = tuned(3)
    assert [trial["error"] for trial in tuning.trials] == [None, "not enough", None]
    assert len(FITTED) == 5 + 2 + 5 + 1


def test_the_best_cannot_be_fitted_on_all():
    HOOKS[11] = ValueError("too much")
    with pytest.raises(ValueError, match=r"The best trial, \d, cannot be fitted on all examples: too much"):
        tuned(2)


def test_an_interrupted_trial_does_not_count():
    HOOKS[13] = KeyboardInterrupt()
    with pytest.warns(UserWarning, match="interrupted after 2 of 4 trials"):
        tuning = tuned(4)
    assert tuning.interrupted_
    assert len(tuning.trials) == 2
    assert FITTED[13:] == [tuple(tuning.best_params_.values())]
    assert tuning.best_estimator_.n_features_in_ == 1


def test_only_warnings_of_the_last_fit_are_heard():
    class Grumbling(Bowl):
        def fit(self, X, y):
            warnings.warn(f"{len(y)} examples", stacklevel=1)
            return super().fit(X, y)

    with pytest.warns(UserWarning, match="examples") as heard:
        tuned(3, Grumbling())
    assert [str(warning.message) for warning in heard] == ["20 examples"]


@pytest.mark.parametrize("first", [1, 4])
def test_resumed_is_as_in_one_go(tmp_path, first):
    def records(tuning):
        return [(trial["params"], trial["score"]) for trial in tuning.trials]

    whole = tuned(7)
    FITTED.clear()
    tuned(first, storage=tmp_path / "a")
    assert len(FITTED) == 5 * first + 1
    resumed = tuned(7, storage=tmp_path / "a")
    assert len(FITTED) == 5 * 7 + 2
    assert records(resumed) == records(whole)
    assert resumed.best_estimator_.get_params() == whole.best_estimator_.get_params()
    tuned(7, storage=tmp_path / "a", folds=np.int64(5))
    assert len(FITTED) == 5 * 7 + 3


@pytest.mark.parametrize(
    ("before", "now", "message"),
    [
        (5, 4, "folds was 5, and is now 4"),
        (5, None, "folds was 5, and is now nothing"),
        (None, 5, "folds was nothing, and is now 5"),
    ],
)
def test_trials_with_other_folds_are_refused(tmp_path, before, now, message):
    tuned(2, folds=before, storage=tmp_path / "a")
    with pytest.raises(ValueError, match=f"another search: {message}"):
        tuned(3, folds=now, storage=tmp_path / "a")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"folds": 1}, "folds must be a whole number from 2 to 31; received 1"),
        ({"folds": 32}, "folds must be a whole number from 2 to 31; received 32"),
        ({"folds": 2.5}, "folds must be a whole number"),
        ({"folds": True}, "folds must be a whole number"),
        ({"folds": 21}, "folds is 21, but X has 20 rows. Use fewer folds"),
        ({"validation_data": (X, Y)}, "received validation_data and folds=5. Leave one out"),
    ],
)
def test_refused(options, message):
    with pytest.raises(ValueError, match=message):
        tuned(**options)
    assert not FITTED


def test_too_few_of_a_class_for_folds():
    y = ["a", "a", "b", "c", "d"]
    with pytest.raises(ValueError, match="folds is 3, but only 2 examples have another of their class"):
        cs.tune(LogisticRegression(), np.zeros((5, 1)), y, folds=3, space={"C": [1.0]}, verbose=0)


def test_set_functions_and_semantic_models():
    reviews = make_reviews(90)
    model = cs.SetRegressor(["star_rating", "price"], epochs=2, n_jobs=1)
    tuning = cs.tune(
        model, reviews.frame, reviews.sales, budget=2, folds=3, space={"width": [1, 2]}, random_state=4, verbose=0
    )
    expected = clone(model).set_params(random_state=4, **tuning.best_params_).fit(reviews.frame, reviews.sales)
    np.testing.assert_array_equal(tuning.best_estimator_.predict(reviews.frame), expected.predict(reviews.frame))
    baskets, labels = [["bread", "milk"], ["beer", "milk"], ["milk"], ["beer"]] * 15, [0, 1, 0, 1] * 15
    items = cs.SemanticClassifier(tokens=cs.Items(), refine=False, epochs=2, n_jobs=1)
    tuning = cs.tune(
        items, baskets, labels, budget=2, folds=3, space={"cover": [True, False]}, random_state=0, verbose=0
    )
    assert [trial["state"] for trial in tuning.trials] == ["complete"] * 2
    assert tuning.best_estimator_.predict([["beer"], ["bread"]]).tolist() == [1, 0]
