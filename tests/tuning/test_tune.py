import numpy as np
import pytest
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import BaggingRegressor
from sklearn.exceptions import DataConversionWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import log_loss, mean_squared_error
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import clearset as cs
from clearset.datasets import make_reviews
from clearset.tuning._domains import read_space
from clearset.tuning._journal import _untried

from .bowl import FITTED, HOOKS, SPACE, Bowl, X, Y, bowl


def tuned(budget=8, estimator=None, **options):
    options = {"space": SPACE, "random_state": 0, "verbose": 0, **options}
    return cs.tune(Bowl() if estimator is None else estimator, X, Y, budget=budget, **options)


def settings(tuning):
    return [tuple(trial["params"].values()) for trial in tuning.trials]


def test_the_optimum_is_found():
    tuning = tuned(60)
    assert tuning.best_params_["kind"] == "good"
    assert tuning.best_score_ < 1.0  # of settings at random a hundredth
    assert tuning.best_score_ == pytest.approx(bowl(**tuning.best_params_))
    assert tuning.best_score_ == min(trial["score"] for trial in tuning.trials)
    assert tuning.best_estimator_.get_params()["x"] == tuning.best_params_["x"]
    assert tuning.metric == "mean squared error"
    assert not tuning.higher_is_better


@pytest.mark.parametrize("given", [Bowl(), Bowl(x=2.0, n=8, kind="good"), Bowl(x=99.0, n=8)])
def test_the_first_trial_is_the_estimator_as_given(given):
    before = given.get_params()
    tuning = tuned(5, given)
    assert tuning.trials[0]["params"] == {name: before[name] for name in SPACE}
    assert tuning.trials[0]["score"] == pytest.approx(bowl(given.x, given.n, given.kind))
    assert tuning.best_score_ <= tuning.trials[0]["score"]
    assert given.get_params() == before
    if given.kind == "good":
        assert tuning.best_trial_ == 0


def test_settings_are_within_the_space():
    trials = tuned(20).trials[1:]
    for trial in trials:
        assert -10 <= trial["params"]["x"] <= 10
        assert isinstance(trial["params"]["n"], int)
        assert 1 <= trial["params"]["n"] <= 64
        assert trial["params"]["kind"] in SPACE["kind"]
    assert len({trial["params"]["kind"] for trial in trials}) == 3


def test_the_same_seed_gives_the_same_trials():
    assert settings(tuned(14)) == settings(tuned(14))
    assert settings(tuned(14)) != settings(tuned(14, random_state=1))


def test_a_larger_budget_begins_with_the_same_trials():
    assert settings(tuned(20))[:12] == settings(tuned(12))


def test_no_setting_twice_and_an_end_where_none_is_left():
    tuning = tuned(30, space={"kind": ["bad", "good", "worse"]})
    assert sorted(settings(tuning)) == [("bad",), ("good",), ("worse",)]
    assert len(FITTED) == 3


@pytest.mark.parametrize(
    "space",
    [
        {"x": [0.0, 1.0, 2.0, 3.0, 4.0, 5.0], "n": [1, 2, 3, 4, 5, 6]},
        {"x": [0.0, 1.0, 2.0, 3.0], "n": (1, 3), "kind": ["bad", "good", "worse"]},
    ],
)
def test_a_finite_space_is_searched_to_its_end(space):
    tuning = tuned(36, space=space)
    assert len(set(settings(tuning))) == len(FITTED) == 36
    assert settings(tuned(36, space=space)) == settings(tuning)
    assert settings(tuned(99, space=space)) == settings(tuning)
    assert len(tuned(99, Bowl(x=77.0), space=space).trials) == 37  # as given it is outside


def test_a_range_of_hardly_any_numbers_comes_to_an_end():
    tuning = tuned(9, Bowl(x=1.0), space={"x": (1.0, float(np.nextafter(1.0, 2.0)))})
    assert len(tuning.trials) == len(set(settings(tuning))) <= 2


def test_a_huge_finite_space():
    domains = read_space({"x": list(range(10**5)), "n": (1, 10**18), "kind": ["good"] * 3}, Bowl())
    tried = [{"x": 0, "n": 1, "kind": 0}]
    drawn = _untried(tried, domains, 0)
    assert list(drawn) == list(domains)
    assert drawn not in tried
    assert all(domain.plain(domain.value(drawn[name])) == drawn[name] for name, domain in domains.items())


