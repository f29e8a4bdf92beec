import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearset.tokens import _reference, _token_index
from clearset.tokens._codes import Coded, Joining, TokenLimitError
from clearset.tokens._mining import mine
from clearset.tokens._token_index import TokenIndex

from .brute_force import N_CODES, covering, examples, joinings, rows_of, tokens_of, tree, unpack


def index_of(tokens, joining=None, masks=None):
    masks = np.ones(len(tokens), np.uint32) if masks is None else np.asarray(masks, np.uint32)
    joining = Joining("subsets", None) if joining is None else joining
    return TokenIndex.from_tokens(joining, Coded.from_rows([list(t) for t in tokens]), masks)


def found_in(index, rows, views=None, **options):
    """The tokens of each row as tuples, in the order of their nodes."""
    found = index.find(Coded.from_rows(rows), views, **options)
    assert found.tokens.dtype == np.int32
    assert found.offsets.dtype == np.int64
    names = tree(index.items, index.parents)
    return [[names[node] for node in row] for row in unpack(Coded(found.tokens, found.offsets))]


def named(tokens):
    """Tokens of words as tokens of codes."""
    words = sorted({word for token in tokens for word in token})
    return words, [sorted(words.index(word) for word in token) for token in tokens]


def cover_of_words(items, table):
    words, tokens = named([items, *table])
    index, _ = index_of(tokens[1:], Joining("subsets", 3))
    return {frozenset(words[code] for code in token) for token in found_in(index, [tokens[0]])[0]}


def test_cover_of_the_fallback_example(backend):
    table = ["a", "b", "c", "d", "ab", "ac", "bc", "abc", "bd", "cd"]
    assert cover_of_words("abcd", table) == {frozenset("abc"), frozenset("bd"), frozenset("cd")}


def test_cover_of_the_recipe(backend):
    recipe = ["sugar", "salt", "fennel bulb", "water", "lemon olive oil", "grapefruit juice"]
    fennel, sugar = ["salt", "water", "fennel bulb"], ["salt", "water", "sugar"]
    pairs = [
        ["salt", "water"],
        ["salt", "fennel bulb"],
        ["water", "fennel bulb"],
        ["salt", "sugar"],
        ["water", "sugar"],
    ]
    singles = [["salt"], ["water"], ["fennel bulb"], ["sugar"], ["grapefruit juice"]]
    expected = {frozenset(fennel), frozenset(sugar), frozenset(["grapefruit juice"])}
    assert cover_of_words(recipe, [fennel, sugar, *pairs, *singles]) == expected


def test_cover_of_the_movie(backend):
    table = [["Alice", "Carol"], ["Bob", "Carol"], ["David"]]
    expected = {frozenset(token) for token in table}
    assert cover_of_words(["Alice", "Bob", "Carol", "David"], table) == expected
    table += [["Alice"], ["Bob"], ["Carol"]]
    assert cover_of_words(["Alice", "Bob", "Carol", "David"], table) == expected


def test_runs_are_covered_by_place(backend):
    """In 'a b c a', 'a b' and 'b c' leave the last a open; in 'a b a b' they do not."""
    index, _ = index_of([(0,), (1,), (0, 1), (1, 2)], Joining("ngrams", 2))
    assert found_in(index, [[0, 1, 2, 0], [0, 1, 0, 1]]) == [[(0,), (0, 1), (1, 2)], [(0, 1)]]


@st.composite
def tables(draw):
    """A joining, a table out of some rows' tokens with views, and rows to look into."""
    joining = draw(joinings)
    known = sorted({t for row in draw(rows_of(joining)) for t in tokens_of(row, joining)}, key=lambda t: (len(t), t))
    tokens = draw(st.lists(st.sampled_from(known), unique=True)) if known else []
    masks = draw(st.lists(st.integers(0, 7), min_size=len(tokens), max_size=len(tokens)))
    return joining, tokens, masks, draw(rows_of(joining))


@given(table=tables(), cover=st.booleans(), data=st.data())
def test_found_are_the_tokens_of_the_table(backend, table, cover, data):
    joining, tokens, masks, rows = table
    index, _ = index_of(tokens, joining, masks)
    views = data.draw(st.lists(st.integers(0, 3), min_size=len(rows), max_size=len(rows)))
    expected = []
    for row, view in zip(rows, views, strict=True):
        allowed = {token for token, mask in zip(tokens, masks, strict=True) if mask >> view & 1}
        chosen = covering(row, allowed, joining) if cover else allowed & tokens_of(row, joining)
        expected.append(sorted(chosen, key=lambda t: (len(t), t)))
    assert found_in(index, rows, np.array(views, np.uint8), cover=cover) == expected


@pytest.mark.parametrize("joining", [Joining("subsets", 3), Joining("ngrams", 3), Joining("crosses", 2, 20)], ids=str)
@pytest.mark.parametrize("cover", [True, False])
@pytest.mark.usefixtures("compiled")
def test_threads_and_the_reference_find_the_same(joining, cover):
    """With many rows, children by the hundred, and codes that the tree does not know."""
    rng = np.random.default_rng(3)
    drawn = [(60 * rng.random(rng.integers(0, 12)) ** 2).astype(int) for _ in range(3000)]
    rows = [row.tolist() if joining.kind == "ngrams" else np.unique(row).tolist() for row in drawn]
    coded = Coded.from_rows(rows)
    mined = mine(
        Coded.from_rows([[c for c in row if c != 7] for row in rows[:2000]]), joining, np.zeros(2000, np.int32), 1
    )
    masks = rng.integers(0, 4, len(mined.items)).astype(np.uint32)
    views = rng.integers(0, 2, 3000).astype(np.uint8)
    index = TokenIndex(joining, mined.items, mined.parents, mined.levels, masks)
    one = index.find(coded, views, cover=cover)
    four = index.find(coded, views, cover=cover, threads=4)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_token_index, "_native", None)
        patch.setattr(_reference, "_BATCH_ROWS", 700)
        slow = index.find(coded, views, cover=cover)
    assert len(one.tokens) > 3000
    for other in (four, slow):
        np.testing.assert_array_equal(one.tokens, other.tokens, strict=True)
        np.testing.assert_array_equal(one.offsets, other.offsets, strict=True)


