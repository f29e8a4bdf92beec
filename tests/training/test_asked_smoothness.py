import numpy as np
import pytest

from clearset.engines import TrainingSets
from clearset.functions import Loss
from clearset.sets import Binning, Feature, SetData
from clearset.training import asked_smoothness

USUAL_SMOOTHNESS = 100.0
NAMES = ["a", "b", "c"]
FEATURES = [Feature(name) for name in NAMES]


def sets(n=400, seed=0, most=6):
    """Sets of one to six tokens with three features, as data and as positions."""
    rng = np.random.default_rng(seed)
    offsets = np.append(0, rng.integers(1, most + 1, n).cumsum())
    data = SetData(rng.normal(size=(offsets[-1], len(NAMES))), offsets, NAMES)
    binning = Binning.fit(data, FEATURES, keypoints=10)
    return data, binning, binning.positions(data, np.float64)


def means(data, values):
    return np.add.reduceat(values, data.offsets[:-1]) / np.diff(data.offsets)


def asked(binning, positions, labels, loss="squared_error", outputs=1, weights=None, repetitions=1.0):
    weights = np.ones(len(labels)) if weights is None else weights
    training = TrainingSets(positions, np.asarray(labels, dtype=np.float64), weights)
    return asked_smoothness(binning, training, Loss(loss), outputs, len(labels) * repetitions, repetitions).strength


def smooth_line(values, keypoints):
    """What a calibrator without bends says: keypoints are as far apart as the roots of their distances."""
    return np.interp(values, keypoints, np.append(0.0, np.sqrt(np.diff(keypoints)).cumsum()))


def laws(data, binning):
    """What is explained by lines that are smooth, by bends, and by a product."""
    a, b, _ = data.values.T
    first, second = (smooth_line(values, binning.keypoints[d]) for d, values in enumerate((a, b)))
    return {
        "line": means(data, first - 0.5 * second),
        "bends": 2 * means(data, np.abs(a)),
        "product": 2 * means(data, a * b),
    }


@pytest.mark.parametrize("noise", [0.05, 0.5])
def test_bends_and_products_ask_for_less_than_lines(noise):
    data, binning, positions = sets()
    noises = noise * np.random.default_rng(1).normal(size=len(data))
    found = {name: asked(binning, positions, clean + noises) for name, clean in laws(data, binning).items()}
    assert found["bends"] < found["line"] / 4
    assert found["product"] < found["line"] / 4


def test_noise_asks_for_more():
    data, binning, positions = sets(600)
    noise, clean = np.random.default_rng(1).normal(size=len(data)), laws(data, binning)["bends"]
    found = [asked(binning, positions, clean + share * noise) for share in (0.2, 1.0, 5.0)]
    assert found == sorted(found)
    assert found[0] < found[-1]


def test_labels_without_anything_to_explain_ask_for_much():
    _, binning, positions = sets(2000)
    assert asked(binning, positions, np.random.default_rng(1).normal(size=2000)) > 3 * USUAL_SMOOTHNESS


def test_classes_are_asked_by_logistic_models():
    data, binning, positions = sets(1500)
    rng = np.random.default_rng(2)
    found = {}
    for name, clean in laws(data, binning).items():
        shares = 1 / (1 + np.exp(-3 * (clean - clean.mean())))
        found[name] = asked(binning, positions, rng.random(len(data)) < shares, "log_loss")
    # A line in log-odds bends the shares, but is none the less a line.
    assert found["bends"] < found["line"] / 2
    assert found["product"] < found["line"] / 2
    separable = laws(data, binning)["line"] > 0
    assert asked(binning, positions, separable, "log_loss") > USUAL_SMOOTHNESS


def test_several_classes():
    data, binning, positions = sets(900)
    bends = laws(data, binning)["bends"]
    straight = laws(data, binning)["line"]
    three = [np.digitize(values, np.quantile(values, [1 / 3, 2 / 3])) for values in (bends, straight)]
    found = [asked(binning, positions, classes, "log_loss", outputs=3) for classes in three]
    assert found[0] < found[1]


def test_whole_weights_are_repetitions():
    data, binning, positions = sets(300)
    rng = np.random.default_rng(3)
    weights = rng.integers(1, 4, len(data)).astype(float)
    labels = laws(data, binning)["product"] + 0.5 * rng.normal(size=len(data))
    repeated = np.repeat(np.arange(len(data)), weights.astype(int))
    for loss, of in (("squared_error", labels), ("log_loss", labels > 0)):
        weighed = asked(binning, positions, of, loss, weights=weights / weights.mean(), repetitions=weights.mean())
        copied = asked(binning, positions.take(repeated), np.asarray(of)[repeated], loss)
        assert weighed == pytest.approx(copied, rel=1e-9), loss


def test_the_unit_of_labels_does_not_matter():
    data, binning, positions = sets()
    labels = laws(data, binning)["bends"] + np.random.default_rng(1).normal(size=len(data))
    assert asked(binning, positions, 1e-3 * labels + 7) == pytest.approx(asked(binning, positions, labels))


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_few_sets_are_as_usual(n):
    _, binning, positions = sets(n)
    assert USUAL_SMOOTHNESS <= asked(binning, positions, np.arange(n)) <= 10 * USUAL_SMOOTHNESS


