"""Semantic estimators on Parquet files and Arrow data sets do what they do on frames in memory."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import clearset as cs
from clearset.estimators._semantic_files import _bytes_of_fit
from clearset.sets import as_stream

OPTIONS: dict[str, Any] = {"tokens": cs.Subsets(2), "random_state": 0, "epochs": 3}


@pytest.fixture(scope="module")
def table() -> pa.Table:
    rng = np.random.default_rng(0)
    rows = [[str(item) for item in rng.choice(list("abcdefgh"), rng.integers(0, 5), replace=False)] for _ in range(300)]
    y = np.array([("a" in row) + rng.normal(scale=0.1) for row in rows])
    columns = {"items": rows, "y": y, "class": np.where(y > 0.5, "high", "low"), "weight": rng.uniform(1, 2, 300)}
    return pa.table(columns | {"customer": rng.integers(0, 40, 300)})


@pytest.fixture(scope="module")
def folder(table: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    pq.write_table(table.slice(0, 100).drop(["class"]), folder / "a.parquet", row_group_size=30)
    pq.write_table(table.slice(100).drop(["class"]), folder / "b.parquet")
    return folder


def test_fit_and_predict(table: pa.Table, folder: Path) -> None:
    X, weights, groups = table.select(["items"]), table["weight"].to_numpy(), table["customer"].to_numpy()
    expected = cs.SemanticRegressor(**OPTIONS).fit(X, table["y"], weights, groups=groups)
    found = cs.SemanticRegressor(**OPTIONS).fit(folder, "y", "weight", groups="customer")
    assert found.feature_names_in_.tolist() == ["items"]
    predictions = expected.predict(X)
    assert len(np.unique(predictions)) > 5
    for source in (folder, str(folder), ds.dataset(folder), X):
        assert found.predict(source).tobytes() == predictions.tobytes()


def test_a_column_is_named_where_files_have_others(table: pa.Table, tmp_path: Path) -> None:
    several = table.append_column("title", pa.array([f"number {row}" for row in range(300)]))
    pq.write_table(several.select(["title", "y", "items"]), tmp_path / "a.parquet")
    with pytest.raises(ValueError, match=r"\['title', 'items'\]. Name what to read \(column="):
        cs.SemanticRegressor(**OPTIONS).fit(tmp_path, "y")
    X, y = table.select(["items"]), table["y"].to_numpy()
    expected = cs.SemanticRegressor(**OPTIONS).fit(X, y).predict(X)
    named: dict[str, Any] = {"column": "items", "validation_data": (tmp_path, "y")}
    assert len(cs.SemanticRegressor(**OPTIONS).fit(tmp_path, "y", **named).predict(tmp_path)) == 300
    model = cs.SemanticRegressor(**OPTIONS).fit(tmp_path, "y", column="items")
    assert model.feature_names_in_.tolist() == ["items"]
    assert model.predict(tmp_path).tobytes() == model.predict(X).tobytes() == expected.tobytes()
    engine, columns = cs.SemanticFeatureEngine(**OPTIONS), ["items"]
    in_memory = cs.SemanticFeatureEngine(**OPTIONS).fit_transform(X, y)
    assert engine.fit_transform(tmp_path, "y", column=columns).tobytes() == in_memory.tobytes()
    label = {"token_y": "y"}
    of_others = cs.SemanticRegressor(**OPTIONS).fit(X[:100], y[:100], token_X=tmp_path, column="items", **label)
    in_memory_too = cs.SemanticRegressor(**OPTIONS).fit(X[:100], y[:100], token_X=X, token_y=y)
    assert of_others.predict(X).tobytes() == in_memory_too.predict(X).tobytes()


@pytest.mark.parametrize(
    ("column", "said"), [("item", "item"), (["items", "title"], "column names 2"), ([], "names 0")]
)
def test_columns_that_cannot_be_read(table: pa.Table, tmp_path: Path, column: Any, said: str) -> None:
    title = pa.array(["a title"] * 300)
    pq.write_table(table.append_column("title", title), tmp_path / "a.parquet")
    with pytest.raises(ValueError, match=said):
        cs.SemanticRegressor(**OPTIONS).fit(tmp_path, "y", column=column)


def test_columns_of_data_in_memory_are_not_named(table: pa.Table) -> None:
    for fit in (cs.SemanticRegressor(**OPTIONS).fit, cs.SemanticFeatureEngine(**OPTIONS).fit_transform):
        with pytest.raises(ValueError, match="which is in memory"):
            fit(table.select(["items"]), table["y"], column="items")


def test_labels_may_be_in_memory(table: pa.Table, folder: Path) -> None:
    y = table["y"].to_numpy()
    expected = cs.SemanticRegressor(**OPTIONS).fit(table.select(["items"]), y)
    found = cs.SemanticRegressor(**OPTIONS).fit(str(folder), y)
    assert found.predict(folder).tobytes() == expected.predict(folder).tobytes()


def test_small_rows_at_the_beginning_do_not_pass_for_all(tmp_path: Path) -> None:
    rows = [[]] * 1000 + [["an item of some length"] * 100] * 3000
    pq.write_table(pa.table({"items": pa.array(rows, pa.list_(pa.string()))}), tmp_path / "a", row_group_size=500)
    stream = as_stream(tmp_path / "a")
    assert stream is not None
    assert _bytes_of_fit(stream, ["items"]) > 10 * 3000 * 100 * 22 * 0.9


def test_probabilities_and_estimates(table: pa.Table) -> None:
    data, X = ds.dataset(table.select(["items", "class"])), table.select(["items"])
    model = cs.SemanticClassifier(**OPTIONS).fit(data, "class")
    assert model.predict_proba(data).tobytes() == model.predict_proba(X).tobytes()
    unnamed = cs.SemanticClassifier(**OPTIONS).fit(table["items"].to_pylist(), table["class"].to_pylist())
    only_items = ds.dataset(X.append_column("number", table["y"]))
    assert unnamed.predict(only_items).tolist() == unnamed.predict(X).tolist()
    engine = cs.SemanticFeatureEngine(**OPTIONS)
    estimates = engine.fit_transform(data, "class")
    assert estimates.tobytes() == cs.SemanticFeatureEngine(**OPTIONS).fit_transform(X, table["class"]).tobytes()
    assert engine.transform(data).tobytes() == engine.transform(X).tobytes()


def test_table_of_other_examples_in_files(table: pa.Table, folder: Path) -> None:
    part, y = table.select(["items"]).slice(0, 80), table["y"].to_numpy()[:80]
    whole = table.select(["items"])
    expected = cs.SemanticRegressor(**OPTIONS).fit(part, y, token_X=whole, token_y=table["y"].to_numpy())
    found = cs.SemanticRegressor(**OPTIONS, max_memory="100MB").fit(part, y, token_X=folder, token_y="y")  # noqa: S106 (no password)
    assert found.predict(whole).tobytes() == expected.predict(whole).tobytes()
    assert found.token_table_.n_examples == 300


def test_validation_data_in_files(table: pa.Table, folder: Path) -> None:
    X, y = table.select(["items"]), table["y"].to_numpy()
    expected = cs.SemanticRegressor(**OPTIONS).fit(X, y, validation_data=(X.slice(0, 100), y[:100]))
    found = cs.SemanticRegressor(**OPTIONS).fit(folder, "y", validation_data=(folder / "a.parquet", "y"))
    assert found.predict(X).tobytes() == expected.predict(X).tobytes()


def test_scores(table: pa.Table, folder: Path) -> None:
    X, y, weight = table.select(["items"]), table["y"].to_numpy(), table["weight"].to_numpy()
    estimator = cs.SemanticRegressor(**OPTIONS).fit(X, y)
    for model in (estimator, estimator.as_model()):
        assert model.score(folder, "y") == pytest.approx(model.score(X, y), rel=1e-12)
        assert model.score(folder, "y", "weight") == pytest.approx(model.score(X, y, weight), rel=1e-12)
        with pytest.raises(ValueError, match="Did you mean 'y'"):
            model.score(folder, "yy")
        with pytest.raises(TypeError, match="y is 'y', the name of a column, which is for data in files"):
            model.score(X, "y")
    data = ds.dataset([folder / "b.parquet", folder / "a.parquet"])
    assert estimator.score(data, "y") == pytest.approx(estimator.score(X, y), rel=1e-12)
    classes = cs.SemanticClassifier(**OPTIONS).fit(X, table["class"])
    assert classes.score(ds.dataset(table.drop(["y"])), "class") == classes.score(X, table["class"].to_numpy())


def test_what_needs_sets_in_memory_says_so(table: pa.Table, folder: Path, tmp_path: Path) -> None:
    model = cs.SemanticRegressor(**OPTIONS).fit(table.select(["items"]), table["y"])
    calls = [
        lambda X: model.explain(X),
        lambda X: model.importance(X),
        lambda X: model.phi(X),
        lambda X: model.as_model().explain(X),
        lambda X: model.report(tmp_path / "report.html", X),
    ]
    for call in calls:
        for X in (folder, str(folder), ds.dataset(folder)):
            with pytest.raises(TypeError, match=r"score read files, but this needs sets in memory. Read some of"):
                call(X)


def test_refused(table: pa.Table, folder: Path) -> None:
    many = ds.dataset(pa.table({"text": ["a b"] * 600_000, "y": np.arange(600_000.0)}))
    with pytest.raises(ValueError, match=r"each of 600,000 examples .* takes about 90 MB .* is 64 MB. Allow 150 MB"):
        cs.SemanticRegressor(max_memory="64MB").fit(many, "y")
    with pytest.raises(ValueError, match="Did you mean 'y'"):
        cs.SemanticRegressor().fit(folder, "yy")
    two = ds.dataset(table.append_column("others", table["items"]).drop(["class"]))
    with pytest.raises(ValueError, match=r"1 column\(s\) of lists or strings are read, but X has 2"):
        cs.SemanticRegressor().fit(two, "y")
    with pytest.raises(ValueError, match="max_memory"):
        cs.SemanticRegressor(max_memory="little").fit(folder, "y")
