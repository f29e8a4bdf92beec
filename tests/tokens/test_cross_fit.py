from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import clearset as cs
from clearset.sets import read_labels
from clearset.tokens import cross_fit

from . import plain_python
from .test_table import LABELS, ROWS, same


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("weighted", [False, True])
@given(rows=ROWS, seed=st.integers(0, 2**31), n_folds=st.integers(2, 5))
@settings(max_examples=15)
def test_statistics_without_a_fold_are_those_of_a_table_of_the_rest(
    kind: str, weighted: bool, rows: list[list[str]], seed: int, n_folds: int
) -> None:
    rng = np.random.default_rng(seed)
    n = len(rows)
    y = LABELS[kind](rng, n)
    y[: min(n, 3)] = np.unique(y)[0]
    w = rng.uniform(0.5, 2, n) if weighted else None
    folds = rng.integers(0, n_folds, n)
    options: dict[str, Any] = {"task": "number" if kind == "number" else "classes"}
    filters = [cs.MinCount(2)]
    table, out_of_fold = cross_fit(rows, read_labels(y, n, **options), cs.Subsets(2), filters, folds, n_folds, w)
    plain = cs.TokenTable.build(rows, y, cs.Subsets(2), filters, sample_weight=w, **options)
    same(table.filter(), plain)
    assert len(out_of_fold) == n_folds
    spelled = [tuple(sorted(token)) for token in table.spelled(np.arange(len(out_of_fold[0]))).to_pylist()]
    encoded = table.encode(rows)
    found = table.find(encoded, views=folds + 1)
    for fold, statistics in enumerate(out_of_fold):
        outside = np.flatnonzero(folds != fold)
        known: dict[Any, Any] = {}
        if len(outside):
            rest = cs.TokenTable.build(
                [rows[p] for p in outside],
                y[outside],
                cs.Subsets(2),
                sample_weight=None if w is None else w[outside],
                **options,
            )
            known = {tuple(sorted(row["token"])): row for row in rest.to_arrow().to_pylist()}
        passing = {t for t, row in known.items() if row["count"] * n >= 2 * len(outside)}
        assert {t for t, passes in zip(spelled, statistics.passes, strict=True) if passes} == passing
        for number, token in enumerate(spelled):
            if token not in known:
                assert statistics.counts[number] == 0
                continue
            row = known[token]
            assert statistics.sizes[number] == len(token)
            assert statistics.counts[number] == pytest.approx(row["count"] * n / len(outside))
            assert statistics.weights[number] == pytest.approx(row["weight"] * n / len(outside))
            if kind == "number":
                assert statistics.means[number] == pytest.approx(row["mean"], rel=1e-12)
                np.testing.assert_allclose(statistics.variances[number], row["variance"], rtol=1e-5, atol=1e-8)
            elif rest.classes.tolist() == table.classes.tolist():
                np.testing.assert_allclose(statistics.means[number], row["mean"])
        for place in np.flatnonzero(folds == fold):
            tokens = found.tokens[found.offsets[place] : found.offsets[place + 1]]
            expected = plain_python.cover(plain_python.subsets(rows[place], 2) & passing)
            assert {spelled[token] for token in tokens} == expected
    inside = table.find(encoded)
    assert (inside.tokens < len(table)).all()
    plain_found = plain.find(plain.encode(rows))
    assert [table.spell(int(t)) for t in inside.tokens] == [plain.spell(int(t)) for t in plain_found.tokens]


def test_a_disagreeing_fold_does_not_hide_a_token_from_itself() -> None:
    """Outside of fold 0 all 30 agree, so the token is known there, whatever the labels of fold 0 are."""
    folds = [0] * 10 + [1] * 15 + [2] * 15
    y = [1] * 10 + [0] * 30
    table, out_of_fold = cross_fit([["a"]] * 40, y, cs.Items(), [cs.MaxInterval(0.2)], folds, 3)
    assert len(table) == 0
    assert [s.passes.tolist() for s in out_of_fold] == [[True], [False], [False]]
    found = table.find(table.encode([["a"]] * 40), views=np.array(folds) + 1)
    assert np.diff(found.offsets).tolist() == [1] * 10 + [0] * 30
    assert out_of_fold[0].means[found.tokens].tolist() == [0.0] * 10
    assert out_of_fold[0].counts.tolist() == [40.0]


def test_cross_fitted_tables_can_be_saved_and_updated(tmp_path: Any) -> None:
    rows, y = [["a", "b"], ["a"], ["b", "c"], ["a", "b"]], [1, 0, 1, 1]
    table, _ = cross_fit(rows, y, cs.Subsets(2), [cs.MinCount(2)], [0, 1, 0, 1], 2)
    table.save(tmp_path / "t.parquet")
    plain = cs.TokenTable.build(rows, y, cs.Subsets(2), [cs.MinCount(2)])
    same(cs.TokenTable.load(tmp_path / "t.parquet"), plain)
    same(table.update(rows, y), plain.update(rows, y))
    assert table.lookup("c") is None
    assert table.to_arrow().equals(plain.to_arrow())


@pytest.mark.parametrize(
    ("folds", "n_folds", "message"),
    [
        ([0, 1], 1, "from 2 to 31"),
        ([0, 1], 32, "from 2 to 31"),
        ([0, 2], 2, r"must lie in \[0, 2\)"),
        ([0], 2, r"each of 2 examples"),
        ([0.0, 1.0], 2, "whole number"),
    ],
)
def test_bad_folds(folds: list[Any], n_folds: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        cross_fit([["a"], ["b"]], [0, 1], cs.Items(), [], folds, n_folds)
