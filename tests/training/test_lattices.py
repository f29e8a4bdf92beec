import numpy as np
import pytest

from clearset.functions import Layout
from clearset.sets import Feature, Trust
from clearset.training import choose_layout


def layout(n, lattices="auto", lattice_size=2, trusts=(), seed=0, **sizes):
    features = [Feature(f"f{d}", lattice_size=sizes.get(f"f{d}")) for d in range(n)]
    rng = np.random.default_rng(seed)
    return choose_layout(features, trusts, lattices=lattices, lattice_size=lattice_size, rng=rng)


def test_few_features_share_one_lattice():
    assert layout(8) == Layout.full((2,) * 8)
    assert layout(3, lattice_size=3, f1=4) == Layout.full((3, 4, 3))
    assert layout(12, "full") == Layout.full((2,) * 12)


@pytest.mark.parametrize("n", [9, 20, 23])
def test_many_features_are_dealt_to_an_ensemble_three_times_over(n):
    ensemble = layout(n)
    assert all(len(subset) == 5 and list(subset) == sorted(subset) for subset in ensemble.subsets)
    assert min(sum(d in subset for subset in ensemble.subsets) for d in range(n)) >= 3
    assert ensemble != layout(n, seed=1)


def test_larger_lattices_have_fewer_features():
    ensemble = layout(6, "ensemble", lattice_size=4)
    assert {len(subset) for subset in ensemble.subsets} == {2}
    assert {len(subset) for subset in layout(4, "ensemble", lattice_size=6).subsets} == {1}


@pytest.mark.parametrize("shape", ["edgeworth", "trapezoid"])
def test_trusted_features_meet_what_says_how_far(shape):
    for seed in range(10):
        ensemble = layout(30, trusts=[Trust("f3", by="f17", shape=shape)], seed=seed)
        assert any({3, 17} <= set(subset) for subset in ensemble.subsets)
        if shape == "trapezoid":
            # A lattice with the second alone would move both ends of the first the same way.
            assert all(3 in subset for subset in ensemble.subsets if 17 in subset)


def test_a_lattice_that_is_too_large_is_refused():
    with pytest.raises(ValueError, match=r"15 features .* 32,768 vertices.*lattices='ensemble' or 'auto'"):
        layout(15, "full")
