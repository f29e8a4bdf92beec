"""Importance: means of contributions that `explain` tells, and what shuffling costs."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import clearset as cs

RNG = np.random.default_rng(0)
SIZES = RNG.integers(0, 6, 300)
STARS = [RNG.integers(1, 6, size).astype(float).tolist() for size in SIZES]
NOISE = [RNG.random(size).tolist() for size in SIZES]
PRICE = RNG.random(300)
X = pa.table({"stars": STARS, "noise": NOISE, "price": PRICE})
Y = np.array([np.mean(stars) if stars else 3.0 for stars in STARS]) - PRICE
BASKETS = [RNG.choice(["a", "b", "c", "d"], RNG.integers(1, 4), replace=False).tolist() for _ in range(300)]
IS_A = np.array(["a" in basket for basket in BASKETS])


@pytest.fixture(scope="module")
def model():
    return cs.SetRegressor(random_state=0, epochs=60, n_jobs=1).fit(X, Y)


@pytest.fixture(scope="module")
def items():
    return cs.SemanticClassifier(cs.Items(), random_state=0, epochs=30, n_jobs=1).fit(BASKETS, IS_A)


def test_features_of_sets_matter_as_explanations_say(model):
    importance, explanation = model.importance(X), model.explain(X)
    rows = explanation.of_sets.to_pylist()
    price = np.mean([abs(row["contribution"]) for row in rows if row["feature"] == "price"])
    found = dict(
        zip(importance.features["feature"].to_pylist(), importance.features["contribution"].to_pylist(), strict=True)
    )
    assert found["price"] == pytest.approx(price, rel=1e-9)
    assert set(importance.features["feature"].to_pylist()[-2:]) == {"noise", cs.SIZE}
    assert importance.tokens is None
    assert importance.unit == "prediction"


def test_tokens_matter_by_their_mean_absolute_contribution(items):
    importance, rows = items.importance(BASKETS), items.explain(BASKETS).tokens.to_pylist()
    expected = {}
    for row in rows:
        expected.setdefault(row["token"][0], []).append(abs(row["contribution"]))
    assert importance.tokens["token"].to_pylist()[0] == ["a"]
    for row in importance.tokens.to_pylist():
        (name,) = row["token"]
        assert row["sets"] == len(expected[name])
        assert row["contribution"] == pytest.approx(sum(expected[name]) / 300, rel=1e-9)
    assert importance.unit == "probability"


def test_shuffling_costs_what_predictions_on_shuffled_sets_lose(model):
    """A feature of whole sets has nothing to be shuffled with within a set."""
    importance = model.importance(X, Y, method="permutation", repeats=2)
    found = {row["feature"]: row for row in importance.features.to_pylist()}
    assert found["price"]["within"] == 0.0
    assert found["stars"]["between"] > 10 * abs(found["noise"]["between"])
    assert found["stars"]["between"] > found["stars"]["within"]
    assert importance.unit == "R²"
    assert model.importance(X, method="permutation", repeats=1).unit == "prediction"


def test_shuffling_between_sets_of_one_token_is_scikit_learns_shuffling():
    rng = np.random.default_rng(1)
    table = rng.random((200, 2))
    fitted = cs.SetRegressor(random_state=0, epochs=40, n_jobs=1).fit(table, 3 * table[:, 0] + table[:, 1])
    ours = fitted.importance(table, 3 * table[:, 0] + table[:, 1], method="permutation", repeats=30)
    from sklearn.inspection import permutation_importance

    theirs = permutation_importance(fitted, table, 3 * table[:, 0] + table[:, 1], n_repeats=30, random_state=0)
    found = dict(zip(ours.features["feature"].to_pylist(), ours.features["between"].to_pylist(), strict=True))
    np.testing.assert_allclose([found["x0"], found["x1"]], theirs.importances_mean, rtol=0.1)


def test_frames_and_bad_questions(items):
    importance = items.importance(pd.Series(BASKETS))
    assert isinstance(importance.to_frame(), pd.DataFrame)
    assert list(importance.to_frame("tokens").columns) == ["token", "contribution", "sets"]
    with pytest.raises(ValueError, match="of is 'rows'"):
        importance.to_frame("rows")
    with pytest.raises(ValueError, match="There are no tokens to rank"):
        items.importance(BASKETS, method="permutation").to_frame("tokens")
    with pytest.raises(ValueError, match="method is 'gain'"):
        items.importance(BASKETS, method="gain")
    with pytest.raises(ValueError, match="y is for method='permutation'"):
        items.importance(BASKETS, IS_A)
    with pytest.raises(ValueError, match="repeats is 0"):
        items.importance(BASKETS, method="permutation", repeats=0)


@pytest.mark.parametrize("direction", ["lowered", "raised"])
def test_reasons_are_the_largest_contributions_one_way(model, direction):
    explanation = model.explain(X)
    sign = -1 if direction == "lowered" else 1
    found = explanation.reasons(2, direction).to_pylist()
    for number in range(len(explanation)):
        one = explanation[number]
        parts = [row["contribution"] for row in one.tokens.to_pylist() if row["token"] is not None]
        parts += [row["contribution"] for row in one.of_sets.to_pylist()]
        expected = sorted((part for part in parts if sign * part > 0), key=lambda part: -sign * part)[:2]
        own = [row for row in found if row["set"] == number]
        assert [row["contribution"] for row in own] == expected
        assert [row["rank"] for row in own] == list(range(1, len(expected) + 1))
    texts = {row["reason"].split()[0] for row in found}
    assert texts <= {"stars", "price", "number"}  # the number of tokens


def test_reasons_name_tokens_and_refuse_what_they_cannot_count(items):
    explanation = items.explain([["a", "b"], ["b", "c"]])
    assert explanation.reasons(1, "raised")["reason"].tolist()[0] == "a"
    assert set(explanation.reasons(5)["label"]) == {True}
    for k in (0, True, 1.5):
        with pytest.raises(ValueError, match="k is"):
            explanation.reasons(k)
    with pytest.raises(ValueError, match="direction is 'up'"):
        explanation.reasons(1, "up")


def test_reasons_of_one_set_read_as_among_many():
    rng = np.random.default_rng(0)
    columns = {name: [rng.integers(0, 3, 4).astype(float).tolist() for _ in range(40)] for name in "abcde"}
    frame = pa.table(columns | {"zip": rng.choice(["01234", "10115"], 40)})
    features = [*"abcde", cs.Feature("zip", kind="categorical")]
    model = cs.SetRegressor(features, random_state=0, epochs=20).fit(frame, rng.random(40))
    explanation = model.explain(frame)
    together = explanation.reasons(2).to_pylist()
    for number in range(40):
        alone = explanation[number].reasons(2)["reason"].to_pylist()
        assert alone == [row["reason"] for row in together if row["set"] == number]
    texts = {row["reason"] for row in (*together, *explanation.reasons(6, "raised").to_pylist())}
    assert {text for text in texts if text.startswith("zip")} <= {"zip 01234", "zip 10115"}
    assert all(text.startswith(("a ", "zip ")) for text in texts)


def test_a_class_is_not_asked_for_where_the_score_of_all_is_told(items):
    with pytest.raises(ValueError, match="label says nothing"):
        items.importance(BASKETS, IS_A, label=True, method="permutation")
