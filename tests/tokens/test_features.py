"""What a set function is told about tokens, against NumPy and SciPy one token at a time."""

from typing import Any

import numpy as np
import pytest
import scipy.stats

import clearset as cs
from clearset.sets import read_labels
from clearset.tokens import NAMES, OWN, VALUES, Statistics, cross_fit, token_values
from clearset.tokens._features import means_of_values, own_feature

from . import plain_python

KINDS = ("number", "two", "many")
Z = scipy.stats.norm.ppf(0.975)


class Brute:
    """Random examples, and every feature of every token by enumeration."""

    def __init__(self, kind: str, *, weighted: bool = False, seed: int = 0, n: int = 60, items: int = 6) -> None:
        rng = np.random.default_rng(seed)
        self.kind, self.n = kind, n
        self.rows = [list(rng.choice(list("abcdefgh")[:items], rng.integers(1, 5))) for _ in range(n)]
        drawn = {
            "number": lambda: rng.normal(5, 2, n),
            "two": lambda: rng.integers(0, 2, n),
            "many": lambda: rng.choice(["x", "y", "z"], n),
        }
        self.y = drawn[kind]()
        self.w = rng.uniform(0.5, 2, n) if weighted else None
        self.task = "number" if kind == "number" else "classes"

    @property
    def targets(self) -> np.ndarray:
        """One column a class, of two only the second."""
        if self.kind == "number":
            return self.y[:, None]
        classes = np.unique(self.y)
        columns = (self.y[:, None] == classes).astype(float)
        return columns[:, 1:] if len(classes) == 2 else columns

    @property
    def weights(self) -> np.ndarray:
        return np.ones(self.n) if self.w is None else self.w

    @property
    def prior(self) -> np.ndarray:
        return np.average(self.targets, axis=0, weights=self.weights)

    def holders(self, token: tuple[str, ...], among: np.ndarray) -> np.ndarray:
        return np.array([row for row in among if set(token) <= set(self.rows[row])], dtype=int)

    def mean(self, token: tuple[str, ...], shrinkage: float, among: np.ndarray) -> np.ndarray:
        held, scale = self.holders(token, among), self.n / len(among)
        total = self.weights[held].sum() * scale
        summed = (self.targets[held] * self.weights[held, None]).sum(axis=0) * scale
        if total + shrinkage == 0:
            return self.prior
        return (summed + shrinkage * self.prior) / (total + shrinkage)

    def value(self, name: str, token: tuple[str, ...], shrinkage: float, among: np.ndarray) -> np.ndarray:
        mean = self.mean(token, shrinkage, among)
        if name == "mean_label":
            return mean
        inside = np.clip(mean, 1e-6, 1 - 1e-6)
        return np.log(inside / (1 - inside)) - np.log(self.prior / (1 - self.prior))

    def own(self, name: str, token: tuple[str, ...], shrinkage: float, among: np.ndarray) -> float:
        held = self.holders(token, among)
        count = len(held) * self.n / len(among)
        if name == "count":
            return count
        if name == "kind":  # there is one
            return 0.0
        if name == "size":
            return len(token)
        if name == "interval":
            return self.interval(held, count)
        mean = self.mean(token, shrinkage, among)
        if name == "entropy":
            return float(scipy.stats.entropy(mean if len(mean) > 1 else [mean[0], 1 - mean[0]]))
        parts = np.mean([self.mean((item,), shrinkage, among) for item in token], axis=0)
        return float((mean - parts)[0] if len(mean) == 1 else np.abs(mean - parts).sum() / 2)

    def interval(self, held: np.ndarray, count: float) -> float:
        if not len(held):
            return np.nan if self.kind == "number" else 1.0
        shares = np.average(self.targets[held], axis=0, weights=self.weights[held])
        if self.kind == "number":
            if len(held) < 2:
                return np.nan
            spread = np.average((self.y[held] - shares[0]) ** 2, weights=self.weights[held])
            error = np.sqrt(spread * len(held) / (len(held) - 1) / count)
            return float(2 * scipy.stats.t.ppf(0.975, count - 1) * error)
        # Wilson's ends are where a share p is exactly Z standard errors of its own from what was seen.
        ends = [np.roots([1 + Z**2 / count, -2 * p - Z**2 / count, p**2]) for p in shares]
        return float(max(np.ptp(np.real(pair)) for pair in ends))