def test_all_that_are_left_are_drawn_alike():
    domains = read_space({"x": [5, 6, 7], "n": (3, 4)}, Bowl())
    tried = [{"x": 0, "n": 3}, {"x": 2, "n": 4}, {"x": 1, "n": 3}]
    drawn = [tuple(_untried(tried, domains, seed).values()) for seed in range(90)]
    assert set(drawn) == {(0, 4), (1, 4), (2, 3)}
    assert min(drawn.count(one) for one in set(drawn)) > 15


@pytest.mark.parametrize(
    ("given", "choices", "n_trials"),
    [
        (1.0, [1, 2], 2),
        (1, np.array([1.0, 2.0]), 2),
        (1, [1, 1, 1], 1),
        ([1], [[1.0], [2.0]], 2),
        (True, [1, 2], 3),
        (np.ones(2), [[np.ones(2)], np.ones(2), np.ones(2)], 2),
    ],
)
def test_the_same_value_is_the_same_setting(given, choices, n_trials):
    class Any(Bowl):
        def predict(self, X):
            return np.zeros(len(X))

    assert len(tuned(9, Any(n=given), space={"n": choices}).trials) == n_trials


def test_seconds_end_the_search():
    assert len(tuned(30, seconds=1e-9).trials) == 1
    assert len(tuned(9, seconds=1e9).trials) == 9


def test_seeds_that_are_not_set_are_set():
    assert tuned(1).best_estimator_.random_state == 0
    assert tuned(1, Bowl(random_state=7)).best_estimator_.random_state == 7


def test_pipelines_nested_names_and_estimators_as_choices():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3)) * [1.0, 10.0, 100.0]
    y = X @ [1.0, 0.1, 0.01] + rng.normal(size=200) * 0.1
    scalers = [StandardScaler(), MinMaxScaler(), "passthrough"]
    pipeline = make_pipeline(StandardScaler(), Ridge())
    space = {"ridge__alpha": (1e-3, 1e3, "log"), "standardscaler": scalers}
    tuning = cs.tune(pipeline, X, y, budget=8, space=space, random_state=0, verbose=0)
    assert set(tuning.best_params_) == set(space)
    assert tuning.best_estimator_.named_steps["ridge"].alpha == tuning.best_params_["ridge__alpha"]
    assert not any(hasattr(scaler, "scale_") for scaler in scalers)
    assert not hasattr(pipeline[-1], "coef_")


def test_the_score_is_that_of_the_best_model_on_the_validation_data():
    rng = np.random.default_rng(0)
    X, X_held = rng.normal(size=(100, 3)), rng.normal(size=(50, 3))
    y, y_held = (X[:, 0] > 0.3).astype(int), (X_held[:, 0] > 0.3).astype(int)
    space = {"C": (1e-3, 1e3, "log")}
    tuning = cs.tune(LogisticRegression(), X, y, (X_held, y_held), 6, space=space, random_state=0, verbose=0)
    assert tuning.metric == "log loss"
    expected = clone(tuning.best_estimator_).fit(X, y)
    assert tuning.best_score_ == pytest.approx(log_loss(y_held, expected.predict_proba(X_held)))


def test_set_functions_stop_early_on_the_validation_data():
    reviews = make_reviews(300)
    training, held = reviews.frame[:200], reviews.frame[200:]
    model = cs.SetRegressor(["star_rating", "price"], epochs=4, random_state=3, n_jobs=1, verbose=1)
    tuning = cs.tune(
        model, training, reviews.sales[:200], (held, reviews.sales[200:]), 3, space={"width": [1, 2]}, verbose=0
    )
    expected = cs.SetRegressor(["star_rating", "price"], epochs=4, random_state=3, n_jobs=1)
    expected.set_params(**tuning.best_params_)
    expected.fit(training, reviews.sales[:200], validation_data=(held, reviews.sales[200:]))
    np.testing.assert_array_equal(tuning.best_estimator_.predict(held), expected.predict(held))
    error = mean_squared_error(reviews.sales[200:], expected.predict(held))
    assert tuning.best_score_ == pytest.approx(error)
    assert tuning.best_estimator_.verbose == 1
    assert len(tuning.trials) == 2


