"""Effects of features are what phi, written out, says of tokens that are otherwise as usual."""

import itertools

import numpy as np
import pyarrow as pa
import pytest

import clearset as cs

QUICK = {"epochs": 3, "early_stopping": False, "random_state": 0, "n_jobs": 1}
N = 90


def data():
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 5, N)
    return pa.table(
        {
            "stars": [rng.integers(1, 6, size).astype(float).tolist() for size in sizes],
            "store": [rng.choice(["kiosk", "flagship", "online"], size).tolist() for size in sizes],
            "price": rng.random(N),
        }
    )


X = data()
STORE = cs.Feature("store", kind="categorical")
LABELS = {"number": np.random.default_rng(1).random(N), "three": np.random.default_rng(1).choice(["a", "b", "c"], N)}
CASES = {
    "number": (cs.SetRegressor, "number", {}),
    "wide, fine lattice": (cs.SetRegressor, "number", {"width": 2, "lattice_size": 3}),
    "three": (cs.SetClassifier, "three", {"width": 2}),
    "ensemble": (cs.SetRegressor, "number", {"lattices": "ensemble"}),
}


def phi(function, calibrated):
    """Score one token, ``(C * K,)``, from its calibrated values ``(D, C * K)``: a sum over the corners of cells."""
    layout, total, start = function.layout, np.zeros(calibrated.shape[1]), 0
    for subset in layout.subsets:
        sizes = [layout.sizes[d] for d in subset]
        places = [calibrated[d] * (size - 1) for d, size in zip(subset, sizes, strict=True)]
        lows = [np.minimum(place.astype(int), size - 2) for place, size in zip(places, sizes, strict=True)]
        for corner in itertools.product((0, 1), repeat=len(subset)):
            weight, index = np.ones(len(total)), np.zeros(len(total), int)
            for bit, place, low, size in zip(corner, places, lows, sizes, strict=True):
                weight = weight * (place - low if bit else 1 - (place - low))
                index = index * size + low + bit
            total += weight * function.vertices[np.arange(len(total)), start + index]
        start += int(np.prod(sizes))
    return total / len(layout.subsets)


@pytest.mark.parametrize("case", CASES)
def test_effects_are_scores_with_all_else_as_usual(case):
    kind, labels, options = CASES[case]
    model = kind(["stars", STORE, "price", cs.SIZE], **options, **QUICK).fit(X, LABELS[labels])
    function, binning, support = model.set_function_, model.binning_, model.as_model().support
    rng = np.random.default_rng(2)
    function.calibration[:] = rng.random(function.calibration.shape)
    function.vertices[:] = rng.uniform(-1, 1, function.vertices.shape)
    slots = [range(binning.slot_offsets[d], binning.slot_offsets[d + 1]) for d in range(4)]
    usual = []
    for own in slots:
        counts = support.counts[own.start : own.stop - 1]  # without missing ones
        usual.append(function.calibration[:, own.start : own.stop - 1] @ counts / counts.sum())
    for d, curve in enumerate(model.calibrators().values()):
        found = np.column_stack([curve.effects, curve.missing_effects])
        wanted = []
        for slot in slots[d]:
            calibrated = np.array(usual)
            calibrated[d] = function.calibration[:, slot]
            wanted.append(phi(function, calibrated) - support.base.ravel())
        assert curve.effects.shape == curve.values.shape
        np.testing.assert_allclose(found, np.transpose(wanted), atol=1e-12)


def test_effects_of_a_single_feature_are_what_tokens_score_in_explanations():
    model = cs.SetRegressor(["stars"], **QUICK).fit(X, LABELS["number"])
    curve = model.calibrators()["stars"]
    sets = pa.table({"stars": [[value] * 4 for value in curve.keypoints.tolist()]})
    explanation = model.explain(sets)
    np.testing.assert_allclose(np.repeat(curve.effects[0], 4), explanation.tokens["score"].to_numpy(), atol=1e-12)
    # What scores above the base rate is predicted above it, and below it below.
    beyond = np.abs(curve.effects[0]) > 1e-9
    risen = np.sign(model.predict(sets) - explanation.base[0])
    np.testing.assert_array_equal(risen[beyond], np.sign(curve.effects[0])[beyond])


@pytest.mark.parametrize("options", [{}, {"width": 2, "lattice_size": 3}, {"lattices": "ensemble"}])
def test_effects_have_the_declared_direction(options):
    features = [cs.Feature("stars", monotonic="increasing"), cs.Feature("price", monotonic="decreasing"), cs.SIZE]
    features.append(cs.Feature("store", kind="categorical", monotonic=[("online", "flagship"), ("flagship", "kiosk")]))
    y = X["price"].to_numpy() * 5 + LABELS["number"]  # against what is declared
    curves = cs.SetRegressor(features, **options, **QUICK | {"epochs": 30}).fit(X, y).calibrators()
    assert (np.diff(curves["stars"].effects) >= -1e-12).all()
    assert (np.diff(curves["price"].effects) <= 1e-12).all()
    store = dict(zip(curves["store"].categories, curves["store"].effects.T, strict=True))
    assert (store["online"] <= store["flagship"] + 1e-12).all()
    assert (store["flagship"] <= store["kiosk"] + 1e-12).all()
    if not options:
        y = -X["price"].to_numpy()
        falling = cs.SetRegressor(features, **QUICK | {"epochs": 100}).fit(X, y).calibrators()["price"]
        assert np.ptp(falling.effects) > 0.1
        assert falling.effects[0, 0] > 0 > falling.effects[0, -1]


def test_support_counts_training_sets():
    stars = [[1.0, 2.0], [1.0], [None, 2.0, 2.0, 2.0], [5.0]] * 5
    model = cs.SetRegressor(["stars"], **QUICK).fit(pa.table({"stars": stars}), np.arange(20.0))
    curve = model.calibrators()["stars"]
    np.testing.assert_array_equal(curve.keypoints, [1, 2, 5])
    np.testing.assert_allclose(curve.counts, [7.5, 6.25, 5.0, 1.25])


def test_classes_that_share_a_set_function_are_told_by_their_mean_base():
    baskets = [["lime"], ["feta"], ["soy"], ["lime", "soy"]] * 20
    model = cs.SemanticClassifier(tokens=cs.Items(), refine=False, **QUICK).fit(baskets, [0, 1, 2, 0] * 20).as_model()
    function, support = model.function, model.support
    assert (function.outputs, len(support.base)) == (1, 3)
    first, *others = model.binning.features
    usual = [
        function.calibration[:, slots] @ support.counts[slots] / support.counts[slots].sum()
        for slots in (model.binning.slots_of(feature.name) for feature in others)
    ]
    curve = model.calibrators()[first.name]
    for value, effect in zip(curve.values.T, curve.effects.T, strict=True):
        np.testing.assert_allclose(
            phi(function, np.array([value, *usual])) - support.base.mean(axis=0), effect, atol=1e-12
        )
