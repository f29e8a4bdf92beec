"""The part of a constraint set with rows that do more than order values, such as curvature."""

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from clearset.lattice.projections._halfspaces import HalfSpaces, ProjectionState
from clearset.lattice.projections._members import Array

_LEAST_MARGIN = 1e-9


def interior(rows: HalfSpaces, lower: float, upper: float, size: int) -> Array | None:
    """Return the point farthest from all planes and bounds (at most 1), or None if there is no inside."""
    normalised = rows.normalised
    # Columns that no row touches and bounds that are infinite need no margin.
    planes = sparse.hstack([-normalised.matrix(size), np.ones((len(rows), 1))])
    blocks, limits = [planes], [np.zeros(len(rows))]
    for bound, sign in ((lower, -1.0), (upper, 1.0)):
        if np.isfinite(bound):
            blocks.append(sparse.hstack([sign * sparse.eye_array(size), np.ones((size, 1))]))
            limits.append(np.full(size, sign * bound))
    result = linprog(
        c=np.append(np.zeros(size), -1.0),
        A_ub=sparse.vstack(blocks, format="csr"),
        b_ub=np.concatenate(limits),
        bounds=[(None, None)] * size + [(None, 1.0)],
        method="highs-ds",
    )
    if result.x is None or result.x[-1] < _LEAST_MARGIN:
        return None
    return np.asarray(result.x[:-1], dtype=np.float64)


class ShapedPart:
    """Projection onto half-spaces within bounds, and the way inside that removes what rounding leaves."""

    def __init__(self, rows: HalfSpaces, lower: float, upper: float, size: int) -> None:
        self.rows, self.lower, self.upper = rows, lower, upper
        self.bounded = bool(np.isfinite(lower) and np.isfinite(upper))
        if self.bounded:
            self.inside = interior(rows, lower, upper, size)
        else:
            # Along this direction one gets ever deeper inside and never to a bound, from wherever one starts.
            self.inside = interior(
                rows, 0.0 if np.isfinite(lower) else -np.inf, 0.0 if np.isfinite(upper) else np.inf, size
            )

    def project(self, values: Array, state: ProjectionState, tolerance: float, max_sweeps: int) -> Array:
        """Return the projection to within the tolerance."""
        return self.rows.project(
            values, self.lower, self.upper, state=state, tolerance=tolerance, max_sweeps=max_sweeps
        )

    def project_exactly(
        self, values: Array, state: ProjectionState, tolerance: float, max_sweeps: int
    ) -> Array:
        """Return the projection, moved inside by no more than what makes every violation exactly 0."""
        if self.inside is None:
            raise ValueError("The half-spaces have no inside. Drop or relax some of them.")
        start = self.project(values, state, tolerance, max_sweeps)
        way = self.inside - start if self.bounded else np.broadcast_to(self.inside, start.shape)
        residuals = self.rows.residuals(start)
        gains = self.rows.residuals(start + way) - residuals
        lacking = np.maximum(-residuals, 0.0)
        amounts = np.divide(lacking, gains, out=np.zeros_like(lacking), where=gains > 0).max(
            axis=1, initial=0.0
        )
        # The amounts are right but for rounding, which doubling overcomes.
        smallest = np.finfo(np.float64).eps * np.abs(start).max(axis=1, initial=1.0)
        point = start.copy()
        while len(violated := np.flatnonzero((self.rows.residuals(point) < 0).any(axis=1))):
            point[violated] = start[violated] + amounts[violated, None] * way[violated]
            amounts[violated] = np.maximum(2 * amounts, smallest)[violated]
        return point
