import itertools
import json
from functools import cache

import numpy as np
import polars as pl
import pytest
from scipy.special import expit, softmax

import clearset as cs
from clearset.models import _token_reading

from .item_sets import item_sets

ITEMS = [f"i{k}" for k in range(10)]
SETS, SUMS, CUISINES = item_sets(ITEMS, smallest=1)
SEEN = [*SETS[:20], [], ["unknown"], ["i3", "i3", "unknown"]]
QUICK = {"epochs": 1, "random_state": 0, "n_jobs": 1, "cross_fit": None}
CASES = {
    "number": (cs.SemanticRegressor, SUMS, {"features": ["mean_label", "count", "tokens"]}),
    "two classes": (cs.SemanticClassifier, SUMS > 0, {"features": ["log_odds", "count"], "refine": True}),
    "three classes": (cs.SemanticClassifier, CUISINES, {"features": ["log_odds", "tokens"], "refine": True}),
    "three classes, width 4": (
        cs.SemanticClassifier,
        CUISINES,
        {"features": ["mean_label", "count", "items"], "width": 4, "refine": False},
    ),
}


@cache
def model_of(case):
    """Fit for table and keypoints, then make the set function random."""
    kind, y, options = CASES[case]
    model = kind(**{"tokens": cs.Items(), "refine": False, **QUICK, **options}).fit(SETS, y)
    rng = np.random.default_rng(len(case))
    for name, table in model.set_function_.tables.items():
        low = 0.0 if name in ("phi.calibration", "rho.calibrators") else -1.0
        table[:] = rng.uniform(low, 1.0, table.shape)
    return model


def predicted(model, X, columns):
    if not hasattr(model, "classes_"):
        return model.predict(X)
    return model.predict_proba(X)[np.arange(len(X)), columns]


def columns_of(model, explanation):
    return None if explanation.label is None else np.searchsorted(model.classes_, explanation.label)


@pytest.mark.parametrize("case", ["number", "two classes", "three classes"])
def test_without_is_the_prediction_without_the_item(case):
    """Where the items of a set are no feature, a token that goes is its item that goes."""
    model = model_of(case)
    explanation = model.explain(SEEN)
    columns, several = columns_of(model, explanation), 0
    for row in explanation.tokens.to_pylist():
        known = [item for item in SEEN[row["set"]] if item in ITEMS]
        if len(set(known)) < 2:
            assert row["without"] is None
            continue
        several += 1
        rest = [item for item in known if item != row["token"][0]]
        column = None if columns is None else columns[row["set"]]
        assert row["without"] == pytest.approx(predicted(model, [rest], column)[0], abs=1e-9)
    assert several > 40


def test_a_token_goes_alone_and_the_items_of_the_set_stay():
    model = model_of("three classes, width 4")
    explanation = model.explain([["i1", "i2", "i3"]], label="thai")
    (first, *rest) = explanation.tokens.to_pylist()
    assert first["items"] == 3
    # Two items and one that the table does not know: three items, of which two are tokens.
    left = [*(row["token"][0] for row in rest), "unknown"]
    expected = model.predict_proba([left])[0, model.classes_.tolist().index("thai")]
    assert first["without"] == pytest.approx(expected, abs=1e-9)


def phi(model, calibrated):
    """Interpolate in the lattice corner by corner; `calibrated` is (features, width)."""
    scores = np.zeros(model.set_function_.width)
    vertices = model.set_function_.vertices
    for place, corner in enumerate(itertools.product([0, 1], repeat=len(calibrated))):
        weights = [c if up else 1 - c for c, up in zip(calibrated, corner, strict=True)]
        scores += np.prod(weights, axis=0) * vertices[:, place]
    return scores


def prediction_of(model, means, column):
    """Give the prediction for (classes, width) mean scores."""
    outputs = model.rho(means)
    if not hasattr(model, "classes_"):
        return outputs[0]
    return expit(outputs[0]) if len(outputs) == 1 else softmax(outputs)[column]


@pytest.mark.parametrize("case", CASES)
def test_best_and_worst_are_those_of_all_values_tried_one_by_one(case):
    model = model_of(case)
    curves, names = model.calibrators(), [feature.name for feature in model.features_]
    scores = model.phi(SEEN).scores
    n_classes = scores.shape[1] if scores.ndim == 3 else 1
    # For each class the calibrated values of all tokens, of which one at a time is replaced.
    labels = model.classes_.tolist() if n_classes > 1 else [None]
    known = [model.explain(SEEN, label=label).tokens.to_pylist() for label in labels]
    explanation = model.explain(SEEN, effects=True)
    columns = columns_of(model, explanation)
    rows_of = [[t for t, row in enumerate(known[0]) if row["set"] == number] for number in range(len(SEEN))]

    def calibrated(c, t):
        return np.array([np.atleast_1d(known[c][t][f"{name} (calibrated)"]) for name in names])

    effects = explanation.effects.to_pylist()
    n_tokens = sum(row["token"] is not None for row in known[0])
    per_set = sum(name in ("items", "tokens") for name in names)
    assert len(effects) == n_tokens * (len(names) - per_set) + len(SEEN) * per_set
    for row in effects:
        place, rows = names.index(row["feature"]), rows_of[row["set"]]
        looked_at = 0 if columns is None or n_classes == 1 else columns[row["set"]]
        changed = rows if row["token"] is None else [rows[row["token"]]]
        now = known[looked_at][changed[0]][row["feature"]]
        before = float(explanation.prediction[row["set"]])
        reached = {now: before}
        for v, value in enumerate(curves[row["feature"]].keypoints.tolist()):
            means = np.zeros((n_classes, model.set_function_.width))
            for c, t in itertools.product(range(n_classes), rows):
                inputs = calibrated(c, t)
                if t in changed and (place > 0 or c == looked_at):
                    inputs[place] = curves[row["feature"]].values[:, v]
                means[c] += phi(model, inputs) / len(rows)
            reached[value] = prediction_of(model, means, looked_at)
            if known[0][rows[0]]["token"] is None:
                reached[value] = before  # nothing is known of it, whatever the features are
        assert row["prediction_best"] == pytest.approx(max(reached.values()), abs=1e-9)
        assert row["prediction_worst"] == pytest.approx(min(reached.values()), abs=1e-9)
        assert reached[row["best"]] == pytest.approx(row["prediction_best"], abs=1e-9)
        assert reached[row["worst"]] == pytest.approx(row["prediction_worst"], abs=1e-9)


