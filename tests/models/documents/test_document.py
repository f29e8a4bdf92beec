import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.metrics import accuracy_score, log_loss, mean_absolute_error, r2_score, roc_auc_score

import clearset as cs
from clearset.display import render_report, write_report
from clearset.models import report_document
from clearset.models.documents import token_document
from clearset.models.documents._histogram import histogram
from clearset.models.documents._shown_examples import MOST_EXAMPLES, choose_rows

from ...random_models import of_items, of_sets, sets

QUICK: dict[str, Any] = {"epochs": 2, "random_state": 0, "n_jobs": 1}


@pytest.mark.parametrize("models", [of_sets, of_items])
def test_every_document_is_json_and_becomes_a_page(models: Any) -> None:
    for model, X in models(np.random.default_rng(0)):
        for data in (None, X):
            document = report_document(model, data)
            again = json.loads(json.dumps(document, allow_nan=False))
            assert again == document
            assert render_report(document).count("</script>") == 2  # the document, and the code


def test_histograms_count_every_value() -> None:
    values = np.array([1.0, 2.0, 2.0, 5.0, 9.0, np.nan])
    counted = histogram(values, np.array([1.0, 3.0, 5.0]))
    assert counted == {"edges": [0.5, 1.5, 2.5, 3.5, 4.5, 5.5], "counts": [1, 2, 0, 0, 2], "missing": 1}
    spread = histogram(np.random.default_rng(0).normal(size=500), np.array([-1.0, 1.0]))
    assert sum(spread["counts"]) == 500


def test_categories_are_counted_by_name() -> None:
    X = pa.table({"store": [["b", "a", None], ["b"], ["c", "b"]]})
    model = cs.SetRegressor([cs.Feature("store", kind="categorical")], **QUICK).fit(X, [1.0, 2.0, 3.0])
    later = pa.table({"store": [["new", "b", "a"], [None]]})
    found = report_document(model, later)["features"][0]
    assert found["categories"] == ["a", "b", "c"]
    assert found["histogram"] == {"edges": None, "counts": [1, 1, 0], "missing": 2}


def test_categories_that_training_did_not_have() -> None:
    X = pa.table({"store": [["b", "a"], ["b"], ["c", "a"]]})
    model = cs.SetRegressor([cs.Feature("store", kind="categorical")], **QUICK).fit(X, [1.0, 2.0, 3.0])
    other = pa.table({"store": [["c", "new", None]]})
    assert report_document(model, other)["examples"][0]["tokens"] == [[2], [-1], [None]]


def test_what_training_has_shown() -> None:
    X = pa.table({"store": [["b", "a"], ["b"], [None, "a"]], "x": [[1.0, 2.0], [1.0], [2.0, 2.0]]})
    features = ["x", cs.Feature("store", kind="categorical")]
    model = cs.SetRegressor(features, early_stopping=False, **QUICK).fit(X, [1.0, 2.0, 3.0])
    support, described = report_document(model)["support"], report_document(model)["features"]
    assert np.shape(support["base"]) == (1, 1)
    first = described[1]["first"]
    assert support["counts"][first : first + 3] == [1.0, 1.5, 0.5]  # a, b, missing
    table = model.set_function_.calibration[0, first : first + 2]
    assert support["usual"][1] == pytest.approx([(1.0 * table[0] + 1.5 * table[1]) / 2.5])


def test_examples_are_few_and_not_too_large() -> None:
    assert len(choose_rows(np.full(1000, 3))) == MOST_EXAMPLES
    assert len(choose_rows(np.array([10_000_000]))) == 0
    assert choose_rows(np.zeros(3, np.int64)).tolist() == [0, 1, 2]


def test_quality_of_numbers_and_classes() -> None:
    rng = np.random.default_rng(0)
    X = sets(rng, 90)
    features = ["stars", "words", "price"]
    y = rng.normal(10.0, 2.0, 90)
    model: Any = cs.SetRegressor(features, **QUICK).fit(X, y)
    measured = {m["name"]: m["value"] for m in report_document(model, X, y)["quality"]["metrics"]}
    assert measured["mean error (MAE)"] == pytest.approx(mean_absolute_error(y, model.predict(X)), rel=1e-4)
    assert measured["explained (R²)"] == pytest.approx(r2_score(y, model.predict(X)), rel=1e-3, abs=1e-4)
    for labels in (rng.choice(["no", "yes"], 90), rng.integers(0, 3, 90)):
        model = cs.SetClassifier(features, **QUICK).fit(X, labels)
        found = report_document(model, X, labels)["quality"]
        measured, shares = {m["name"]: m["value"] for m in found["metrics"]}, model.predict_proba(X)
        assert measured["accuracy"] == pytest.approx(accuracy_score(labels, model.predict(X)), rel=1e-4)
        assert measured["log loss"] == pytest.approx(log_loss(labels, shares), rel=1e-4)
        if shares.shape[1] == 2:
            assert measured["AUC"] == pytest.approx(roc_auc_score(labels == "yes", shares[:, 1]), rel=1e-4)
        assert sum(part[2] for part in found["reliability"]) == 90


