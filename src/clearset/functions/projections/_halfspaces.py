"""Half-spaces through the origin: what every shape constraint on parameters comes down to."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from clearset.functions.projections._checks import Array, check_bounds, members
from clearset.functions.projections._colouring import colour_rows
from clearset.functions.projections._hildreth import Rows, solve


@dataclass
class ProjectionState:
    """The multipliers of the last projection, from which the next one starts.

    Any multipliers are a valid start and lead to the projection of the values at hand; good ones save sweeps.
    """

    duals: Array


@dataclass(frozen=True, eq=False)
class HalfSpaces:
    r"""The set :math:`\{x : \sum_j c_{rj} x_{i_{rj}} \ge 0 \text{ for all rows } r\}`.

    Parameters
    ----------
    indices : array of int32 of shape (R, w)
        The columns that each row touches.
    coefficients : array of float64 of shape (R, w)
        Their coefficients. Rows with fewer than w columns are filled up with coefficient 0.

    Examples
    --------
    >>> rows = HalfSpaces([[0, 1], [1, 2]], [[-1, 1], [-1, 1]])
    >>> rows.residuals([[0.0, 2.0, 1.0]])
    array([[ 2., -1.]])
    >>> rows.violation([[0.0, 2.0, 1.0]])
    1.0
    >>> rows.project([[0.0, 2.0, 1.0]])
    array([[0. , 1.5, 1.5]])
    """

    indices: npt.NDArray[np.int32]
    coefficients: Array

    def __post_init__(self) -> None:
        indices = np.ascontiguousarray(self.indices, dtype=np.int32)
        coefficients = np.ascontiguousarray(self.coefficients, dtype=np.float64)
        if indices.ndim != 2 or indices.shape != coefficients.shape:
            raise ValueError(
                f"Indices have shape {indices.shape}, coefficients {coefficients.shape}. Give both as (R, w)."
            )
        if (indices < 0).any() or not np.isfinite(coefficients).all():
            raise ValueError("Rows of half-spaces need indices >= 0 and finite coefficients; check them.")
        used = np.where(coefficients != 0, indices, -1 - np.arange(indices.shape[1], dtype=np.int32))
        if (np.diff(np.sort(used, axis=1), axis=1) == 0).any() or (used < 0).all(axis=1).any():
            raise ValueError("Every row of half-spaces needs a coefficient other than 0, and each column once only.")
        object.__setattr__(self, "indices", indices)
        object.__setattr__(self, "coefficients", coefficients)

    def __len__(self) -> int:
        return len(self.indices)

    def __repr__(self) -> str:
        return f"HalfSpaces({len(self)} rows of {self.indices.shape[1]})"

    def __add__(self, other: "HalfSpaces") -> "HalfSpaces":
        """Return the intersection of both sets: the rows of this one, then those of the other."""
        width = max(self.indices.shape[1], other.indices.shape[1])
        left, right = self._widened(width), other._widened(width)
        indices = np.concatenate([left.indices, right.indices])
        return HalfSpaces(indices, np.concatenate([left.coefficients, right.coefficients]))

    def _widened(self, width: int) -> "HalfSpaces":
        missing = width - self.indices.shape[1]
        # Repeating a row's own column keeps the filling from touching any other.
        indices = np.concatenate([self.indices, np.repeat(self.indices[:, :1], missing, axis=1)], axis=1)
        return HalfSpaces(indices, np.pad(self.coefficients, ((0, 0), (0, missing))))

    def subset(self, chosen: npt.NDArray[np.bool_]) -> "HalfSpaces":
        """Return the chosen rows."""
        return HalfSpaces(self.indices[chosen], self.coefficients[chosen])

    @cached_property
    def min_size(self) -> int:
        """The least length of a vector that has all columns of the rows."""
        return int(self.indices.max(initial=-1)) + 1

    @cached_property
    def normalised(self) -> Rows:
        """The rows as the solver takes them: of length one, in groups that share no column."""
        widened = self._widened(max(2, self.indices.shape[1]))
        colours = colour_rows(widened.indices)
        order = np.argsort(colours, kind="stable")
        lengths = np.sqrt((widened.coefficients**2).sum(axis=1, keepdims=True))
        return Rows(
            indices=widened.indices[order],
            coefficients=(widened.coefficients / lengths)[order],
            group_stops=np.cumsum(np.bincount(colours)).tolist(),
            order=order,
        )

    def residuals(self, values: npt.ArrayLike) -> Array:
        """Return the sum of each row for each of ``values (N, n)``: ``(N, R)``, negative where violated."""
        array = members(values)
        self._check_size(array.shape[1])
        # Rows whose coefficients add up to 0 see differences only: these are exact between near values, while products
        # that nearly cancel are not. Multiplied and added one after the other: no fused operation, so the same bits
        # on every machine.
        each = np.arange(len(self))
        base = array[:, self.indices[each, np.abs(self.coefficients).argmax(axis=1)]]
        total: Array = self.coefficients.sum(axis=1) * base
        for column, coefficient in zip(self.indices.T, self.coefficients.T, strict=True):
            total += coefficient * (array[:, column] - base)
        return total

    def violation(self, values: npt.ArrayLike) -> float:
        """Return by how much the worst row falls short of 0, over all members; 0.0 if none does."""
        return float(max(0.0, -self.residuals(values).min(initial=0.0)))

    def state(self, n_members: int) -> ProjectionState:
        """Return a cold start for ``project``."""
        return ProjectionState(np.zeros((n_members, len(self))))

    def project(
        self,
        values: npt.ArrayLike,
        lower: float = -np.inf,
        upper: float = np.inf,
        *,
        state: ProjectionState | None = None,
        tolerance: float = 1e-12,
        max_sweeps: int = 10_000,
    ) -> Array:
        """Project members of a batch ``(N, n)`` independently onto the half-spaces within bounds.

        The state, one for each sequence of projections of N members, says where to start, and is updated. A member
        counts as solved at a step of at most the tolerance, relative to its largest absolute value.
        """
        check_bounds(lower, upper)
        array = members(values)
        self._check_size(array.shape[1])
        duals = (self.state(len(array)) if state is None else state).duals
        if duals.shape != (len(array), len(self)):
            raise ValueError(
                f"The state is one of {duals.shape[0]} members and {duals.shape[1]} rows, but there are "
                f"{len(array)} members and {len(self)} rows. Make a new one with .state({len(array)})."
            )
        solve(self.normalised, array, duals, lower, upper, tolerance, max_sweeps)
        return array

    def _check_size(self, size: int) -> None:
        if size < self.min_size:
            raise ValueError(
                f"Values have {size} columns, but the rows touch column {self.min_size - 1}. "
                f"Give at least {self.min_size} columns."
            )
