"""Which lattices phi has: one over all features, or many over a few features each."""

from collections.abc import Sequence
from math import prod

import numpy as np

from clearset.functions import MAX_VERTICES, Layout
from clearset.sets import Feature, Trust

# Up to here "auto" takes the full lattice: 8 features of size 2. Larger ones cost more than they gain.
AUTO_VERTICES = 2**8
# Of one lattice of an ensemble: 5 features of size 2.
ENSEMBLE_VERTICES = 2**5
# How many lattices of an ensemble each feature is in, at least.
ROUNDS = 3


def choose_layout(
    features: Sequence[Feature], trusts: Sequence[Trust], *, lattices: str, lattice_size: int, rng: np.random.Generator
) -> Layout:
    """Lay out phi's lattices.

    An ensemble deals the features out at random, a few to each lattice, three times over; trusted features also meet
    the feature that says how far to trust them.
    """
    sizes = tuple(feature.lattice_size or lattice_size for feature in features)
    if lattices == "full" and prod(sizes) > MAX_VERTICES:
        raise ValueError(
            f"A full lattice over {len(sizes)} features of sizes {sizes} has {prod(sizes):,} vertices; at most "
            f"{MAX_VERTICES:,} are allowed. Use lattices='ensemble' or 'auto', a smaller "
            "lattice_size, or fewer features."
        )
    if lattices == "full" or (lattices == "auto" and prod(sizes) <= AUTO_VERTICES):
        return Layout.full(sizes)
    rank = _rank(sizes)
    subsets = [subset for _ in range(ROUNDS) for subset in _deal(len(sizes), rank, rng)]
    names = [feature.name for feature in features]
    for trust in trusts:
        pair = (names.index(trust.feature), names.index(trust.by))
        if trust.shape == "trapezoid":
            # A lattice with the second feature alone would move both ends of the first one the same way.
            subsets = [(*s, pair[0]) if pair[1] in s and pair[0] not in s else s for s in subsets]
        if not any(set(pair) <= set(subset) for subset in subsets):
            subsets.append(pair)
    return Layout(sizes, tuple(tuple(sorted(subset)) for subset in subsets))


def _rank(sizes: Sequence[int]) -> int:
    """Return how many features a lattice may have, whichever they are, within its limit; at least 1."""
    largest = sorted(sizes, reverse=True)
    rank = 1
    while rank < len(sizes) and prod(largest[: rank + 1]) <= ENSEMBLE_VERTICES:
        rank += 1
    return rank


def _deal(n_features: int, rank: int, rng: np.random.Generator) -> list[tuple[int, ...]]:
    """Deal every feature to one lattice; the last lattice is filled up with features of the others."""
    order = [int(d) for d in rng.permutation(n_features)]
    short = -n_features % rank
    order += order[:short]
    return [tuple(order[i : i + rank]) for i in range(0, len(order), rank)]
