"""Strings as codes: rows of strings into rows of codes, and back."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from clearset.sets import offsets_from_sizes
from clearset.tokens._codes import BoolArray, Coded, Int32, Int64

_LISTS = pa.large_list(pa.large_string())


def flat(lists: Any) -> tuple[pa.LargeStringArray, Int64]:
    """Return the strings of all lists, and the offsets of the lists among them."""
    if lists.type != _LISTS:
        lists = lists.cast(_LISTS)
    # A sliced array keeps what is before and after the slice.
    offsets: Int64 = lists.offsets.to_numpy().astype(np.int64)
    return lists.values.slice(offsets[0], offsets[-1] - offsets[0]), offsets - offsets[0]


def as_bytes(strings: pa.LargeStringArray) -> tuple[npt.NDArray[np.uint8], Int64]:
    """Return the bytes of all strings, which have no nulls, and where each of them begins, without copying."""
    if not len(strings):
        return np.zeros(0, np.uint8), np.zeros(1, np.int64)
    _, offsets, text = strings.buffers()
    begins = np.frombuffer(offsets, np.int64)[strings.offset : strings.offset + len(strings) + 1]
    text = np.frombuffer(text, np.uint8) if text is not None and text.size else np.zeros(0, np.uint8)
    return text, np.require(begins, requirements="A")


def in_rows(strings: pa.LargeStringArray, rows: Int64, n_rows: int) -> pa.LargeListArray:
    """Return lists of strings by their rows, in the same order within each row."""
    order = np.argsort(rows, kind="stable")
    offsets = offsets_from_sizes(np.bincount(rows, minlength=n_rows))
    return pa.LargeListArray.from_arrays(pa.array(offsets), strings.take(pa.array(order)))


def tagged(tags: Sequence[str], columns: Sequence[pa.LargeListArray]) -> pa.LargeListArray:
    """Return the strings of several columns row by row, those of each column behind its tag."""
    strings, rows = [], []
    for tag, column in zip(tags, columns, strict=True):
        items, offsets = flat(column)
        strings.append(pc.binary_join_element_wise(pa.scalar(tag, items.type), items, pa.scalar("", items.type)))
        rows.append(np.repeat(np.arange(len(column)), np.diff(offsets)))
    return in_rows(pa.concat_arrays(strings), np.concatenate(rows), len(columns[0]))


def encode(lists: Any) -> tuple[pa.LargeStringArray, Coded]:
    """Return the distinct strings and rows of their numbers; rows stay as they are."""
    strings, offsets = flat(lists)
    encoded = strings.dictionary_encode()
    return encoded.dictionary, Coded(encoded.indices.to_numpy(zero_copy_only=False), offsets)


def places_in(strings: pa.LargeStringArray, vocabulary: pa.LargeStringArray) -> Int32:
    """Return the place of every string in the vocabulary, -1 where it is not there."""
    found: Int32 = pc.index_in(strings, vocabulary).fill_null(-1).to_numpy(zero_copy_only=False)
    return found


def unique_sorted(coded: Coded, n_codes: int) -> Coded:
    """Return every row's distinct codes, ascending."""
    keys = coded.rows * max(n_codes, 1) + coded.codes
    keys.sort()
    if len(keys):
        keys = keys[np.concatenate([[True], keys[1:] != keys[:-1]])]
    rows, codes = np.divmod(keys, max(n_codes, 1))
    return Coded(codes.astype(np.int32), offsets_from_sizes(np.bincount(rows, minlength=coded.n_rows)))


def offsets_of_kept(keep: BoolArray) -> Int64:
    """Return how many are kept before each place, and in all; at old offsets these are the new ones."""
    return offsets_from_sizes(keep)


def without(left: pa.LargeListArray, right: pa.LargeListArray) -> pa.LargeListArray:
    """Return the strings of every left row that the right row lacks."""
    strings, left_offsets = flat(left)
    others, right_offsets = flat(right)
    vocabulary = pc.unique(pa.concat_arrays([strings, others]))
    n_codes = max(len(vocabulary), 1)
    a = Coded(places_in(strings, vocabulary), left_offsets)
    b = Coded(places_in(others, vocabulary), right_offsets)
    return spelled(a.keep(~np.isin(a.rows * n_codes + a.codes, b.rows * n_codes + b.codes)), vocabulary)


def alphabetical_ranks(vocabulary: pa.LargeStringArray) -> Int32:
    """Return the place of each string in the alphabet."""
    ranks = np.empty(len(vocabulary), np.int32)
    ranks[pc.array_sort_indices(vocabulary).to_numpy()] = np.arange(len(ranks), dtype=np.int32)
    return ranks


def spelled(coded: Coded, vocabulary: pa.LargeStringArray) -> pa.LargeListArray:
    """Return the strings of rows of codes."""
    return pa.LargeListArray.from_arrays(pa.array(coded.offsets), vocabulary.take(pa.array(coded.codes)))
