"""Along which features lattices have a third vertex: those that count one way alone and another way with others."""

from collections.abc import Sequence
from math import prod

import numpy as np
import numpy.typing as npt
from scipy.special import chdtri

from clearset.functions import MAX_VERTICES
from clearset.sets import Feature, Trust
from clearset.training._first_look import FirstLook

# Vertices along a feature, unless the labels ask for one more.
USUAL_SIZE = 2
# How often chance alone may give one of the features a third vertex.
BY_CHANCE = 0.001
# A lattice of all features may have so many times the vertices that it has with the usual ones: two features have more.
GROWTH = 2.5


def asked_sizes(features: Sequence[Feature], lattice_size: int | str) -> list[int | None]:
    """Return how many vertices were asked for along each feature; None where the labels are to say it.

    Examples
    --------
    >>> from clearset.sets import Feature
    >>> asked_sizes([Feature("a"), Feature("b", lattice_size=4)], "auto")
    [None, 4]
    """
    usual = None if isinstance(lattice_size, str) else lattice_size
    return [feature.lattice_size or usual for feature in features]


def choose_sizes(
    asked: Sequence[int | None],
    features: Sequence[Feature],
    trusts: Sequence[Trust],
    look: FirstLook | None,
    *,
    full: bool = False,
) -> list[int]:
    """Return the number of vertices along each feature: what was asked for, else 2, or 3 where the labels ask for it.

    With two vertices a feature counts alone as it does together with others: both are its calibrator, but for a factor.
    A third one lets it bend alone and be straight together with others, or the other way round.

    Parameters
    ----------
    asked : sequence of int or None
        What was asked for along each feature.
    features : sequence of Feature
        The features. Only those of which nothing is declared may get a third vertex.
    trusts : sequence of Trust
        Which feature says how far to trust which.
    look : FirstLook or None
        What least squares say, if they say anything.
    full : bool, default=False
        Whether all features share one lattice, which may not become too large.
    """
    sizes = [size or USUAL_SIZE for size in asked]
    if look is None:
        return sizes
    left = free_features(features, trusts) & np.array([size is None for size in asked])
    evidence = np.where(left, look.second_shapes, 0.0)
    least, most = chdtri(max(len(features) - 1, 1), BY_CHANCE / len(features)), GROWTH * prod(sizes)
    if full:
        most = min(most, MAX_VERTICES)
    for d in np.argsort(-evidence, kind="stable"):
        if evidence[d] <= least or prod(sizes) * (USUAL_SIZE + 1) // USUAL_SIZE > most:
            break
        sizes[d] = USUAL_SIZE + 1
    return sizes


def free_features(features: Sequence[Feature], trusts: Sequence[Trust]) -> npt.NDArray[np.bool_]:
    """Return which features are numbers of which nothing is declared."""
    trusted = {name for trust in trusts for name in (trust.feature, trust.by)}
    free = [f.kind == "numeric" and not f.monotonic and not f.shape and f.name not in trusted for f in features]
    return np.array(free, dtype=bool)
