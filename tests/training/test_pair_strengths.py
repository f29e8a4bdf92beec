import numpy as np
import pytest

from clearset.engines import TrainingSets
from clearset.sets import Binning, Feature, SetData
from clearset.training import pair_strengths

N_SETS, N_FEATURES = 2000, 6


def sets(seed=0):
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], rng.integers(1, 8, N_SETS).cumsum()])
    values = rng.normal(size=(offsets[-1], N_FEATURES))
    values[:, 1] += 0.7 * values[:, 0]  # what goes together is no interaction
    return SetData(values, offsets, [f"f{d}" for d in range(N_FEATURES)])


def strengths(data, labels):
    binning = Binning.fit(data, [Feature(name) for name in data.feature_names], keypoints=10)
    sample = TrainingSets(binning.positions(data, np.float64), labels, np.ones(len(labels)))
    return pair_strengths(binning, sample, (labels - labels.mean())[:, None])


def means(data, of_tokens):
    return np.add.reduceat(of_tokens, data.offsets[:-1]) / np.diff(data.offsets)


@pytest.mark.parametrize(
    "product",
    [lambda a, b: a * b, lambda a, b: a * (b > 0), lambda a, b: np.abs(a) * b, lambda a, b: np.maximum(a, b)],
    ids=["product", "only above 0", "distance times value", "larger one"],
)
def test_interactions_are_found(product):
    data = sets()
    a, b, c = data.values[:, 2], data.values[:, 4], data.values[:, 0]
    labels = means(data, product(a, b) + np.sin(c)) + 0.3 * np.random.default_rng(1).normal(size=N_SETS)
    found = strengths(data, labels)
    assert np.unravel_index(found.argmax(), found.shape) in ((2, 4), (4, 2))
    np.testing.assert_array_equal(found, found.T)


def test_effects_that_add_up_are_no_interactions():
    found = []
    for seed in range(10):
        data = sets(seed)
        noise = np.random.default_rng(seed).normal(size=N_SETS)
        labels = means(data, data.values[:, 0] + np.abs(data.values[:, 1]) - data.values[:, 3]) + noise
        found.append(strengths(data, labels) > 0)
    assert np.mean(found) < 0.03


def test_too_few_sets_tell_nothing():
    data = sets()[:20]
    assert not strengths(data, np.random.default_rng(0).normal(size=20)).any()
