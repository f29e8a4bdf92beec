"""The reader: from strings to the tokens of examples, and to their positions between keypoints."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import clearset as cs
from clearset.sets import Feature
from clearset.tokens import (
    Corrections,
    Occurrences,
    TokenLimitError,
    TokenReader,
    check_details,
    cross_fit,
    fit_token_binning,
    read_details,
    token_values,
)

RNG = np.random.default_rng(0)
ITEMS = [f"i{k}" for k in range(6)]
TRAINING = [RNG.choice(ITEMS, RNG.integers(1, 5)).tolist() for _ in range(80)]
Y = RNG.choice(["x", "y", "z"], 80)
SEEN = [*TRAINING[:10], [], ["unknown"], ["unknown", "i1", "i1"], ["i1", "i2", "i3"]]
NAMES = ["log_odds", "count", "whole", "items", "tokens"]


@pytest.fixture(scope="module")
def table():
    return cs.TokenTable.build(TRAINING, Y, cs.Subsets(2), [cs.MinCount(3)])


def placer_of(reader, found, **changes):
    features = [Feature(name) for name in reader.names]
    binning = fit_token_binning(features, found, reader.rows, keypoints=5, unit=1.0, rng=np.random.default_rng(0))
    return replace(reader.placer(binning), **changes)


def spelled_rows(table, found):
    offsets = found.found.offsets
    return [
        [table.spell(int(token)) for token in found.found.tokens[offsets[b] : offsets[b + 1]]]
        for b in range(len(offsets) - 1)
    ]


@pytest.mark.parametrize("cover", [False, True])
def test_tokens_and_sizes_of_examples(table, cover):
    found = TokenReader(table, NAMES, cover=cover).find(SEEN)
    rows = spelled_rows(table, found)
    assert found.counts.tolist() == [len(row) for row in rows]
    assert found.n_items.tolist() == [len(set(row)) for row in SEEN]
    assert found.sizes.tolist() == [len(token) for row in rows for token in row]
    for example, tokens in zip(SEEN, rows, strict=True):
        assert all(set(token) <= set(example) for token in tokens)
    if not cover:
        known = {table.spell(token) for token in range(len(table))}
        expected = [sum(set(token) <= set(example) for token in known) for example in SEEN]
        assert found.counts.tolist() == expected


def test_features_of_sets_and_of_tokens_in_them(table):
    found = TokenReader(table, NAMES, cover=False).find(SEEN)
    np.testing.assert_array_equal(found.of_sets("items"), [len(set(row)) for row in SEEN])
    np.testing.assert_array_equal(found.of_sets("tokens"), found.counts)
    whole = [
        set(token) == set(example)
        for example, row in zip(SEEN, spelled_rows(table, found), strict=True)
        for token in row
    ]
    np.testing.assert_array_equal(found.of_tokens("whole"), whole)
    assert any(whole)


def test_each_example_reads_the_statistics_without_its_fold():
    folds = np.arange(80) % 3
    table, out_of_fold = cross_fit(TRAINING, Y, cs.Subsets(2), [cs.MinCount(2)], folds, 3)
    reader = TokenReader(table, ["log_odds"], cover=False, out_of_fold=out_of_fold)
    found = reader.find(TRAINING, views=folds + 1)
    values = [token_values(table, statistics, "log_odds", 1.0) for statistics in out_of_fold]
    fold_of_token = np.repeat(folds, found.counts)
    expected = [values[f][t] for f, t in zip(fold_of_token, found.found.tokens, strict=True)]
    np.testing.assert_array_equal(reader.rows.values[found.rows], expected)
    at_prediction = reader.find(TRAINING)
    np.testing.assert_array_equal(
        reader.rows.values[at_prediction.rows],
        token_values(table, table.statistics, "log_odds", 1.0)[at_prediction.found.tokens],
    )


@pytest.mark.parametrize("most_tokens", [1, 7, 10_000])
def test_pieces_are_the_whole(table, most_tokens):
    X = pl.DataFrame({"items": TRAINING, "pay": [[float(len(item)) for item in row] for row in TRAINING]})
    found = TokenReader(table, [*NAMES, "pay"], cover=False, details=["pay"]).find(X)
    pieces = list(found.pieces(most_tokens))
    for piece in pieces:
        assert len(piece.counts) == 1 or piece.found.offsets[-1] <= most_tokens
        assert piece.found.offsets[0] == 0
    again = Occurrences.joined(pieces)
    for name in ("rows", "sizes", "n_items"):
        np.testing.assert_array_equal(getattr(again, name), getattr(found, name))
    np.testing.assert_array_equal(again.found.tokens, found.found.tokens)
    np.testing.assert_array_equal(again.found.offsets, found.found.offsets)
    np.testing.assert_array_equal(again.details["pay"], found.details["pay"])


def test_a_search_for_too_many_tokens_ends(table):
    reader = TokenReader(table, NAMES, cover=False)
    n = len(reader.find(SEEN).rows)
    assert len(reader.find(SEEN, most=n).rows) == n
    with pytest.raises(TokenLimitError):
        reader.find(SEEN, most=n - 1)


@pytest.mark.parametrize("unit", [1.0, 4.0])
def test_positions_are_those_of_every_feature_by_itself(table, unit):
    reader = TokenReader(table, NAMES, cover=False)
    found = reader.find(SEEN)
    placer = placer_of(reader, found, unit=unit)
    positions, binning = placer.place(found), placer.binning
    sizes = np.maximum(found.counts, 1)
    np.testing.assert_array_equal(np.diff(positions.offsets), sizes)
    empty = np.repeat(found.counts == 0, sizes)
    assert empty.sum() == 2
    np.testing.assert_array_equal(positions.rows < 0, empty)
    statistics = table.statistics.take(found.found.tokens)
    given = {
        "count": statistics.counts.astype(float),
        "whole": found.of_tokens("whole"),
        "items": np.repeat(found.n_items, sizes).astype(float),
        "tokens": np.repeat(found.counts, sizes).astype(float),
    }
    for d, name in enumerate(NAMES[1:]):
        values = given[name]
        if name in ("count", "whole"):
            values = np.full(len(empty), np.nan)
            values[~empty] = given[name]
        slots, fractions = binning.place(name, values, np.float64)
        np.testing.assert_array_equal(positions.slots[d], slots)
        np.testing.assert_array_equal(positions.fractions[d], fractions)
    first = binning.keypoints[0][0]
    value = token_values(table, statistics, "log_odds", 1.0)
    np.testing.assert_allclose(positions.values[positions.rows[~empty]] * unit + first, value)
    np.testing.assert_allclose(positions.keypoints * unit + first, binning.keypoints[0])


def test_corrected_tokens_are_marked(table):
    tokens = np.array([0, len(table) - 1], np.int32)
    corrected = replace(table, corrections=Corrections("log_odds", 1.0, tokens, np.ones((2, 3))))
    reader = TokenReader(corrected, ["log_odds"], cover=False)
    found = reader.find(TRAINING)
    positions = placer_of(reader, found).place(found)
    expected = np.full(len(found.rows), -1)
    for place, token in enumerate(tokens):
        expected[found.found.tokens == token] = place
    np.testing.assert_array_equal(positions.corrected, expected)
    assert (expected >= 0).any()


def test_no_examples(table):
    reader = TokenReader(table, NAMES, cover=False)
    found = reader.find(SEEN)
    none = found._replace(
        found=found.found._replace(tokens=found.found.tokens[:0], offsets=found.found.offsets[:1]),
        rows=found.rows[:0],
        sizes=found.sizes[:0],
        n_items=found.n_items[:0],
    )
    assert len(placer_of(reader, found).place(none)) == 0
    assert [len(piece.counts) for piece in none.pieces(5)] == [0]


def test_details_of_tokens_are_means_over_their_items():
    frame = pl.DataFrame(
        {
            "actors": [["ann", "bob"], ["bob", "cyd", "bob"], ["dan"], [], ["ann", "zoe"]],
            "pay": [[1.0, 3.0], [5.0, None, 7.0], [None], [], [2.0, 9.0]],
        }
    )
    table = cs.TokenTable.build(frame["actors"].head(4), [0, 1, 0, 1], cs.Subsets(2))
    found = TokenReader(table, ["mean_label", "pay"], cover=False, details=["pay"]).find(frame)
    details, offsets = found.of_tokens("pay"), found.found.offsets
    result = [
        dict(zip(row, details[offsets[b] : offsets[b + 1]].tolist(), strict=True))
        for b, row in enumerate(spelled_rows(table, found))
    ]
    assert result[0] == {("ann",): 1.0, ("bob",): 3.0, ("ann", "bob"): 2.0}
    assert result[1].pop(("bob",)) == 6.0
    assert np.isnan(result[1].pop(("cyd",)))
    assert result[1].pop(("bob", "cyd")) == 6.0
    assert np.isnan(result[2].pop(("dan",)))
    assert result[1:] == [{}, {}, {}, {("ann",): 2.0}]


FRAME = pl.DataFrame({"items": [["a"], ["b", "c"]], "pay": [[1.0], [2.0, 3.0]], "text": ["much", "little"]})


@pytest.mark.parametrize(
    ("X", "names", "error", "message"),
    [
        (FRAME, ["salary"], ValueError, "has the columns"),
        ([["a"]], ["pay"], TypeError, "must be a frame"),
        (FRAME, ["text"], TypeError, "lists of numbers"),
    ],
)
def test_columns_that_hold_no_details(X, names, error, message):
    with pytest.raises(error, match=message):
        read_details(X, names)


@pytest.mark.parametrize(
    ("pay", "message"),
    [([[1.0], [2.0]], r"Row 1 .* has 2 items but 1 values of 'pay'"), ([[1.0], [2.0, np.inf]], "infinity")],
)
def test_details_that_do_not_fit_their_items(pay, message):
    table = cs.TokenTable.build(FRAME["items"], [0, 1], cs.Items())
    frame = pl.DataFrame({"items": FRAME["items"], "pay": pay})
    with pytest.raises(ValueError, match=message):
        TokenReader(table, ["mean_label", "pay"], cover=False, details=["pay"]).find(frame)


def test_names_of_details():
    assert check_details(["pay", "age"]) == ("pay", "age")
    with pytest.raises(TypeError, match="list of column names"):
        check_details("pay")
    with pytest.raises(ValueError, match="Rename the columns"):
        check_details(["count"])
