import json
from copy import deepcopy
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import clearset as cs
from clearset import display
from clearset.sets import Binning, _set_data

HOSTILE = [
    "<script>alert(1)</script>",
    "\"'&; --",
    "x" * 10_000,
    "\u202e\u05e9\u05dc\u05d5\u05dd",
    "score",
    "set (calibrated)",
]
COLOURS = ["red", "green", "blue"]


def make_sets(n, seed=0):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(0, 6, n)

    def ragged(draw, missing):
        return [[None if rng.random() < missing else draw() for _ in range(size)] for size in sizes]

    return {
        "stars": ragged(lambda: float(rng.integers(1, 6)), 0.1),
        "words": ragged(lambda: float(rng.gamma(2.0, 50.0)), 0.1),
        "colour": ragged(lambda: str(rng.choice(COLOURS)), 0.2),
        "price": [None if rng.random() < 0.1 else float(rng.random()) for _ in range(n)],
    }


DATA = make_sets(1000)
FEATURES = ["stars", "words", cs.Feature("colour", kind="categorical"), "price", cs.Feature(cs.SIZE)]
LABELS = {
    "number": np.random.default_rng(1).normal(50.0, 20.0, 1000),
    "counts": np.random.default_rng(1).poisson(3.0, 1000),
    "two": np.random.default_rng(1).choice(["no", "yes"], 1000),
    "three": np.random.default_rng(1).choice(["a", "b", "c"], 1000),
}
CASES = {
    "number": (cs.SetRegressor, "number", {}),
    "number, width 4": (cs.SetRegressor, "number", {"width": 4}),
    "poisson": (cs.SetRegressor, "counts", {"loss": "poisson"}),
    "ensemble": (cs.SetRegressor, "number", {"width": 4, "lattices": "ensemble", "lattice_size": 3}),
    "two classes": (cs.SetClassifier, "two", {}),
    "hinge": (cs.SetClassifier, "two", {"loss": "hinge"}),
    "three classes": (cs.SetClassifier, "three", {}),
    "three classes, width 4": (cs.SetClassifier, "three", {"width": 4}),
}


@cache
def model_of(case):
    """Fit for the keypoints, then make all parameters random: nothing is as smooth as training leaves it."""
    kind, labels, options = CASES[case]
    model = kind(FEATURES, epochs=1, random_state=0, n_jobs=1, **options).fit(pa.table(DATA), LABELS[labels])
    rng = np.random.default_rng(len(case))
    for name, table in model.set_function_.tables.items():
        low = 0.0 if name in ("phi.calibration", "rho.calibrators") else -1.0
        table[:] = rng.uniform(low, 1.0, table.shape)
    return model


@cache
def explained(case):
    return model_of(case).explain(pa.table(DATA))


def predicted(model, data, columns):
    """Predict what is explained: a number, a class's probability, or a margin."""
    frame = pa.table(data)
    if getattr(model, "loss_", "") == "hinge":
        return model.decision_function(frame)
    if not hasattr(model, "classes_"):
        return model.predict(frame)
    return model.predict_proba(frame)[np.arange(len(frame)), columns]


def columns_of(model, explanation):
    if explanation.label is None:
        return None
    return np.searchsorted(model.classes_, explanation.label)


def one(data, number):
    return {name: [deepcopy(column[number])] for name, column in data.items()}


@pytest.mark.parametrize("case", CASES)
def test_rho_makes_the_output_of_the_base_and_the_mean_scores_distance_from_it(case):
    model, explanation = model_of(case), explained(case)
    assert len(explanation) == 1000
    n_outputs, base = model.set_function_.outputs, model.model_.support.base
    columns = np.zeros(1000, int) if n_outputs == 1 else columns_of(model, explanation)
    means = np.tile(base, (1000, 1, 1))
    means[np.arange(1000), columns] += explanation.aggregate
    outputs = model.rho(means.reshape(1000, -1)).reshape(1000, -1)[np.arange(1000), columns]
    np.testing.assert_allclose(outputs, explanation.output, atol=1e-9, rtol=0)


