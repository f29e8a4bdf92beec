"""Plots of contributions: waterfalls, importance, and partial dependence."""

from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from scipy.special import expit

import clearset as cs
from clearset import display

from .plotted_models import ALL, DATA, FEATURES, QUICK, fitted, lines, render, trained

pytest.importorskip("matplotlib")


@pytest.mark.parametrize("case", ALL)
def test_waterfalls_lead_from_the_base_rate_to_the_prediction(case):
    model, X = trained(case)
    explanation = model.explain(X)
    for number, most in ((0, 10), (7, 2)):
        figure = render(explanation.plot(number, most=most))
        assert len(figure.axes) == 1 + (model.set_function_.width == 1)
        axes = figure.axes[0]
        base, prediction = explanation.base[number], explanation.prediction[number]
        np.testing.assert_array_equal(lines(axes, "ends")[0].get_xdata(), [base, prediction])
        bars = axes.patches
        starts, widths = (np.array([getattr(bar, f"get_{what}")() for bar in bars]) for what in ("x", "width"))
        np.testing.assert_allclose(starts[0], base)
        np.testing.assert_allclose((starts + widths)[:-1], starts[1:], atol=1e-9)
        np.testing.assert_allclose(starts[-1] + widths[-1], prediction, atol=1e-9)
        assert len(bars) <= most + 1
        blue = np.array([bar.get_facecolor()[2] > bar.get_facecolor()[0] + 0.4 for bar in bars])
        assert ((blue == (widths >= 0)) | (np.abs(widths) < 1e-9)).all()
        names = [text.get_text() for text in axes.get_yticklabels()]
        unit = axes.get_xlabel().removesuffix(", in the unit of the labels")
        assert (names[0], names[-1]) == ("base rate", unit)


def test_waterfalls_name_the_most_important_parts_in_words():
    model, X = trained("number")
    explanation = model.explain(X)[0]
    rows = explanation.tokens.to_pylist()
    named = {
        **{f"star_rating {row['star_rating']:g}, words {row['words']:.4g}": row["contribution"] for row in rows
           if row["star_rating"] and row["words"]},
        **{f"{name} ": part for name, part in zip(("price", "number of tokens"),
                                                  explanation.of_sets["contribution"].to_pylist(), strict=True)},
    }  # fmt: skip
    assert explanation.of_sets["feature"].to_pylist() == ["price", cs.SIZE]
    figure = explanation.plot(most=20)
    names = [text.get_text() for text in figure.axes[0].get_yticklabels()][1:-1]
    widths = [bar.get_width() for bar in figure.axes[0].patches]
    np.testing.assert_allclose(np.abs(widths), sorted(np.abs(widths))[::-1])
    for name, width in zip(names, widths, strict=True):
        for start, part in named.items():
            if name.startswith(start):
                np.testing.assert_allclose(width, part)
    assert {"number of tokens 5", f"price {explanation.tokens['price'][0].as_py():.4g}"} <= set(names)
    assert not any("price" in name and "star" in name for name in names)
    assert [text.get_text() for text in explanation.plot(most=1).axes[0].get_yticklabels()][2] == "6 others"
    with pytest.raises(ValueError, match="at least 1 token"):
        explanation.plot(most=0)


def test_tokens_read_as_their_tokenizer_makes_them():
    figure = fitted("semantic two")[0].explain([["lime", "$a_b$"]]).plot()
    names = {text.get_text() for text in figure.axes[0].get_yticklabels()}
    assert {"$a_b$ + lime", "lime + $a_b$"} & names
    assert {"number of items 2"} <= names
    texts = ["tv shows", "shows tv", "bad tv", "good shows"] * 10
    model = cs.SemanticRegressor(tokens=cs.NGrams(2), refine=False, cover=True, **QUICK).fit(texts, np.arange(40.0))
    explanation = model.explain(texts)
    # Whatever part of the explanation is drawn, it is known that items are words in their order.
    for one, text in ((explanation, "tv shows"), (explanation[1:], "shows tv"), (explanation[::-1][1], "bad tv")):
        assert text in [label.get_text() for label in one.plot().axes[0].get_yticklabels()]