def spelled(table: cs.TokenTable, n: int) -> list[tuple[str, ...]]:
    return [tuple(token) for token in table.spelled(np.arange(n)).to_pylist()]


def assert_all_features(
    brute: Brute, table: cs.TokenTable, statistics: Statistics, among: np.ndarray, shrinkage: float
) -> None:
    tokens = spelled(table, len(statistics))
    for name in VALUES[: 1 if brute.kind == "number" else 2]:
        expected = np.stack([brute.value(name, token, shrinkage, among) for token in tokens])
        result = token_values(table, statistics, name, shrinkage)
        assert result.shape == (len(tokens), 3 if brute.kind == "many" else 1)
        np.testing.assert_allclose(result, expected, rtol=1e-9, atol=1e-9, err_msg=name)
    for name in OWN:
        if name == "entropy" and brute.kind == "number":
            continue
        expected = np.array([brute.own(name, token, shrinkage, among) for token in tokens])
        result = own_feature(table, statistics, name, shrinkage)
        # Shares of 0 count as a millionth in the entropy, so that it is the same function everywhere.
        tolerance = 1e-4 if name == "entropy" and shrinkage == 0 else 1e-8
        np.testing.assert_allclose(result, expected, rtol=1e-7, atol=tolerance, err_msg=name)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shrinkage", [0.0, 1.0, 20.0])
def test_every_feature_of_every_token(kind: str, weighted: bool, shrinkage: float) -> None:
    brute = Brute(kind, weighted=weighted)
    table = cs.TokenTable.build(brute.rows, brute.y, cs.Subsets(3), task=brute.task, sample_weight=brute.w, threads=1)
    assert {tuple(sorted(t)) for t in spelled(table, len(table))} == set().union(
        *(plain_python.subsets(row, 3) for row in brute.rows)
    )
    assert_all_features(brute, table, table.statistics, np.arange(brute.n), shrinkage)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weighted", [False, True])
def test_out_of_fold_features_know_nothing_of_the_fold(kind: str, weighted: bool) -> None:
    brute = Brute(kind, weighted=weighted, seed=1)
    folds = np.random.default_rng(2).integers(0, 3, brute.n)
    table, out_of_fold = cross_fit(
        brute.rows, read_labels(brute.y, brute.n, brute.task), cs.Subsets(2), [], folds, 3, brute.w, threads=1
    )
    for fold, statistics in enumerate(out_of_fold):
        assert_all_features(brute, table, statistics, np.flatnonzero(folds != fold), 1.0)


@pytest.mark.parametrize("kind", KINDS)
def test_a_token_without_examples_outside_its_fold_has_the_prior(kind: str) -> None:
    brute = Brute(kind)
    brute.rows[0] = ["rare"]
    folds = np.arange(brute.n) % 2
    table, out_of_fold = cross_fit(
        brute.rows, read_labels(brute.y, brute.n, brute.task), cs.Items(), [], folds, 2, threads=1
    )
    number = int(table.numbers_of(["rare"])[0])
    for shrinkage in (0.0, 1.0):
        means = token_values(table, out_of_fold[0], "mean_label", shrinkage)
        np.testing.assert_allclose(means[number], brute.prior)
    if kind != "number":
        np.testing.assert_allclose(token_values(table, out_of_fold[0], "log_odds", 0.0)[number], 0, atol=1e-12)