def test_constant_labels_and_features():
    data, _, _ = sets(50)
    constant = SetData(np.ones_like(data.values), data.offsets, NAMES)
    binning = Binning.fit(constant, FEATURES, keypoints=10)
    positions = binning.positions(constant, np.float64)
    for loss in ("squared_error", "log_loss"):
        assert np.isfinite(asked(binning, positions, np.zeros(50), loss))
        assert np.isfinite(asked(binning, positions, np.arange(50) % 2, loss))


def plain(X):
    """The rows of a table as sets of one token."""
    data = SetData(X, np.arange(len(X) + 1), [f"x{d}" for d in range(X.shape[1])])
    binning = Binning.fit(data, [Feature(name) for name in data.feature_names], keypoints=10)
    return binning, binning.positions(data, np.float64)


def test_the_order_of_sets_does_not_matter():
    rng = np.random.default_rng(0)
    kind, X = np.arange(5000) % 2, rng.normal(size=(5000, 3))
    labels = np.where(kind == 0, X[:, 0], 2 * np.sin(3 * X[:, 0])) + 0.2 * rng.normal(size=5000)
    X = np.column_stack([kind, X])
    shuffled = rng.permutation(5000)
    found = asked(*plain(X), labels), asked(*plain(X[shuffled]), labels[shuffled])
    assert max(found) < 2 * USUAL_SMOOTHNESS
    assert max(found) < 2 * min(found)


@pytest.mark.parametrize(
    "law", [lambda x, _: np.sin(3 * x), lambda x, _: np.cos(4 * x), lambda x, _: x**3, lambda x, z: np.cos(2 * x) * z]
)
def test_other_bends_are_seen_too(law):
    X = np.random.default_rng(0).normal(size=(600, 3))
    noise = 0.1 * np.random.default_rng(1).normal(size=600)
    assert asked(*plain(X), law(X[:, 0], X[:, 1]) + noise) <= 2 * USUAL_SMOOTHNESS


def test_a_value_far_away_bends_what_is_smooth():
    X = np.random.default_rng(0).normal(size=(500, 3))
    labels = X[:, 0] + 0.1 * np.random.default_rng(1).normal(size=500)
    far = X.copy()
    far[::50, 0] = -999.0
    labels[::50] += X[:, 0].mean() - X[::50, 0]
    assert asked(*plain(far), labels) < asked(*plain(X), labels)


def test_among_many_sets_and_features_it_is_no_more_than_usual():
    # Products of three features, or of two of very many, are not looked at.
    X = np.random.default_rng(0).normal(size=(30_000, 3))
    assert asked(*plain(X), X.prod(axis=1)) == USUAL_SMOOTHNESS
    X = np.random.default_rng(0).normal(size=(500, 60))
    assert asked(*plain(X), X[:, 0] * X[:, 1]) <= USUAL_SMOOTHNESS


def test_labels_far_away_hide_no_bends_where_the_loss_hardly_sees_them():
    data, binning, positions = sets(400)
    rng = np.random.default_rng(1)
    clean = laws(data, binning)["bends"]
    far = clean + 0.2 * rng.normal(size=400) + np.where(rng.random(400) < 0.05, 30.0, 0.0)
    assert asked(binning, positions, far, "absolute_error") < asked(binning, positions, far) / 4
    near = asked(binning, positions, clean, "absolute_error")
    assert near <= asked(binning, positions, far, "absolute_error")


def test_labels_of_which_most_are_the_same():
    _, binning, positions = sets(100)
    assert np.isfinite(asked(binning, positions, np.arange(100) < 3, "absolute_error"))


def test_whole_weights_are_repetitions_of_labels_far_away_too():
    data, binning, positions = sets(300)
    rng = np.random.default_rng(3)
    weights = rng.integers(1, 4, len(data)).astype(float)
    labels = laws(data, binning)["product"] + rng.standard_t(1.5, len(data))
    repeated = np.repeat(np.arange(len(data)), weights.astype(int))
    how = {"weights": weights / weights.mean(), "repetitions": weights.mean()}
    weighed = asked(binning, positions, labels, "absolute_error", **how)
    assert weighed == pytest.approx(asked(binning, positions.take(repeated), labels[repeated], "absolute_error"))


LOSSES = {"squared_error": np.square, "absolute_error": np.abs, "quantile": lambda r: np.abs(r) / 2}


@pytest.mark.parametrize("name", LOSSES)
def test_the_scatter_is_the_mean_loss_of_the_noise(name):
    data, binning, positions = sets(1500)
    noise = 0.4 * np.random.default_rng(1).normal(size=len(data))
    scatters = {}
    for law, clean in laws(data, binning).items():
        training = TrainingSets(positions, clean + noise, np.ones(len(data)))
        scatters[law] = asked_smoothness(binning, training, Loss(name), 1, len(data)).scatter
    expected = LOSSES[name](noise).mean()
    assert scatters["line"] == pytest.approx(expected, rel=0.1)
    # Bends at a few places and products of places are not quite the law.
    assert all(0.9 * expected < scatter < 2.5 * expected for scatter in scatters.values())


def test_counts_and_classes_have_no_scatter_of_numbers():
    data, binning, positions = sets(500)
    training = TrainingSets(positions, np.arange(500) % 2.0, np.ones(len(data)))
    assert [asked_smoothness(binning, training, Loss(name), 1, 500).scatter for name in ("poisson", "log_loss")] == [
        0,
        0,
    ]
