import numpy as np
import pytest

from clearset.functions import Layout
from clearset.sets import Feature, Trust
from clearset.training import choose_layout


def layout(n, lattices="auto", lattice_size=2, trusts=(), pairs=None, **sizes):
    features = [Feature(f"f{d}", lattice_size=sizes.get(f"f{d}")) for d in range(n)]
    strengths = np.zeros((n, n))
    for (one, other), strength in (pairs or {}).items():
        strengths[one, other] = strengths[other, one] = strength
    sizes = [feature.lattice_size or lattice_size for feature in features]
    return choose_layout(sizes, features, trusts, lattices, strengths)


def test_few_features_share_one_lattice():
    assert layout(8) == Layout.full((2,) * 8)
    assert layout(3, lattice_size=3, f1=4) == Layout.full((3, 4, 3))
    assert layout(12, "full") == Layout.full((2,) * 12)


@pytest.mark.parametrize("n", [11, 20, 23])
def test_many_features_without_interactions_are_in_one_lattice_each(n):
    subsets = layout(n).subsets
    assert sorted(d for subset in subsets for d in subset) == list(range(n))
    assert max(map(len, subsets)) == 8


def test_pairs_that_the_labels_go_with_share_a_lattice():
    rng = np.random.default_rng(0)
    for n in (11, 16, 25):
        chosen = [tuple(int(d) for d in rng.choice(n, 2, replace=False)) for _ in range(n // 3)]
        subsets = layout(n, pairs={pair: float(rng.uniform(1, 100)) for pair in chosen}).subsets
        assert all(any(set(pair) <= set(subset) for subset in subsets) for pair in chosen)
        assert set().union(*subsets) == set(range(n))
        assert all(list(subset) == sorted(subset) and len(subset) <= 8 for subset in subsets)


def test_what_goes_with_all_others_is_in_every_lattice():
    everywhere = {(0, d): 10.0 for d in range(1, 15)}
    subsets = layout(15, pairs=everywhere).subsets
    assert all(0 in subset for subset in subsets)
    assert set().union(*subsets) == set(range(15))


def test_an_ensemble_has_a_bounded_number_of_lattices():
    n = 30
    everything = {(one, other): 1.0 for one in range(n) for other in range(one)}
    assert len(layout(n, pairs=everything).subsets) <= 3 * -(-n // 8) + 1


def test_larger_lattices_have_fewer_features():
    ensemble = layout(6, "ensemble", lattice_size=4)
    assert {len(subset) for subset in ensemble.subsets} == {4, 2}
    assert {len(subset) for subset in layout(4, "ensemble", lattice_size=17).subsets} == {1}


@pytest.mark.parametrize("shape", ["edgeworth", "trapezoid"])
def test_trusted_features_meet_what_says_how_far(shape):
    rng = np.random.default_rng(1)
    for _ in range(10):
        pairs = {tuple(rng.choice(30, 2, replace=False).tolist()): 1.0 for _ in range(12)}
        ensemble = layout(30, trusts=[Trust("f3", by="f17", shape=shape)], pairs=pairs)
        assert any({3, 17} <= set(subset) for subset in ensemble.subsets)
        if shape == "trapezoid":
            # A lattice with the second alone would move both ends of the first the same way.
            assert all(3 in subset for subset in ensemble.subsets if 17 in subset)


def test_a_lattice_that_is_too_large_is_refused():
    with pytest.raises(ValueError, match=r"15 features .* 32,768 vertices.*lattices='ensemble' or 'auto'"):
        layout(15, "full")
