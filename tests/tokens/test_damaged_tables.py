"""Token tables with flipped bits and cut off: one kind of error, never another table."""

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import clearset as cs
from clearset.artifact import ArtifactError

from .test_table_storage import LABELS, ROWS, examples_of, of_first_version

TABLE = cs.TokenTable.build(ROWS, LABELS["texts"], cs.Subsets(2), [cs.MinCount(2)])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    TABLE.save(tmp_path / "t.parquet")
    return tmp_path / "t.parquet"


def damages(content: bytes, flips: int = 400, cuts: int = 100) -> Iterator[bytes]:
    """Yield the content with one bit flipped, many times, and then cut off, many times."""
    rng = np.random.default_rng(7)
    for bit in rng.choice(8 * len(content), flips, replace=False).tolist():
        changed = bytearray(content)
        changed[bit // 8] ^= 1 << bit % 8
        yield bytes(changed)
    for length in rng.choice(len(content), cuts, replace=False).tolist():
        yield content[:length]


@pytest.mark.parametrize("which", ["table", "examples"])
def test_damaged_files_are_refused(path: Path, which: str) -> None:
    file = path if which == "table" else examples_of(path)
    for content in damages(file.read_bytes()):
        file.write_bytes(content)
        with pytest.raises(ArtifactError, match=r"damaged|Give a file that TokenTable\.save wrote") as raised:
            cs.TokenTable.load(path)
        assert file.name in str(raised.value)


def test_damaged_tables_of_the_first_version_raise_one_kind_of_error(path: Path) -> None:
    of_first_version(path)
    for content in damages(path.read_bytes()):
        path.write_bytes(content)
        with suppress(ArtifactError):
            cs.TokenTable.load(path)


def described(path: Path, **changes: object) -> bytes:
    rows = pa.parquet.read_table(path)
    document = json.loads(rows.schema.metadata[b"clearset_token_table"]) | {"version": 1} | changes
    pa.parquet.write_table(rows.replace_schema_metadata({"clearset_token_table": json.dumps(document)}), path)
    return path.read_bytes()


def test_what_tables_say_of_themselves(path: Path) -> None:
    for changes in (
        {"classes": ["a"]},
        {"classes": 3},
        {"class_type": "odd"},
        {"filters": [{"kind": 3}]},
        {"filters": 7},
        {"tokeniser": []},
        {"corrections": ["mean_label", 1.0]},
        {"version": 3},
        {"version": "1"},
        {"version": 2},
    ):
        TABLE.save(path)
        described(path, **changes)
        with pytest.raises(ArtifactError, match=r"t\.parquet'"):
            cs.TokenTable.load(path)


def test_names_that_are_given_twice(path: Path) -> None:
    rows = pa.parquet.read_table(path)
    text = rows.schema.metadata[b"clearset_token_table"].decode().replace("{", '{"task": "number", ', 1)
    pa.parquet.write_table(rows.replace_schema_metadata({"clearset_token_table": text}), path)
    with pytest.raises(ArtifactError, match="the name 'task' is there twice"):
        cs.TokenTable.load(path)


def test_other_readers_of_parquet_read_the_file(path: Path) -> None:
    rows = pa.parquet.read_table(path)
    assert rows["count"].to_pylist() == TABLE.counts.tolist()
    assert np.allclose(rows["weight"], TABLE.weights)
