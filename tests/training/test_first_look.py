"""What least squares show before training: shapes, pairs, sizes of lattices, and what training begins with."""

import numpy as np
import pyarrow as pa
import pytest

import clearset as cs
from clearset.engines import TrainingSets, engine
from clearset.functions import Layout
from clearset.sets import Binning, Feature, SetData, Trust
from clearset.training import (
    FirstLook,
    asked_sizes,
    choose_sizes,
    count_tokens,
    free_features,
    initial_set_function,
    with_first_shapes,
)

NAMES = ["a", "b", "c", "d"]
FEATURES = [Feature(name) for name in NAMES]


def sets(n=2000, seed=0, most=5):
    """Sets of one to five tokens with four features, and their positions."""
    rng = np.random.default_rng(seed)
    offsets = np.append(0, rng.integers(1, most + 1, n).cumsum())
    data = SetData(rng.uniform(-1, 1, size=(offsets[-1], len(NAMES))), offsets, NAMES)
    binning = Binning.fit(data, FEATURES, keypoints=11)
    return data, binning, binning.positions(data, np.float64)


def means(data, of_tokens):
    return np.add.reduceat(of_tokens, data.offsets[:-1]) / np.diff(data.offsets)


def centred(labels, weights=None):
    weights = np.ones(len(labels)) if weights is None else weights
    return (weights * (labels - np.average(labels, weights=weights)))[:, None]


def looked(binning, positions, labels, weights=None, repetitions=1.0):
    weights = np.ones(len(labels)) if weights is None else weights
    return FirstLook.at(binning, TrainingSets(positions, labels, weights), centred(labels, weights), repetitions)


def places(data, binning, d):
    """Where values stand among the keypoints, from -1 to 1."""
    keypoints = binning.keypoints[d]
    return np.interp(data.values[:, d], keypoints, np.linspace(-1, 1, len(keypoints)))


def test_slopes_are_those_of_the_law():
    data, binning, positions = sets()
    a, b, c = (places(data, binning, d) for d in range(3))
    labels = means(data, 2 * a - 3 * np.abs(b) + 1.5 * a * c - 0.5 * np.abs(b) * c)
    look = looked(binning, positions, labels)
    assert look.alone[0, 0] == pytest.approx([2.0, 0.0], abs=0.02)
    assert look.alone[0, 1] == pytest.approx([0.0, -3.0], abs=0.02)
    assert look.together[0, 0, 2, 0, 0] == pytest.approx(1.5, abs=0.02)
    assert look.together[0, 1, 2, 1, 0] == pytest.approx(-0.5, abs=0.02)
    # The same the other way round, and nothing else.
    np.testing.assert_allclose(look.together, look.together.transpose(0, 2, 1, 4, 3))
    assert np.abs(look.together[0, 3]).max() < 0.02


def test_standard_errors_are_those_of_repeated_samples():
    data, binning, positions = sets(400)
    clean, found, sure = means(data, data.values[:, 0]), [], []
    for seed in range(150):
        noise = np.random.default_rng(seed).normal(size=len(data))
        look = looked(binning, positions, clean + noise)
        found.append(look.together[0, 1, 2, 0, 0])
        sure.append(look.sure_together[0, 1, 2, 0, 0])
    assert np.std(sure) == pytest.approx(1.0, abs=0.2)
    assert np.mean(found) == pytest.approx(0.0, abs=4 * np.std(found) / np.sqrt(150))


def test_whole_weights_are_repetitions():
    _, binning, positions = sets(300)
    rng = np.random.default_rng(1)
    labels, weights = rng.normal(size=300), rng.integers(1, 4, 300).astype(float)
    repeated = np.repeat(np.arange(300), weights.astype(int))
    one = looked(binning, positions, labels, weights / weights.mean(), weights.mean())
    other = looked(binning, positions.take(repeated), labels[repeated])
    for name in ("alone", "together", "sure_alone", "sure_together"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-7, atol=1e-9)


