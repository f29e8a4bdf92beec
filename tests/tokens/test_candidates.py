"""Tokens counted size by size and in pieces, against mining all at once."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearset.tokens import _candidates
from clearset.tokens._candidates import Candidates, FrequentTokens
from clearset.tokens._codes import Coded, Joining
from clearset.tokens._mining import mine

N_CODES = 6


def counted(rows, joining, least, n_pieces):
    """Count level by level; pieces of the examples are counted each by itself."""
    tokens = FrequentTokens.of_items(joining, N_CODES)
    levels = []
    while tokens.can_grow():
        total = {}
        for piece in np.array_split(np.arange(len(rows)), n_pieces):
            for keys, counts in Candidates(tokens).count(Coded.from_rows([rows[i] for i in piece])):
                assert (np.diff(keys) > 0).all()
                for key, count in zip(keys.tolist(), counts.tolist(), strict=True):
                    total[key] = total.get(key, 0) + count
        kept = sorted(key for key, count in total.items() if count >= least)
        if not kept:
            break
        levels.append([total[key] for key in kept])
        tokens = tokens.grown(np.array(kept))
    return tokens, levels


def spelled(items, parents, places):
    """The items of tokens, from the parents."""

    def items_of(place):
        return (() if parents[place] < 0 else items_of(parents[place])) + (int(items[place]),)

    return [items_of(place) for place in places]


@pytest.mark.parametrize("most_pairs", [1, 1 << 23])
@pytest.mark.parametrize(
    "joining",
    [Joining("subsets", None), Joining("subsets", 3), Joining("ngrams", 4), Joining("crosses", 2, 3)],
    ids=lambda joining: f"{joining.kind}-{joining.max_size}",
)
@given(
    rows=st.lists(st.lists(st.integers(0, N_CODES - 1), max_size=7), min_size=1, max_size=12),
    least=st.integers(1, 3),
    n_pieces=st.integers(1, 3),
)
def test_as_mined_at_once(joining, rows, least, n_pieces, most_pairs):
    if joining.kind != "ngrams":
        rows = [sorted(set(row)) for row in rows]
    mined = mine(Coded.from_rows(rows), joining, np.zeros(len(rows), np.int32), 1, min_count=least)
    larger = range(int(mined.levels[1]) if len(mined.levels) > 1 else 0, len(mined.items))
    expected = dict(zip(spelled(mined.items, mined.parents, larger), mined.counts[larger.start :], strict=True))
    before, _candidates._MOST_PAIRS = _candidates._MOST_PAIRS, most_pairs
    try:
        tokens, levels = counted(rows, joining, least, n_pieces)
    finally:
        _candidates._MOST_PAIRS = before
    found = spelled(tokens.items, tokens.parents, range(N_CODES, len(tokens.items)))
    assert dict(zip(found, [count for level in levels for count in level], strict=True)) == expected


def test_unknown_words_part_their_neighbours():
    tokens = FrequentTokens.of_items(Joining("ngrams", 3), 2)
    examples = Coded.from_rows([[0, -1, 1], [0, 1, -1, 0, 1]])
    keys, counts = next(Candidates(tokens).count(examples))
    assert (keys.tolist(), counts.tolist()) == ([1], [1])
    assert list(Candidates(tokens.grown(keys)).count(examples)) == []


def test_no_items():
    assert not FrequentTokens.of_items(Joining("subsets", None), 0).can_grow()
