"""Examples and tokens in the codes of a table."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from clearset.tokens._codes import Coded, Int64
from clearset.tokens._index import TokenIndex
from clearset.tokens._own_tokenizers import OwnTokenizer, count_parts
from clearset.tokens._tokenizers import Tokenizer
from clearset.tokens._vocabulary import encode, places_in, unique_sorted

_NOWHERE = -2  # -1 is the root of the tree


class EncodedSets(NamedTuple):
    """Examples in the codes of a table: their known items, and how many items they have, known or not."""

    coded: Coded
    n_items: Int64


def encode_examples(X: Any, tokenizer: Tokenizer, vocabulary: pa.LargeStringArray) -> EncodedSets:
    """Read examples into the codes of a vocabulary.

    In n-grams -1 holds the place of an unknown word, so that its neighbours do not become neighbours of each other, and
    the number of items is that of all words. Elsewhere it is that of distinct items; for users' own tokenizers it is
    that of distinct parts of tokens.
    """
    strings, coded = encode(tokenizer.parts(X))
    places = places_in(strings, vocabulary)
    if tokenizer.in_order:
        return EncodedSets(Coded(places[coded.codes], coded.offsets), coded.sizes)
    unknown = places < 0
    # Unknown items get codes after the known ones, so that one sort makes items unique and ascending.
    numbers = np.where(unknown, len(vocabulary) + np.cumsum(unknown) - 1, places).astype(np.int32)
    everything = unique_sorted(Coded(numbers[coded.codes], coded.offsets), len(vocabulary) + len(strings))
    known = everything.keep(everything.codes < len(vocabulary))
    if isinstance(tokenizer, OwnTokenizer):
        return EncodedSets(known, count_parts(tokenizer.parts_of(strings), coded))
    return EncodedSets(known, everything.sizes)


def nodes_of(
    tokens: Sequence[str | int | Iterable[str | int]] | pa.LargeListArray,
    tokenizer: Tokenizer,
    vocabulary: pa.LargeStringArray,
    index: TokenIndex,
) -> Int64:
    """Return the node of each token as users write it or a table spells it, a negative number where there is none."""
    if isinstance(tokens, pa.LargeListArray):
        lists = tokenizer.unspell(tokens)
    else:
        items = [tokenizer.items_of(token) for token in tokens]
        lists = pa.array(items, pa.large_list(pa.large_string()))
    strings, coded = encode(lists)
    codes = places_in(strings, vocabulary)[coded.codes]
    unknown = np.bincount(coded.rows[codes < 0], minlength=coded.n_rows) > 0
    coded = Coded(np.maximum(codes, 0), coded.offsets)
    if not tokenizer.in_order:
        coded = unique_sorted(coded, len(vocabulary))
    # Nodes are sorted by (parent, item): each further item is looked for among all children at once.
    n_codes = len(vocabulary) + 1
    keys = np.append(index.parents.astype(np.int64) * n_codes + index.items, np.iinfo(np.int64).max)
    nodes = np.where(unknown | (coded.sizes == 0), _NOWHERE, -1)
    for level in range(int(coded.sizes.max(initial=0))):
        longer = np.flatnonzero((coded.sizes > level) & (nodes != _NOWHERE))
        wanted = nodes[longer] * n_codes + coded.codes[coded.offsets[longer] + level]
        places = np.searchsorted(keys, wanted)
        nodes[longer] = np.where(keys[places] == wanted, places, _NOWHERE)
    return nodes
