from collections import Counter
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearset.tokens import _mining, _reference
from clearset.tokens._codes import Coded, Joining, TokenLimitError
from clearset.tokens._mining import mine

from .brute_force import examples, tokens_of, tree


def labels(rng, n, n_channels):
    return rng.integers(0, n_channels, n).astype(np.int32)


def random_rows(rng, joining, n_rows, n_codes=12, most=8):
    rows = [rng.integers(0, n_codes, rng.integers(0, most)) for _ in range(n_rows)]
    return Coded.from_rows([row.tolist() if joining.kind == "ngrams" else np.unique(row).tolist() for row in rows])


def assert_same(a, b):
    for one, other in zip(a, b, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other, strict=True)


JOININGS = [
    Joining("subsets", None),
    Joining("subsets", 1),
    Joining("subsets", 3),
    Joining("ngrams", 1),
    Joining("ngrams", 3),
    Joining("crosses", 2, boundary=5),
]


@given(example=examples(), min_count=st.integers(1, 3), seed=st.integers(0, 99), form=st.sampled_from("cwvb"))
def test_tokens_counts_and_sums_are_those_of_enumeration(backend, example, min_count, seed, form):
    joining, rows = example
    rng = np.random.default_rng(seed)
    channels = labels(rng, len(rows), 3)
    w = rng.random(len(rows)) if form in "wb" else None
    y = rng.standard_normal(len(rows)) if form in "vb" else None
    mined = mine(Coded.from_rows(rows), joining, channels, 3, weights=w, values=y, min_count=min_count)

    holding = [tokens_of(row, joining) for row in rows]
    counts = Counter(token for tokens in holding for token in tokens)
    expected = sorted((t for t, n in counts.items() if n >= min_count), key=lambda t: (len(t), t))
    assert tree(mined.items, mined.parents) == expected
    assert mined.counts.tolist() == [counts[t] for t in expected]
    sizes = [len(t) for t in expected]
    assert mined.levels.tolist() == [sum(s < k for s in sizes) for k in range(1, max(sizes, default=0) + 2)]
    w = np.ones(len(rows)) if w is None else w
    sums = np.zeros((len(expected), 3, 3))
    for i, token in enumerate(expected):
        for row, tokens in enumerate(holding):
            if token in tokens:
                value = 0.0 if y is None else y[row]
                sums[i, channels[row]] += w[row] * np.array([1, value, value * value])
    np.testing.assert_allclose(mined.sums, sums if y is not None else sums[:, :, 0], rtol=1e-12, atol=1e-12)
    assert mined.sums.dtype == (np.uint32 if form == "c" else np.float64)


@pytest.mark.parametrize("joining", JOININGS, ids=str)
@pytest.mark.parametrize("form", ["counts", "weights", "values"])
@pytest.mark.usefixtures("compiled")
def test_threads_and_the_reference_give_the_same_bits(joining, form):
    rng = np.random.default_rng(7)
    coded = random_rows(rng, joining, 400)
    channels = labels(rng, 400, 5)
    numbers = {
        "counts": {},
        "weights": {"weights": rng.random(400)},
        "values": {"weights": rng.random(400), "values": rng.standard_normal(400)},
    }[form]
    one = mine(coded, joining, channels, 5, min_count=3, **numbers)
    assert len(one.items) > 8
    assert_same(one, mine(coded, joining, channels, 5, min_count=3, threads=4, **numbers))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_mining, "_native", None)
        patch.setattr(_reference, "_BATCH", 50)  # so that there are many batches
        assert_same(one, mine(coded, joining, channels, 5, min_count=3, **numbers))


@pytest.mark.parametrize("rows", [[], [[]], [[], [], []], [[1], [2]]])
@pytest.mark.parametrize("joining", JOININGS, ids=str)
def test_no_tokens_at_all(backend, rows, joining):
    channels = np.zeros(len(rows), np.int32)
    mined = mine(Coded.from_rows(rows), joining, channels, 4, min_count=2)
    assert mined.levels.tolist() == [0]
    assert len(mined.items) == len(mined.parents) == len(mined.counts) == 0
    assert mined.sums.shape == (0, 4)
    values = np.zeros(len(rows))
    assert mine(Coded.from_rows(rows), joining, channels, 4, min_count=2, values=values).sums.shape == (0, 4, 3)