def test_labels_must_fit() -> None:
    X = [["a"], ["b"]] * 20
    model = cs.SemanticClassifier(cs.Items(), refine=False, **QUICK).fit(X, ["u", "v"] * 20)
    with pytest.raises(ValueError, match="'w'"):
        report_document(model, X[:2], ["u", "w"])
    with pytest.raises(ValueError, match="X is None"):
        report_document(model, None, ["u"])


def test_tokens_keep_to_their_budget_and_have_those_of_the_examples() -> None:
    rng = np.random.default_rng(0)
    X = [[f"item {i}" for i in rng.choice(60, 5)] for _ in range(300)]
    y = rng.choice(["u", "v", "w"], 300)
    model = cs.SemanticClassifier(cs.Subsets(2), cover=True, refine=False, **QUICK).fit(X, y)
    wanted = np.array([7, len(model.token_table_) - 1])
    found = token_document(model.model_, wanted, most_bytes=20_000)
    assert found["n_tokens"] == len(model.token_table_) > len(found["items"]) > 100
    assert len(json.dumps(found)) < 25_000
    spelled = {tuple(sorted(found["vocabulary"][code] for code in codes)) for codes in found["items"]}
    assert {model.token_table_.spell(int(token)) for token in wanted} <= spelled
    single = {codes[0]: place for place, codes in enumerate(found["items"]) if len(codes) == 1}
    code, place = next(iter(single.items()))
    known = model.token_table_.lookup(found["vocabulary"][code])
    assert known is not None
    assert found["counts"][place] == known.count
    pairs = dict(zip(found["labels"][place][::2], found["labels"][place][1::2], strict=True))
    weights = known.class_weights or {}
    assert {model.classes_[c]: weight for c, weight in pairs.items()} == {k: w for k, w in weights.items() if w}


def test_a_report_replaces_a_file_only_when_complete(tmp_path: Path, monkeypatch: Any) -> None:
    model = cs.SetRegressor(**QUICK).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 4.0])
    path = tmp_path / "report.html"
    path.write_text("before")
    with pytest.raises(ValueError):
        model.report(path, [["no number"]])
    assert path.read_text() == "before"
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]
    model.report(path, [[0.5]], [1.0])
    assert path.read_text().startswith("<!doctype html>")
    with pytest.raises(FileNotFoundError, match="no folder"):
        write_report(report_document(model), tmp_path / "nowhere" / "report.html")


def test_a_lone_surrogate_and_a_script_in_names() -> None:
    X = pa.table({"store": [["<!--<script>", "a"], ["b"]]})
    model = cs.SetRegressor([cs.Feature("store", kind="categorical")], **QUICK).fit(X, [1.0, 2.0])
    document = report_document(model, X)
    document["title"] = "</title>\ud800"
    page = render_report(document)
    assert "<!--<script>" not in page
    assert page.count("</title>") == 1
    page.encode()


def test_one_huge_set_leaves_room_for_the_others() -> None:
    sizes = np.full(60, 3)
    sizes[np.random.default_rng(0).permutation(60)[0]] = 30_000
    chosen = choose_rows(sizes)
    assert len(chosen) == MOST_EXAMPLES
    assert (sizes[chosen] == 3).all()


@pytest.mark.parametrize(
    "names",
    [
        ["a", None, "c", "", float("nan")],
        pd.Series(["a", None, "c", "", None], index=[4, 3, 2, 1, 0]),
        pl.Series(["a", None, "c", "", None]),
        pa.array(["a", None, "c", "", None]),
        np.array(["a", "", "c", "", " "]),
    ],
)
def test_names_of_examples_go_by_their_places(names: Any) -> None:
    model = cs.SetRegressor(random_state=0, epochs=1).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 4.0])
    examples = report_document(model, [[0.0], [1.0], [2.0], [3.0], [4.0]], names=names)["examples"]
    assert [one["name"] for one in examples] == ["a", "Example 1", "c", "Example 3", "Example 4"]


def test_names_that_are_numbers() -> None:
    model = cs.SetRegressor(random_state=0, epochs=1).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 4.0])
    document = report_document(model, [[0.0], [1.0]], names=np.arange(7, 9))
    assert [one["name"] for one in json.loads(json.dumps(document))["examples"]] == ["7", "8"]
