"""Linear models with which corrections begin, against those of scikit-learn and sums written out."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import log_loss

import clearset as cs
from clearset.engines import TrainingSets, engine
from clearset.functions import Layout, Loss
from clearset.sets import Binning, CrossedPositions, Feature, Trust
from clearset.training import first_corrections, initial_crossed_set_function

N_TOKENS, N_SETS = 12, 3000
NEUTRAL = 0.5
POWERS = (0.0, 0.5, 1.0)


class Example:
    """Sets of 1 to 6 of 12 tokens whose effects count times a power of their number."""

    trusts = ()

    def __init__(self, power, *, numbers=False, width=1, n_sets=N_SETS, classes=1):
        rng = np.random.default_rng(3)
        sizes = rng.integers(1, 7, n_sets)
        self.tokens = np.concatenate([rng.choice(N_TOKENS, size, replace=False) for size in sizes])
        self.sets = np.repeat(np.arange(n_sets), sizes)
        self.times = sizes ** (power - 1.0)
        effects = rng.normal(size=N_TOKENS) * 2.0
        outputs = 0.3 + self.times * np.bincount(self.sets, effects[self.tokens], n_sets)
        values = rng.uniform(-3, 5, N_TOKENS)  # what is known of the tokens is of no use
        self.binning = Binning(
            (Feature("log_odds", monotonic="increasing"), Feature("count"), Feature("tokens")),
            (np.linspace(-3.0, 5.0, 9), np.array([1.0, 10.0]), np.linspace(1.0, 6.0, 51)),
            (None, None, None),
        )
        plain = {"count": rng.uniform(1, 10, len(self.tokens)), "tokens": np.repeat(sizes, sizes).astype(float)}
        places = [self.binning.place(name, column, np.float64) for name, column in plain.items()]
        positions = CrossedPositions(
            np.stack([slots for slots, _ in places]),
            np.stack([fractions for _, fractions in places]),
            np.concatenate([[0], np.cumsum(sizes)]),
            self.tokens.astype(np.int32),
            self.tokens.astype(np.int32),
            np.repeat(values[:, None] + 3.0, classes, axis=1),  # counted from the first keypoint
            self.binning.keypoints[0] + 3.0,
        )
        self.values, self.loss = values, Loss("squared_error" if numbers else "log_loss")
        self.weights = rng.integers(1, 3, n_sets) / 1.0
        if numbers:
            self.targets = outputs + rng.normal(size=n_sets)
        else:
            self.targets = (rng.random(n_sets) < 1.0 / (1.0 + np.exp(-outputs))).astype(float)
        self.data = TrainingSets(positions, self.targets, self.weights)
        self.initial = initial_crossed_set_function(
            self.binning, Layout.full((2, 2, 2)), width=width, rho_keypoints=5, rng=np.random.default_rng(0)
        )

    def begun(self, n_corrections=N_TOKENS):
        return first_corrections(self.initial, self.binning, self.trusts, NEUTRAL, self.data, self.loss, n_corrections)

    def columns(self):
        counts = np.zeros((len(self.targets), N_TOKENS))
        counts[self.sets, self.tokens] = 1.0
        return counts * (self.times / self.times.mean())[:, None]


@pytest.mark.parametrize("width", [1, 3])
@pytest.mark.parametrize("numbers", [False, True])
@pytest.mark.parametrize("power", POWERS)
def test_outputs_are_those_of_a_linear_model(power, numbers, width):
    example = Example(power, numbers=numbers, width=width)
    outputs = engine().outputs(example.begun(), example.data.placed)[:, 0]
    model = Ridge(alpha=2.0) if numbers else LogisticRegression(C=0.5, tol=1e-8, max_iter=1000)
    model.fit(example.columns(), example.targets, example.weights)
    expected = model.predict(example.columns()) if numbers else model.decision_function(example.columns())
    # Of the other features each score keeps a ten thousandth.
    np.testing.assert_allclose(outputs, expected, atol=0.03)


@pytest.mark.parametrize("power", POWERS)
def test_corrected_values_stay_between_the_keypoints(power):
    example = Example(power)
    function = example.begun()
    corrected = example.values + function.corrections[:, 0]
    assert corrected.min() > -3.0
    assert corrected.max() < 5.0
    vertices = function.vertices.reshape(1, 2, -1)
    assert (vertices[:, 1] > vertices[:, 0]).all()  # values only rise


def test_there_is_none_of_few_examples_other_losses_or_several_classes():
    assert Example(1.0, n_sets=1199).begun() is None  # 100 for each correction
    assert Example(1.0, n_sets=1200).begun() is not None
    example = Example(1.0)
    example.loss = Loss("hinge")
    assert example.begun() is None
    assert Example(1.0, classes=2).begun() is None
    assert Example(1.0).begun(0) is None


@pytest.mark.parametrize("feature", [Feature("rating"), Feature("count", monotonic="increasing")])
def test_there_is_none_where_features_are_declared(feature):
    example = Example(1.0)
    value, _, number = example.binning.features
    example.binning = Binning((value, feature, number), example.binning.keypoints, (None, None, None))
    assert example.begun() is None


def test_there_is_none_with_trust():
    example = Example(1.0)
    example.trusts = (Trust("log_odds", by="count"),)
    assert example.begun() is None


@pytest.mark.parametrize(("share", "found"), [(0.01, True), (0.05, False)])
def test_hardly_any_token_may_be_without_a_correction(share, found):
    example = Example(1.0)
    without = np.random.default_rng(0).random(len(example.tokens)) < share
    example.data.placed.corrected[without] = -1
    assert (example.begun() is not None) is found


def test_a_label_that_nothing_explains_has_its_share():
    example = Example(1.0)
    example.data.targets[:] = np.arange(N_SETS) % 4 == 0
    outputs = engine().outputs(example.begun(), example.data.placed)[:, 0]
    share = np.average(1.0 / (1.0 + np.exp(-outputs)), weights=example.weights)
    assert share == pytest.approx(np.average(example.data.targets, weights=example.weights), abs=1e-3)


def test_an_unknown_token_makes_no_difference():
    example = Example(1.0)
    function, placed = example.begun(), example.data.placed
    ones = np.flatnonzero(np.diff(placed.offsets) == 1)
    alone = placed.take(ones)
    alone.rows[:] = alone.corrected[:] = -1
    outputs = engine().outputs(function, alone)[:, 0]
    height = Ridge() if example.loss.name == "squared_error" else LogisticRegression(C=0.5, tol=1e-8, max_iter=1000)
    height.fit(example.columns(), example.targets, example.weights)
    np.testing.assert_allclose(outputs, height.intercept_[0], atol=0.03)


@pytest.mark.parametrize("early_stopping", [True, False])
def test_numbers_that_add_up_are_fitted_as_well_as_by_a_linear_model(early_stopping):
    rng = np.random.default_rng(5)
    has = rng.random((12_000, 10)) < 0.3
    labels = has @ rng.normal(size=10) + 0.5 * rng.normal(size=len(has))
    X = [[f"item {item}" for item in np.flatnonzero(row)] for row in has]
    model = cs.SemanticRegressor(tokens=cs.Items(), refine=1, early_stopping=early_stopping, random_state=0, n_jobs=1)
    model.fit(X[:6000], labels[:6000])
    ours, theirs = model.predict(X[6000:]), Ridge().fit(has[:6000], labels[:6000]).predict(has[6000:])
    some = has[6000:].any(axis=1)  # without items little is known
    errors = [np.mean((found - labels[6000:])[some] ** 2) for found in (ours, theirs)]
    assert errors[0] < 1.02 * errors[1]


@pytest.mark.parametrize("refine", [2, None])
def test_pairs_with_many_examples_are_fitted_as_well_as_by_a_linear_model(refine):
    rng = np.random.default_rng(0)
    has = rng.random((20_000, 8)) < 0.4
    one, other = np.triu_indices(8, 1)
    columns = np.concatenate([has, has[:, one] & has[:, other]], axis=1).astype(float)
    log_odds = columns @ rng.normal(size=columns.shape[1])
    labels = rng.random(len(has)) < 1.0 / (1.0 + np.exp(-log_odds))
    X = [[f"item {item}" for item in np.flatnonzero(row)] for row in has]
    model = cs.SemanticClassifier(
        tokens=cs.Subsets(2) if refine else None, cover=False, refine=refine, random_state=0, n_jobs=1
    ).fit(X[:15_000], labels[:15_000])
    linear = LogisticRegression(C=0.5, max_iter=1000).fit(columns[:15_000], labels[:15_000])
    ours, theirs = model.predict_proba(X[15_000:]), linear.predict_proba(columns[15_000:])
    assert log_loss(labels[15_000:], ours) < 1.01 * log_loss(labels[15_000:], theirs)
