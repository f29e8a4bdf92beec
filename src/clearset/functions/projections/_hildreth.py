r"""Projection onto half-spaces and a box: Hildreth's sweeps, sped up by conjugate gradients.

The projection of y onto :math:`\{x : Ax \ge 0, l \le x \le u\}` is :math:`x = clip(z)` with
:math:`z = y + A^T \lambda`, where the multipliers :math:`\lambda \ge 0` minimise the dual objective

.. math:: f(\lambda) = \tfrac12 \|z\|^2 - \tfrac12 \|z - clip(z)\|^2, \qquad \nabla f = A\, clip(z).

A sweep minimises f over one multiplier after the other and then over the box (Dykstra's algorithm, for
half-spaces known as Hildreth's). It soon finds which multipliers are positive but may take very long to find
their values: with a chain of n values the error shrinks by 1 - O(1/n^2) a sweep, with curvature by 1 -
O(1/n^4). So every few sweeps f, which is quadratic as long as the same multipliers are positive and the same
values are at a bound, is minimised over these by conjugate gradients. Where multipliers vanish on the way, those
that are left are minimised over next, until all stay positive: with keypoints at very different distances rows are
nearly parallel, and sweeps alone would bring back what has just been dropped.
"""

from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from clearset.functions.projections._checks import Array

_native: Any = import_module("clearset._native") if find_spec("clearset._native") else None

_NATIVE_WIDTHS = (2, 3, 4)
_SWEEPS_PER_FACE = 3
_MAX_CONJUGATE_STEPS = 200
# With many rows, sweeps find the rows that count in less time than faces left one by one.
_MANY_ROWS = 128
_MAX_FACES = 30
_FLAT = 1e-28


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of length one, sorted into groups that share no column; ``order`` has their former places."""

    indices: npt.NDArray[np.int32]
    coefficients: Array
    group_stops: list[int]
    order: npt.NDArray[np.int64]

    @cached_property
    def groups(self) -> list[tuple[slice, list[tuple[npt.NDArray[np.int32], Array]]]]:
        """Each group's rows, and their columns and coefficients entry by entry."""
        starts = [0, *self.group_stops[:-1]]
        slices = [slice(start, stop) for start, stop in zip(starts, self.group_stops, strict=True)]
        return [(rows, list(zip(self.indices[rows].T, self.coefficients[rows].T, strict=True))) for rows in slices]

    def matrix(self, size: int) -> sparse.csr_array:
        """Return A."""
        count, width = self.indices.shape
        entries = (self.coefficients.ravel(), self.indices.ravel(), np.arange(count + 1) * width)
        return sparse.csr_array(entries, shape=(count, size))


def solve(
    rows: Rows, values: Array, duals: Array, lower: float, upper: float, tolerance: float, max_sweeps: int
) -> None:
    """Overwrite ``values (N, n)`` by projections and ``duals (N, R)``, a start, by the multipliers."""
    if _native is not None and rows.indices.shape[1] in _NATIVE_WIDTHS:
        _native.project_half_spaces(values, duals, rows.indices, rows.coefficients, lower, upper, tolerance, max_sweeps)
        return
    points = np.clip(values, lower, upper)
    rounding = 8 * np.finfo(np.float64).eps * np.abs(values).max(axis=1, initial=0.0)
    limits = np.maximum(tolerance * np.abs(points).max(axis=1, initial=0.0), rounding)
    matrix = rows.matrix(values.shape[1])
    violated = ((points @ matrix.T) < -limits[:, None]).any(axis=1)
    duals[~violated] = 0.0
    values[~violated] = points[~violated]
    # Members are dropped as they are solved: each sees the same sweeps whatever else is in the batch.
    left = np.flatnonzero(violated)
    face = _Dual(rows, matrix, values[left], duals[left], lower, upper, limits[left])
    for sweep in range(1, max_sweeps + 1):
        if not left.size:
            return
        going = face.sweep() > face.limits
        if not going.all():
            values[left[~going]], duals[left[~going]] = face.x[~going], face.duals[~going]
            left = left[going]
            face = face.only(going)
        if left.size and sweep % _SWEEPS_PER_FACE == 0:
            face.restart()
            face.minimise_on_faces()
    values[left], duals[left] = face.x, face.duals


