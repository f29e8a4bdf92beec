"""What all plots have in common, and those of quality and history."""

import pickle
import sys

import numpy as np
import pyarrow as pa
import pytest
from sklearn.exceptions import NotFittedError

import clearset as cs
from clearset import display

from .plotted_models import (
    ALL,
    BASKETS,
    DATA,
    FEATURES,
    HOSTILE,
    KINDS,
    LABELS,
    QUICK,
    fitted,
    make_sets,
    render,
    texts,
)

pytest.importorskip("matplotlib")


@pytest.mark.parametrize("case", ALL)
def test_quality_is_drawn(case):
    model, X, y = fitted(case)
    figure = render(model.plot_quality(X, y))
    if case == "number":
        x, observed = figure.axes[0].get_lines()[1].get_data()
        order = np.argsort(observed)
        np.testing.assert_array_equal(observed[order], np.sort(y))
        np.testing.assert_array_equal(x[order], model.predict(X)[np.argsort(y)])
    if case == "two":
        said, true = model.predict_proba(X)[:, 1], y == "yes"
        inside = (said >= 0.2) & (said < 0.3)
        x, share = figure.axes[0].get_lines()[1].get_data()
        bins = np.flatnonzero((x >= 0.2) & (x < 0.3))
        assert len(bins) == inside.any()
        if len(bins):
            np.testing.assert_allclose(share[bins[0]], true[inside].mean())


def test_quality_refuses_labels_that_do_not_fit():
    model, X, y = fitted("two")
    with pytest.raises(ValueError, match="3 labels but X has 120 sets"):
        model.plot_quality(X, y[:3])
    with pytest.raises(ValueError, match="none of the classes"):
        model.plot_quality(X, np.ones(120))


def test_history_is_drawn():
    y = LABELS["number"]
    model = cs.SetRegressor(FEATURES, epochs=5, random_state=0, n_jobs=1)
    model.fit(DATA, y, validation_data=(DATA, y))
    figure = render(model.plot_history())
    for line, key in zip(figure.axes[0].get_lines()[:2], ("loss", "validation_loss"), strict=True):
        np.testing.assert_array_equal(line.get_ydata(), [row[key] for row in model.history_])
    names = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert names == ["training", "validation", f"best epoch, {model.best_epoch_}"]
    render(fitted("semantic two")[0].plot_history())


def test_hostile_names_are_shown_as_text():
    rng = np.random.default_rng(0)
    frame = {name: [rng.random(2).tolist() for _ in range(60)] for name in HOSTILE}
    frame["kind"] = [[HOSTILE[row % 4], HOSTILE[(row + 1) % 4]] for row in range(60)]
    X = pa.table(frame)
    y = np.array(HOSTILE)[np.arange(60) % 4]
    model = cs.SetClassifier([*HOSTILE, cs.Feature("kind", kind="categorical")], **QUICK).fit(X, y)
    figures = [
        model.plot_calibrators(X),
        model.plot_rho(X, label=HOSTILE[1]),
        model.plot_lattice(HOSTILE[1], HOSTILE[2], X),
        model.plot_lattice("kind", HOSTILE[3]),
        model.explain(X).plot(),
        model.partial_dependence(HOSTILE[2], X, label=HOSTILE[0]).plot(),
        model.partial_dependence("kind", X, label=HOSTILE[0]).plot(),
        model.plot_quality(X, y),
    ]
    for figure in figures:
        found = texts(render(figure))
        assert max(map(len, found)) <= 110
        assert not any("\u202e" in text or "\n" in text for text in found)
    assert "$\\frac{_x_$" in texts(figures[0])


def test_crowded_values_are_drawn_apart_and_many_categories_are_chosen():
    many = make_sets(300, stores=[f"store {n:03}" for n in range(100)])
    model = cs.SetRegressor(FEATURES[:3], **QUICK).fit(many, np.arange(300.0))
    for X in (None, many):
        figure = render(model.plot_calibrators(X))
        assert figure.axes[1].get_xscale() in ("log", "symlog")
        assert figure.axes[2].get_xlabel() == "16 of 100 categories"
    render(model.plot_lattice("words", "store", many))


def test_nothing_is_shown_and_figures_can_be_kept():
    figure = fitted("number")[0].plot_calibrators(DATA)
    assert "matplotlib.pyplot" not in sys.modules or not sys.modules["matplotlib.pyplot"].get_fignums()
    assert figure._repr_png_().startswith(b"\x89PNG")
    assert len(pickle.loads(pickle.dumps(figure)).axes) == len(FEATURES)  # noqa: S301


def test_without_matplotlib_there_is_one_clear_error(monkeypatch):
    for case in ("number", "semantic two"):
        model, X, y = fitted(case)
        first, last = model.features_[0].name, model.features_[-1].name
        explanation, dependence = model.explain(X), model.partial_dependence(first, X)
        with monkeypatch.context() as patched:
            patched.setitem(sys.modules, "matplotlib.figure", None)
            for draw in (
                model.plot_calibrators,
                model.plot_history,
                model.plot_rho,
                lambda model=model, x=first, y=last: model.plot_lattice(x, y),
                lambda model=model, X=X, y=y: model.plot_quality(X, y),
                lambda model=model, X=X, y=y: cs.plot_quality(model, X, y),
                explanation.plot,
                dependence.plot,
            ):
                with pytest.raises(ImportError, match=r"Plots need matplotlib.*pip install 'clearset\[plot\]'"):
                    draw()


def test_models_must_be_fitted():
    for draw in (display.plot_history, display.plot_rho, display.plot_calibrators):
        with pytest.raises(NotFittedError, match="not fitted"):
            draw(cs.SetRegressor())


def test_joint_models_are_drawn():
    rng = np.random.default_rng(0)
    X = pa.table({"basket": BASKETS, "price": rng.random(80)})
    engine = cs.SemanticFeatureEngine(tokens=cs.Items(), refine=False, epochs=1)
    model = cs.JointModel({"basket": engine}, cs.SetClassifier(epochs=1), epochs=2, random_state=0)
    model.fit(X, KINDS)
    render(model.plot_quality(X, KINDS))
    if model.history_:
        render(model.plot_history())
    else:
        with pytest.raises(ValueError, match="no history"):
            model.plot_history()
