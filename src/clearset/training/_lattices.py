"""Which lattices phi has: one over all features, or several over a few features each."""

from collections.abc import Sequence
from math import prod

import numpy as np
import numpy.typing as npt

from clearset.functions import MAX_VERTICES, Layout
from clearset.sets import Feature, Trust

# Of one lattice of an ensemble: 8 features of size 2. Up to here "auto" takes the full one; larger ones cost more than
# they gain.
ENSEMBLE_VERTICES = 2**8
# An ensemble has at most so many times the lattices that hold each feature once.
ROUNDS = 3


def is_full(sizes: Sequence[int], lattices: str) -> bool:
    """Return whether phi has one lattice over all features; one that is too large is refused.

    Examples
    --------
    >>> is_full((2,) * 8, "auto"), is_full((2,) * 9, "auto")
    (True, False)
    """
    if lattices == "full" and prod(sizes) > MAX_VERTICES:
        raise ValueError(
            f"A full lattice over {len(sizes)} features of sizes {tuple(sizes)} has {prod(sizes):,} vertices; at most "
            f"{MAX_VERTICES:,} are allowed. Use lattices='ensemble' or 'auto', a smaller "
            "lattice_size, or fewer features."
        )
    return lattices == "full" or (lattices == "auto" and prod(sizes) <= ENSEMBLE_VERTICES)


def most_vertices(sizes: Sequence[int], lattices: str) -> int:
    """Return about how many vertices phi will have, at most."""
    if is_full(sizes, lattices):
        return prod(sizes)
    return ROUNDS * -(-len(sizes) // _rank(sizes)) * ENSEMBLE_VERTICES


def choose_layout(
    sizes: Sequence[int],
    features: Sequence[Feature],
    trusts: Sequence[Trust],
    lattices: str,
    strengths: npt.NDArray[np.float64],
) -> Layout:
    """Lay out phi's lattices.

    An ensemble brings those features together that the labels go with as pairs, the strongest first; every feature is
    in one lattice at least, and trusted features meet the feature that says how far to trust them.

    Parameters
    ----------
    sizes : sequence of int
        The number of vertices along each feature.
    features : sequence of Feature
        The features.
    trusts : sequence of Trust
        Which feature says how far to trust which.
    lattices : {"auto", "full", "ensemble"}
        One lattice, or several.
    strengths : ndarray of shape (D, D)
        How strongly the labels go with each pair of features.
    """
    sizes = tuple(sizes)
    if is_full(sizes, lattices):
        return Layout.full(sizes)
    subsets = _gathered(np.array(strengths), _rank(sizes))
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


def _gathered(strengths: npt.NDArray[np.float64], rank: int) -> list[tuple[int, ...]]:
    """Gather features into lattices: each begins with the strongest pair that is in none, and takes what adds most.

    Pairs that are in none yet count twice; the others count as well, since what belongs together in pairs often does so
    in threes.
    """
    n_features = len(strengths)
    most = ROUNDS * -(-n_features // rank)
    subsets: list[list[int]] = []
    whole = strengths.copy()
    while rank > 1 and strengths.max(initial=0.0) > 0 and len(subsets) < most:
        subset = [int(d) for d in np.unravel_index(strengths.argmax(), strengths.shape)]
        while len(subset) < rank:
            adds = (strengths[subset] + whole[subset]).sum(axis=0)
            adds[subset] = 0.0
            if adds.max() <= 0:
                break
            subset.append(int(adds.argmax()))
        strengths[np.ix_(subset, subset)] = 0.0
        subsets.append(subset)
    left = [d for d in range(n_features) if not any(d in subset for subset in subsets)]
    for subset in subsets:
        while left and len(subset) < rank:
            subset.append(left.pop())
    subsets += [left[i : i + rank] for i in range(0, len(left), rank)]
    return [tuple(subset) for subset in subsets]