class _Dual:
    """The dual problem of several members at once."""

    def __init__(
        self, rows: Rows, matrix: Any, values: Array, duals: Array, lower: float, upper: float, limits: Array
    ) -> None:
        self.rows, self.matrix = rows, matrix
        self.values, self.duals, self.limits = values, duals, limits
        self.lower, self.upper = lower, upper
        self.restart()

    def only(self, kept: npt.NDArray[np.bool_]) -> "_Dual":
        """Return the problem of some of the members, where it stands."""
        parts = (self.values[kept], self.duals[kept], self.lower, self.upper, self.limits[kept])
        other = _Dual(self.rows, self.matrix, *parts)
        other.x, other.pull = self.x[kept], self.pull[kept]
        return other

    def restart(self) -> None:
        """Compute x afresh: whatever the multipliers, it belongs to the values at hand."""
        self.move_to(self.values + self.duals @ self.matrix)

    def move_to(self, z: Array) -> None:
        self.z = z
        self.x = np.clip(z, self.lower, self.upper)
        self.pull = self.x - z

    def sweep(self) -> Array:
        """Make each row, then the box, optimal in turn; return each member's largest step."""
        x, largest = self.x, np.zeros(len(self.x))
        for rows, entries in self.rows.groups:
            residuals = sum(coefficient * x[:, column] for column, coefficient in entries)
            steps = np.maximum(-residuals, -self.duals[:, rows])
            self.duals[:, rows] += steps
            for column, coefficient in entries:
                x[:, column] += steps * coefficient
            np.maximum(largest, np.abs(steps).max(axis=1), out=largest)
        outside = x - self.pull
        inside = np.clip(outside, self.lower, self.upper)
        np.maximum(largest, np.abs(inside - x).max(axis=1), out=largest)
        self.pull, self.x = inside - outside, inside
        return largest

    def minimise_on_faces(self) -> None:
        """Minimise over the positive multipliers, then over those that are left, until all of them stay positive."""
        going = np.ones(len(self.x), dtype=bool)
        for _ in range(1 if self.duals.shape[1] > _MANY_ROWS else _MAX_FACES):
            positive, held = self.duals > 0, self.pull != 0
            self.search(*self.step_towards_minimum(going), going)
            going &= ((self.duals > 0) != positive).any(axis=1) | ((self.pull != 0) != held).any(axis=1)
            if not going.any():
                break

    def step_towards_minimum(self, going: npt.NDArray[np.bool_]) -> tuple[Array, Array]:
        """Return f's gradient and a step by conjugate gradients, values at a bound held there."""
        on_face = self.duals > 0
        gradient = np.where(on_face, self.x @ self.matrix.T, 0.0)
        step, rest = np.zeros_like(gradient), -gradient
        direction, square = rest.copy(), (rest**2).sum(axis=1)
        most = np.minimum(2 * on_face.sum(axis=1), _MAX_CONJUGATE_STEPS)
        going = going.copy()
        for iteration in range(int(most.max())):
            image = direction @ self.matrix
            moved = np.where(self.pull == 0, image, 0.0)
            curvature = (moved**2).sum(axis=1)
            going &= (iteration < most) & (square > (0.1 * self.limits) ** 2)
            flat = going & (curvature <= _FLAT * (direction**2).sum(axis=1))
            step[flat] += self.step_to_release(step, direction, image)[flat]
            going &= ~flat
            if not going.any():
                break
            length = np.divide(square, curvature, out=np.zeros_like(square), where=going)[:, None]
            step += length * direction
            rest -= length * np.where(on_face, moved @ self.matrix.T, 0.0)
            previous, square = square, (rest**2).sum(axis=1)
            ratio = np.divide(square, previous, out=np.zeros_like(square), where=going)[:, None]
            direction = rest + ratio * direction
        return gradient, step

    def step_to_release(self, step: Array, direction: Array, image: Array) -> Array:
        """Return the part of the direction that sets a value free which a bound holds."""
        # Where bounds hold all that a direction would move, f falls along it in a line up to there.
        held = np.where(self.pull == 0, 0.0, self.pull - step @ self.matrix)
        lengths = np.divide(held, image, out=np.full_like(held, np.inf), where=held * image > 0)
        length = lengths.min(axis=1, initial=np.inf)[:, None]
        return np.where(np.isfinite(length), length, 0.0) * direction

    def search(self, gradient: Array, step: Array, going: npt.NDArray[np.bool_]) -> None:
        """Take the step, multipliers stopped at 0, or a quarter of it, or the best part up to the first 0."""
        # The first of these that lowers f is taken; the last needs no luck. The change of f is summed from differences,
        # so that it is reliable down to rounding.
        zeros = np.divide(-self.duals, step, out=np.full_like(step, np.inf), where=step < 0)
        waiting = going.copy()
        z, duals = self.z.copy(), self.duals.copy()
        for length in (np.ones(len(z)), np.full(len(z), 0.25), self.best_part(step, zeros)):
            stopped = zeros <= length[:, None]
            steps = np.where(stopped, -self.duals, length[:, None] * step)
            trial = self.z + steps @ self.matrix
            inside = np.clip(trial, self.lower, self.upper)
            moved = inside - self.x
            change = (steps * gradient).sum(axis=1) + (moved * (0.5 * moved + (trial - inside))).sum(axis=1)
            accepted = waiting & (change < 0)
            z[accepted] = trial[accepted]
            # A multiplier that is stopped at 0 is 0 without rounding.
            duals[accepted] = np.where(stopped, 0.0, self.duals + steps)[accepted]
            waiting &= ~accepted
        self.duals = duals
        self.move_to(z)

    def best_part(self, step: Array, zeros: Array) -> Array:
        """Return where f is least between no step and the first multiplier that vanishes, or the whole step."""
        # Along a step that moves z by w, f has the slope w·clip(z + t w). It only grows, in a straight line between the
        # places at which a value reaches or leaves a bound.
        way, most = step @ self.matrix, np.asarray(zeros.min(axis=1, initial=1.0))
        if not (np.isfinite(self.lower) or np.isfinite(self.upper)):
            return most

        def slope(length: Array) -> Array:
            x = np.clip(self.z + length[:, None] * way, self.lower, self.upper)
            return np.asarray((way * x).sum(axis=1))

        with np.errstate(divide="ignore", invalid="ignore"):
            places = np.concatenate([(bound - self.z) / way for bound in (self.lower, self.upper)], axis=1)
        places = np.where((places > 0) & (places < most[:, None]), places, 0.0)
        places = np.sort(np.concatenate([places, most[:, None]], axis=1), axis=1)
        each, low, high = (
            np.arange(len(step)),
            np.zeros(len(step), dtype=int),
            np.full(len(step), places.shape[1] - 1),
        )
        while (low + 1 < high).any():
            middle = (low + high) // 2
            rises = slope(places[each, middle]) > 0
            low, high = np.where(rises, low, middle), np.where(rises, middle, high)
        start, stop = places[each, low], places[each, high]
        before, after = slope(start), slope(stop)
        part = np.divide(-before, after - before, out=np.ones_like(start), where=after > 0)
        return np.asarray(start + part * (stop - start))