@pytest.mark.parametrize("case", CASES)
def test_prediction_is_what_the_model_predicts(case):
    model, explanation = model_of(case), explained(case)
    expected = predicted(model, DATA, columns_of(model, explanation))
    np.testing.assert_allclose(explanation.prediction, expected, atol=1e-9, rtol=0)
    if case.startswith("three"):
        assert explanation.label.tolist() == model.predict(pa.table(DATA)).tolist()


@pytest.mark.parametrize("case", CASES)
def test_rows_tell_the_features_and_the_scores(case):
    model, frame = model_of(case), explained(case).tokens
    scores, offsets = model.phi(pa.table(DATA))
    assert frame.num_rows == offsets[-1]
    if scores.ndim == 3:
        columns = np.repeat(columns_of(model, explained(case)), np.diff(offsets))
        scores = scores[np.arange(len(scores)), columns]
    sets = frame["set"].to_numpy()
    mean = np.array([scores[sets == number].mean(axis=0) for number in range(1000)])
    columns = np.zeros(1000, int) if scores.ndim == 2 and mean.ndim == 1 else columns_of(model, explained(case))
    base = model.model_.support.base[0 if len(model.model_.support.base) == 1 else columns]
    np.testing.assert_allclose(explained(case).aggregate, mean - base, atol=1e-9)
    rows = frame.to_pylist()
    for number in range(200):
        own = rows[offsets[number] : offsets[number + 1]]
        empty = not DATA["stars"][number]
        assert [row["token"] for row in own] == ([None] if empty else list(range(len(own))))
        for name in ("stars", "words", "colour"):
            assert [row[name] for row in own] == (DATA[name][number] or [None])
        assert all(row["price"] == DATA["price"][number] for row in own)
        assert all(row[cs.SIZE] == len(DATA["stars"][number]) for row in own)
        sizes = [np.abs(row["contribution"]).sum() for row in own]
        np.testing.assert_allclose([row["share"] for row in own], np.array(sizes) / sum(sizes))


def test_calibrated_values_are_on_the_calibrators_curves():
    model, rows = model_of("number, width 4"), explained("number, width 4").tokens.to_pylist()[:500]
    for name, curve in model.calibrators().items():
        for row in rows:
            if row[name] is None:
                expected = curve.missing
            elif curve.categories is not None:
                expected = curve.values[:, curve.categories.index(row[name])]
            else:
                expected = [np.interp(row[name], curve.keypoints, values) for values in curve.values]
            np.testing.assert_allclose(row[f"{name} (calibrated)"], expected, atol=1e-9)


def test_calibrated_values_of_a_class_are_on_its_own_curves():
    model = model_of("three classes")
    curve = model.calibrators()["stars"]
    for place, label in enumerate(model.classes_):
        rows = model.explain(pa.table(DATA), label=label).tokens.to_pylist()[:100]
        for row in rows:
            on_curve = np.interp(row["stars"] or 0, curve.keypoints, curve.values[place])
            expected = curve.missing[place] if row["stars"] is None else on_curve
            assert row["stars (calibrated)"] == pytest.approx(expected)


@pytest.mark.parametrize("case", CASES)
def test_without_is_the_prediction_for_the_set_with_the_token_removed(case):
    model, explanation = model_of(case), explained(case)
    removed, sets, without = {name: [] for name in DATA}, [], []
    for row in explanation.tokens.to_pylist()[:400]:
        if len(DATA["stars"][row["set"]]) < 2:
            assert row["without"] is None
            continue
        for name, (value,) in one(DATA, row["set"]).items():
            if isinstance(value, list):
                del value[row["token"]]
            removed[name].append(value)
        sets.append(row["set"])
        without.append(row["without"])
    columns = columns_of(model, explanation)
    expected = predicted(model, removed, None if columns is None else columns[sets])
    assert len(without) > 200
    np.testing.assert_allclose(without, expected, atol=1e-9, rtol=0)


