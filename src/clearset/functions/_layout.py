"""How the vertices of phi's lattices stand in memory."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

MAX_VERTICES = 2**14
"""Vertices that one lattice may have; more are neither trained in reasonable time nor readable."""


@dataclass(frozen=True)
class Layout:
    """The lattices of phi: their features, their sizes, and where each one's vertices stand.

    The vertices of all lattices stand in one row, lattice after lattice, each in C order over the features
    of its subset: the last feature varies fastest.

    Parameters
    ----------
    sizes : tuple of int
        Number of lattice vertices along each feature, at least 2.
    subsets : tuple of tuple of int
        The features of each lattice of the ensemble. One subset with all features is the full lattice.

    Examples
    --------
    >>> layout = Layout(sizes=(2, 3, 2), subsets=((0, 1), (1, 2)))
    >>> layout.n_features, layout.n_vertices, layout.vertex_offsets
    (3, 12, (0, 6, 12))
    """

    sizes: tuple[int, ...]
    subsets: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        for feature, size in enumerate(self.sizes):
            if size < 2:
                raise ValueError(f"Lattice size of feature {feature} is {size}; a size is at least 2.")
        if not self.subsets:
            raise ValueError("subsets is empty; give a tuple of features per lattice, or use Layout.full.")
        for lattice, subset in enumerate(self.subsets):
            self._check_subset(lattice, subset)

    def _check_subset(self, lattice: int, subset: tuple[int, ...]) -> None:
        if not subset or len(set(subset)) < len(subset):
            raise ValueError(f"Lattice {lattice} has the features {subset}; name at least one, each once.")
        if min(subset) < 0 or max(subset) >= self.n_features:
            raise ValueError(
                f"Lattice {lattice} has the features {subset}, but sizes are given for {self.n_features}; "
                f"features are counted from 0 to {self.n_features - 1}."
            )
        n_vertices = math.prod(self.sizes[feature] for feature in subset)
        if n_vertices > MAX_VERTICES:
            raise ValueError(
                f"Lattice {lattice} over {len(subset)} features has {n_vertices} vertices; at most "
                f"{MAX_VERTICES} are allowed. Use an ensemble of smaller lattices on subsets of the features."
            )

    @classmethod
    def full(cls, sizes: tuple[int, ...]) -> Layout:
        """Make the layout of one lattice over all features."""
        return cls(sizes=sizes, subsets=(tuple(range(len(sizes))),))

    @property
    def n_features(self) -> int:
        """Number of features, D."""
        return len(self.sizes)

    @property
    def n_vertices(self) -> int:
        """Number of vertices of all lattices together, P."""
        return self.vertex_offsets[-1]

    @cached_property
    def vertex_offsets(self) -> tuple[int, ...]:
        """Where each lattice's vertices begin in the row, and at the end where the row ends."""
        offsets = [0]
        for subset in self.subsets:
            offsets.append(offsets[-1] + math.prod(self.sizes[feature] for feature in subset))
        return tuple(offsets)
