"""Token tables with one token taken out or put back, or with another correction."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from clearset.tokens._codes import Coded, Float64, Int32
from clearset.tokens._corrections import Corrections
from clearset.tokens._statistics import Kinds
from clearset.tokens._table import TokenTable
from clearset.tokens._token_index import TokenIndex
from clearset.tokens._vocabulary import places_in


@dataclass(frozen=True)
class TokenRow:
    """All that a table knows of one token, enough to put it back.

    Parameters
    ----------
    items : tuple of str
        Its items, in the order of the table's prefix tree.
    codes : tuple of int
        The codes of these items in the vocabulary of the table.
    ranks : tuple of int
        The codes that they have in a file, whose vocabulary lacks items that are in no token.
    n_items : int
        The number of items of the vocabulary.
    held : int
        The number of examples that hold it.
    sums : tuple of float
        As in `Statistics`.
    size : int
        The number of its items.
    correction : tuple of float or None
        What is added to its values; None without a correction.
    """

    items: tuple[str, ...]
    codes: tuple[int, ...]
    ranks: tuple[int, ...]
    n_items: int
    held: int
    sums: tuple[float, ...]
    size: int
    correction: tuple[float, ...] | None

    @classmethod
    def of(cls, table: TokenTable, number: int) -> "TokenRow":
        """Read the row of the token of this number."""
        codes, statistics = table.items_of(np.array([number])).codes, table.statistics
        used = np.unique(table.items_of(np.arange(len(table))).codes)
        return cls(
            tuple(table.vocabulary.take(pa.array(codes)).to_pylist()),
            tuple(codes.tolist()),
            tuple(np.searchsorted(used, codes).tolist()),
            len(table.vocabulary),
            int(statistics.held[number]),
            tuple(statistics.sums[number].tolist()),
            int(statistics.sizes[number]),
            correction_of(table, number),
        )

    def to_json(self) -> dict[str, Any]:
        """Return a dict that `json` can write and read back without loss."""
        return {name: list(part) if isinstance(part, tuple) else part for name, part in vars(self).items()}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> "TokenRow":
        """Return the row that `to_json` wrote."""
        correction = document["correction"]
        return cls(
            tuple(map(str, document["items"])),
            tuple(map(int, document["codes"])),
            tuple(map(int, document["ranks"])),
            int(document["n_items"]),
            int(document["held"]),
            tuple(document["sums"]),
            int(document["size"]),
            None if correction is None else tuple(map(float, correction)),
        )


def without_token(table: TokenTable, number: int) -> TokenTable:
    """Return the table without one of its tokens, and without items that only this token had."""
    own = table.items_of(np.array([number])).codes
    masks = np.zeros(len(table.index), np.uint32)
    masks[np.delete(table.nodes, number)] = 1
    tree = table.index.restrict(masks)[0]
    gone = np.setdiff1d(own, tree.items)
    kept = np.delete(np.arange(len(table.vocabulary)), gone)
    numbers = np.full(len(table.vocabulary), -1, np.int32)
    numbers[kept] = np.arange(len(kept), dtype=np.int32)
    vocabulary = table.vocabulary.take(pa.array(kept))
    joining = table.tokenizer.joining(vocabulary)
    return replace(
        table,
        vocabulary=vocabulary,
        index=TokenIndex(joining, numbers[tree.items], tree.parents, tree.levels, tree.masks),
        statistics=table.statistics.take(np.delete(np.arange(len(table)), number)),
        corrections=None if table.corrections is None else _without(table.corrections, number),
    )


def with_token(table: TokenTable, row: TokenRow) -> TokenTable:
    """Return the table with a token put back that `without_token` took out; the same as before to the last bit."""
    if not len(row.codes) == len(row.ranks) == len(row.items) or len(row.sums) != table.statistics.sums.shape[1]:
        raise ValueError(f"The token {row.items!r} needs a code for each item, and as many sums as the others have.")
    items = pa.array(row.items, pa.large_string())
    new = np.flatnonzero(places_in(items, table.vocabulary) < 0)
    n_items = len(table.vocabulary) + len({row.items[place] for place in new})
    # A table that has been in a file since then has fewer items, unless all were in some token.
    codes = np.array(row.codes if n_items == row.n_items else row.ranks, np.int64)
    inserted, first = np.unique(codes[new], return_index=True)
    fits = len(codes) and codes.min() >= 0 and codes.max() < n_items
    if not fits or len(inserted) != n_items - len(table.vocabulary):
        raise ValueError(f"The token {row.items!r} does not fit the vocabulary of the table.")
    kept = np.delete(np.arange(n_items), inserted)
    both = pa.concat_arrays([table.vocabulary, items.take(pa.array(new[first], pa.int64()))])
    vocabulary = both.take(pa.array(np.argsort(np.concatenate([kept, inserted]), kind="stable")))
    known = table.items_of(np.arange(len(table)))
    coded = Coded(
        np.concatenate([kept[known.codes], codes]).astype(np.int32),
        np.append(known.offsets, known.offsets[-1] + len(codes)),
    )
    index, nodes = TokenIndex.from_tokens(table.tokenizer.joining(vocabulary), coded, np.ones(coded.n_rows, np.uint32))
    number, old = int(np.count_nonzero(nodes[:-1] < nodes[-1])), table.statistics
    statistics = replace(
        old,
        held=np.insert(old.held, number, row.held),
        sums=np.insert(old.sums, number, np.array(row.sums, old.sums.dtype), axis=0),
        sizes=np.insert(old.sizes, number, row.size),
        passes=np.insert(old.passes, number, True),
        kinds=Kinds.of(table.tokenizer, vocabulary, index.items[np.sort(nodes)]),
    )
    corrections = table.corrections
    if corrections is not None:
        numbers = corrections.tokens + (corrections.tokens >= number)
        corrections = replace(corrections, tokens=numbers.astype(np.int32))
    table = replace(table, vocabulary=vocabulary, index=index, statistics=statistics, corrections=corrections)
    return table if row.correction is None else with_correction(table, number, row.correction)


def correction_of(table: TokenTable, number: int) -> tuple[float, ...] | None:
    """Return the correction of a token for each class; None if it has none."""
    if table.corrections is None:
        return None
    places = np.flatnonzero(table.corrections.tokens == number)
    return tuple(table.corrections.amounts[places[0]].tolist()) if len(places) else None


def with_correction(table: TokenTable, number: int, amounts: Any) -> TokenTable:
    """Return a table that has corrections with another one for a token; None takes it away."""
    corrections = table.corrections
    if corrections is None:
        raise ValueError("The table has no corrections to add one to.")
    others = corrections.tokens != number
    tokens, kept = corrections.tokens[others], corrections.amounts[others]
    if amounts is not None:
        if np.shape(amounts) != kept.shape[1:]:
            raise ValueError(f"A correction is {amounts!r}; one number for each of {kept.shape[1]} columns is needed.")
        place = int(np.searchsorted(tokens, number))
        tokens = np.insert(tokens, place, number)
        kept = np.insert(kept, place, np.asarray(amounts, np.float64), axis=0)
    return replace(table, corrections=replace(corrections, tokens=tokens, amounts=kept))


def _without(corrections: Corrections, number: int) -> Corrections:
    others = corrections.tokens != number
    tokens: Int32 = corrections.tokens[others]
    amounts: Float64 = corrections.amounts[others]
    return replace(corrections, tokens=(tokens - (tokens > number)).astype(np.int32), amounts=amounts)
