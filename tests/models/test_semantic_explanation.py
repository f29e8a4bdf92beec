from functools import cache

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from scipy.special import logit

import clearset as cs

from .item_sets import item_sets

ITEMS = [f"i{k}" for k in range(12)]
SETS, SUMS, CUISINES = item_sets(ITEMS, smallest=0)
SEEN = [*SETS[:50], [], ["unknown"], ["i3", "i3", "unknown"]]
QUICK = {"epochs": 3, "random_state": 0, "n_jobs": 1}


def fitted(kind, y, **options):
    return kind(**{"tokens": cs.Subsets(2), "filters": [cs.MinCount(3)], **QUICK, **options}).fit(SETS, y)


MODELS = {
    "number": lambda: fitted(cs.SemanticRegressor, SUMS),
    "two classes": lambda: fitted(cs.SemanticClassifier, SUMS > 0, refine=True, cover=False),
    "three classes": lambda: fitted(cs.SemanticClassifier, CUISINES, width=2, refine=2),
    "engine": lambda: fitted(cs.SemanticFeatureEngine, CUISINES, features=["mean_label", "whole", "lift"]),
}


@cache
def model_of(name):
    return MODELS[name]()


def contributions_of_sets(explanation):
    """Sum the contributions set by set, in plain Python."""
    sums = dict.fromkeys(range(len(explanation)), 0.0)
    for row in (*explanation.tokens.to_pylist(), *explanation.of_sets.to_pylist()):
        sums[row["set"]] += row["contribution"]
    return np.array(list(sums.values()))


def first_tokens(explanation):
    """The first token of each set."""
    first = {}
    for row in explanation.tokens.to_pylist():
        first.setdefault(row["set"], row["token"])
    return [first[number] for number in range(len(explanation))]


@pytest.mark.parametrize("name", MODELS)
def test_contributions_add_up_to_the_prediction_and_rho_makes_the_output_of_the_aggregate(name):
    model = model_of(name)
    explanation = model.explain(SEEN)
    gained = explanation.prediction - explanation.base
    np.testing.assert_allclose(contributions_of_sets(explanation), gained, atol=1e-9, rtol=0)
    columns = (
        0
        if explanation.label is None or len(model.classes_) == 2
        else np.searchsorted(model.classes_, explanation.label)
    )
    base = np.broadcast_to(model.model_.support.base[columns], explanation.aggregate.shape)
    known = np.array([row is not None for row in first_tokens(explanation)])  # of the others the usual is said
    outputs = model.rho((base + explanation.aggregate)[known])
    np.testing.assert_allclose(outputs, explanation.output[known], atol=1e-9, rtol=0)
    assert known.any()


def test_prediction_is_what_the_model_predicts():
    regressor = model_of("number")
    explanation = regressor.explain(SEEN)
    assert explanation.label is None
    np.testing.assert_allclose(explanation.prediction, regressor.predict(SEEN), atol=1e-12)
    two = model_of("two classes")
    explanation = two.explain(SEEN)
    assert explanation.label.tolist() == [True] * len(SEEN)
    np.testing.assert_allclose(explanation.prediction, two.predict_proba(SEEN)[:, 1], atol=1e-12)
    np.testing.assert_allclose(explanation.output, two.decision_function(SEEN), atol=1e-12)
    three = model_of("three classes")
    explanation = three.explain(SEEN)
    assert explanation.label.tolist() == three.predict(SEEN).tolist()
    np.testing.assert_allclose(explanation.prediction, three.predict_proba(SEEN).max(axis=1), atol=1e-12)


def test_a_chosen_class_is_explained_by_its_own_scores():
    model = model_of("three classes")
    for place, label in enumerate(model.classes_):
        explanation = model.explain(SEEN, label=label)
        frame = explanation.tokens
        assert set(frame["label"].to_pylist()) == {label}
        # Together, and with what features of the set say, tokens lead to the log-odds of the class against all others.
        counts = np.bincount(frame["set"].to_numpy(), frame["token"].is_valid().to_numpy(zero_copy_only=False))
        gained = logit(explanation.prediction) - logit(explanation.base)
        sums = np.bincount(frame["set"].to_numpy(), frame["score"].to_numpy())
        of_sets = explanation.of_sets
        said = np.bincount(of_sets["set"].to_numpy(), of_sets["score"].to_numpy())
        shares = model.model_.support.shares(counts)
        known = counts > 0
        means = sums[known] / counts[known] * shares[known]
        np.testing.assert_allclose(means + said[known], gained[known], atol=1e-9)
        np.testing.assert_allclose(explanation.prediction, model.predict_proba(SEEN)[:, place], atol=1e-12)