def test_empty_rows_unknown_items_and_no_rows(backend):
    index, _ = index_of([(1,), (1, 9)])
    assert found_in(index, [[], [0, 5, 77], [-1], [1, 9, 10]]) == [[], [], [], [(1, 9)]]
    assert found_in(index, []) == []


def test_an_index_without_tokens(backend):
    index, nodes = index_of([])
    assert len(index) == len(nodes) == 0
    assert found_in(index, [[0, 1], []]) == [[], []]
    assert index.items_of(nodes).offsets.tolist() == [0]
    smaller, kept = index.restrict(index.masks)
    assert len(smaller) == len(kept) == 0


@given(example=examples(), seed=st.integers(0, 99))
def test_from_tokens_gives_each_token_its_node(example, seed):
    joining, rows = example
    tokens = [t for row in rows for t in tokens_of(row, joining)]  # with repeats, in any order
    masks = np.random.default_rng(seed).integers(0, 8, len(tokens)).astype(np.uint32)
    index, nodes = index_of(tokens, joining, masks)
    names = tree(index.items, index.parents)
    prefixes = {token[: k + 1] for token in tokens for k in range(len(token))}
    assert names == sorted(prefixes, key=lambda t: (len(t), t))
    assert [names[node] for node in nodes] == tokens
    joined = dict.fromkeys(names, 0)
    for token, mask in zip(tokens, masks.tolist(), strict=True):
        joined[token] |= mask
    assert index.masks.tolist() == list(joined.values())
    assert [tuple(row) for row in unpack(index.items_of(nodes))] == tokens


@given(example=examples(), seed=st.integers(0, 99))
def test_restrict_keeps_tokens_and_what_leads_to_them(example, seed):
    joining, rows = example
    index, _ = index_of([t for row in rows for t in tokens_of(row, joining)], joining)
    masks = np.random.default_rng(seed).choice([0, 0, 1, 6], len(index)).astype(np.uint32)
    smaller, kept = index.restrict(masks)
    names = tree(index.items, index.parents)
    needed = {t[: k + 1] for t, mask in zip(names, masks, strict=True) if mask for k in range(len(t))}
    assert tree(smaller.items, smaller.parents) == [t for t in names if t in needed]
    assert [names[node] for node in kept] == [t for t in names if t in needed]
    assert smaller.masks.tolist() == masks[kept].tolist()
    sizes = np.array([len(t) for t in names], int)[kept]
    assert smaller.levels.tolist() == [int((sizes < k).sum()) for k in range(1, sizes.max(initial=0) + 2)]


def test_too_many_tokens_end_in_an_error(backend):
    index, _ = index_of([(0,), (1,)])
    assert len(index.find(Coded.from_rows([[0, 1], [1], [0, 1]]), most=5).tokens) == 5
    with pytest.raises(TokenLimitError, match="more than 5 tokens together"):
        index.find(Coded.from_rows([[0, 1], [0, 1], [0, 1]]), most=5)


def test_copies_find_the_same(backend):
    index, _ = index_of([(0,), (1,), (0, 1)])
    for twin in (copy.deepcopy(index), pickle.loads(pickle.dumps(index))):  # noqa: S301
        assert found_in(twin, [[0, 1, N_CODES]]) == [[(0, 1)]]


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="Token 1 has no items"):
        index_of([(0,), ()])
    with pytest.raises(ValueError, match="must ascend for subsets"):
        index_of([(1,), (1, 0)])
    index, _ = index_of([(0,)])
    with pytest.raises(ValueError, match="one for each of the 2 examples"):
        index.find(Coded.from_rows([[0], [1]]), np.zeros(3, np.uint8))
    with pytest.raises(ValueError, match="offsets must rise from 0 to the number of codes, 1"):
        index.find(Coded(np.array([0], np.int32), np.array([0, 2])))


@pytest.mark.parametrize(
    ("items", "parents", "levels"),
    [
        ([0, 1], [-1], [0, 2]),  # a parent is missing
        ([1, 0], [-1, -1], [0, 2]),  # not sorted
        ([0, 1], [-1, 1], [0, 1, 2]),  # its own parent
        ([0, 1, 2], [-1, 0, 0], [0, 1, 2, 3]),  # a parent of the wrong size
        ([0, 1], [-1, -1], [0, 1]),  # a level is missing
        ([-3], [-1], [0, 1]),
        ([0], [0], [0, 1]),
    ],
)
def test_arrays_that_are_no_tree_are_refused(items, parents, levels):
    with pytest.raises(ValueError, match="no prefix tree"):
        TokenIndex(
            Joining("subsets", 2),
            np.array(items, np.int32),
            np.array(parents, np.int32),
            np.array(levels, np.int64),
            np.ones(len(items), np.uint32),
        )