def with_a_column_for_size(model):
    """Copy a model that counts tokens into one that is told their number."""
    model = model.as_model()
    features = tuple(cs.Feature("n") if f.name == cs.SIZE else f for f in model.features_)
    return replace(model, binning=Binning(features, model.binning.keypoints, model.binning.categories))


@pytest.mark.parametrize("case", CASES)
def test_best_and_worst_are_those_of_all_values_tried_one_by_one(case):
    model, told = model_of(case), with_a_column_for_size(model_of(case))
    data = {name: column[:12] for name, column in make_sets(12, seed=5).items()}
    data |= {"n": [len(tokens) for tokens in data["stars"]]}
    explanation = model.explain(pa.table(data), effects=True)
    assert explained(case).effects is None
    columns, places = columns_of(model, explanation), [f.name for f in model.binning_.features]
    effects = explanation.effects.to_pylist()
    n_tokens = sum(map(len, data["stars"]))
    assert len(effects) == 3 * n_tokens + 2 * 12
    for row in effects:
        place = places.index(row["feature"])
        keypoints, categories = model.binning_.keypoints[place], model.binning_.categories[place]
        name = "n" if row["feature"] == cs.SIZE else row["feature"]
        present = one(data, row["set"])
        now = present[name][0]
        assert (row["token"] is None) == (name in ("price", "n"))
        now = now if row["token"] is None else now[row["token"]]
        values = [now, *(categories if keypoints is None else keypoints.tolist())]
        tried = {key: column * len(values) for key, column in present.items()}
        tried[name] = []
        for value in values:
            new = value
            if row["token"] is not None:
                new = list(present[name][0])
                new[row["token"]] = value
            tried[name].append(new)
        reached = predicted(told, tried, None if columns is None else columns[row["set"]])
        suffix = "_category" if keypoints is None else ""
        assert row["prediction_best"] == pytest.approx(reached.max(), abs=1e-9)
        assert row["prediction_worst"] == pytest.approx(reached.min(), abs=1e-9)
        assert reached[values.index(row[f"best{suffix}"])] == pytest.approx(reached.max(), abs=1e-9)
        assert reached[values.index(row[f"worst{suffix}"])] == pytest.approx(reached.min(), abs=1e-9)
        other = "" if suffix else "_category"
        assert row[f"best{other}"] is row[f"worst{other}"] is None


@pytest.mark.parametrize("case", ["number", "two classes", "three classes, width 4"])
@pytest.mark.parametrize("feature", ["words", "colour", "price"])
def test_partial_dependence_is_that_of_each_token_in_turn(case, feature):
    model = model_of(case)
    data = {name: column[:8] for name, column in make_sets(8, seed=6).items()}
    label = "b" if case.startswith("three") else None
    dependence = model.partial_dependence(feature, pa.table(data), n=7, label=label)
    column = {"number": None, "two classes": 1}.get(case, 1)
    place = [f.name for f in model.binning_.features].index(feature)
    keypoints, categories = model.binning_.keypoints[place], model.binning_.categories[place]
    if keypoints is None:
        assert dependence.values.tolist() == list(categories)
    else:
        assert len(dependence.values) == 7
        assert (dependence.values[0], dependence.values[-1]) == (keypoints[0], keypoints[-1])
    expected = np.empty((8, len(dependence.values)))
    for number in range(8):
        for n, value in enumerate(dependence.values.tolist()):
            tried = []
            if feature == "price":
                tried.append(one(data, number) | {"price": [value]})
            for token in range(0 if feature == "price" else len(data[feature][number])):
                tried.append(one(data, number))
                tried[-1][feature][0][token] = value
            tried = tried or [one(data, number)]
            expected[number, n] = np.mean([predicted(model, each, column)[0] for each in tried])
    np.testing.assert_allclose(dependence.sets, expected, atol=1e-9)
    np.testing.assert_allclose(dependence.prediction, expected.mean(axis=0), atol=1e-9)


