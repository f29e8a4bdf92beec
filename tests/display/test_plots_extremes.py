"""Plots of what is very large, very small, very long or very many: everything stays readable."""

import itertools
import warnings

import numpy as np
import pyarrow as pa
import pytest

import clearset as cs
from clearset.display._short_text import said, said_alike, shortened, shown

pytest.importorskip("matplotlib")
from matplotlib.text import Text

from clearset.display.plots._axis import Scale
from clearset.display.plots._figure import fit, inches_of

QUICK = {"epochs": 1, "early_stopping": False, "random_state": 0, "n_jobs": 1}
HOSTILE = [
    "$x^2$",
    "<script>alert(1)</script>",
    "_" + "x" * 10_000,
    "\u202e\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd",
    "line one\nline two",
    " ",
    "W" * 10_000,
]


def drawn_texts(figure):
    """Draw a figure, warnings being errors, and give the boxes of the texts that are seen, in pixels."""
    figure.draw_without_rendering()
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            # Ticks outside of the limits are there, and not drawn.
            drawn = axis._update_ticks()
            for tick in axis.get_major_ticks():
                for label in (tick.label1, tick.label2):
                    label.set_visible(tick in drawn and label.get_visible())
    texts = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()]
    return {text: text.get_window_extent() for text in texts}


def assert_readable(figure):
    """Check that all texts are on the page, and no two labels of ticks along a line on each other."""
    texts = drawn_texts(figure)
    page = figure.bbox.padded(1.0)
    for text, box in texts.items():
        assert min(box.x0 - page.x0, page.x1 - box.x1, box.y0 - page.y0, page.y1 - box.y1) >= 0, text
    for axes in figure.axes:
        labels = [label for label in axes.get_xticklabels() if label in texts and not label.get_rotation()]
        boxes = sorted((texts[label] for label in labels), key=lambda box: box.x0)
        assert all(left.x1 <= right.x0 + 1 for left, right in itertools.pairwise(boxes)), axes


def all_plots(model, X, y, label=None):
    names = [feature.name for feature in model.features_]
    yield model.plot_calibrators(X)
    yield model.plot_calibrators()
    yield model.plot_rho(X)
    yield model.plot_quality(X, y)
    yield model.plot_history()
    yield model.plot_lattice(names[0], names[-1], X)
    for name in names:
        yield model.partial_dependence(name, X, label=label).plot(sets=5)
    for one in model.explain(X)[:3]:
        yield one.plot()


@pytest.mark.parametrize("scale", [1e-300, 1e-9, 1e9, 1e299])
def test_numbers_of_every_size(scale):
    rng = np.random.default_rng(0)
    X = pa.table(
        {
            "even": [(rng.random(3) * scale).tolist() for _ in range(60)],
            "skewed": [(rng.lognormal(0, 3, 3) * scale / 1e4).tolist() for _ in range(60)],
        }
    )
    y = rng.random(60) * np.clip(scale, 1e-50, 1e50)
    for figure in all_plots(cs.SetRegressor(**QUICK).fit(X, y), X, y):
        assert_readable(figure)
        assert max(len(text.get_text()) for text in drawn_texts(figure)) < 70


def test_all_sizes_at_once_nothing_at_all_and_always_the_same():
    X = pa.table(
        {
            "all": [[0.0, 1e-300, 1e300], [1.0, 5.0, 1e10], [1e-5, 2.0, 1e100], [-1e300, 1e300, 3.0]] * 10,
            "positive": [[1e-300, 1e-250, 1e300], [1.0, 5.0, 1e10], [1e-5, 2.0, 1e100], [1.0, 2.0, 3.0]] * 10,
            "from 0": [[0.0, 1e-300, 1e300], [1.0, 5.0, 1e10], [1e-5, 2.0, 1e100], [1.0, 2.0, 3.0]] * 10,
            "same": [7.0] * 40,
            "missing": pa.array([None] * 40, pa.float64()),
        }
    )
    model = cs.SetRegressor(X.column_names, **QUICK).fit(X, np.arange(40.0))
    for figure in all_plots(model, X, np.arange(40.0)):
        drawn_texts(figure)  # without a warning


@pytest.mark.parametrize("width", [1, 4])
@pytest.mark.parametrize("tokens", [0, 1, 500])
def test_waterfalls_of_any_number_of_tokens(width, tokens):
    rng = np.random.default_rng(0)
    X = pa.table({"stars": [rng.integers(1, 6, tokens).astype(float).tolist(), [1.0, 2.0]] * 20})
    model = cs.SetRegressor(width=width, **QUICK).fit(X, rng.random(40))
    explanation = model.explain(X)
    figure = explanation.plot()
    assert_readable(figure)
    # A number beside a bar keeps clear of the names to the left, and of the next panel.
    boxes = drawn_texts(figure)
    names = [boxes[label] for label in figure.axes[0].get_yticklabels()]
    for axes in figure.axes[:width]:
        for text in axes.texts:
            assert boxes[text].x0 >= max(box.x1 for box in names)
            assert boxes[text].x1 <= axes.bbox.x1 + 2
            assert boxes[text].x0 >= axes.bbox.x0 - 2


def test_a_waterfall_of_nothing_but_zeros():
    X = pa.table({"stars": [[1.0] * 5, [2.0]] * 20})
    model = cs.SetRegressor(**QUICK).fit(X, np.arange(40.0))
    model.set_function_.vertices[:] = 0.0
    assert_readable(model.explain(X).plot())


