"""Vertices of a lattice by number."""

from collections.abc import Sequence
from math import prod

import numpy as np
import numpy.typing as npt

Vertices = npt.NDArray[np.int32]


def vertices(sizes: Sequence[int]) -> Vertices:
    """Return the vertices' numbers, in C order, as an array with one axis per feature."""
    if not sizes or min(sizes) < 2:
        raise ValueError(f"The lattice sizes are {tuple(sizes)}. Give each feature at least 2 vertices.")
    return np.arange(prod(sizes), dtype=np.int32).reshape(tuple(sizes))


def neighbours(grid: Vertices, feature: int) -> tuple[Vertices, Vertices]:
    """Return all vertices but the last along a feature, and the next one of each."""
    lines = np.moveaxis(grid, feature, 0)
    return lines[:-1], lines[1:]


def check_trust(sizes: Sequence[int], main: int, by: int, direction: int) -> None:
    """Raise unless ``main`` and ``by`` are two features and ``direction`` is +1 or -1."""
    features = range(len(sizes))
    if main not in features or by not in features or main == by:
        raise ValueError(
            f"main is feature {main} and by is feature {by} of a lattice of {len(sizes)}. "
            f"Give two different features from 0 to {len(sizes) - 1}."
        )
    if direction not in (-1, 1):
        raise ValueError(f"The direction of the main feature is {direction!r}. Give +1 or -1.")