def test_estimates_are_the_tables_and_refined_values_have_its_corrections():
    model = model_of("two classes")
    table, frame = model.token_table_, model.explain(SEEN).tokens.to_pylist()
    prior = float(table.prior[1])
    corrections = dict(zip(table.corrections.tokens, table.corrections.amounts[:, 0], strict=True))
    assert any(abs(amount) > 1e-3 for amount in corrections.values())
    for row in frame:
        if row["token"] is None:
            continue
        known = table.lookup(row["token"])
        share = (known.mean * known.weight + prior) / (known.weight + 1.0)
        log_odds = np.log(share / (1 - share)) - np.log(prior / (1 - prior))
        assert row["estimate"] == pytest.approx(log_odds, abs=1e-12)
        correction = corrections.get(int(table.numbers_of([row["token"]])[0]), 0.0)
        assert row["refined"] == row["log_odds"] == pytest.approx(log_odds + correction, abs=1e-12)
        assert (row["size"], row["count"]) == (known.size, known.count)


def test_a_set_without_tokens_has_one_row_with_a_null_token():
    model = model_of("number")
    frame = model.explain([[], ["i3", "new"], ["unknown"]]).tokens.to_pylist()
    assert [row["token"] for row in frame] == [None, ["i3"], None]
    assert [row["set"] for row in frame] == [0, 1, 2]
    for row in (frame[0], frame[2]):
        assert row["estimate"] is None
        assert row["refined"] is None
        assert row["count"] is None
        assert row["contribution"] == pytest.approx(model.predict([[]])[0] - model.explain([[]]).base[0], abs=1e-12)
    assert [row["items"] for row in frame] == [0, 2, 1]
    assert [row["tokens"] for row in frame] == [0, 1, 0]


@pytest.mark.parametrize("X", [[], pa.array([], pa.list_(pa.string()))])
def test_no_sets_are_refused_as_set_models_do(X):
    with pytest.raises(ValueError, match=r"X holds 0 sample\(s\), that is, no examples"):
        model_of("number").explain(X)


def test_the_papers_recipe():
    known = {("salt", "water", "sugar"): (22, 510), ("salt", "water", "fennel bulb"): (1, 17)}
    known[("grapefruit juice",)] = (2, 10)
    recipes, mexican = [], []
    for token, (n_mexican, count) in known.items():
        recipes += [list(token)] * count
        mexican += [1] * n_mexican + [0] * (count - n_mexican)
    names = ["mean_label", "count", "size", "whole", "items", "tokens"]
    model = cs.SemanticClassifier(
        tokens=cs.Subsets(3), features=names, shrinkage=0, cross_fit=None, refine=False, **QUICK
    ).fit(recipes, mexican)
    recipe = ["sugar", "salt", "fennel bulb", "water", "lemon olive oil", "grapefruit juice"]
    frame = model.explain([recipe]).tokens.to_pylist()
    assert {frozenset(row["token"]): (round(row["mean_label"], 3), row["count"]) for row in frame} == {
        frozenset({"salt", "water", "fennel bulb"}): (0.059, 17),
        frozenset({"salt", "water", "sugar"}): (0.043, 510),
        frozenset({"grapefruit juice"}): (0.2, 10),
    }
    assert sorted(row["size"] for row in frame) == [1, 3, 3]
    assert all((row["whole"], row["items"], row["tokens"]) == (0, 6, 3) for row in frame)


def test_details_are_shown_and_may_be_called_as_a_column():
    frame = pl.DataFrame({"items": SETS, "score": [[float(len(item)) for item in row] for row in SETS]})
    model = cs.SemanticRegressor(tokens=cs.Items(), details=["score"], **QUICK).fit(frame, SUMS)
    rows = model.explain(frame[:20]).to_frame(details=True).to_dicts()
    assert all(row["score (detail)"] == len(row["token"][0]) for row in rows if row["token"])


@pytest.mark.parametrize(
    ("name", "label", "message"),
    [
        ("number", 1, "the labels are numbers"),
        ("two classes", False, "first of two classes"),
        ("three classes", "dutch", "not among the classes fitted"),
    ],
)
def test_a_label_that_cannot_be_explained(name, label, message):
    with pytest.raises(ValueError, match=message):
        model_of(name).explain(SEEN, label=label)