def test_hostile_names_stay_inside_and_are_no_formulas():
    rng = np.random.default_rng(0)
    X = pa.table(
        {
            **{name: [rng.random(3).tolist() for _ in range(70)] for name in HOSTILE},
            "kind": [[HOSTILE[(row + k) % 7] for k in range(3)] for row in range(70)],
        }
    )
    y = np.array([*HOSTILE[:6], ""])[np.arange(70) % 7]
    features = [*HOSTILE, cs.Feature("kind", kind="categorical")]
    model = cs.SetClassifier(features, lattices="ensemble", **QUICK).fit(X, y)
    for figure in all_plots(model, X, y, label=HOSTILE[2]):
        assert_readable(figure)
        for text in drawn_texts(figure):
            assert "\n" not in text.get_text()
            assert not (text.get_parse_math() and "$x^2$" in text.get_text())
    titles = [axes.get_title(loc="left") for axes in model.plot_calibrators().axes]
    assert titles[5] == "(blank)"


def test_many_categories_are_told_apart_and_counted():
    rng = np.random.default_rng(0)
    stores = [f"a rather long name of store {number}" for number in range(300)]
    X = pa.table({"store": [rng.choice(stores, 4).tolist() for _ in range(400)], "size": rng.random(400)})
    model = cs.SetRegressor([cs.Feature("store", kind="categorical"), "size"], **QUICK).fit(X, rng.random(400))
    for figure in all_plots(model, X, rng.random(400)):
        assert_readable(figure)
    known = len(model.binning_.categories[0])
    calibrators, lattice = model.plot_calibrators(X).axes[0], model.plot_lattice("store", "size", X).axes[0]
    dependence = model.partial_dependence("store", X).plot().axes[0]
    for axes, n in ((calibrators, 17), (lattice, 16), (dependence, 16)):
        names = [label.get_text() for label in axes.get_xticklabels()]
        assert len(set(names)) == len(names) == n
    assert lattice.get_xlabel() == f"store (16 of {known})"
    assert f"16 of {known} categories" in dependence.get_xlabel()
    # With data those are shown that occur most often.
    counts = {}
    for row in X["store"].to_pylist():
        for store in row:
            counts[store] = counts.get(store, 0) + 1
    most = sorted(counts, key=lambda store: -counts[store])[0]
    assert shown(most, 18) in [label.get_text() for label in lattice.get_xticklabels()]


def test_many_classes():
    rng = np.random.default_rng(0)
    X, y = rng.random((200, 2)), np.array([f"class {k % 20}" for k in range(200)])
    model = cs.SetClassifier(**QUICK).fit(X, y)
    for figure in all_plots(model, X, y, label="class 3"):
        assert_readable(figure)
    (legend,) = model.plot_calibrators().legends
    assert "20 curves" in legend.get_texts()[0].get_text()
    figure = cs.SetClassifier(loss="hinge", **QUICK).fit(X, y).plot_quality(X, y)
    assert_readable(figure)
    assert figure.legends[0].get_texts()[-1].get_text() == "12 more not drawn"


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1e299, "1e+299"),
        (-1.5e-300, "-1.5e-300"),
        (123456.7, "123,457"),
        (1e12, "1e+12"),
        (0.0, "0"),
        (9999.0, "9999"),
        (float("nan"), "nan"),
    ],
)
def test_numbers_are_said_in_a_few_characters(number, text):
    assert said(number) == text


@pytest.mark.parametrize(
    ("numbers", "texts"),
    [
        ([72.66, 5.683, -2.04, -0.01], ["+72.7", "+5.7", "-2.0", "0.0"]),
        ([0.5, 0.0837, -0.00046], ["+0.500", "+0.084", "0.000"]),
        ([4.517, -1.0], ["+4.52", "-1.00"]),
        ([123456.7, -89.4], ["+123,457", "-89"]),
        ([1e299, 2.0], ["+1e+299", "+2"]),
        ([1e-300, 0.0], ["+1e-300", "+0"]),
        ([0.0], ["0"]),
    ],
)
def test_numbers_that_are_added_up_have_the_same_decimals(numbers, texts):
    assert said_alike(numbers, signs=True) == texts


def test_names_keep_their_ends():
    assert shown("a rather long name of store 17", 18) == "a rather lo…ore 17"
    assert shown("short") == "short"
    assert shown("") == shown("\n \u202e") == "(blank)"
    assert len(shown("x" * 1_000_000)) == 28
    assert shown("x" * 1_000_000 + "y").endswith("y")
    assert shortened("one, two, three", 9) == "one, two…"


def test_texts_are_cut_to_a_width():
    assert fit("short", 1.0, 9.0) == "short"
    assert fit("", 1.0, 9.0) == ""
    for text in ("W" * 100, "i" * 400, "one, two, " * 50):
        cut = fit(text, 2.0, 9.0)
        assert cut.endswith("…")
        assert 1.6 < inches_of(cut, 9.0) <= 2.0
    assert fit("W" * 10, 0.01, 9.0) == "…"


@pytest.mark.parametrize(
    ("keypoints", "kind"),
    [
        ([0.0, 1.0, 2.0], "linear"),
        ([-5.0, 1.0, 1e6], "linear"),
        ([1.0, 2.0, 1e6], "log"),
        ([0.0, 2.0, 1e6], "symlog"),
        ([1e-302, 1e-301, 2e-301], "log"),
        ([1e-300, 1.0, 1e300], "symlog"),
        ([0.0, 1e-300, 1e300], "symlog"),
    ],
)
def test_scales_go_there_and_back(keypoints, kind):
    points = np.array(keypoints)
    scale = Scale.of(points)
    assert scale.kind == kind
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        places = scale.apart(points)
        assert (np.diff(places) >= 0).all()
        steps = scale.between(points[0], points[-1], 50)
    assert np.isfinite(steps).all()
    np.testing.assert_allclose(scale.values(places)[-1], points[-1], rtol=1e-9)
