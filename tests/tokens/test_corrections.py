"""Learned corrections: kept with their tokens, whatever happens to the table."""

import io
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import clearset as cs
from clearset.tokens import Corrections, refined_values, token_values

from .test_features import Brute, spelled


def corrected(kind: str = "many", value: str = "log_odds", **options: Any) -> tuple[Brute, cs.TokenTable]:
    """A table with random corrections of every other token."""
    brute = Brute(kind, seed=5)
    table = cs.TokenTable.build(
        brute.rows, brute.y, cs.Subsets(2), [cs.MinCount(2)], task=brute.task, threads=1, **options
    )
    tokens = np.arange(0, len(table), 2, dtype=np.int32)
    amounts = np.random.default_rng(3).normal(size=(len(tokens), 3 if kind == "many" else 1))
    return brute, replace(table, corrections=Corrections(value, 1.0, tokens, amounts))


def by_token(table: cs.TokenTable) -> dict[tuple[str, ...], list[float]]:
    corrections = table.corrections
    assert corrections is not None
    names = [tuple(sorted(token)) for token in table.spelled(corrections.tokens).to_pylist()]
    return dict(zip(names, corrections.amounts.tolist(), strict=True))


def test_places() -> None:
    corrections = Corrections("log_odds", 1.0, np.array([4, 1], np.int32), np.zeros((2, 1)))
    assert corrections.places(6).tolist() == [-1, 1, -1, -1, 0, -1]


def test_values_with_corrections() -> None:
    _, table = corrected()
    assert table.corrections is not None
    counted = np.arange(3.0 * len(table)).reshape(-1, 3)
    kept = counted.copy()
    found = refined_values(table, counted, np.array([3, 2, 2, 0]))
    amounts = table.corrections.amounts
    expected = [kept[3], kept[2] + amounts[1], kept[2] + amounts[1], kept[0] + amounts[0]]
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(counted, kept)
    plain = refined_values(replace(table, corrections=None), counted, np.array([2]))
    np.testing.assert_array_equal(plain, kept[[2]])


@pytest.mark.parametrize("kind", ["two", "many"])
def test_an_updated_table_keeps_the_corrections_of_its_tokens(kind: str) -> None:
    brute, table = corrected(kind)
    updated = table.update([["zz", "a"], ["zz", "a"], ["aa"], ["aa"]], brute.y[:4])
    assert len(updated) > len(table)
    assert updated.numbers_of(["a"])[0] != table.numbers_of(["a"])[0]  # so that numbers alone would not do
    assert by_token(updated) == by_token(table)


def test_a_filtered_table_keeps_those_that_are_left() -> None:
    _, table = corrected()
    filtered = table.filter(cs.MinCount(6))
    left = {tuple(sorted(token)) for token in spelled(filtered, len(filtered))}
    assert 0 < len(left) < len(table)
    assert by_token(filtered) == {token: c for token, c in by_token(table).items() if token in left}


def test_a_merged_table_keeps_those_of_the_first_that_has_them() -> None:
    brute, table = corrected()
    without, halved = replace(table, corrections=None), table.corrections
    assert halved is not None
    other = replace(table, corrections=replace(halved, amounts=halved.amounts / 2))
    for merged in (table + without, without + table, table + other):
        assert merged.n_examples == 2 * brute.n
        assert by_token(merged) == by_token(table)
    assert (without + without).corrections is None


def test_a_table_of_other_tokens_keeps_none() -> None:
    _, table = corrected()
    other = cs.TokenTable.build([["p"], ["q"], ["q"]], ["x", "y", "z"], cs.Subsets(2), threads=1).carrying(table)
    assert other.corrections is not None
    assert other.corrections.amounts.shape == (0, 3)
    assert other.to_arrow()["correction"].null_count == len(other)


@pytest.mark.parametrize("kind", ["two", "many"])
def test_new_classes_leave_no_corrections(kind: str) -> None:
    """They were learned for other classes."""
    _, table = corrected(kind)
    updated = table.update([["a"]], ["new"] if kind == "many" else [2])
    assert len(updated.classes) == len(table.classes) + 1
    assert updated.corrections is None
    assert updated.to_arrow().num_rows == len(updated)


@pytest.mark.parametrize("kind", ["number", "two", "many"])
@pytest.mark.parametrize("value", ["mean_label", "log_odds"])
def test_the_refined_column(kind: str, value: str) -> None:
    if kind == "number" and value == "log_odds":
        pytest.skip("numbers have no odds")
    _, table = corrected(kind, value)
    amounts = by_token(table)
    values = token_values(table, table.statistics, value, 1.0)
    prior = np.atleast_1d(table.prior)[1:] if kind == "two" else np.atleast_1d(table.prior)
    for number, row in enumerate(table.to_arrow().to_pylist()):
        token = tuple(sorted(row["token"]))
        if token not in amounts:
            assert row["correction"] is None
            assert row["refined"] is None
            continue
        np.testing.assert_allclose(np.atleast_1d(row["correction"]), amounts[token])
        refined = values[number] + amounts[token]
        if value == "log_odds":
            odds = np.exp(refined) * prior / (1 - prior)
            refined = odds / (1 + odds)
            refined = refined / refined.sum() if kind == "many" else refined
        np.testing.assert_allclose(np.atleast_1d(row["refined"]), refined, rtol=1e-9)


@pytest.mark.parametrize("kind", ["number", "two", "many"])
def test_parquet_keeps_corrections(kind: str, tmp_path: Any) -> None:
    _, table = corrected(kind, "mean_label")
    table.save(tmp_path / "t.parquet")
    for back in (
        cs.TokenTable.load(tmp_path / "t.parquet"),
        cs.TokenTable.read_parquet(written(table)),
        cs.TokenTable.read_parquet(written(table.filter(cs.MinCount(3)))),
    ):
        assert back.corrections is not None
        assert (back.corrections.value, back.corrections.shrinkage) == ("mean_label", 1.0)
        assert by_token(back).items() <= by_token(table).items()
    assert by_token(cs.TokenTable.load(tmp_path / "t.parquet")) == by_token(table)


@pytest.mark.parametrize("kind", ["two", "many"])
def test_parquet_keeps_that_nothing_is_corrected(kind: str) -> None:
    _, table = corrected(kind)
    n_classes = 3 if kind == "many" else 1
    none = Corrections("log_odds", 1.0, np.zeros(0, np.int32), np.zeros((0, n_classes)))
    back = cs.TokenTable.read_parquet(written(replace(table, corrections=none)))
    assert back.corrections is not None
    assert back.corrections.amounts.shape == (0, n_classes)


def written(table: cs.TokenTable) -> bytes:
    buffer = io.BytesIO()
    table.write_parquet(buffer)
    return buffer.getvalue()