def test_weights_are_fitted_with():
    X = np.array([[0.0], [1.0]] * 20)
    y = np.array([0.0, 1.0] * 20)
    weights = np.array([0.0, 1.0] * 20)
    tuning = cs.tune(Ridge(), X, y, budget=1, space={"alpha": [1.0]}, sample_weight=weights, verbose=0)
    assert tuning.best_estimator_.predict([[0.0]]) == pytest.approx([1.0])
    assert tuning.best_score_ == pytest.approx(0.0)


def test_settings_that_cannot_be_fitted_are_passed_over():
    HOOKS[2] = ValueError("this\nis wrong")
    HOOKS[4] = FloatingPointError("diverged")
    HOOKS[5] = cs.TokenLimitError("too many")
    tuning = tuned(7)
    assert [trial["state"] for trial in tuning.trials] == [
        "complete", "failed", "complete", "failed", "failed", "complete", "complete",
    ]  # fmt: skip
    assert [trial["error"] for trial in tuning.trials if trial["error"]] == [
        "this is wrong", "diverged", "too many",
    ]  # fmt: skip
    assert tuning.trials[1]["score"] is None
    assert len(tuning.ranked()) == 4


def test_failures_are_avoided():
    class Picky(Bowl):
        def fit(self, X, y):
            if self.kind != "good":
                raise ValueError("no")
            return super().fit(X, y)

    kinds = [trial["params"]["kind"] for trial in tuned(60, Picky(kind="good")).trials]
    assert kinds[30:].count("good") > 20


@pytest.mark.parametrize("error", [ValueError("wrong"), FloatingPointError("diverged")])
def test_an_estimator_that_cannot_be_fitted_as_given_is_an_error_at_once(error):
    HOOKS[1] = error
    with pytest.raises(ValueError, match=f"^The estimator as given cannot be fitted: {error}$") as raised:
        tuned(4)
    assert raised.value.__cause__ is error
    assert len(FITTED) == 1


def test_scores_that_are_no_numbers_fail():
    with pytest.raises(ValueError, match="the <lambda> on validation data is nan"):
        tuned(2, scoring=lambda *_: float("nan"))


def test_other_errors_are_raised():
    HOOKS[3] = TypeError("a bug")
    with pytest.raises(TypeError, match="a bug"):
        tuned(8)


def test_only_warnings_of_the_best_are_heard():
    class Grumbling(Bowl):
        def fit(self, X, y):
            import warnings

            warnings.warn(f"this is {self.x}", stacklevel=1)
            return super().fit(X, y)

    with pytest.warns(UserWarning, match="this is") as heard:
        tuning = tuned(6, Grumbling())
    assert [str(warning.message) for warning in heard] == [f"this is {tuning.best_params_['x']}"]


def test_an_interrupt_keeps_what_was_found():
    HOOKS[4] = KeyboardInterrupt()
    with pytest.warns(UserWarning, match=r"interrupted after 3 of 8 trials. The best so far is kept.$"):
        tuning = tuned(8)
    assert tuning.interrupted_
    assert len(tuning.trials) == 3
    assert tuning.best_score_ == min(trial["score"] for trial in tuning.trials)
    assert tuning.best_estimator_.n_features_in_ == 1


def test_an_interrupt_that_training_has_taken_for_its_own_ends_the_search():
    class Ending(Bowl):
        def fit(self, X, y):
            super().fit(X, y)
            self.interrupted_ = len(FITTED) == 3
            return self

    with pytest.warns(UserWarning, match="interrupted after 2 of 8"):
        assert len(tuned(8, Ending()).trials) == 2


@pytest.mark.parametrize(
    "wrap",
    [
        lambda model: TransformedTargetRegressor(model),
        lambda model: BaggingRegressor(model, n_estimators=2),
        lambda model: make_pipeline(StandardScaler(), TransformedTargetRegressor(model)),
    ],
)
def test_an_interrupt_within_a_wrapper_ends_the_search(wrap):
    class Ending(Bowl):
        def fit(self, X, y):
            super().fit(X, y)
            self.interrupted_ = self.kind == "good"
            return self

    wrapped = wrap(Ending())
    name = next(name for name in wrapped.get_params() if name.endswith("__kind"))
    with pytest.warns(UserWarning, match="interrupted after 1 of 8"):
        assert len(tuned(8, wrapped, space={name: ["good", "bad"]}).trials) == 1