def test_partial_dependence_without_data_is_that_of_single_tokens():
    """With one feature there is nothing to draw: the curve is the prediction for sets of one token."""
    rng = np.random.default_rng(0)
    model = cs.SetRegressor(random_state=0, epochs=5).fit(rng.random((100, 1)), rng.random(100))
    dependence = model.partial_dependence("x0")
    assert len(dependence.values) == 50
    np.testing.assert_allclose(dependence.prediction, model.predict(dependence.values[:, None]), atol=1e-12)
    drawn = model_of("three classes").partial_dependence(cs.SIZE, label="a")
    assert ((drawn.prediction > 0) & (drawn.prediction < 1)).all()


def test_partial_dependence_takes_feature_and_sets_in_either_order():
    model, table = model_of("number"), pa.table(DATA)
    given = model.partial_dependence("stars", table, 5)
    for other in (
        model.partial_dependence(table, "stars", 5),
        model.partial_dependence(X=table, feature="stars", n=5),
        model.partial_dependence("stars", X=table, n=5),
    ):
        assert other.feature == "stars"
        assert np.array_equal(other.sets, given.sets)
    drawn = model.partial_dependence(None, "stars", n=5)
    assert drawn.made_up
    assert np.array_equal(drawn.sets, model.partial_dependence("stars", n=5).sets)
    with pytest.raises(TypeError, match=r"two strings, 'stars' and 'words'.*once for each feature"):
        model.partial_dependence("stars", "words")
    for arguments in ((table,), (table, 5), (None, table)):
        with pytest.raises(TypeError, match=r"needs the name of a feature.*partial_dependence\(X, 'stars'\)"):
            model.partial_dependence(*arguments)


def test_partial_dependence_refuses_what_it_cannot_do():
    model = model_of("three classes")
    with pytest.raises(ValueError, match="Name one: label="):
        model.partial_dependence("stars", pa.table(DATA))
    with pytest.raises(ValueError, match="Feature 'star'"):
        model.partial_dependence("star", label="a")
    with pytest.raises(ValueError, match="n is 1"):
        model.partial_dependence("stars", n=1, label="a")


@pytest.mark.parametrize("case", ["number", "two classes", "three classes"])
def test_rhos_curve_of_each_label_that_is_explained(case):
    model, explanation = model_of(case), explained(case)
    labels = [None] if explanation.label is None else np.unique(explanation.label).tolist()
    assert list(explanation.rho) == labels
    n_outputs = model.set_function_.outputs
    for label, curve in explanation.rho.items():
        column = model.classes_.tolist().index(label) if n_outputs > 1 else 0
        points = curve[:, :1] + model.model_.support.base[column]
        assert (points[0, 0], points[-1, 0]) == pytest.approx((-1.0, 1.0))
        outputs = model.rho(np.repeat(points, n_outputs, axis=1)).reshape(-1, n_outputs)
        np.testing.assert_allclose(curve[:, 1], outputs[:, column], atol=1e-12)
    assert explained("number, width 4").rho == {}


def test_one_set_of_many():
    model = model_of("three classes")
    explanation = model.explain(pa.table(DATA).slice(0, 20), effects=True)
    assert len(list(explanation)) == 20
    for number in (0, 7, -1):
        place = range(20)[number]
        alone = model.explain(pa.table(one(DATA, place)), effects=True)
        chosen = explanation[number]
        assert len(chosen) == 1
        assert chosen.label.tolist() == alone.label.tolist()
        np.testing.assert_allclose(chosen.prediction, alone.prediction)
        assert chosen.tokens.column_names == alone.tokens.column_names
        assert chosen.tokens["set"].to_pylist() == alone.tokens["set"].to_pylist()
        assert chosen.tokens["words"].to_pylist() == alone.tokens["words"].to_pylist()
        assert chosen.effects["best"].to_pylist() == alone.effects["best"].to_pylist()
    with pytest.raises(IndexError, match="no set 20"):
        explanation[20]


