"""Which items of an example a token covers."""

import numpy as np
import pyarrow as pa

from clearset.sets import offsets_from_sizes, runs
from clearset.tokens._codes import Coded, Found, Int64
from clearset.tokens._own_tokenizers import OwnTokenizer
from clearset.tokens._table import TokenTable
from clearset.tokens._vocabulary import encode, places_in


def covered(table: TokenTable, items: object, found: Found) -> pa.Array:
    """Return, for every token found, the places of the items of its example that it is made of.

    Places count from 0, in the order in which the tokenizer returns the items of the example. They are null for users'
    own tokenizers, which do not say where their tokens come from.

    Parameters
    ----------
    table : TokenTable
        The token table.
    items : column of lists or of strings, pair of columns, or list
        The examples.
    found : Found
        Their tokens.
    """
    n_tokens = len(found.tokens)
    if isinstance(table.tokenizer, OwnTokenizer):
        return pa.nulls(n_tokens, pa.large_list(pa.int64()))
    strings, parts = encode(table.tokenizer.parts(items))
    codes = places_in(strings, table.vocabulary)[parts.codes].astype(np.int64)
    made_of = table.items_of(found.tokens)
    rows = np.repeat(np.arange(parts.n_rows), np.diff(found.offsets))
    search = _runs if table.tokenizer.in_order else _members
    tokens, places = search(codes, parts, made_of, rows)
    keys = np.sort(tokens * max(len(codes), 1) + places, kind="stable")  # np.unique takes ten times as long
    # A run may overlap itself, so that one place comes twice.
    tokens, places = np.divmod(keys[np.diff(keys, prepend=-1) > 0], max(len(codes), 1))
    offsets = offsets_from_sizes(np.bincount(tokens, minlength=n_tokens))
    places -= parts.offsets[:-1][rows[tokens]]
    return pa.LargeListArray.from_arrays(pa.array(offsets), pa.array(places))


def _occurrences(codes: Int64, parts: Coded, rows: Int64, wanted: Int64) -> tuple[Int64, Int64]:
    """Find codes in their rows: for each occurrence, which code was looked for, and the place among all codes."""
    n_codes = max(int(codes.max(initial=0)), int(wanted.max(initial=0))) + 2
    keys = parts.rows * n_codes + codes + 1  # unknown items are -1
    order = np.argsort(keys, kind="stable")
    sought = rows * n_codes + wanted + 1
    first, last = (np.searchsorted(keys[order], sought, side=side) for side in ("left", "right"))
    return np.repeat(np.arange(len(sought)), last - first), order[runs(first, last - first)[0]]


def _members(codes: Int64, parts: Coded, made_of: Coded, rows: Int64) -> tuple[Int64, Int64]:
    """Find the items of tokens wherever they stand."""
    which, places = _occurrences(codes, parts, rows[made_of.rows], made_of.codes.astype(np.int64))
    return made_of.rows[which], places


def _runs(codes: Int64, parts: Coded, made_of: Coded, rows: Int64) -> tuple[Int64, Int64]:
    """Find the items of tokens where they stand next to each other."""
    sizes, firsts = made_of.sizes, made_of.offsets[:-1]
    tokens, places = _occurrences(codes, parts, rows, made_of.codes[firsts].astype(np.int64))
    for further in range(1, int(sizes.max(initial=0))):
        short, at = sizes[tokens] <= further, places + further
        inside = at < parts.offsets[1:][rows[tokens]]
        item = made_of.codes[np.minimum(firsts[tokens] + further, len(made_of.codes) - 1)]
        same = inside & (codes[np.minimum(at, len(codes) - 1)] == item)
        tokens, places = tokens[short | same], places[short | same]
    return np.repeat(tokens, sizes[tokens]), runs(places, sizes[tokens])[0]
