"""Models over tokens of several kinds."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from sklearn.metrics import roc_auc_score

import clearset as cs

QUICK: dict[str, Any] = {"random_state": 0, "n_jobs": 1, "epochs": 5}
FRUIT = ("apple", "pear", "plum", "cherry")
FORMS = ("fresh", "dried", "baked", "sour", "ripe", "sweet", "cut", "old", "new", "raw", "hot", "cold")


def shopping(n: int, seed: int = 0, n_forms: int = 2) -> tuple[list[list[str]], Any]:
    """Draw lists of phrases, each of which is rare; their second word says what the label is."""
    rng = np.random.default_rng(seed)
    phrases = [[f"{' '.join(rng.choice(FORMS, n_forms))} {rng.choice(FRUIT)}" for _ in range(3)] for _ in range(n)]
    share = [np.mean([("apple" in item) + 0.4 * ("plum" in item) for item in row]) for row in phrases]
    return phrases, np.where(rng.random(n) < np.array(share), "yes", "no")


@pytest.fixture(scope="module")
def fitted() -> Any:
    X, y = shopping(400)
    tokens = cs.Union(cs.Subsets(2), cs.Words())
    return cs.SemanticClassifier(tokens, [cs.MinCount(2)], refine=1, cover=True, **QUICK).fit(X, y)


def test_explanations_say_the_kind(fitted: Any) -> None:
    X = shopping(30, seed=1)[0]
    explanation = fitted.explain(X, effects=True)
    rows = [row for row in explanation.tokens.to_pylist() if row["token"] is not None]
    assert {row["kind"] for row in rows} == {"words", "subsets"}
    for row in rows:
        assert {item.partition("=")[0] for item in row["token"]} == {row["kind"]}
    sums = np.bincount(explanation.tokens["set"].to_numpy(), explanation.tokens["contribution"].to_numpy(), 30)
    of_sets = explanation.of_sets
    sums += np.bincount(of_sets["set"].to_numpy(), of_sets["contribution"].to_numpy(), 30)
    np.testing.assert_allclose(explanation.base + sums, explanation.prediction, atol=1e-9)
    changes = explanation.effects.to_pylist()
    assert {row["best_category"] for row in changes if row["feature"] == "kind"} <= {"words", "subsets"}


def test_the_kind_is_a_category(fitted: Any) -> None:
    feature = fitted.features_[-1]
    assert (feature.name, feature.kind) == ("kind", "categorical")
    assert fitted.partial_dependence("kind", shopping(10)[0]).values.tolist() == ["subsets", "words"]
    assert fitted.calibrators()["kind"].categories == ("subsets", "words")
    assert bool(fitted.verify())


def test_covers_name_items_by_their_places(fitted: Any) -> None:
    row = ["raw cut apple", "old hot plum"]
    parts = fitted.setting_.tokens.parts([row]).to_pylist()[0]
    for found in fitted.explain([row]).tokens.to_pylist():
        assert sorted(parts[place] for place in found["covers"]) == sorted(found["token"])


def test_edits_and_reports(fitted: Any, tmp_path: Path) -> None:
    X, y = shopping(40, seed=2)
    editor = fitted.edit()
    editor.drop_token(["words=apple"])
    editor.pin_token("words=plum", 0.4)
    assert editor.model.token_table_.lookup("words=apple") is None
    editor.model.save(tmp_path / "edited.clearset")
    loaded = cs.load(tmp_path / "edited.clearset")
    assert loaded.predict_proba(X).tolist() == editor.model.predict_proba(X).tolist()
    editor.undo()
    editor.undo()
    assert editor.model.predict_proba(X).tolist() == fitted.predict_proba(X).tolist()
    fitted.report(tmp_path / "report.html", X, y)
    assert "words=apple" in (tmp_path / "report.html").read_text()


def test_a_new_table(fitted: Any) -> None:
    X, y = shopping(300, seed=3)
    table = cs.as_estimator(fitted.as_model()).refresh_table(X, y).token_table_
    expected = cs.TokenTable.build(X, y, fitted.setting_.tokens, [cs.MinCount(2)])
    assert table.to_arrow().drop_columns(["correction", "refined"]).equals(expected.to_arrow())


def test_words_of_phrases_are_found_without_being_named() -> None:
    X, y = shopping(2500, n_forms=3)
    model = cs.SemanticClassifier(random_state=0, n_jobs=1).fit(X, y)
    assert "words" in model.setting_.tokens.kinds
    later, truth = shopping(500, seed=9, n_forms=3)
    items = cs.SemanticClassifier(cs.Items(), random_state=0, n_jobs=1).fit(X, y)
    ours, theirs = (roc_auc_score(truth, each.predict_proba(later)[:, 1]) for each in (model, items))
    assert ours > theirs + 0.1


@pytest.mark.parametrize("tokens", ["auto", cs.Union(cs.Subsets(2), cs.Words())], ids=repr)
def test_files_give_the_same_bits(tokens: Any, tmp_path: Path) -> None:
    X, y = shopping(300)
    table = pa.table({"items": pa.array(X, pa.list_(pa.string())), "label": pa.array(y.tolist())})
    for part in range(3):
        pyarrow.parquet.write_table(table.slice(100 * part, 100), tmp_path / f"{part}.parquet")
    told = [
        cs.SemanticClassifier(tokens, **QUICK).fit(*data).predict_proba(shopping(50, seed=4)[0]).tolist()
        for data in ((X, y), (str(tmp_path), "label"))
    ]
    assert told[0] == told[1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tokens": cs.Items(), "features": ["log_odds", "kind"]}, "there is one. Give tokens=Union"),
        ({"features": ["log_odds", "kind"]}, "there is one. Give tokens=Union"),
        ({"features": ["log_odds", "whole"]}, "never all of an example"),
        ({"features": ["log_odds", cs.Feature("kind", monotonic="increasing")]}, "takes no options"),
        ({"filters": [cs.OfKind("items", cs.MinCount(2))]}, "of the kinds 'subsets', 'words'"),
        ({"tokens": "auto", "filters": [cs.OfKind("words", cs.MinCount(2))]}, "tokens are of one kind"),
        ({"details": ["pay"]}, "makes other tokens of the items"),
        ({"tokens": cs.Words(), "details": ["pay"]}, "makes other tokens of the items"),
    ],
)
def test_what_does_not_fit_is_refused(options: dict[str, Any], message: str) -> None:
    if options.get("features") == ["log_odds", "kind"] and "tokens" not in options:
        options = {**options, "tokens": "auto"}
    given = {"tokens": cs.Union(cs.Subsets(2), cs.Words()), **options}
    with pytest.raises(ValueError, match=message):
        cs.SemanticClassifier(**given, **QUICK).fit(*shopping(20))


def test_sql_is_refused_in_one_sentence(fitted: Any) -> None:
    with pytest.raises(ValueError, match=r"Union\(Subsets\(max_size=2\), Words\(\)\), and SQL finds items and subsets"):
        fitted.to_sql("duckdb")


def test_a_frozen_model_looks_tokens_up() -> None:
    X, y = shopping(200)
    tokens, features = cs.Union(cs.Items(), cs.Words()), ["log_odds", "count", "kind"]
    model = cs.SemanticClassifier(tokens, features=features, **QUICK).fit(X, y)
    np.testing.assert_allclose(model.freeze().predict_proba(X), model.predict_proba(X), atol=1e-12)