def test_one_large_example_ends_in_an_error_at_once(backend):
    one = Coded.from_rows([list(range(2000))])
    for max_size in (3, None):
        with pytest.raises(
            TokenLimitError, match=r"too many tokens: at least .* lower max_size.* leave out some examples"
        ):
            mine(one, Joining("subsets", max_size), np.zeros(1, np.int32), 1)


@pytest.mark.parametrize("threads", [1, 3])
def test_mining_stops_at_the_limit(backend, threads, monkeypatch):
    """Where no estimate warns: every subset occurs twice."""
    twice = Coded.from_rows([list(range(300))] * 2)
    monkeypatch.setattr(_mining, "MOST_BYTES", 10**6)
    with pytest.raises(TokenLimitError, match=r"so far.*50,000 of them fill the 1,000,000 bytes"):
        mine(twice, Joining("subsets", None), np.zeros(2, np.int32), 1, min_count=2, threads=threads)


def test_the_limit_is_what_the_arrays_need(backend, monkeypatch):
    coded = Coded.from_rows([[0, 1, 2, 3]] * 2)
    channels = np.zeros(2, np.int32)
    need = 15 * (4 + 4 + 8 + 2 * 4)
    monkeypatch.setattr(_mining, "MOST_BYTES", need)
    mined = mine(coded, Joining("subsets", None), channels, 2, min_count=2)
    assert tree(mined.items, mined.parents)[4:10] == list(combinations(range(4), 2))
    assert len(mined.items) == 15
    monkeypatch.setattr(_mining, "MOST_BYTES", need - 1)
    for min_count in (1, 2):
        with pytest.raises(TokenLimitError):
            mine(coded, Joining("subsets", None), channels, 2, min_count=min_count)


def long_work():
    """Seconds of counting for few tokens: almost every triple is just too rare."""
    rng = np.random.default_rng(0)
    rows = np.sort(rng.random((20_000, 200)).argsort(axis=1)[:, :60], axis=1)
    coded = Coded(rows.astype(np.int32).ravel(), 60 * np.arange(len(rows) + 1))
    return coded, Joining("subsets", 3), np.zeros(len(rows), np.int32), 1


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_an_error_while_it_is_watched_ends_the_work(error, monkeypatch):
    seen, native = [], _mining._native

    def watched(*arguments):
        def fail(share):
            seen.append(share)
            raise error

        return native.mine_tokens(*arguments[:-1], fail)

    monkeypatch.setattr(_mining, "_native", SimpleNamespace(mine_tokens=watched))
    with pytest.raises(error):
        mine(*long_work(), min_count=650, threads=2)
    assert len(seen) == 1
    assert seen[0] < 1


def test_bad_input_is_refused():
    joining, coded = Joining("subsets", 2), Coded.from_rows([[0], [1]])
    with pytest.raises(ValueError, match="must not be negative; the least is -1"):
        mine(Coded.from_rows([[-1]]), joining, np.zeros(1, np.int32), 1)
    with pytest.raises(ValueError, match="one for each of the 2 examples"):
        mine(coded, joining, np.zeros(1, np.int32), 1)
    with pytest.raises(ValueError, match="n_channels is 0"):
        mine(coded, joining, np.zeros(2, np.int32), 0)
    with pytest.raises(ValueError, match="weights has shape"):
        mine(coded, joining, np.zeros(2, np.int32), 1, weights=np.ones(3))
    with pytest.raises(ValueError, match="offsets must rise"):
        mine(coded._replace(offsets=np.array([0, 2, 1])), joining, np.zeros(2, np.int32), 1)
    with pytest.raises(ValueError, match=r"lie in \[0, 2\); they reach from 0 to 2"):
        mine(coded, joining, np.array([0, 2], np.int32), 2)


def test_joinings_that_cannot_be():
    with pytest.raises(ValueError, match="kind is 'pairs'"):
        Joining("pairs", 2)
    with pytest.raises(ValueError, match="max_size is 0"):
        Joining("subsets", 0)
    with pytest.raises(ValueError, match="boundary is -1"):
        Joining("crosses", 2, boundary=-1)
    with pytest.raises(ValueError, match="n-grams need"):
        Joining("ngrams", None)
