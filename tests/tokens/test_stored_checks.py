"""Token tables whose checksums are right, and whose contents do not fit together."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import clearset as cs
from clearset.artifact import ArtifactError, ParquetFormat

FORMAT = ParquetFormat("token table", "TokenTable.save", b"clearset_token_table")
TABLE = cs.TokenTable.build([["a", "b"], ["a"], ["b", "c"]] * 3, ["x", "y", "x"] * 3, cs.Subsets(2))
NUMBERS = cs.TokenTable.build([["a", "b"], ["a"], ["b", "c"]] * 3, np.arange(9.0), cs.Subsets(2), task="number")


def forged(table: Any, path: Path, **changes: Any) -> None:
    table.save(path, examples=False)
    rows = pa.parquet.read_table(path)
    document = json.loads(rows.schema.metadata[b"clearset_token_table"])
    rows = changes.pop("rows", lambda same: same)(rows)
    path.write_bytes(FORMAT.pack(rows.replace_schema_metadata({}), document | changes))


def column(name: str, change: Any) -> Any:
    def changed(rows: pa.Table) -> pa.Table:
        values = change(rows[name].to_pylist())
        return rows.set_column(rows.column_names.index(name), name, pa.array(values, rows[name].type))

    return changed


def test_a_table_changed_in_nothing_is_read(tmp_path: Path) -> None:
    for table in (TABLE, NUMBERS):
        forged(table, tmp_path / "t")
        assert cs.TokenTable.load(tmp_path / "t").to_arrow().equals(table.to_arrow())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rows": lambda rows: pa.concat_tables([rows, rows])}, "there twice"),
        ({"rows": column("count", lambda values: [None, *values[1:]])}, "'count' lacks values"),
        ({"rows": column("count", lambda values: [-1, *values[1:]])}, "fewer than 0"),
        ({"rows": column("count", lambda values: [10, *values[1:]])}, "more than 9"),
        ({"n_examples": -1}, "number of examples"),
        ({"n_examples": "9"}, "number of examples"),
        ({"task": "number"}, "task"),
        ({"prior": [0.5]}, "prior"),
        ({"prior": [0.5, 7.0]}, "prior"),
        ({"centre": 1.0}, "centre"),
        ({"classes": ["x", "y"], "class_type": "<U99999999"}, "classes are of type"),
        ({"classes": ["y", "x"]}, "not different labels in order"),
        ({"class_type": "V8"}, "classes are of type"),
        ({"examples_sha256": "../../x"}, "checksum of the examples"),
        ({"tokeniser": {"kind": "os.system"}}, "unknown"),
    ],
)
def test_contents_that_do_not_fit_are_refused(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    forged(TABLE, tmp_path / "t", **changes)
    with pytest.raises(ArtifactError, match=message):
        cs.TokenTable.load(tmp_path / "t")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"prior": "0.5"}, "prior is"),
        ({"centre": None}, "prior is"),
        ({"prior": True}, "prior is"),
        ({"rows": column("sums", lambda values: [[np.inf, 0.0, 0.0], *values[1:]])}, "not finite"),
        ({"rows": column("sums", lambda values: [[-1.0, 0.0, 0.0], *values[1:]])}, "negative"),
    ],
)
def test_contents_of_tables_of_numbers(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    forged(NUMBERS, tmp_path / "t", **changes)
    with pytest.raises(ArtifactError, match=message):
        cs.TokenTable.load(tmp_path / "t")
