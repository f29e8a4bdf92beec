import numpy as np
import pytest

import clearset as cs
from clearset.tokens import covered

RNG = np.random.default_rng(3)
ITEMS = [f"i{k}" for k in range(6)]


def in_table(tokens, X):
    return cs.TokenTable.build(X, RNG.random(len(X)), tokens, cs.MinCount(2))


def rows_of(table, X):
    found = table.find(table.encode(X), cover=False)
    covers = covered(table, X, found).to_pylist()
    for number in range(len(found.offsets) - 1):
        for place in range(found.offsets[number], found.offsets[number + 1]):
            yield number, table.spell(found.tokens[place]), covers[place]


@pytest.mark.parametrize("tokens", [cs.Items(), cs.Subsets(3)])
def test_items_wherever_they_stand(tokens):
    X = [RNG.choice(ITEMS, RNG.integers(0, 6)).tolist() for _ in range(60)]
    table, n = in_table(tokens, X), 0
    seen = [*X, [], ["unknown", "i1", "unknown", "i1"]]
    for number, token, covers in rows_of(table, seen):
        assert covers == [place for place, item in enumerate(seen[number]) if item in token]
        n += 1
    assert n > 60


def test_runs_of_words_where_they_are_neighbours():
    X = [" ".join(RNG.choice(["na", "no", "ne"], RNG.integers(1, 8))) for _ in range(60)]
    table, n = in_table(cs.NGrams(3), X), 0
    seen = [*X, "", "na na na", "na unknown na"]
    for number, token, covers in rows_of(table, seen):
        words, expected = seen[number].split(), set()
        for start in range(len(words) - len(token) + 1):
            if tuple(words[start : start + len(token)]) == token:
                expected |= set(range(start, start + len(token)))
        assert covers == sorted(expected)
        n += 1
    assert n > 60


def test_items_of_two_columns_are_counted_one_column_after_the_other():
    X = [(RNG.choice(ITEMS, 2).tolist(), RNG.choice(ITEMS, 2).tolist()) for _ in range(60)]
    table = in_table(cs.Cross(), X)
    for number, token, covers in rows_of(table, X):
        left, right = X[number]
        items = [f"left={item}" for item in left] + [f"right={item}" for item in right]
        assert covers == [place for place, item in enumerate(items) if item in token]


class Halves:
    def tokens(self, example):
        return [example[: len(example) // 2], example[len(example) // 2 :]]


def test_own_tokenizers_do_not_say():
    X = ["abcd", "abef", "cdab"] * 4
    table = in_table(Halves(), X)
    assert all(covers is None for _, _, covers in rows_of(table, X))