@pytest.mark.parametrize("case", ["number", "two", "hinge", "three", "poisson"])
def test_rho_beside_a_waterfall_is_in_the_unit_of_the_prediction(case):
    if case == "poisson":
        model, X = cs.SetRegressor(FEATURES, loss="poisson", **QUICK).fit(DATA, np.arange(120.0)), DATA
    else:
        model, X = trained(case)
    explanation = model.explain(X)[5]
    _, axes = explanation.plot().axes
    (line,) = lines(axes, "curve")
    label = None if explanation.label is None else explanation.label[0]
    outputs = explanation.rho[label][:, 1]
    wanted, name = {
        "number": (outputs, "prediction"),
        "two": (expit(outputs), "probability of yes"),
        "hinge": (outputs, "output for class yes"),
        "three": (outputs, "output"),  # a probability needs the outputs of the other classes
        "poisson": (np.exp(outputs), "prediction"),
    }[case]
    np.testing.assert_allclose(line.get_ydata(), wanted)
    assert axes.get_ylabel() == name
    assert axes.get_lines()[-1].get_xdata() == explanation.aggregate[0]


@pytest.mark.parametrize("case", ALL)
def test_partial_dependence_is_drawn(case):
    model, X, _ = fitted(case)
    label = model.classes_[0] if len(getattr(model, "classes_", ())) > 2 else None
    for feature in {model.features_[0].name, model.features_[min(2, len(model.features_) - 1)].name}:
        dependence = model.partial_dependence(feature, X, label=label)
        figure = render(dependence.plot(sets=5))
        mean = figure.axes[0].get_lines()[-2]
        np.testing.assert_array_equal(mean.get_ydata(), dependence.prediction)
        assert figure.axes[0].get_xlabel() == feature
        assert len(figure.axes[0].get_lines()) == 7
        (base,) = lines(figure.axes[0], "base")
        np.testing.assert_allclose(base.get_ydata(), model.explain(X, label).base[0])
        units = {"hinge": "output for class yes", "three, hinge": "output for class _c", "number": "prediction"}
        if case in units:
            assert figure.axes[0].get_ylabel() == units[case]


def importance(tokens):
    named = {"token": [["tv", "shows"], ["lime"], None], "contribution": [0.5, -2.0, 0.1], "sets": [3, 1234, 1]}
    features = pa.table({"feature": ["$price$", cs.SIZE], "contribution": [1.0, 3.5]})
    return SimpleNamespace(features=features, tokens=pa.table(named) if tokens else None, unit="stars", n_sets=7)


def test_importance_is_drawn_from_the_largest_on():
    figure = render(display.plot_importance(importance(tokens=True)))
    features, tokens = figure.axes
    assert [text.get_text() for text in features.get_yticklabels()] == ["number of tokens", "$price$"]
    assert [bar.get_width() for bar in features.patches] == [3.5, 1.0]
    assert [text.get_text() for text in tokens.get_yticklabels()] == [
        "lime (in 1,234)", "tv + shows (in 3)", "no known token (in 1)",
    ]  # fmt: skip
    assert [bar.get_width() for bar in tokens.patches] == [-2.0, 0.5, 0.1]
    assert {axes.get_xlabel() for axes in figure.axes} == {"mean absolute contribution, stars"}
    assert features.get_title(loc="left") == "2 features, 7 sets"
    assert len(render(display.plot_importance(importance(tokens=False), most=1)).axes[0].patches) == 1
    ordered = importance(tokens=True)
    ordered.tokens = display.with_order(ordered.tokens)
    names = [text.get_text() for text in display.plot_importance(ordered).axes[1].get_yticklabels()]
    assert names[1] == "tv shows (in 3)"
    with pytest.raises(ValueError, match="draw at least 1 bar"):
        display.plot_importance(ordered, most=0)
