"""Models that read the places of tokens: as if told them in columns, and without tokens as of shorter lists."""

from dataclasses import replace
from functools import cache

import numpy as np
import pyarrow as pa
import pytest
from tests.models.test_contributions import LABELS, QUICK, SETS, SIZES, predicted, randomise, totals

import clearset as cs
from clearset import runtime
from clearset.sets import Binning

COLUMNS = {cs.PLACE: "back", cs.PLACE_FROM_START: "front"}
TOLD = {
    "back": [np.arange(size - 1.0, -1.0, -1.0).tolist() for size in SIZES],
    "front": [np.arange(float(size)).tolist() for size in SIZES],
}
FORMS = {
    "from the end": (["stars", cs.PLACE], "number", 1),
    "from the start": (["stars", cs.PLACE_FROM_START], "two", 1),
    "all that is built in": ([cs.PLACE, "stars", cs.SIZE, "price", cs.PLACE_FROM_START], "number", 3),
    "three classes": (["price", cs.PLACE_FROM_START, cs.Feature("colour", kind="categorical"), cs.PLACE], "three", 2),
}


@cache
def model_of(form):
    features, labels, width = FORMS[form]
    kind = cs.SetRegressor if labels == "number" else cs.SetClassifier
    model = kind(features, width, **QUICK).fit(pa.table(SETS), LABELS[labels])
    randomise(model.set_function_, np.random.default_rng(width))
    return model


def told(model):
    """Return the model as one that reads places from columns."""
    model = model.as_model()
    features = tuple(replace(each, name=COLUMNS.get(each.name, each.name)) for each in model.binning.features)
    return replace(model, binning=Binning(features, model.binning.keypoints, model.binning.categories))


@pytest.mark.parametrize("form", FORMS)
def test_all_is_said_as_if_places_were_told(form):
    model = model_of(form)
    X, columns = pa.table(SETS), pa.table({**SETS, **TOLD})
    assert model.as_model().read(X).outputs().tolist() == told(model).read(columns).outputs().tolist()
    explained, expected = model.explain(X, effects=True), told(model).explain(columns, effects=True)
    for name in ("prediction", "base", "aggregate"):
        assert getattr(explained, name).tolist() == getattr(expected, name).tolist()
    names = [COLUMNS.get(name, name) for name in explained.features]
    assert list(expected.features) == names
    for name, read in [*zip(explained.features, names, strict=True), *[(n, n) for n in ("score", "contribution")]]:
        assert explained.tokens[name].to_pylist() == expected.tokens[read].to_pylist()
    rows, others = explained.effects.to_pylist(), expected.effects.to_pylist()
    assert [{**row, "feature": COLUMNS.get(row["feature"], row["feature"])} for row in rows] == others
    np.testing.assert_allclose(explained.base + totals(explained), explained.prediction, atol=1e-9)


@pytest.mark.parametrize("form", FORMS)
def test_without_is_the_prediction_for_the_list_without_the_token(form):
    model = model_of(form)
    explanation = model.explain(pa.table(SETS))
    rows = [row for row in explanation.tokens.to_pylist() if row["without"] is not None]
    assert len(rows) == SIZES[SIZES > 1].sum()
    left = {"price": [SETS["price"][row["set"]] for row in rows]}
    for name in ("stars", "colour"):
        left[name] = [np.delete(SETS[name][row["set"]], row["token"]).tolist() for row in rows]
    labels = None if explanation.label is None else explanation.label[[row["set"] for row in rows]]
    expected = predicted(model, pa.table(left), labels)
    np.testing.assert_allclose([row["without"] for row in rows], expected, atol=1e-9, rtol=0)


@pytest.mark.parametrize("form", FORMS)
def test_files_of_every_kind_read_places(form, tmp_path):
    model = model_of(form)
    X, one = pa.table(SETS), model.as_model()
    model.save(tmp_path / "model")
    assert cs.load(tmp_path / "model").read(X).outputs().tolist() == one.read(X).outputs().tolist()
    model.to_runtime(tmp_path / "model.runtime")
    scorer, expected = runtime.load(tmp_path / "model.runtime"), model.explain(X)
    explained = scorer.explain(SETS)
    np.testing.assert_allclose(explained.prediction, expected.prediction, rtol=1e-10, atol=1e-12)
    contributions = expected.tokens["contribution"].to_numpy()
    np.testing.assert_allclose(explained.contributions, contributions, rtol=1e-7, atol=1e-10)
    empty = {name: [[], []] for name in ("stars", "colour")} | {"price": [0.5, None]}
    asked = pa.table({name: pa.array(empty[name], X[name].type) for name in X.column_names})
    # Where no set has a token, nothing tells that features are lists.
    np.testing.assert_allclose(scorer.estimates(empty), one.link.estimates(one.read(asked).outputs()), rtol=1e-10)


def test_the_order_of_tokens_matters_and_that_of_sets_does_not():
    model, X = model_of("from the end"), pa.table(SETS)
    turned = pa.table({**SETS, "stars": [row[::-1] for row in SETS["stars"]]})
    differ = model.predict(turned) != model.predict(X)
    assert (differ == [row != row[::-1] for row in SETS["stars"]]).mean() > 0.95
    order = np.random.default_rng(0).permutation(len(X))
    assert model.predict(X.take(pa.array(order))).tolist() == model.predict(X)[order].tolist()


def test_a_declared_direction_holds_for_tokens_that_move_to_other_places():
    rng = np.random.default_rng(3)
    features = [cs.Feature("x"), cs.Feature(cs.PLACE, monotonic="increasing", keypoints=5, lattice_size=3)]
    trusts = [cs.Trust(cs.PLACE, by="x")]
    sets = {"x": [rng.normal(size=size).tolist() for size in SIZES[:300]]}
    y = [-np.sum(row[-2:]) + rng.normal() for row in sets["x"]]
    model = cs.SetRegressor(features, trusts=trusts, epochs=5, random_state=0).fit(pa.table(sets), y)
    assert model.verify(pa.table(sets))
    assert {check.constraint for check in model.certificate_.checks} >= {"cs.PLACE increasing"}
    # One token comes first or last among others that say the same wherever they stand: older ones may only raise it.
    back = [[float(place)] for place in range(8)]
    scores = told(model).phi(pa.table({"x": [[0.3]] * 8, "back": back})).scores
    assert (np.diff(np.ravel(scores)) >= 0).all()


def test_long_tables_are_read_in_the_order_of_their_rows():
    long = pa.table({"patient": ["b", "a", "b", "b", "a"], "pain": [1.0, 2.0, 3.0, 4.0, 5.0]})
    sets = cs.from_long(long, by="patient")
    model = cs.SetRegressor(["pain", cs.PLACE], epochs=1, random_state=0).fit(sets, [1.0, 2.0])
    told_of = model.explain(sets).tokens.select(["pain", cs.PLACE]).to_pylist()
    assert [tuple(row.values()) for row in told_of] == [(1.0, 2.0), (3.0, 1.0), (4.0, 0.0), (2.0, 1.0), (5.0, 0.0)]


def test_plain_rows_are_refused_by_name():
    model = model_of("from the end")
    with pytest.raises(ValueError, match=r"cs\.PLACE is the place of a token.*from_long"):
        model.predict(pa.table({"stars": [1.0, 2.0]}))