def test_few_sets_and_single_features_are_not_looked_at():
    _, binning, positions = sets(30)
    assert looked(binning, positions, np.arange(30.0)) is None
    single = SetData(np.arange(90.0)[:, None], np.arange(91), ["a"])
    binning = Binning.fit(single, FEATURES[:1], keypoints=5)
    assert looked(binning, binning.positions(single, np.float64), np.arange(90.0)) is None


SHAPES = {
    "straight, alone and together": (lambda a, b: a + a * b, False),
    "bent, alone and together": (lambda a, b: np.abs(a) + (np.abs(a) - 0.5) * b, False),
    "bent alone": (lambda a, b: np.abs(a) + 0 * b, False),
    "bent alone, straight together": (lambda a, b: np.abs(a) + a * b, True),
    "straight alone, bent together": (lambda a, b: a + (np.abs(a) - 0.5) * b, True),
}


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("classes", [False, True])
def test_third_vertices_where_a_feature_has_two_shapes(name, classes):
    law, two = SHAPES[name]
    data, binning, positions = sets(3000)
    a, b = places(data, binning, 0), places(data, binning, 1)
    labels = means(data, law(a, b)) + 0.2 * np.random.default_rng(1).normal(size=len(data))
    if classes:
        labels = (labels > np.median(labels)).astype(float)
    look = looked(binning, positions, labels)
    assert choose_sizes([None] * 4, FEATURES, (), look) == [3 if two else 2, 2, 2, 2]


def test_third_vertices_only_where_nothing_is_declared_or_asked():
    data, binning, positions = sets()
    a, b = places(data, binning, 0), places(data, binning, 1)
    look = looked(binning, positions, means(data, np.abs(a) + a * b))
    declared = {
        "monotonic": [Feature("a", monotonic="increasing"), *FEATURES[1:]],
        "shape": [Feature("a", shape="convex"), *FEATURES[1:]],
    }
    for features in declared.values():
        assert choose_sizes([None] * 4, features, (), look) == [2] * 4
    assert choose_sizes([None] * 4, FEATURES, [Trust("b", by="a")], look) == [2] * 4
    assert choose_sizes([2, None, 5, None], FEATURES, (), look) == [2, 2, 5, 2]
    assert choose_sizes([None, 4, None, None], FEATURES, (), None) == [2, 4, 2, 2]
    assert asked_sizes([Feature("a", lattice_size=3), Feature("b")], 4) == [3, 4]


SPOILERS = {
    "constant": lambda values, rng: np.ones(len(values)),
    "rare": lambda values, rng: (rng.random(len(values)) < 0.002).astype(float),
    "copy": lambda values, rng: values[:, 1].copy(),
}


@pytest.mark.parametrize("name", SPOILERS)
def test_columns_that_say_nothing_hide_no_second_shape(name):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(1000, 4))
    y = X[:, 0] ** 2 + X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=1000)
    X[:, 2] = SPOILERS[name](X, rng)
    model = cs.SetRegressor(random_state=0, n_jobs=1).fit(X, y)
    assert model.set_function_.layout.sizes == (3, 2, 2, 2)


@pytest.mark.parametrize("n_features", [13, 14, 15])
def test_ensembles_have_third_vertices_whatever_one_lattice_could_hold(n_features):
    rng = np.random.default_rng(6)
    X = rng.normal(size=(2000, n_features))
    y = X[:, 0] ** 2 + X[:, 0] * X[:, 1] + X[:, 2] ** 2 + X[:, 2] * X[:, 3] + 0.3 * rng.normal(size=2000)
    sizes = cs.SetRegressor(random_state=0, n_jobs=1, epochs=1).fit(X, y).set_function_.layout.sizes
    assert sizes == (3, 2, 3, *[2] * (n_features - 3))


def test_one_lattice_stays_within_its_limit():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(2000, 14))
    y = X[:, 0] ** 2 + X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=2000)
    model = cs.SetRegressor(lattices="full", random_state=0, n_jobs=1, epochs=1).fit(X, y)
    assert model.set_function_.layout == Layout.full((2,) * 14)


def test_tokens_held_out_are_not_counted():
    _, _, positions = sets(3000)
    sample = TrainingSets(positions, np.zeros(3000), np.ones(3000))
    half = sample.take(np.arange(0, 3000, 2))
    sizes = np.diff(positions.offsets)
    assert count_tokens(sample) == sizes.sum()
    assert count_tokens(half) == sizes[::2].sum()


