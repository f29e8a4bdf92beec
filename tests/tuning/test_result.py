import sys

import numpy as np
import pytest
from sklearn.linear_model import Ridge

import clearset as cs
from clearset.tuning import words

from .bowl import HOOKS, SPACE, Bowl, X, Y


def tuned(budget=12, estimator=None, **options):
    options = {"space": SPACE, "random_state": 0, "verbose": 0, **options}
    return cs.tune(estimator or Bowl(), X, Y, budget=budget, **options)


def test_frame():
    HOOKS[3] = ValueError("no")
    tuning = tuned()
    frame = tuning.to_frame()
    assert frame.column_names == [
        "number", "score", "seconds", "state", "error", "param_x", "param_n", "param_kind",
    ]  # fmt: skip
    assert frame["number"].to_pylist() == list(range(12))
    assert frame["score"].to_pylist() == [trial["score"] for trial in tuning.trials]
    assert frame["score"][2].as_py() is None
    assert frame["error"][2].as_py() == "no"
    assert frame["param_n"].to_pylist() == [trial["params"]["n"] for trial in tuning.trials]
    assert frame["param_kind"].to_pylist() == [trial["params"]["kind"] for trial in tuning.trials]


def test_ranked_and_repr():
    tuning = tuned()
    ranked = tuning.ranked()
    assert ranked[0]["number"] == tuning.best_trial_
    assert np.all(np.diff([trial["score"] for trial in ranked]) >= 0)
    text = repr(tuning)
    assert text.startswith("Tuning(Bowl: mean squared error ")
    assert f"in trial {tuning.best_trial_} of 12" in text
    assert f"kind={tuning.best_params_['kind']}" in text


def test_the_plot_has_a_panel_of_trials_and_one_of_each_parameter():
    pytest.importorskip("matplotlib")
    HOOKS[3] = ValueError("no")
    tuning = tuned(estimator=Bowl(kind="good"), space={**SPACE, "kind": ["bad", "worse"]})
    figure = tuning.plot()
    figure.draw_without_rendering()
    trials, x, n, kind = figure.axes
    assert (trials.get_xlabel(), trials.get_ylabel()) == ("trial", "mean squared error")
    assert [axes.get_title(loc="left") for axes in (x, n, kind)] == ["x", "n", "kind"]
    assert [axes.get_yscale() for axes in (x, n, kind)] == ["linear", "log", "linear"]
    assert [label.get_text() for label in kind.get_yticklabels()] == ["bad", "worse", "good (given)"]
    assert {axes.get_xlabel() for axes in (x, n, kind)} == {"mean squared error"}
    (line,) = trials.get_lines()
    scores = [np.inf if trial["score"] is None else trial["score"] for trial in tuning.trials]
    np.testing.assert_allclose(line.get_ydata(), np.minimum.accumulate(scores), rtol=1e-12)
    drawn = {tuple(spot) for dots in n.collections for spot in np.ma.filled(dots.get_offsets(), np.nan).tolist()}
    best = tuning.trials[tuning.best_trial_]
    assert (best["score"], float(best["params"]["n"])) in drawn
    assert "failed" in trials.get_legend_handles_labels()[1]


def test_scores_far_away_are_drawn_at_the_edge():
    pytest.importorskip("matplotlib")

    def far(model, X, y):
        return -1e9 if model.alpha < 0.1 else model.alpha

    tuning = tuned(20, Ridge(), space={"alpha": (0.05, 1.0)}, scoring=far)
    assert min(trial["score"] for trial in tuning.trials) == -1e9
    figure = tuning.plot()
    figure.draw_without_rendering()
    low, high = figure.axes[0].get_ylim()
    assert -10 < low < high < 2


@pytest.mark.parametrize("budget", [1, 2])
def test_a_plot_of_few_trials(budget):
    pytest.importorskip("matplotlib")
    tuned(budget).plot().draw_without_rendering()


def test_a_given_value_that_a_logarithmic_scale_has_no_place_for():
    pytest.importorskip("matplotlib")
    tuning = tuned(4, Bowl(x=0.0), space={"x": (1e-3, 1.0, "log"), "n": (1, 8)})
    assert tuning.trials[0]["params"]["x"] == 0.0
    figure = tuning.plot()
    figure.draw_without_rendering()
    x = figure.axes[1]
    assert x.get_yscale() == "log"
    assert 1e-4 < x.get_ylim()[0] < 1e-3


def test_numbers_are_said_as_people_do():
    tuning = tuned(1, Bowl(x=117.6))
    assert "mean squared error 13,380 in trial 0" in repr(tuning)
    pytest.importorskip("matplotlib")
    assert "best mean squared error 13,380 in" in tuning.plot().get_suptitle()


def test_without_matplotlib(monkeypatch):
    tuning = tuned(2)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"needs matplotlib.*pip install 'clearset\[tune\]'"):
        tuning.plot()


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0.000123456, "0.0001235"),
        (np.float32(0.5), "0.5"),
        (13364.2, "13,360"),
        (-1234567.0, "-1,235,000"),
        (9999.6, "10,000"),
        (999.96, "1,000"),
        (100.0, "100"),
        (0.0001, "0.0001"),
        (12.5, "12.5"),
        (0.0, "0"),
        (1.5e8, "1.5e+08"),
        (2e-6, "2e-06"),
        (float("nan"), "nan"),
        (float("-inf"), "-inf"),
        (np.int64(3), "3"),
        (True, "True"),
        (None, "None"),
        ("a b", "a b"),
        ([], "none"),
        (cs.Items(), "Items()"),
        (cs.Subsets(None), "Subsets()"),
        ([cs.MinCount(5), cs.MaxInterval(0.2, 0.9)], "MinCount(5), MaxInterval(0.2, 0.9)"),
        (cs.MinCount(5) | (cs.MinCount(2) & cs.MaxSize(1)), "MinCount(5) | MinCount(2) & MaxSize(1)"),
        (cs.MinCount(5) & (cs.MinCount(2) | cs.MaxSize(1)), "MinCount(5) & (MinCount(2) | MaxSize(1))"),
        (str.split, "str.split"),
        (object(), "<object object>"),
        (Ridge(alpha=2), "Ridge(alpha=2)"),
    ],
)
def test_words(value, said):
    assert words(value) == said
