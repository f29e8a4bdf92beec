import pickle
import sys
from functools import cache
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from scipy.special import expit
from sklearn.exceptions import NotFittedError

import clearset as cs
from clearset import display

pytest.importorskip("matplotlib")
from matplotlib.figure import Figure

HOSTILE = ["<script>alert(1)</script>", "$\\frac{_x_$", "_" + "x" * 10_000, "\u202e\u05e9\u05dc\u05d5\u05dd\n"]
QUICK = {"epochs": 1, "early_stopping": False, "random_state": 0, "n_jobs": 1}


def make_sets(n, seed=0, stores=("flea_market", "$flagship$", "kiosk")):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(0, 6, n)
    sizes[0] = 5

    def ragged(draw, kind):
        rows = [[None if rng.random() < 0.1 else draw() for _ in range(size)] for size in sizes]
        return pa.array(rows, pa.list_(kind))

    return pa.table(
        {
            "star_rating": ragged(lambda: float(rng.integers(1, 6)), pa.float64()),
            "words": ragged(lambda: float(np.round(rng.lognormal(3.0, 2.0))), pa.float64()),
            "store": ragged(lambda: str(rng.choice(stores)), pa.string()),
            "price": pa.array([None if rng.random() < 0.1 else float(rng.gamma(2.0)) for _ in range(n)]),
        }
    )


FEATURES = ["star_rating", "words", cs.Feature("store", kind="categorical"), "price", cs.SIZE]
DATA = make_sets(120)
LABELS = {
    "number": np.random.default_rng(1).normal(50.0, 20.0, 120),
    "two": np.random.default_rng(1).choice(["no", "yes"], 120),
    "three": np.random.default_rng(1).choice(["a", "b", "_c"], 120),
}
CASES = {
    "number": (cs.SetRegressor, "number", {}),
    "number, width 4": (cs.SetRegressor, "number", {"width": 4}),
    "two": (cs.SetClassifier, "two", {}),
    "hinge": (cs.SetClassifier, "two", {"loss": "hinge"}),
    "three": (cs.SetClassifier, "three", {}),
    "three, width 4": (cs.SetClassifier, "three", {"width": 4}),
    "three, hinge": (cs.SetClassifier, "three", {"loss": "hinge"}),
}
BASKETS = [
    np.random.default_rng(seed).choice(["salt", "lime", "feta", "$a_b$"], seed % 4).tolist() for seed in range(80)
]
KINDS = np.array(["thai" if "lime" in basket else "greek" for basket in BASKETS])
SEMANTIC = {
    "semantic number": (cs.SemanticRegressor, [float(len(basket)) + 0.5 for basket in BASKETS], {}),
    "semantic two": (cs.SemanticClassifier, KINDS, {}),
    "semantic three, width 4": (cs.SemanticClassifier, np.arange(80) % 3, {"width": 4}),
    "engine": (cs.SemanticFeatureEngine, KINDS, {}),
}
ALL = [*CASES, *SEMANTIC]


@cache
def fitted(case):
    """Return a model with random parameters, sets and labels."""
    if case in CASES:
        kind, labels, options = CASES[case]
        model, X, y = kind(FEATURES, **options, **QUICK), DATA, LABELS[labels]
    else:
        kind, y, options = SEMANTIC[case]
        model, X = kind(tokens=cs.Subsets(2), refine=False, **options, **QUICK), BASKETS
    model.fit(X, y)
    rng = np.random.default_rng(len(case))
    for name, table in model.set_function_.tables.items():
        low = 0.0 if name in ("phi.calibration", "rho.calibrators") else -1.0
        table[:] = rng.uniform(low, 1.0, table.shape)
    return model, X, y


@cache
def trained(case):
    """Return a model as it was fitted, so that what adds up does, and sets."""
    if case in CASES:
        kind, labels, options = CASES[case]
        return kind(FEATURES, **options, **QUICK | {"epochs": 10}).fit(DATA, LABELS[labels]), DATA
    kind, y, options = SEMANTIC[case]
    model = kind(tokens=cs.Subsets(2), refine=False, **options, **QUICK | {"epochs": 10})
    return model.fit(BASKETS, y), BASKETS


def render(figure):
    """Draw a figure in full: warnings, such as of text that cannot be laid out, are errors."""
    assert isinstance(figure, Figure)
    figure.draw_without_rendering()
    return figure


def lines(axes, gid):
    return [line for line in axes.get_lines() if line.get_gid() == gid]


def texts(figure):
    found = [text.get_text() for text in figure.texts]
    for axes in figure.axes:
        found += [axes.get_title(loc="left"), axes.get_xlabel(), axes.get_ylabel()]
        found += [text.get_text() for text in (*axes.get_xticklabels(), *axes.get_yticklabels())]
    return found


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
    np.testing.assert_allclose(heights / heights.sum(), curve.support[:5] / curve.support[:5].sum())


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
    for chosen in (explanation, explanation[1:], explanation[::-1]):
        for one, text in zip(chosen[:1], ["shows tv"] if len(chosen) == 39 else [None], strict=True):
            names = [label.get_text() for label in one.plot().axes[0].get_yticklabels()]
            assert not any("+" in name for name in names)
            assert text is None or text in names


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
    assert {axes.get_xlabel() for axes in figure.axes} == {"mean contribution, stars"}
    assert features.get_title(loc="left") == "2 features, 7 sets"
    assert len(render(display.plot_importance(importance(tokens=False), most=1)).axes[0].patches) == 1
    ordered = importance(tokens=True)
    ordered.tokens = display.with_order(ordered.tokens)
    names = [text.get_text() for text in display.plot_importance(ordered).axes[1].get_yticklabels()]
    assert names[1] == "tv shows (in 3)"
    with pytest.raises(ValueError, match="draw at least 1 bar"):
        display.plot_importance(ordered, most=0)
