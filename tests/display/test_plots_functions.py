"""Plots of what a set function is made of: effects and calibrators, rho, lattices."""

import numpy as np
import pyarrow as pa
import pytest
from scipy.special import expit

import clearset as cs

from .plotted_models import ALL, CASES, DATA, QUICK, fitted, lines, render

pytest.importorskip("matplotlib")


@pytest.mark.parametrize("calibrated", [False, True])
@pytest.mark.parametrize("case", ALL)
@pytest.mark.parametrize("with_data", [False, True])
def test_calibrators_are_drawn_as_they_are(case, with_data, calibrated):
    model, X, _ = fitted(case)
    figure = render(model.plot_calibrators(X if with_data else None, calibrated=calibrated))
    curves = model.calibrators()
    assert len(figure.axes) == len(curves)
    for axes, (name, curve) in zip(figure.axes, curves.items(), strict=True):
        assert axes.get_title(loc="left") == ("number of tokens" if name == cs.SIZE else name)
        wanted, missing = (curve.values, curve.missing) if calibrated else (curve.effects, curve.missing_effects)
        if curve.keypoints is None and not calibrated:
            bars = np.array([bar.get_height() for bar in axes.patches if bar.get_gid() == "effect"])
            order = np.argsort(-wanted.mean(axis=0))
            np.testing.assert_array_equal(bars.reshape(wanted.shape), wanted[:, order])
        else:
            drawn = lines(axes, "curve")
            assert len(drawn) == len(wanted)
            for line, values in zip(drawn, wanted, strict=True):
                x, y = line.get_data()
                if curve.keypoints is None:
                    np.testing.assert_array_equal(y, values)
                else:
                    assert np.isin(curve.keypoints, x).all()
                    np.testing.assert_allclose(y, np.interp(x, curve.keypoints, values), rtol=1e-12, atol=1e-15)
        np.testing.assert_array_equal([float(line.get_ydata()[0]) for line in lines(axes, "missing")], missing)


def test_effects_of_all_features_have_one_scale_that_names_the_base_rate():
    model = fitted("number")[0]
    figure = render(model.plot_calibrators())
    curves = model.calibrators().values()
    low, high = figure.axes[0].get_ylim()
    assert {axes.get_ylim() for axes in figure.axes} == {(low, high)}
    assert low < min(curve.effects.min() for curve in curves) <= max(curve.effects.max() for curve in curves) < high
    assert all(lines(axes, "base")[0].get_ydata()[0] == 0 for axes in figure.axes)
    assert figure.axes[0].get_ylabel() == "effect on the score"


def test_categories_are_named_by_their_effect_and_math_is_not_read():
    model = fitted("number")[0]
    curve = model.calibrators()["store"]
    names = [text.get_text() for text in render(model.plot_calibrators(DATA, ["store"])).axes[0].get_xticklabels()]
    assert names == [
        *sorted(curve.categories, key=dict(zip(curve.categories, -curve.effects[0], strict=True)).get),
        "missing",
    ]
    figure = render(model.plot_calibrators(DATA, ["store"], calibrated=True))
    names = [text.get_text() for text in figure.axes[0].get_xticklabels()]
    assert names == ["$flagship$", "flea_market", "kiosk", "missing"]
    assert not any(text.get_parse_math() for text in figure.axes[0].get_xticklabels())


def test_values_that_few_training_sets_have_are_dotted():
    rng = np.random.default_rng(0)
    stars = [rng.choice([1.0, 3.0, 4.0, 5.0], 2).tolist() for _ in range(300)]
    stars[0] = [2.0, 2.0]
    model = cs.SetRegressor(["stars"], **QUICK).fit(pa.table({"stars": stars}), rng.random(300))
    np.testing.assert_array_equal(model.binning_.keypoints[0], [1, 2, 3, 4, 5])
    (axes,) = model.plot_calibrators().axes
    solid = [line.get_xdata().tolist() for line in axes.get_lines() if line.get_linestyle() == "-"]
    assert solid == [[3, 4, 5]]
    points = [line.get_xdata().tolist() for line in axes.get_lines() if line.get_marker() == "o" and not line.get_gid()]
    assert points == [[1, 3, 4, 5]]


def test_without_data_the_distribution_is_that_of_the_training_sets():
    model = fitted("number")[0]
    curve = model.calibrators()["star_rating"]
    heights = np.array([bar.get_height() for bar in model.plot_calibrators(None, ["star_rating"]).axes[0].patches[:5]])
    np.testing.assert_allclose(heights / heights.sum(), curve.counts[:5] / curve.counts[:5].sum())


def test_the_distribution_counts_tokens():
    figure = fitted("number")[0].plot_calibrators(DATA, ["star_rating"])
    stars = np.array([star for row in DATA["star_rating"].to_pylist() for star in row if star is not None])
    heights = np.array([bar.get_height() for bar in figure.axes[0].patches[:5]])
    counts = np.array([(stars == star).sum() for star in range(1, 6)])
    np.testing.assert_allclose(heights / heights.sum(), counts / counts.sum())


def test_one_class_of_several():
    model = fitted("three, width 4")[0]
    drawn = lines(model.plot_calibrators(label="b").axes[0], "curve")
    wanted = model.calibrators()["star_rating"].effects[8:12]  # the classes are _c, a, b
    np.testing.assert_array_equal([line.get_ydata() for line in drawn], wanted)
    legend = model.plot_calibrators().legends[0]
    assert legend.get_texts()[0].get_text() == "class _c, score 1"
    with pytest.raises(ValueError, match="label is 'd'; the classes are"):
        model.plot_calibrators(label="d")