@pytest.mark.parametrize("kind", ["two", "many"])
def test_lift_over_items_that_are_not_in_the_table_is_over_the_prior(kind: str) -> None:
    brute = Brute(kind)
    table = cs.TokenTable.build(
        brute.rows, brute.y, cs.Subsets(2), [lambda s: s.sizes == 2], task=brute.task, threads=1
    )
    means = token_values(table, table.statistics, "mean_label", 1.0)
    difference = means - brute.prior
    expected = difference[:, 0] if kind == "two" else np.abs(difference).sum(axis=1) / 2
    np.testing.assert_allclose(own_feature(table, table.statistics, "lift", 1.0), expected, atol=1e-12)


def test_lift_of_the_table_ignores_items_that_are_in_a_fold_only() -> None:
    rows = [["a", "b"]] * 6 + [["c", "d"]] * 6
    y = [1] * 6 + [0] * 6
    folds = [0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 0]
    table, out_of_fold = cross_fit(
        rows, y, cs.Subsets(2), [lambda s: (s.sizes == 2) | (s.counts > 6)], folds, 2, threads=1
    )
    assert len(table) == 2
    assert len(out_of_fold[0]) > 3  # single items that pass without a fold stand after the pairs
    means = token_values(table, table.statistics, "mean_label", 1.0)[:, 0]
    np.testing.assert_allclose(own_feature(table, table.statistics, "lift", 1.0), means - 0.5)


@pytest.mark.parametrize("kind", ["two", "many"])
@pytest.mark.parametrize("name", VALUES)
def test_values_turn_back_into_means(kind: str, name: str) -> None:
    brute = Brute(kind)
    table = cs.TokenTable.build(brute.rows, brute.y, cs.Items(), task=brute.task, threads=1)
    means = token_values(table, table.statistics, "mean_label", 2.0)
    values = token_values(table, table.statistics, name, 2.0)
    np.testing.assert_allclose(means_of_values(table, values, name), means, atol=1e-12)
    changed = means_of_values(table, values + 0.3, name)
    if name == "log_odds":
        np.testing.assert_allclose(changed.sum(axis=1), 1.0 if kind == "many" else changed[:, 0])


def test_log_odds_are_finite_for_pure_tokens() -> None:
    table = cs.TokenTable.build([["a"], ["b"]] * 5, [1, 0] * 5, cs.Items(), threads=1)
    values = token_values(table, table.statistics, "log_odds", 0.0)
    assert np.isfinite(values).all()
    assert sorted(np.sign(values[:, 0]).tolist()) == [-1, 1]


@pytest.mark.parametrize("n_classes", [4, 7])
def test_entropy_is_the_same_to_the_last_bit_in_any_order_of_the_shares(n_classes: int) -> None:
    """Keypoints would else stand between values that differ by rounding only."""
    classes = np.tile(np.arange(n_classes), 10)
    table = cs.TokenTable.build([[f"only {label}"] for label in classes], classes, cs.Items())
    assert len(np.unique(own_feature(table, table.statistics, "entropy", 1.0))) == 1


def test_an_interval_of_one_number_is_not_known() -> None:
    table = cs.TokenTable.build([["a"], ["b"], ["b"]], [1.5, 2.5, 3.5], cs.Items(), threads=1)
    width = dict(zip(spelled(table, 2), own_feature(table, table.statistics, "interval", 1.0), strict=True))
    assert np.isnan(width[("a",)])
    assert width[("b",)] == pytest.approx(2 * scipy.stats.t.ppf(0.975, 1) * np.sqrt(0.5 / 2))


def test_an_empty_table_has_no_features() -> None:
    table = cs.TokenTable.build([["a"], ["b"]], [0, 1], cs.Items(), [cs.MinCount(9)], threads=1)
    assert token_values(table, table.statistics, "log_odds", 1.0).shape == (0, 1)
    for name in OWN:
        assert own_feature(table, table.statistics, name, 1.0).shape == (0,)


def test_names_are_all_there() -> None:
    assert set(NAMES) == {
        *("mean_label", "log_odds", "count", "size", "interval", "entropy", "lift", "kind", "whole", "items", "tokens")
    }
    known: Any = set(VALUES) | set(OWN)
    assert known < set(NAMES)
