"""The part of a constraint set with rows that do more than order values, such as curvature."""

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from clearset.functions.projections._checks import Array
from clearset.functions.projections._colouring import colour_rows
from clearset.functions.projections._halfspaces import HalfSpaces, ProjectionState
from clearset.functions.projections._ordered_columns import ends, is_pair, pool

_LEAST_MARGIN = 1e-12
# The solver of linear programs takes 1e-7 for nothing. In this unit that is less than any margin that counts.
_UNIT = 1e-6
# Where rounding can be undone in place, few sweeps do it; elsewhere the way inside is as short.
_NUDGES = 20
# Values that differ by fewer last bits than this are equal but for the rounding of a projection.
_NEAR = 256


def interior(rows: HalfSpaces, lower: float, upper: float, size: int) -> Array | None:
    """Return the point farthest from all planes and bounds (at most 1), or None if there is no inside."""
    normalised = rows.normalised
    # Columns that no row touches and bounds that are infinite need no margin.
    planes = sparse.hstack([-normalised.matrix(size), np.ones((len(rows), 1))])
    blocks, limits = [planes], [np.zeros(len(rows))]
    for bound, sign in ((lower, -1.0), (upper, 1.0)):
        if np.isfinite(bound):
            blocks.append(sparse.hstack([sign * sparse.eye_array(size), np.ones((size, 1))]))
            limits.append(np.full(size, sign * bound / _UNIT))
    result = linprog(
        c=np.append(np.zeros(size), -1.0),
        A_ub=sparse.vstack(blocks, format="csr"),
        b_ub=np.concatenate(limits),
        bounds=[(None, None)] * size + [(None, 1.0 / _UNIT)],
        method="highs-ds",
    )
    if result.x is None:
        return None
    point = _UNIT * np.asarray(result.x[:-1], dtype=np.float64)
    # Measured again, since what the solver of linear programs takes for feasible may lie just outside.
    margins = (normalised.matrix(size) @ point, point - lower, upper - point)
    return point if min(margin.min(initial=np.inf) for margin in margins) >= _LEAST_MARGIN else None


class ShapedPart:
    """Projection onto half-spaces within bounds, and the way inside that removes what rounding leaves."""

    boxed = True  # the rows are solved within the bounds

    def __init__(self, rows: HalfSpaces, lower: float, upper: float, size: int) -> None:
        self.rows, self.lower, self.upper = rows, lower, upper
        self.bounded = bool(np.isfinite(lower) and np.isfinite(upper))
        self._pairs = rows.subset(is_pair(rows))
        colours = colour_rows(rows.indices)
        groups = [rows.subset(colours == colour) for colour in range(colours.max(initial=-1) + 1)]
        self._groups = [(group, (group.coefficients**2).sum(axis=1)) for group in groups]
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

    def project_exactly(self, values: Array, state: ProjectionState, tolerance: float, max_sweeps: int) -> Array:
        """Return the projection, moved inside by no more than what makes every violation exactly 0."""
        if self.inside is None:
            raise ValueError("The half-spaces have no inside. Drop or relax some of them.")
        start = self._settled(self.project(values, state, tolerance, max_sweeps))
        way = self.inside - start if self.bounded else np.broadcast_to(self.inside, start.shape)
        residuals = self.rows.residuals(start)
        gains = self.rows.residuals(start + way) - residuals
        lacking = np.maximum(-residuals, 0.0)
        amounts = np.divide(lacking, gains, out=np.zeros_like(lacking), where=gains > 0).max(axis=1, initial=0.0)
        # The amounts are right but for rounding, which doubling overcomes, at last by going all the way.
        smallest = np.finfo(np.float64).eps * np.abs(start).max(axis=1, initial=1.0)
        furthest = 1.0 if self.bounded else np.inf
        point = start.copy()
        while len(violated := np.flatnonzero((self.rows.residuals(point) < 0).any(axis=1))):
            point[violated] = start[violated] + amounts[violated, None] * way[violated]
            amounts[violated] = np.minimum(np.maximum(2 * amounts, smallest), furthest)[violated]
        return point

    def _settled(self, start: Array) -> Array:
        """Undo violations by moving values by little more than their last bits, as far as that helps."""
        # Where constraints leave little room, the way inside would be long even for a violation as small as that.
        last_bits = np.finfo(np.float64).eps * np.abs(start).max(axis=1, initial=0.0)[:, None]
        point = self._nudged(start, last_bits)
        left = np.flatnonzero((self.rows.residuals(point) < 0).any(axis=1))
        if left.size and len(self._pairs):
            # Curves that must not fall are flat where keypoints are close, and only equal values are flat.
            near = np.abs(self._pairs.residuals(start[left])) <= _NEAR * last_bits[left]
            means, numbers = pool(start[left], *ends(self._pairs), near)
            point[left] = self._nudged(np.where(numbers > 1, means, start[left]), last_bits[left])
        return point

    def _nudged(self, start: Array, last_bits: Array) -> Array:
        point = start.copy()
        for _ in range(_NUDGES):
            if not (self.rows.residuals(point) < 0).any():
                break
            for rows, squares in self._groups:
                residuals = rows.residuals(point)
                steps = np.where(residuals < 0, (last_bits - residuals) / squares, 0.0)
                for column, coefficient in zip(rows.indices.T, rows.coefficients.T, strict=True):
                    point[:, column] += steps * coefficient
            np.clip(point, self.lower, self.upper, out=point)
        return point
