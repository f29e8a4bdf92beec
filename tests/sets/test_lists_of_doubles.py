"""Lists of doubles are read where they are; the sets are those that any other reading gives."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearset.sets import Feature, SetData, _read_sets, read_sets

pytest.importorskip("clearset._native")

A, B = Feature("a"), Feature("b")
LISTS = pa.list_(pa.float64())


def both(table: pa.Table, features=(A, B)) -> tuple[SetData | None, SetData]:
    """The sets as they are in memory, if they can be read so, and by way of columns."""
    quick = _read_sets._lists_of_doubles(table, features)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_read_sets, "_native", None)
        return quick, read_sets(table, features)


def assert_same(quick: SetData, slow: SetData) -> None:
    assert (quick.feature_names, quick.set_feature_names) == (slow.feature_names, slow.set_feature_names)
    np.testing.assert_array_equal(quick.offsets, slow.offsets)
    np.testing.assert_array_equal(quick.values, slow.values)


@given(st.lists(st.lists(st.floats(-9, 9) | st.just(np.nan), max_size=5), min_size=1, max_size=9), st.data())
@settings(max_examples=200, deadline=None)
def test_the_same_sets(rows, data):
    columns = {"b": pa.array([[-x for x in row] for row in rows], LISTS), "a": pa.array(rows, LISTS)}
    table = pa.table(columns | {"c": pa.array(range(len(rows)))})
    start = data.draw(st.integers(0, len(rows) - 1))
    table = table.slice(start, data.draw(st.integers(1, len(rows) - start)))
    quick, slow = both(table)
    assert quick is not None
    assert_same(quick, slow)


def test_a_slice_of_lists_and_of_their_values():
    values = pa.array(np.arange(10.0)).slice(2)
    lists = pa.ListArray.from_arrays(pa.array([0, 1, 3, 6, 8], pa.int32()), values).slice(1, 2)
    quick, slow = both(pa.table({"a": lists}), [A])
    assert quick is not None
    assert_same(quick, slow)
    np.testing.assert_array_equal(quick.values[:, 0], [3, 4, 5, 6, 7])


@pytest.mark.parametrize(
    "column",
    [
        pa.array([[1, 2], [3]]),
        pa.array([[1.0, 2.0], [3.0]], pa.list_(pa.float32())),
        pa.array([[1.0, 2.0], [3.0]], pa.large_list(pa.float64())),
        pa.array([[1.0, None], [3.0]], LISTS),
        pa.array([[1.0], None], LISTS),
        pa.array([1.0, 2.0]),
        pa.chunked_array([pa.array([[1.0]], LISTS), pa.array([[2.0]], LISTS)]),
        pa.array([[True], [False]]),
    ],
)
def test_anything_else_is_read_by_way_of_columns(column):
    quick, slow = both(pa.table({"a": column}), [A])
    assert quick is None
    assert len(slow) == 2


def test_lists_of_different_lengths_are_left_to_the_error_that_names_the_row():
    table = pa.table({"a": pa.array([[1.0], [2.0, 3.0]]), "b": pa.array([[1.0], [2.0]])})
    assert _read_sets._lists_of_doubles(table, [A, B]) is None
    with pytest.raises(ValueError, match=r"Row 1 .* 2 token\(s\) .* holds 1"):
        read_sets(table, [A, B])


def test_a_column_that_is_absent_is_left_to_the_error_that_names_it():
    with pytest.raises(ValueError, match="'b'"):
        read_sets(pa.table({"a": pa.array([[1.0]])}), [A, B])


def test_the_sets_outlive_the_table():
    def read() -> SetData:
        return read_sets(pa.table({"a": pa.array([np.arange(1000.0)])}), [A])

    sets = read()
    np.empty(100_000).fill(-1)
    np.testing.assert_array_equal(sets.values[:, 0], np.arange(1000.0))


@pytest.mark.parametrize("offsets", [[0, 2, 500_000_000], [0, 2, 9], [-5, 2, 3], [4, 1, 1], [0, 5, 2]])
def test_offsets_of_a_damaged_file_are_not_followed(offsets):
    """Arrow reads streams without a look at their offsets."""
    written = pa.BufferOutputStream()
    table = pa.table({"a": pa.array([[1.0] * 3, [2.0] * 4])})
    with pa.ipc.new_stream(written, table.schema) as stream:
        stream.write_table(table)
    content = bytearray(written.getvalue().to_pybytes())
    place = content.find(np.array([0, 3, 7], np.int32).tobytes())
    content[place : place + 12] = np.array(offsets, np.int32).tobytes()
    damaged = pa.ipc.open_stream(bytes(content)).read_all()
    assert _read_sets._lists_of_doubles(damaged, [A]) is None
    if offsets[-1] > 7:
        with pytest.raises(ValueError, match="damaged"):
            read_sets(damaged, [A])


class Weights(pa.ExtensionType):
    def __init__(self, storage):
        super().__init__(storage, "clearset.test")

    def __arrow_ext_serialize__(self):
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, storage, _):
        return cls(storage)


def test_types_that_are_more_than_what_they_are_stored_as_are_left_to_others():
    lists = pa.array([[1.0, 2.0], [3.0]], LISTS)
    values = pa.ExtensionArray.from_storage(Weights(pa.float64()), lists.values)
    columns = (pa.ExtensionArray.from_storage(Weights(LISTS), lists), pa.ListArray.from_arrays(lists.offsets, values))
    for column in columns:
        table = pa.table({"a": column})
        assert _read_sets._lists_of_doubles(table, [A]) is None
        with pytest.raises(TypeError, match="extension"):
            read_sets(table, [A])
    field = pa.field("a", LISTS, metadata={"unit": "stars"})
    assert _read_sets._lists_of_doubles(pa.table([lists], schema=pa.schema([field])), [A]) is not None
