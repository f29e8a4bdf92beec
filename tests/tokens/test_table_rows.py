"""Rows of a table as Arrow: what every PyArrow can write and read."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pyarrow.types

import clearset as cs


def pairs(n=300):
    """Lists of items with three classes; of their pairs and single items only the latter are corrected."""
    rng = np.random.default_rng(0)
    items = [rng.choice(list("abcdefgh"), rng.integers(1, 5), replace=False).tolist() for _ in range(n)]
    return items, np.array(["x", "y", "z"])[[ord(min(each)) % 3 for each in items]]


def test_corrections_of_some_tokens_are_lists_that_any_parquet_holds(tmp_path):
    X, y = pairs()
    model = cs.SemanticClassifier(tokens=cs.Subsets(2), refine=1, epochs=2, random_state=0, n_jobs=1).fit(X, y)
    rows = model.token_table_.to_arrow()
    for name in ("correction", "refined"):
        column = rows[name].combine_chunks()
        # Before version 26 PyArrow neither writes nor reads lists of a fixed size among which are nulls.
        assert pyarrow.types.is_list(column.type)
        assert 0 < column.null_count < len(column)
        assert {len(each) for each in column.drop_null().to_pylist()} == {3}
        corrected = np.array(rows["size"]) == 1
        np.testing.assert_array_equal(np.array(column.is_valid()), corrected)
    model.save(tmp_path / "model")
    loaded = cs.load(tmp_path / "model")
    assert loaded.token_table_.to_arrow().equals(rows)
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


def test_files_of_earlier_versions_have_lists_of_a_fixed_size(tmp_path, monkeypatch):
    X, y = pairs()
    model = cs.SemanticClassifier(tokens=cs.Subsets(2), refine=1, epochs=2, random_state=0, n_jobs=1).fit(X, y)

    def fixed(values, places, n_rows):
        rows = pa.FixedSizeListArray.from_arrays(pa.array(values.ravel()), values.shape[1])
        numbers = np.full(n_rows, -1)
        numbers[places] = np.arange(len(places))
        return rows.take(pa.array(numbers, mask=numbers < 0))

    with monkeypatch.context() as earlier:
        earlier.setattr("clearset.tokens._table_rows._among_nulls", fixed)
        model.token_table_.save(tmp_path / "table.parquet")
        written = pyarrow.parquet.read_schema(tmp_path / "table.parquet")
        assert pyarrow.types.is_fixed_size_list(written.field("correction").type)
    loaded = cs.TokenTable.load(tmp_path / "table.parquet")
    assert loaded.to_arrow().equals(model.token_table_.to_arrow())
