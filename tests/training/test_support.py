"""What training has shown: the base rate, the smallest supported sets, and the counts of values."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import clearset as cs
from clearset.engines import TrainingSets, engine
from clearset.functions import Layout, Link, Loss, Support, enough
from clearset.sets import Binning
from clearset.training import base_means, initial_set_function
from clearset.training._support import smallest_supported, supported_size

RNG = np.random.default_rng(0)


def baskets(n, smallest, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    items = [f"item {k}" for k in range(60)]
    weights = rng.normal(size=(60, classes))
    rows = [rng.choice(60, rng.integers(smallest, smallest + 8), replace=False) for _ in range(n)]
    scores = np.array([weights[row].sum(axis=0) for row in rows])
    labels = (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)
    return [[items[k] for k in row] for row in rows], labels, scores[:, 0]


@given(st.lists(st.integers(0, 30), min_size=1, max_size=200), st.integers(1, 60))
def test_the_smallest_supported_size_is_that_of_enough_sets(sizes, needed):
    needed = min(needed, len(sizes))
    found = smallest_supported(np.array(sizes), needed)
    assert found >= 1
    assert sum(size <= found for size in sizes) >= needed
    assert found == 1 or sum(size < found for size in sizes) < needed


def test_enough_is_one_in_fifty_within_bounds():
    assert [enough(n) for n in (1, 50, 100, 2500, 10**6)] == [1, 1, 2, 50, 50]


@pytest.mark.parametrize("labels", ["two", "three", "number"])
def test_the_base_rate_is_the_average_prediction(labels):
    X, y, number = baskets(800, 2, 3 if labels == "three" else 2)
    if labels == "number":
        model = cs.SemanticRegressor(cs.Items(), random_state=0, cross_fit=None).fit(X, number)
        average = model.predict(X).mean()
    else:
        model = cs.SemanticClassifier(cs.Items(), random_state=0, cross_fit=None).fit(X, y)
        average = model.predict_proba(X).mean(axis=0)
    model = model.as_model()
    base = model.link.estimates(model.rho_outputs(model.support.base).reshape(1, -1))[0]
    wanted = average[1:] if labels == "two" else np.atleast_1d(average)
    np.testing.assert_allclose(base, wanted, atol=0.01)


def test_sets_between_no_token_and_enough_tokens_are_drawn_in_proportion():
    support = Support(np.array([[0.25, -0.5]]), 4, np.zeros(0))
    means = RNG.uniform(-1, 1, (6, 1, 2))
    drawn = support.shrunk(means, np.arange(6))
    for size in range(6):
        share = min(1.0, size / 4)
        np.testing.assert_allclose(drawn[size], (1 - share) * support.base + share * means[size])


def test_a_set_of_one_token_is_drawn_to_the_base():
    X, y, _ = baskets(600, 5)
    model = cs.SemanticClassifier(cs.Items(), features=["log_odds"], random_state=0, refine=False).fit(X, y).as_model()
    tokens = model.support.tokens
    assert tokens >= 5
    single = [["item 3"]]
    (score,) = model.phi(single).scores[:, 0]
    base, share = model.support.base[0, 0], model.support.share_of_one
    assert 0 < share <= 1 / tokens + 1e-12
    assert model.decision_function(single) == pytest.approx(model.rho([[base + share * (score - base)]]), abs=1e-12)


@pytest.mark.parametrize("classes", [2, 6])
def test_a_token_alone_stays_within_its_own_interval(classes):
    """Labels are sums over many tokens, so that each does more than its own share of labels tells."""
    X, y, _ = baskets(3000, 5, classes)
    model = cs.SemanticClassifier(cs.Items(), random_state=0, epochs=40).fit(X, y).as_model()
    table = model.table
    said, (low, high) = model.predict_proba(table.spelled(np.arange(len(table)))), table.intervals
    if classes == 2:
        said, prior = said[:, 1], float(table.prior[1])
    else:
        chosen = said.argmax(axis=1)
        rows = np.arange(len(table))
        said, low, high, prior = said[rows, chosen], low[rows, chosen], high[rows, chosen], table.prior[chosen]
    within = (said >= np.minimum(low, prior)) & (said <= np.maximum(high, prior))
    assert within.mean() >= 0.95
    assert model.predict_proba(table.spelled(np.arange(len(table)))).max() <= model.predict_proba(X).max()


@pytest.mark.parametrize("classes", [2, 20, None])
@pytest.mark.parametrize("seed", [0, 1])
def test_sets_of_unknown_items_are_near_the_prior(classes, seed):
    X, y, number = baskets(1500, 1, classes or 2, seed)
    unknown = [["never seen"], ["nor this", "nor that"], []]
    if classes is None:
        model = cs.SemanticRegressor(random_state=seed).fit(X, number)
        assert np.abs(model.predict(unknown) - number.mean()).max() < 0.2 * number.std()
        return
    model = cs.SemanticClassifier(random_state=seed).fit(X, y)
    prior = np.bincount(y, minlength=classes)[np.unique(y)] / len(y)
    assert np.abs(model.predict_proba(unknown) - prior).max() < 0.05


@pytest.mark.parametrize("labels", ["two", "number"])
def test_empty_sets_of_features_are_near_the_prior_where_training_had_none(labels):
    rng = np.random.default_rng(0)
    sets = pa.table({"x": [rng.random(rng.integers(2, 6)).tolist() for _ in range(400)]})
    number = np.array([np.mean(row) for row in sets["x"].to_pylist()]) * 10 + 50
    empty = pa.table({"x": pa.array([[]], pa.list_(pa.float64()))})
    if labels == "number":
        found = cs.SetRegressor(random_state=0, epochs=40).fit(sets, number).predict(empty)[0]
        assert abs(found - number.mean()) < 0.2 * number.std()
    else:
        model = cs.SetClassifier(random_state=0, epochs=40).fit(sets, number > np.quantile(number, 0.8))
        assert model.predict_proba(empty)[0, 1] == pytest.approx(0.2, abs=0.05)


def test_enough_empty_sets_are_learned_from():
    rng = np.random.default_rng(0)
    sets = pa.table({"x": [rng.random(rng.integers(0, 3)).tolist() for _ in range(600)]})
    labels = np.array([10.0 if not row else np.mean(row) for row in sets["x"].to_pylist()])
    model = cs.SetRegressor(random_state=0, epochs=100).fit(sets, labels)
    assert model.predict(pa.table({"x": pa.array([[]], pa.list_(pa.float64()))}))[0] == pytest.approx(10.0, abs=1.0)


def test_a_declared_direction_of_the_size_is_kept_down_to_the_smallest_sets():
    rng = np.random.default_rng(0)
    sizes = rng.integers(8, 20, 300)
    sets = pa.table({"x": [rng.random(size).tolist() for size in sizes]})
    feature = cs.Feature(cs.SIZE, monotonic="increasing")
    model = cs.SetRegressor(["x", feature], random_state=0, epochs=40).fit(sets, sizes + rng.normal(0, 0.1, 300))
    grown = pa.table({"x": [[0.5] * size for size in range(1, 25)]})
    assert (np.diff(model.predict(grown)) >= -1e-12).all()


def test_counts_are_of_sets_and_add_up_to_their_number():
    sets = pa.table({"x": [[0.0, 1.0], [1.0], [2.0, None]], "y": [1.0, 2.0, 3.0]})
    model = cs.SetRegressor(["x", "y"], random_state=0, epochs=1, early_stopping=False).fit(sets, [1.0, 2.0, 3.0])
    model = model.as_model()
    of_x = model.support.counts[: model.binning.slot_offsets[1]]
    # The keypoints of x are 0, 1 and 2; the last slot is for missing values.
    np.testing.assert_allclose(of_x, [0.5, 1.5, 0.5, 0.5])
    assert model.support.counts[model.binning.slot_offsets[1] :].sum() == pytest.approx(3)


def test_files_keep_what_training_has_shown(tmp_path):
    X, y, _ = baskets(300, 3)
    model = cs.SemanticClassifier(cs.Items(), features=["log_odds"], random_state=0).fit(X, y)
    model.save(tmp_path / "model")
    loaded, frozen = cs.load(tmp_path / "model"), model.freeze()
    frozen.save(tmp_path / "frozen")
    support = model.as_model().support
    np.testing.assert_array_equal(loaded.support.base, support.base)
    np.testing.assert_array_equal(loaded.support.counts, support.counts)
    assert loaded.support.tokens == support.tokens > 1
    single = [["item 1"], ["item 2", "item 3"], []]
    for other in (loaded, frozen, type(frozen).load(tmp_path / "frozen")):
        np.testing.assert_allclose(other.predict_proba(single), model.predict_proba(single), atol=1e-12)


def test_features_of_whole_sets_count_in_full_however_few_tokens_there_are():
    rng = np.random.default_rng(0)

    def made(n, low, high):
        x = [rng.random(rng.integers(low, high)).tolist() for _ in range(n)]
        z = rng.normal(size=n)
        return pa.table({"x": x, "z": z}), np.array([np.mean(row) for row in x]) + 3 * z

    model = cs.SetRegressor(random_state=0, epochs=100).fit(*made(800, 4, 12))
    for size in (1, 2, 3):
        assert model.score(*made(200, size, size + 1)) > 0.98
    empty = pa.table({"x": pa.array([[], []], pa.list_(pa.float64())), "z": [-1.0, 1.0]})
    assert np.diff(model.predict(empty))[0] == pytest.approx(6.0, abs=1.0)


def test_small_sets_are_left_alone_where_a_trust_speaks_of_their_size():
    rng = np.random.default_rng(0)
    sets = pa.table({"x": [rng.random(rng.integers(8, 20)).tolist() for _ in range(300)]})
    labels = np.array([np.mean(row) for row in sets["x"].to_pylist()])
    features = [cs.Feature("x", monotonic="increasing"), cs.SIZE]
    trusted = cs.SetRegressor(features, trusts=[cs.Trust("x", by=cs.SIZE)], random_state=0, epochs=5)
    assert trusted.fit(sets, labels).as_model().support.tokens == 1
    assert cs.SetRegressor(features, random_state=0, epochs=5).fit(sets, labels).as_model().support.tokens == 8


def test_intervals_of_other_labels_say_nothing_of_single_tokens():
    X, _, number = baskets(600, 5)
    model = cs.SemanticRegressor(cs.Items(), random_state=0, epochs=20)
    model.fit(X, 1000 * number, token_X=X, token_y=number)
    assert model.as_model().support.alone is None
    single = model.predict([["item 1"], ["item 2"], ["item 3"], ["item 4"]])
    assert np.ptp(single) > 0


def labelled(noise, tokens, candidates):
    """The number found for sets labelled by a function that shrinks those with fewer tokens than some number."""
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 10, 4000)
    offsets = np.append(0, sizes.cumsum())
    data = cs.SetData(rng.normal(size=(offsets[-1], 2)), offsets, ["a", "b"])
    features = [cs.Feature("a"), cs.Feature("b")]
    binning = Binning.fit(data, features)
    form = {"width": 1, "rho_keypoints": 20, "rng": rng}
    function = initial_set_function(binning, Layout.full((2, 2)), np.array([[1.0, -0.5]]), **form)
    positions = binning.positions(data, np.float64)
    means = engine().means(function, positions)
    base = base_means(function, Link("squared_error", None), [(means, np.ones(len(sizes)))])
    shrunk = Support(base, tokens, np.zeros(0)).shrunk(means, sizes)
    labels = engine().rho(function.rho, shrunk)[:, 0] + noise * rng.normal(size=len(sizes))
    sets = TrainingSets(positions, labels, np.ones(len(sizes)))
    return supported_size(function, Loss("squared_error"), sets, sizes, sets, candidates, 1)


@pytest.mark.parametrize("tokens", [8, 4, 1])
def test_small_sets_are_shrunk_as_far_as_their_labels_say(tokens):
    assert labelled(0.01, tokens, [8, 4, 1]) == tokens


def test_small_sets_are_shrunk_where_labels_do_not_say():
    assert labelled(100.0, 1, [8, 4, 1]) == 8
    assert labelled(0.01, 1, [8, 8]) == 8
    assert labelled(0.01, 1, [1]) == 1
