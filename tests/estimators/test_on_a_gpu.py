"""Set estimators that train and predict on an NVIDIA GPU, against the same on the CPU."""

import numpy as np
import pytest

import clearset as cs
from clearset.engines import available_engines

HAS_GPU = "cuda" in available_engines()
needs_a_gpu = pytest.mark.skipif(not HAS_GPU, reason="there is no NVIDIA GPU, or torch does not see it")


@pytest.fixture(scope="module")
def data():
    """Enough tokens for single precision: a million values."""
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 8, 100_000)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    values = rng.random((offsets[-1], 3))
    means = np.add.reduceat(values[:, 0] * values[:, 1], offsets[:-1]) / sizes
    return cs.SetData(values, offsets, ["a", "b", "c"]), means


def features():
    return [cs.Feature("a", monotonic="increasing"), cs.Feature("b", monotonic="increasing", shape="concave"), "c"]


@needs_a_gpu
@pytest.mark.parametrize("lattices", ["full", "ensemble"])
def test_fits_predict_verify_and_are_saved_as_any(data, tmp_path, lattices):
    sets, labels = data
    models = [
        cs.SetRegressor(features(), lattices=lattices, epochs=5, random_state=0, device=device).fit(sets, labels)
        for device in ("cuda", "cpu")
    ]
    ours, other = (model.predict(sets) for model in models)
    error = np.abs(ours - labels).mean()
    assert error == pytest.approx(np.abs(other - labels).mean(), rel=0.2)
    assert error < 0.2 * np.abs(labels - labels.mean()).mean()
    assert models[0].verify()
    models[0].save(tmp_path / "model")
    np.testing.assert_array_equal(cs.load(tmp_path / "model").predict(sets), ours)
    # On the CPU the same model says the same.
    models[0].set_params(device="cpu")
    np.testing.assert_allclose(models[0].predict(sets), ours, rtol=1e-9, atol=1e-12)


@needs_a_gpu
def test_few_sets_with_classes(data):
    sets, labels = data
    some, classes = sets[:500], np.digitize(labels[:500], [0.2, 0.3])
    options = {"epochs": 10, "random_state": 0, "batch_size": 50}
    model, other = (cs.SetClassifier(device=d, **options).fit(some, classes) for d in ("cuda", "cpu"))
    np.testing.assert_allclose(model.predict_proba(some), other.predict_proba(some), atol=1e-4)


@pytest.mark.skipif(HAS_GPU, reason="there is an NVIDIA GPU")
def test_without_a_gpu_it_is_said_what_is_needed():
    with pytest.raises(ImportError, match="device='cuda' needs an NVIDIA GPU and torch that sees it"):
        cs.SetRegressor(device="cuda").fit([[1.0], [2.0]], [0.0, 1.0])
    with pytest.raises(ImportError, match="device='cuda' needs an NVIDIA GPU and torch that sees it"):
        cs.SemanticRegressor(device="cuda").fit([["a"], ["b"]], [0.0, 1.0])
    with pytest.raises(ValueError, match="device"):
        cs.SemanticRegressor(device="tpu").fit([["a"], ["b"]], [0.0, 1.0])


@pytest.mark.skipif(HAS_GPU, reason="there is an NVIDIA GPU")
def test_what_was_trained_on_a_gpu_predicts_without_one():
    X, y = np.linspace(0, 1, 60)[:, None], np.linspace(0, 1, 60)
    model = cs.SetRegressor(epochs=3, early_stopping=False, random_state=0).fit(X, y)
    before = model.predict(X)
    np.testing.assert_array_equal(model.set_params(device="cuda").predict(X), before)
