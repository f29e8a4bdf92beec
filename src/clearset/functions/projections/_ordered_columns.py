"""The part of a constraint set that only orders values: every row is a pair x_high - x_low >= 0."""

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from clearset.functions.projections._checks import Array
from clearset.functions.projections._halfspaces import HalfSpaces, ProjectionState

Indices = npt.NDArray[np.int32]


def is_pair(rows: HalfSpaces) -> npt.NDArray[np.bool_]:
    """Return for each row whether it only compares two values."""
    coefficients = rows.coefficients
    two = np.count_nonzero(coefficients, axis=1) == 2
    return np.asarray(two & (coefficients.sum(axis=1) == 0))


def ends(pairs: HalfSpaces) -> tuple[Indices, Indices]:
    """Return the columns of the lower and of the higher value of each pair."""
    each = np.arange(len(pairs))
    low = pairs.indices[each, pairs.coefficients.argmin(axis=1)]
    return low, pairs.indices[each, pairs.coefficients.argmax(axis=1)]


def pool(values: Array, one: Indices, other: Indices, tied: npt.NDArray[np.bool_]) -> tuple[Array, Array]:
    """Return each value's mean over those that it is tied to, directly or through others, and their number."""
    # Pair r of member m ties the columns ``one[r]`` and ``other[r]`` if ``tied[m, r]``.
    count, size = values.shape
    member, row = np.nonzero(tied)
    edges = (member * size + one[row], member * size + other[row])
    graph = sparse.coo_array((np.ones(len(row)), edges), shape=(count * size, count * size))
    labels = connected_components(graph, directed=False)[1]
    numbers = np.bincount(labels)
    means = np.bincount(labels, values.ravel()) / numbers
    return means[labels].reshape(count, size), numbers[labels].reshape(count, size)


class OrderedPart:
    """Projection onto an order cone within bounds: first onto the cone, then a clip, which is exact as in `Chains`."""

    boxed = False  # the rows are solved without the bounds

    def __init__(self, rows: HalfSpaces, lower: float, upper: float) -> None:
        self.rows, self.lower, self.upper = rows, lower, upper
        self.low, self.high = ends(rows)

    def cyclic_rows(self) -> npt.NDArray[np.bool_]:
        """Return for each row whether it is part of a cycle, and so forces different values to be equal."""
        size = self.rows.min_size
        graph = sparse.coo_array((np.ones(len(self.rows)), (self.low, self.high)), shape=(size, size))
        labels = connected_components(graph, connection="strong")[1]
        return np.asarray(labels[self.low] == labels[self.high])

    def project(self, values: Array, state: ProjectionState, tolerance: float, max_sweeps: int) -> Array:
        """Return the projection to within the tolerance."""
        cone = self.rows.project(values, state=state, tolerance=tolerance, max_sweeps=max_sweeps)
        return np.clip(cone, self.lower, self.upper, out=cone)

    def project_exactly(self, values: Array, state: ProjectionState, tolerance: float, max_sweeps: int) -> Array:
        """Return the projection, feasible without rounding errors."""
        cone = self.rows.project(values, state=state, tolerance=tolerance, max_sweeps=max_sweeps)
        cone = self._pool(values, cone, state.duals)
        # Pools are apart only by rounding here, so what rises to restore the order rises by that much.
        while (cone[:, self.low] > cone[:, self.high]).any():
            np.maximum.at(cone.T, self.high, cone.T[self.low])
        return np.clip(cone, self.lower, self.upper, out=cone)

    def _pool(self, values: Array, cone: Array, duals: Array) -> Array:
        """Set values that positive multipliers tie together to their mean, to which they converge."""
        order = self.rows.normalised.order
        means, numbers = pool(values, self.low[order], self.high[order], duals > 0)
        return np.where(numbers > 1, means, cone)