def test_pieces_make_no_difference(monkeypatch):
    model, data = model_of("three classes, width 4"), pa.table(DATA).slice(0, 60)
    whole = model.explain(data, effects=True)
    curve = model.partial_dependence("words", data, label="c")
    monkeypatch.setattr(_set_data, "PIECE_TOKENS", 7)
    parts = model.explain(data, effects=True)
    assert parts.tokens.schema == whole.tokens.schema
    assert parts.tokens["set"].to_pylist() == whole.tokens["set"].to_pylist()
    assert parts.effects["set"].to_pylist() == whole.effects["set"].to_pylist()
    np.testing.assert_allclose(parts.prediction, whole.prediction, atol=1e-12)
    np.testing.assert_allclose(parts.aggregate, whole.aggregate, atol=1e-12)
    np.testing.assert_allclose(
        parts.effects["prediction_best"].to_numpy(), whole.effects["prediction_best"].to_numpy(), atol=1e-12
    )
    np.testing.assert_allclose(model.partial_dependence("words", data, label="c").sets, curve.sets, atol=1e-12)


def test_json_holds_everything_and_no_nan():
    explanation = model_of("two classes").explain(pa.table(DATA).slice(0, 30), effects=True)
    document = json.loads(json.dumps(explanation.to_json(), allow_nan=False))
    assert document["features"] == ["stars", "words", "colour", "price", cs.SIZE]
    assert [one["label"] for one in document["sets"]] == ["yes"] * 30
    assert [one["prediction"] for one in document["sets"]] == explanation.prediction.tolist()
    assert sum(len(one["tokens"]) for one in document["sets"]) == explanation.tokens.num_rows
    assert sum(len(one["effects"]) for one in document["sets"]) == explanation.effects.num_rows
    for one_set in document["sets"]:
        total = sum(part["contribution"] for part in (*one_set["tokens"], *one_set["of_set"]))
        assert one_set["base"] + total == pytest.approx(one_set["prediction"], abs=1e-9)
        colours = [row["best"] for row in one_set["effects"] if row["feature"] == "colour"]
        assert set(colours) <= {*COLOURS, None}
    (curve,) = document["rho"]
    assert curve["label"] == "yes"


def test_names_stay_as_they_are_and_keep_out_of_each_others_way():
    rng = np.random.default_rng(0)
    sets = {name: [rng.random(2).tolist() for _ in range(60)] for name in HOSTILE[:-1]}
    sets[HOSTILE[-1]] = [rng.choice(HOSTILE, 2).tolist() for _ in range(60)]
    sets["set"] = rng.random(60).tolist()
    features = [*HOSTILE[:-1], cs.Feature(HOSTILE[-1], kind="categorical"), "set"]
    model = cs.SetRegressor(features, epochs=1, random_state=0).fit(pa.table(sets), rng.random(60))
    explanation = model.explain(pa.table(sets), effects=True)
    frame = explanation.tokens
    assert len(set(frame.column_names)) == len(frame.column_names)
    assert explanation.features == (*HOSTILE[:4], "score (feature)", HOSTILE[-1], "set (feature)")
    for feature, name in zip((*HOSTILE, "set"), explanation.features, strict=True):
        given = sets[feature] if feature != "set" else [[value] * 2 for value in sets["set"]]
        assert frame[name].to_pylist() == [value for row in given for value in row]
        assert f"{name} (calibrated)" in frame.column_names
    assert set(explanation.effects["feature"].to_pylist()) == {*HOSTILE, "set"}
    assert json.loads(json.dumps(explanation.to_json(), allow_nan=False))["features"] == list(explanation.features)


