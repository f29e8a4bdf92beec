"""Finding items in a vocabulary: the native table against Arrow's."""

import pickle

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import clearset as cs
from clearset.tokens import _known_tokens

pytest.importorskip("clearset._native")

words = st.text(st.sampled_from("abcäß𝄞 "), max_size=12)
examples = st.lists(st.lists(words, max_size=8), min_size=1, max_size=8)


def encoded(table, X):
    """The codes, offsets and numbers of items: of lists and of a column by the native module, and by Arrow."""
    parts = table.tokenizer.parts(X)
    each = table.encode(X), table.encode(pa.chunked_array([parts])), table._encode_by_arrow(parts)
    return [(one.coded.codes.tolist(), one.coded.offsets.tolist(), one.n_items.tolist()) for one in each]


@given(examples, examples)
@settings(max_examples=200, deadline=None)
def test_items_are_found_as_arrow_finds_them(known, asked):
    table = cs.TokenTable.build([*known, ["there is one"]], np.arange(len(known) + 1.0))
    lists, column, arrow = encoded(table, asked)
    assert lists == column == arrow


@given(examples, examples)
@settings(max_examples=100, deadline=None)
def test_words_are_found_in_their_order(known, asked):
    table = cs.TokenTable.build([*known, ["there is one"]], np.arange(len(known) + 1.0), cs.NGrams(2))
    lists, column, arrow = encoded(table, asked)
    assert lists == column == arrow


def test_a_slice_of_a_column_is_read_as_it_is():
    table = cs.TokenTable.build([["a", "b"], ["b", "c"], ["a"]], [1.0, 2.0, 3.0])
    column = pa.chunked_array([pa.array([["x"], ["a", "q", "q"], [], ["c", "b", "c"], ["y"]]).slice(1, 3)])
    coded, n_items = table.encode(column)
    assert coded.offsets.tolist() == [0, 1, 1, 3]
    assert n_items.tolist() == [2, 0, 2]


@pytest.mark.parametrize(
    "rows",
    [
        [["b", None, "z"], []],
        [("b", "z"), ["a"]],
        [None, ["b"]],
        [{"b", "a"}, ["q"]],
        ["b", "z"],
        [[], []],
        [[1, 2], [1]],
    ],
)
def test_lists_of_something_else_are_read_as_ever(rows):
    table = cs.TokenTable.build([["a", "b"], ["b", "1"]], [1.0, 2.0])
    found, arrow = table.encode(rows), table._encode_by_arrow(table.tokenizer.parts(rows))
    assert found.coded.codes.tolist() == arrow.coded.codes.tolist()
    assert found.n_items.tolist() == arrow.n_items.tolist()


def test_a_string_that_is_no_text_is_refused():
    table = cs.TokenTable.build([["a", "b"], ["b"]], [1.0, 2.0])
    with pytest.raises(TypeError, match="Row 1"):
        table.encode([["a"], ["\ud800"]])


def test_a_table_that_has_encoded_is_pickled():
    table = cs.TokenTable.build([["a", "b"], ["b"]], [1.0, 2.0])
    before = table.encode([["b", "z"]])
    after = pickle.loads(pickle.dumps(table)).encode([["b", "z"]])  # noqa: S301
    assert before.coded.codes.tolist() == after.coded.codes.tolist()


def test_without_the_native_module_arrow_finds_the_same(monkeypatch):
    table = cs.TokenTable.build([["a", "b"], ["b"]], [1.0, 2.0])
    native = table.encode([["b", "z", "z"], []])
    monkeypatch.setattr(_known_tokens, "_native", None)
    arrow = table.encode([["b", "z", "z"], []])
    assert native.coded.codes.tolist() == arrow.coded.codes.tolist()
    assert native.n_items.tolist() == arrow.n_items.tolist() == [2, 0]