def test_the_effects_for_one_of_the_classes_that_share_a_set_function_are_from_its_own_base():
    model = fitted("semantic three, width 4")[0]
    support, curve = model.as_model().support, next(iter(model.calibrators().values()))
    for place, label in enumerate(model.classes_):
        drawn = [line.get_ydata() for line in lines(model.plot_calibrators(label=label).axes[0], "curve")]
        wanted = curve.effects + (support.base.mean(axis=0) - support.base[place])[:, None]
        np.testing.assert_allclose([line[[0, -1]] for line in drawn], wanted[:, [0, -1]])


def test_features_that_are_unknown_or_none_are_refused():
    model = fitted("number")[0]
    with pytest.raises(ValueError, match="Did you mean 'price'"):
        model.plot_calibrators(features=["prices"])
    with pytest.raises(ValueError, match="names none"):
        model.plot_calibrators(features=[])
    with pytest.raises(ValueError, match="unknown"):
        model.plot_lattice("price", "colour")
    with pytest.raises(ValueError, match="both 'price'"):
        model.plot_lattice("price", "price")


@pytest.mark.parametrize("case", ALL)
@pytest.mark.parametrize("with_data", [False, True])
def test_rho_is_drawn_for_every_score(case, with_data):
    model, X, _ = fitted(case)
    figure = render(model.plot_rho(X if with_data else None))
    assert len(figure.axes) == model.set_function_.width


def test_rho_of_width_1_is_the_models_from_the_base_on():
    model = fitted("number")[0]
    base = float(model.as_model().support.base[0, 0])
    (line,) = lines(model.plot_rho(DATA).axes[0], "curve")
    np.testing.assert_allclose(line.get_ydata(), model.rho(line.get_xdata() + base))
    model = fitted("two")[0]
    base = float(model.as_model().support.base[0, 0])
    figure = model.plot_rho(DATA)
    (line,) = lines(figure.axes[0], "curve")
    np.testing.assert_allclose(line.get_ydata(), expit(model.rho(line.get_xdata() + base)))
    assert figure.axes[0].get_ylabel() == "probability of yes"
    model = fitted("three")[0]
    place = model.classes_.tolist().index("b")
    (line,) = lines(model.plot_rho(label="b").axes[0], "curve")
    x = line.get_xdata() + model.as_model().support.base[place, 0]
    np.testing.assert_allclose(line.get_ydata(), model.rho(np.repeat(x, 3).reshape(-1, 3))[:, place])


@pytest.mark.parametrize("case", ["number", "number, width 4", "two"])
def test_rho_marks_the_base_rate_and_is_dashed_where_no_set_is(case):
    model, X, _ = fitted(case)
    explanation = model.explain(X)
    for k, axes in enumerate(model.plot_rho(X).axes):
        (within,), (curve,) = lines(axes, "within"), lines(axes, "curve")
        means = explanation.aggregate[:, k]
        assert (within.get_xdata()[0], within.get_xdata()[-1]) == (means.min(), means.max())
        assert curve.get_linestyle() == "--"
    if case != "number, width 4":
        (mark,) = lines(model.plot_rho().axes[0], "mark")
        np.testing.assert_allclose(mark.get_data(), [[0.0], [explanation.base[0]]])


def test_semantic_rho_is_that_of_explanations():
    model, X, _ = fitted("semantic two")
    curve = model.explain(X).rho["thai"]
    x, y = model.plot_rho().axes[0].get_lines()[0].get_data()
    np.testing.assert_allclose(x, curve[:, 0])
    np.testing.assert_allclose(y, expit(curve[:, 1]))


@pytest.mark.parametrize("case", ALL)
def test_lattices_are_drawn_for_any_two_features(case):
    model, X, _ = fitted(case)
    names = [feature.name for feature in model.features_]
    figure = render(model.plot_lattice(names[0], names[-1], X))
    panels = [axes for axes in figure.axes if axes.get_xlabel()]
    assert len(panels) == model.set_function_.width
    assert (panels[0].get_xlabel(), panels[0].get_ylabel()) == (
        names[0],
        names[-1].replace(cs.SIZE, "number of tokens"),
    )
    if case in CASES:
        render(model.plot_lattice("store", "words"))


def test_surface_is_phi_from_the_base_on():
    model = fitted("number, width 4")[0]
    figure = model.plot_lattice("store", "star_rating")
    mesh = figure.axes[2].collections[0]
    curves = model.calibrators()
    middle = {name: curves[name].keypoints[len(curves[name].keypoints) // 2] for name in ("words", "price", cs.SIZE)}
    stars = np.array([1.0, 2.0, 4.0])
    size = int(middle[cs.SIZE])
    assert size == middle[cs.SIZE]
    for place, store in enumerate(curves["store"].categories):
        rows = {
            "star_rating": [[star] * size for star in stars],
            "words": [[middle["words"]] * size] * 3,
            "store": [[store] * size] * 3,
            "price": [middle["price"]] * 3,
        }
        scores = model.phi(pa.table(rows)).scores[::size, 2] - model.as_model().support.base[0, 2]
        drawn = np.asarray(mesh.get_array()).reshape(-1, 3)[:, place]
        heights = np.unique(np.concatenate([curves["star_rating"].keypoints, np.linspace(1.0, 5.0, 80)]))
        np.testing.assert_allclose(np.interp(stars, heights, drawn), scores, atol=1e-12)
