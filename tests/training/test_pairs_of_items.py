"""What pairs of items would add: a Newton step against whole logistic regressions, and what is chosen by it."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import minimize

import clearset as cs
from clearset.training import LabelledExamples, _fit_semantic
from clearset.training._pairs_of_items import gain_of_pairs

ITEMS = [f"item {k}" for k in range(8)]


def made(n, strength, seed=0, number=False):
    """Sets of items whose effects add up, and pairs with effects of their own."""
    rng = np.random.default_rng(seed)
    has = rng.random((n, len(ITEMS))) < 0.5
    has[~has.any(axis=1), 0] = True
    effects, together = rng.normal(0, 0.7, len(ITEMS)), rng.normal(0, strength, (len(ITEMS), len(ITEMS)))
    outputs = (has - 0.5) @ effects
    additive = outputs.copy()
    for one in range(len(ITEMS)):
        for other in range(one):
            outputs = outputs + together[one, other] * (has[:, one] - 0.5) * (has[:, other] - 0.5)
    noise = rng.normal(size=n) if number else rng.logistic(size=n)
    labels = outputs + noise if number else (outputs + noise > 0).astype(np.float64)
    return has, labels, additive


def asked(has, labels, outputs, loss="log_loss", n_training=10**9):
    """Ask with a model that says these outputs."""
    tokens = np.nonzero(has)[1]
    found = SimpleNamespace(found=SimpleNamespace(tokens=tokens), counts=has.sum(axis=1))
    trial = SimpleNamespace(outputs=lambda X, threads: outputs[:, None], found=lambda X, threads: found)
    examples = LabelledExamples(np.arange(len(labels)), labels, np.ones(len(labels)))
    return gain_of_pairs(trial, examples, loss, n_training, 1)


def best_loss(columns, labels, offset):
    """The least logistic loss with these columns beside an offset."""

    def objective(line):
        outputs = offset + columns @ line
        losses = np.logaddexp(0, np.where(labels > 0, -outputs, outputs))
        return losses.mean(), columns.T @ (1 / (1 + np.exp(-outputs)) - labels) / len(labels)

    return minimize(objective, np.zeros(columns.shape[1]), jac=True).fun


def test_the_gain_is_that_of_logistic_regression_with_pairs():
    has, labels, additive = made(20_000, 0.4)
    found = asked(has, labels, additive)
    items = np.column_stack([np.ones(len(has)), has])
    pairs = np.column_stack([items, *(has[:, i] * has[:, j] for i in range(len(ITEMS)) for j in range(i))])
    alone = np.logaddexp(0, np.where(labels > 0, -additive, additive)).mean()
    gained = best_loss(items, labels, additive) - best_loss(pairs, labels, additive)
    chance = 28 / 2 / len(labels)
    assert found == pytest.approx((gained - chance) / alone, rel=0.1)


def test_the_gain_is_that_of_least_squares_with_pairs():
    has, labels, additive = made(5_000, 0.4, number=True)
    found = asked(has, labels, additive, "squared_error")
    items = np.column_stack([np.ones(len(has)), has])
    pairs = np.column_stack([items, *(has[:, i] * has[:, j] for i in range(len(ITEMS)) for j in range(i))])
    rest = labels - additive
    left = [np.mean((rest - columns @ np.linalg.lstsq(columns, rest)[0]) ** 2) for columns in (items, pairs)]
    chance = 28 / len(labels)
    assert found == pytest.approx((left[0] - left[1]) / np.mean(rest**2) - chance, rel=0.1)


@pytest.mark.parametrize("seed", range(8))
def test_chance_gains_nothing(seed):
    has, labels, additive = made(4_000, 0.0, seed)
    assert asked(has, labels, additive) == 0.0


def test_few_examples_would_lose_again_what_they_gain():
    has, labels, additive = made(20_000, 0.3)
    found = [asked(has, labels, additive, n_training=n) for n in (100, 1000, 100_000)]
    assert found == sorted(found)
    assert found[0] < found[1] < found[2]


def test_single_items_gain_nothing():
    has = np.eye(8, dtype=bool)[np.random.default_rng(0).integers(0, 8, 1000)]
    assert asked(has, np.arange(1000) % 2.0, np.zeros(1000)) == 0.0


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("strength", "tokens"), [(0.0, cs.Items()), (0.6, cs.Subsets(2))])
def test_many_examples_take_pairs_where_these_say_more(monkeypatch, strength, tokens, seed):
    monkeypatch.setattr(_fit_semantic, "MOST_TO_CHOOSE_BY", 1500)
    # No lists are so short that the few that choose could choose pairs themselves.
    monkeypatch.setattr(_fit_semantic.Learning._largest, "__defaults__", (0,))
    has, labels, _ = made(12_000, strength, seed)
    X = [[ITEMS[k] for k in np.flatnonzero(row)] for row in has]
    model = cs.SemanticClassifier(random_state=0, n_jobs=1).fit(X, labels)
    assert "Subsets" not in str(model.choices_)
    assert model.setting_.tokens == tokens
    asked_for = cs.SemanticClassifier(refine=1, random_state=0, n_jobs=1).fit(X, labels)
    assert asked_for.setting_.refine == 1