def test_partial_dependence_of_a_value_goes_through_what_effects_tell():
    model = model_of("two classes")
    tokens = [row for row in SEEN[:10] if len(row) == 1] or [["i1"], ["i2"]]
    dependence = model.partial_dependence("log_odds", tokens, n=len(model.binning_.keypoints[0]))
    np.testing.assert_allclose(dependence.values, model.binning_.keypoints[0])
    effects = model.explain(tokens, effects=True).effects.to_pylist()
    now = model.predict_proba(tokens)[:, 1]
    for number, row in enumerate(row for row in effects if row["feature"] == "log_odds"):
        assert max(dependence.sets[number].max(), now[number]) == pytest.approx(row["prediction_best"])
        assert min(dependence.sets[number].min(), now[number]) == pytest.approx(row["prediction_worst"])
    assert dependence.label is True


@pytest.mark.parametrize("case", CASES)
def test_partial_dependence_without_examples(case):
    model = model_of(case)
    label = None if case in ("number", "two classes") else "thai"
    for feature in model.features_:
        dependence = model.partial_dependence(feature.name, n=9, label=label)
        assert dependence.sets.shape == (500, 9)
        np.testing.assert_allclose(dependence.prediction, dependence.sets.mean(axis=0))
        if label:
            assert ((dependence.sets > 0) & (dependence.sets < 1)).all()
    with pytest.raises(ValueError, match="Feature 'length'"):
        model.partial_dependence("length", label=label)


@pytest.mark.parametrize("case", ["number", "three classes"])
def test_partial_dependence_refuses_what_it_cannot_do(case):
    model, label = model_of(case), None if case == "number" else "thai"
    value = model.features_[0].name
    for n in (0, 1, 2.0, True):
        with pytest.raises(ValueError, match=f"n is {n}; a curve needs a whole number of at least 2"):
            model.partial_dependence(value, n=n, label=label)
    with pytest.raises(ValueError, match=f"Did you mean '{value}'"):
        model.partial_dependence(value[:-1], label=label)
    with pytest.raises(TypeError, match="for sets of numbers use SetRegressor"):
        model.partial_dependence(value, np.zeros((3, 1)), label=label)
    with pytest.raises(ValueError, match="X holds no sets"):
        model.partial_dependence(value, [], label=label)


def test_a_set_without_tokens_has_nothing_that_could_be_changed():
    model = model_of("two classes")
    dependence = model.partial_dependence("count", [[], ["i1", "i2"]])
    assert np.ptp(dependence.sets[0]) == 0
    assert np.ptp(dependence.sets[1]) > 0
    assert dependence.sets[0, 0] == pytest.approx(model.predict_proba([[]])[0, 1])


def test_pieces_make_no_difference(monkeypatch):
    model = model_of("three classes")
    whole = model.explain(SEEN, effects=True)
    monkeypatch.setattr(_token_reading, "PIECE_SCORES", 12)
    parts = model.explain(SEEN, effects=True)
    assert parts.to_json() == whole.to_json()


@pytest.mark.parametrize("case", CASES)
def test_json_holds_tokens_statistics_and_no_nan(case):
    model = model_of(case)
    document = json.loads(json.dumps(model.explain(SEEN, effects=True).to_json(), allow_nan=False))
    assert len(document["sets"]) == len(SEEN)
    for number, one in enumerate(document["sets"]):
        for token in one["tokens"]:
            if token["token"] is None:
                assert token["statistics"] is token["covers"] is None
                continue
            known, stated = model.token_table_.lookup(token["token"]), token["statistics"]
            assert stated["count"] == known.count
            column = model.classes_.tolist().index(one["label"]) if case.startswith("three") else ...
            for name in ("mean", "low", "high"):
                assert stated[name] == pytest.approx(np.asarray(getattr(known, name))[column])
            assert [SEEN[number][place] for place in token["covers"]] == token["token"] * len(token["covers"])


def test_hostile_items_are_what_they_are():
    hostile = ["<script>alert(1)</script>", "\"'&", "x" * 10_000, "\u202e\u05e9\u05dc\u05d5\u05dd"]
    X = [[a, b] for a, b in itertools.permutations(hostile, 2)] * 5
    model = cs.SemanticClassifier(tokens=cs.Items(), **QUICK).fit(X, [row[0] == hostile[0] for row in X])
    tokens = model.explain([hostile]).to_json()["sets"][0]["tokens"]
    assert sorted(token["token"] for token in tokens) == sorted([item] for item in hostile)


def test_details_go_through_their_values_too():
    frame = pl.DataFrame(
        {"items": SETS, "label": [[float(len(item)) + k for k, item in enumerate(row)] for row in SETS]}
    )
    model = cs.SemanticRegressor(tokens=cs.Items(), details=["label"], **QUICK).fit(frame, SUMS)
    explanation = model.explain(frame[:20], effects=True)
    assert "label (detail)" in explanation.features
    assert "label" in explanation.effects["feature"].to_pylist()
    assert np.ptp(model.partial_dependence("label", frame[:20]).prediction) > 0
