"""Sets that every engine places and applies itself, against the same sets placed beforehand."""

import numpy as np
import pytest

from clearset.engines import Engine, available_engines, engine
from clearset.functions import Layout
from clearset.sets import SIZE, Binning, Feature, SetData
from clearset.training import initial_set_function

N_SETS = 300


def random_sets(seed):
    """Empty sets, missing values, categories, values of whole sets, and values outside the keypoints."""
    rng = np.random.default_rng(seed)
    sizes = rng.choice([0, 1, 3, 9, 2000], N_SETS, p=[0.2, 0.3, 0.3, 0.19, 0.01])
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    stars = np.where(rng.random(offsets[-1]) < 0.1, np.nan, rng.normal(2.0, 3.0, offsets[-1]))
    kind = np.where(rng.random(offsets[-1]) < 0.1, np.nan, rng.integers(0, 3, offsets[-1]))
    price = np.where(rng.random(N_SETS) < 0.1, np.nan, rng.normal(size=N_SETS))
    return SetData(
        np.stack([stars, kind], axis=1),
        offsets,
        ["stars", "kind"],
        set_values=price,
        set_feature_names=["price"],
        categories={"kind": ["a", "unheard", "b"]},
    )


@pytest.mark.parametrize("name", available_engines())
@pytest.mark.parametrize("threads", [1, 3])
def test_placed_by_the_engine_or_beforehand(name, threads):
    features = (Feature("stars"), Feature("kind", kind="categorical"), Feature("price"), Feature(SIZE))
    binning = Binning(
        features,
        (np.array([0.0, 1.0, 2.5, 5.0]), None, np.array([-1.0, 1.0]), np.array([1.0, 4.0, 9.0])),
        (None, ("a", "b"), None, None),
    )
    rng = np.random.default_rng(1)
    sizes = {"width": 2, "rho_keypoints": 5}
    function = initial_set_function(binning, Layout.full((2,) * 4), np.ones((3, 4)), **sizes, rng=rng)
    for table in function.tables.values():
        table += rng.normal(0.0, 0.1, table.shape)
    data = random_sets(0)
    expected = Engine.outputs_of_sets(engine(name), function, binning, data, threads)
    found = engine(name).outputs_of_sets(function, binning, data, threads)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    assert len(np.unique(found[:, 0])) > N_SETS / 4