def test_an_interrupt_before_anything_was_found_is_raised():
    HOOKS[1] = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        tuned(8)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"space": {}}, ValueError, "space is empty"),
        ({"space": ["x"]}, TypeError, "space must be a mapping"),
        ({"space": {"y": [1]}}, ValueError, "Parameter of Bowl 'y' is unknown"),
        ({"space": {"x": 1.0}}, TypeError, r"space\['x'\] is 1.0; give a list of choices"),
        ({"space": {"x": "ab"}}, TypeError, "give a list of choices"),
        ({"space": {"x": []}}, ValueError, "has no choices"),
        ({"space": {"kind": ("good", "bad")}}, ValueError, "Write choices as a list"),
        ({"space": {"x": (1.0, 2.0, 3.0)}}, ValueError, "Write choices as a list"),
        ({"space": {"x": (False, True)}}, ValueError, "Write choices as a list"),
        ({"space": {"x": (1.0,)}}, ValueError, "Write choices as a list"),
        ({"space": {"x": (2.0, 1.0)}}, ValueError, "low must be below high"),
        ({"space": {"x": (0.0, float("inf"))}}, ValueError, "both finite"),
        ({"space": {"x": (0.0, 1.0, "log")}}, ValueError, "low must be above 0"),
        ({"space": None}, ValueError, "There is no default space for Bowl"),
        ({"budget": 0}, ValueError, "budget must be a whole number at least 1; received 0"),
        ({"budget": 2.5}, ValueError, "budget must be a whole number"),
        ({"seconds": -1}, ValueError, "seconds"),
        ({"scoring": "acuracy"}, ValueError, r"'acuracy', which is no scorer.*Did you mean 'accuracy'.{,250}$"),
        ({"random_state": -1}, ValueError, "random_state must be None, a whole number from 0.*received -1"),
        ({"validation_data": (X, Y[:3])}, ValueError, "y of validation_data has 3 labels but X .* has 20 rows"),
        ({"validation_data": (X, None)}, ValueError, "y of validation_data is None"),
        ({"scoring": 3}, TypeError, "scoring must be the name"),
        ({"validation_data": X}, TypeError, "validation_data is a pair"),
        ({"sample_weight": [1.0]}, ValueError, r"sample_weight has shape \(1,\)"),
        ({"estimator": Bowl}, TypeError, "estimator must be an estimator"),
        ({"estimator": StandardScaler(), "space": {"copy": [True]}}, TypeError, "Pass scoring"),
    ],
)
def test_refused(options, error, message):
    with pytest.raises(error, match=message):
        tuned(**options)
    assert not FITTED


def test_labels_as_a_column():
    X = np.random.default_rng(0).normal(size=(40, 2))
    y = (X[:, 0] > 0).astype(int)
    options = {"budget": 3, "space": {"C": (0.1, 1.0)}, "random_state": 0, "verbose": 0}
    expected = cs.tune(LogisticRegression(), X, y, **options)
    with pytest.warns(DataConversionWarning, match="column-vector y"):
        tuning = cs.tune(LogisticRegression(), X, y[:, None], **options)
    assert tuning.best_score_ == expected.best_score_
    with pytest.warns(DataConversionWarning, match="column-vector y"):
        cs.tune(LogisticRegression(), X, y, (X, y[:, None]), **options)


def test_no_labels():
    with pytest.raises(ValueError, match=r"y is None.*Pass one label for each example"):
        cs.tune(Bowl(), X, None, space=SPACE, verbose=0)


def test_files_are_refused(tmp_path):
    with pytest.raises(TypeError, match="needs sets in memory"):
        cs.tune(cs.SetRegressor(), str(tmp_path), "sales", budget=2)


def test_labels_for_other_rows():
    with pytest.raises(ValueError, match="y has 19 labels but X has 20 rows"):
        cs.tune(Bowl(), X, Y[:19], space=SPACE, verbose=0)


def test_progress(capsys):
    tuned(3, verbose=1)
    out, err = capsys.readouterr()
    assert out == ""
    assert "3/3 trials" in err
    assert "best mean squared error" in err
    tuned(1, Bowl(x=117.6), verbose=1)
    assert "best mean squared error 13,380 (trial 0)" in capsys.readouterr().err
    tuned(3)
    assert capsys.readouterr() == ("", "")


def test_without_optuna(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(ImportError, match=r"Tuning needs optuna.*pip install 'clearset\[tune\]'"):
        tuned(3)
