"""Fingerprints of strings and texts."""

import numpy as np
import pyarrow as pa
import pytest

from clearset.tokens import fingerprint_examples

ROWS = [["salt", "lime"], [], ["sügar"], ["salt"]]


def test_columns_lists_and_frames_agree() -> None:
    wanted = fingerprint_examples(ROWS)
    column = pa.chunked_array([pa.array(ROWS[:1]), pa.array(ROWS[1:], pa.large_list(pa.large_string()))][1:])
    table = pa.table({"items": ROWS})
    polars = pytest.importorskip("polars")
    pandas = pytest.importorskip("pandas")
    for same in (
        pa.array(ROWS),
        pa.concat_tables([table[:1], table[1:]]),
        table.set_column(0, "items", table["items"].cast(pa.large_list(pa.large_string()))),
        polars.DataFrame({"items": ROWS}),
        polars.Series("items", ROWS),
        pandas.DataFrame({"items": ROWS}),
        pandas.Series(ROWS),
        [tuple(row) for row in ROWS],
        pa.chunked_array([pa.array([["before"], *ROWS]).slice(1)]),
    ):
        assert fingerprint_examples(same).sha256 == wanted.sha256, type(same)
    assert fingerprint_examples(column).sha256 != wanted.sha256  # without the first row
    assert (wanted.n_sets, wanted.n_tokens) == (4, 4)
    assert [column.kind for column in wanted.columns] == ["strings"]


def test_other_examples_have_others() -> None:
    others = [
        ROWS,
        ROWS[::-1],
        [["salt"], ["lime"], ["sügar"], ["salt"]],
        [["saltlime"], [], ["sügar"], ["salt"]],
        [["salt", "lime"], [], ["sugar"], ["salt"]],
        ROWS[:3],
        ["salt lime", "", "sügar", "salt"],
        pa.table({"left": ROWS, "right": ROWS[::-1]}),
        pa.table({"left": ROWS[::-1], "right": ROWS}),
    ]
    assert len({fingerprint_examples(each).sha256 for each in others}) == len(others)


def test_sets_have_no_order() -> None:
    words = [{"a", "b", "c", "d", "e"}, {"b"}]
    assert fingerprint_examples(words) == fingerprint_examples([["a", "b", "c", "d", "e"], ["b"]])


def test_details_are_numbers() -> None:
    table = pa.table({"actors": [["ann", "bob"], ["cy"]], "salary": [[1.0, None], [2.0]]})
    told = fingerprint_examples(table, ["salary"])
    assert told.n_tokens == 3
    assert {column.name: column.kind for column in told.columns} == {"actors": "strings", "salary": "numeric"}
    richer = table.set_column(1, "salary", pa.array([[1.0, 3.0], [2.0]]))
    assert fingerprint_examples(richer, ["salary"]).sha256 != told.sha256


def test_objects_of_own_tokenizers_count_as_far_as_they_can_be_read() -> None:
    rows = [{"a": 1}, {"a": "x"}]
    told = fingerprint_examples(rows)
    assert told.sha256 == fingerprint_examples([{"a": 1}, {"a": "x"}]).sha256
    assert told.sha256 != fingerprint_examples([{"a": 2}, {"a": "x"}]).sha256
    assert fingerprint_examples([object(), np.float64]).n_sets == 2