def test_two_dimensional_arrays_are_sets_of_one_token():
    rng = np.random.default_rng(0)
    X = rng.random((50, 3))
    model = cs.SetClassifier(epochs=1, random_state=0).fit(X, X[:, 0] > 0.5)
    explanation = model.explain(X, effects=True)
    assert explanation.features == ("x0", "x1", "x2")
    assert explanation.tokens["without"].null_count == 50
    np.testing.assert_allclose(explanation.prediction, model.predict_proba(X)[:, 1])


@pytest.mark.parametrize(
    ("case", "label", "message"),
    [
        ("number", 1, "the labels are numbers"),
        ("two classes", "no", "first of two classes"),
        ("three classes", "d", "not among the classes fitted"),
    ],
)
def test_a_label_that_cannot_be_explained(case, label, message):
    with pytest.raises(ValueError, match=message):
        model_of(case).explain(pa.table(DATA), label=label)


def test_drawing_is_left_to_what_draws(monkeypatch):
    drawn = {
        "plot_waterfall": lambda explanation, **options: ("waterfall", len(explanation), options),
        "explanation_html": lambda explanation: f"<p>{len(explanation)}</p>",
        "write_page": lambda title, html, path: written.update({path: (title, html)}),
    }
    written = {}
    for name, draw in drawn.items():
        monkeypatch.setattr(display, name, draw)
    explanation = explained("number")
    assert explanation.plot(3, top=5) == ("waterfall", 1, {"top": 5})
    assert explanation.to_html("page.html") == "<p>1000</p>"
    assert written == {"page.html": ("Explanation", "<p>1000</p>")}
    dependence = model_of("number").partial_dependence("stars", pa.table(DATA).slice(0, 5))
    assert dependence.plot.__func__ is display.plot_partial_dependence


def test_frames_are_of_the_library_that_x_came_from() -> None:
    products = pa.table({"stars": [[5.0, 4.0], [1.0], [2.0, None]]})
    model = cs.SetRegressor(["stars"], random_state=0, epochs=2).fit(products, [3.0, 1.0, 2.0])
    items = cs.SemanticRegressor(cs.Items(), random_state=0, epochs=2).fit([["a"], ["b"]] * 20, [1.0, 2.0] * 20)
    for frame in (products.to_pandas(), pl.from_arrow(products)):
        found = model.explain(frame)[1:].to_frame()
        assert type(found) is type(frame)
        assert found["set"].to_list() == [0, 1, 1]
    for column in (pd.Series([["a", "b"]]), pl.Series([["a", "b"]])):
        found = items.explain(column).to_frame()
        assert type(found).__module__.split(".")[0] == type(column).__module__.split(".")[0]
        assert [list(token) for token in found["token"].to_list() if token is not None] == [["a"], ["b"]]
    assert isinstance(model.explain(products).to_frame(), pa.Table)
    assert isinstance(items.explain([["a"]]).to_frame(), pd.DataFrame)


def test_frames_are_compact_unless_details_are_asked_for() -> None:
    products = pa.table({"stars": [[5.0, 4.0], [1.0], [2.0, None]], "price": [1.0, 2.0, 3.0]})
    model = cs.SetRegressor(["stars", "price"], random_state=0, epochs=2).fit(products, [3.0, 1.0, 2.0])
    explanation = model.explain(products)
    frame = explanation.to_frame()
    assert frame.column_names == ["set", "token", "feature", "value", "stars", "price", "score", "contribution"]
    assert frame["set"].to_pylist() == [0, 0, 0, 1, 1, 2, 2, 2]
    assert frame["feature"].to_pylist() == [None, None, "price", None, "price", None, None, "price"]
    assert frame["token"].to_pylist() == [0, 1, None, 0, None, 0, 1, None]
    sums = np.bincount(frame["set"].to_numpy(), frame["contribution"].to_numpy())
    np.testing.assert_allclose(explanation.base + sums, explanation.prediction, atol=1e-9)
    assert {"without", "share", "stars (calibrated)"} <= set(explanation.to_frame(details=True).column_names)