def test_chance_gives_hardly_any_third_vertex():
    _, binning, positions = sets(300)
    rng = np.random.default_rng(2)
    found = [
        choose_sizes([None] * 4, FEATURES, (), looked(binning, positions, rng.normal(size=300))) for _ in range(200)
    ]
    assert sum(3 in sizes for sizes in found) <= 4


@pytest.mark.parametrize("subsets", [((0, 1, 2, 3),), ((0, 1), (1, 2), (3,))])
def test_begins_with_the_bends_and_pairs_that_are_shown(subsets):
    data, binning, positions = sets()
    a, b, c, _ = (places(data, binning, d) for d in range(4))
    labels = means(data, np.abs(a) + 2 * b * c - 0.5 * c)
    labels += 0.1 * np.random.default_rng(1).normal(size=len(data))
    layout = Layout((2, 2, 2, 2), subsets)
    rng, leanings = np.random.default_rng(0), np.zeros((1, 4))
    start = initial_set_function(binning, layout, leanings, width=1, rho_keypoints=7, rng=rng)
    sample, look = TrainingSets(positions, labels, np.ones(len(data))), looked(binning, positions, labels)
    begun = with_first_shapes(start, look, np.ones(4, bool), binning, sample, centred(labels), len(data))
    scores = engine().means(begun, positions).ravel()
    assert np.corrcoef(scores, labels)[0, 1] > 0.97
    straight = engine().means(start, positions).ravel()
    assert abs(np.corrcoef(straight, labels)[0, 1]) < 0.6


def test_what_is_declared_stays_straight_and_keeps_its_direction():
    data, binning, positions = sets()
    labels = means(data, np.abs(data.values[:, 0]) - 2 * data.values[:, 1] + data.values[:, 2] * data.values[:, 3])
    features = [Feature("a"), Feature("b", monotonic="increasing"), Feature("c"), Feature("d")]
    free = free_features(features, ())
    assert free.tolist() == [True, False, True, True]
    layout = Layout.full((2, 2, 2, 2))
    start = initial_set_function(
        binning, layout, np.array([[0, 0.1, 0, 0]]), width=1, rho_keypoints=7, rng=np.random.default_rng(0)
    )
    sample, look = TrainingSets(positions, labels, np.ones(len(data))), looked(binning, positions, labels)
    begun = with_first_shapes(start, look, free, binning, sample, centred(labels), len(data))
    lattice = begun.vertices.reshape(2, 2, 2, 2)
    assert (lattice[:, 1] > lattice[:, 0]).all()
    slots = binning.slots_of("b")
    np.testing.assert_array_equal(begun.calibration[:, slots], start.calibration[:, slots])


def test_categories_are_learned_beside_bends():
    rng = np.random.default_rng(3)
    kinds, x, z = rng.integers(6, size=900), rng.normal(size=900), rng.normal(size=900)
    worth = np.array([0.0, 2.0, -1.0, 1.0, 0.5, -2.0])
    y = worth[kinds] + np.abs(x) + x * z
    frame = pa.table({"kind": kinds.astype(str), "x": x, "z": z})
    model = cs.SetRegressor([Feature("kind", kind="categorical"), "x", "z"], random_state=0, n_jobs=1)
    assert model.fit(frame[:600], y[:600]).score(frame[600:], y[600:]) > 0.9


def test_two_shapes_of_a_feature_are_learned_by_default():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(1500, 3))
    y = 2 * np.abs(X[:, 0]) + X[:, 0] * X[:, 1] + 0.1 * rng.normal(size=1500)
    model = cs.SetRegressor(random_state=0, n_jobs=1).fit(X[:1000], y[:1000])
    assert model.set_function_.layout.sizes == (3, 2, 2)
    plain = cs.SetRegressor(lattice_size=2, random_state=0, n_jobs=1).fit(X[:1000], y[:1000])
    assert model.score(X[1000:], y[1000:]) > 0.97 > 0.9 > plain.score(X[1000:], y[1000:])
