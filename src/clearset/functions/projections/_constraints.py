"""All constraints on one parameter vector."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from types import MappingProxyType

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from clearset.functions.projections._checks import Array, check_bounds, members
from clearset.functions.projections._halfspaces import HalfSpaces, ProjectionState
from clearset.functions.projections._ordered_columns import OrderedPart, is_pair
from clearset.functions.projections._shaped_columns import ShapedPart, interior

_EXACT = 1e-15
_EXACT_SWEEPS = 10_000
_TRAINING = 1e-7
_TRAINING_SWEEPS = 300


@dataclass
class ConstraintState:
    """Where the projections of a sequence start: the state of each part of a :class:`ConstraintSet`.

    Parameters
    ----------
    parts : list of ProjectionState
        The state of each part.
    """

    parts: list[ProjectionState]


@dataclass(frozen=True, eq=False)
class ConstraintSet:
    """Named groups of half-spaces, and bounds, on vectors of one length.

    Columns fall into two parts that share no row and are projected independently: one in which every row only
    orders two values, and one with all other rows.

    Parameters
    ----------
    groups : mapping of str to HalfSpaces
        The constraints by name, as they are to be reported.
    lower, upper : float
        Bounds of all values; infinities stand for none.
    size : int
        The length of the vectors.

    Examples
    --------
    >>> from clearset.functions.projections import order_rows
    >>> constraints = ConstraintSet({"rising": order_rows([(0, 1), (1, 2)])}, lower=0.0, upper=1.0, size=3)
    >>> constraints.violations([[0.5, 0.25, 2.0]])
    {'rising': 0.25, 'bounds': 1.0}
    >>> constraints.project_exactly([[0.5, 0.25, 2.0]])
    array([[0.375, 0.375, 1.   ]])
    """

    groups: Mapping[str, HalfSpaces]
    lower: float
    upper: float
    size: int
    rows: HalfSpaces = field(init=False, repr=False)
    _parts: list[OrderedPart | ShapedPart] = field(init=False, repr=False)
    _columns: list[npt.NDArray[np.bool_]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_bounds(self.lower, self.upper)
        if self.lower == self.upper:
            raise ValueError(f"Both bounds are {self.lower}: nothing is left to learn. Give lower < upper.")
        if "bounds" in self.groups:
            raise ValueError("A group is named 'bounds', the name that the bounds themselves have. Rename it.")
        rows = reduce(add, self.groups.values(), HalfSpaces(np.empty((0, 2), np.int32), np.empty((0, 2))))
        if rows.min_size > self.size:
            raise ValueError(f"The rows touch column {rows.min_size - 1}, but size is {self.size}. Check one of them.")
        shaped = self._shaped_columns(rows)
        in_shaped = shaped[rows.indices[:, 0]]
        ordered = OrderedPart(rows.subset(~in_shaped), self.lower, self.upper)
        parts: list[OrderedPart | ShapedPart] = [ordered]
        columns = [~shaped]
        owners = np.repeat(np.arange(len(self.groups)), [len(group) for group in self.groups.values()])
        cyclic = owners[~in_shaped][ordered.cyclic_rows()]
        if cyclic.size:
            raise ValueError(self._conflict([list(self.groups)[owner] for owner in np.unique(cyclic)]))
        if in_shaped.any():
            part = ShapedPart(rows.subset(in_shaped), self.lower, self.upper, self.size)
            if part.inside is None:
                raise ValueError(self._conflict(self._conflicting_groups()))
            parts.append(part)
            columns.append(shaped)
        for name, value in {
            "groups": MappingProxyType(dict(self.groups)),
            "rows": rows,
            "_parts": parts,
            "_columns": columns,
        }.items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        counts = ", ".join(f"{name}: {len(rows)} rows" for name, rows in self.groups.items())
        return f"ConstraintSet({{{counts}}}, lower={self.lower}, upper={self.upper}, size={self.size})"

    @property
    def parts(self) -> list[tuple[OrderedPart | ShapedPart, npt.NDArray[np.bool_]]]:
        """The parts that are projected independently, each with its columns."""
        return list(zip(self._parts, self._columns, strict=True))

    def violations(self, values: npt.ArrayLike) -> dict[str, float]:
        """Return the largest violation of each group, and of the "bounds", by any of ``values (N, size)``."""
        array = members(values, self.size)
        outside = max(self.lower - array.min(initial=np.inf), array.max(initial=-np.inf) - self.upper, 0.0)
        groups = {name: rows.violation(array) for name, rows in self.groups.items()}
        return groups | {"bounds": float(outside)}

    def state(self, n_members: int) -> ConstraintState:
        """Return a start for a sequence of projections of ``n_members`` vectors each."""
        return ConstraintState([part.rows.state(n_members) for part in self._parts])

    def project(self, values: npt.ArrayLike, state: ConstraintState | None = None) -> Array:
        """Project ``values (N, size)``, each row by itself, to within 1e-7 of the largest value, for training."""
        # With the same `state` in every call, each starts where the last one ended.
        array = members(values, self.size)
        states = (self.state(len(array)) if state is None else state).parts
        results = [
            part.project(array, state, _TRAINING, _TRAINING_SWEEPS)
            for part, state in zip(self._parts, states, strict=True)
        ]
        return self._join(results)

    def project_exactly(self, values: npt.ArrayLike) -> Array:
        """Project ``values (N, size)``, each row by itself, so that every violation is exactly 0.0."""
        array = members(values, self.size)
        inside = ((array >= self.lower) & (array <= self.upper)).all(axis=1)
        left = np.flatnonzero(~inside | (self.rows.residuals(array) < 0).any(axis=1))
        if left.size:
            states = self.state(left.size).parts
            results = [
                part.project_exactly(array[left], state, _EXACT, _EXACT_SWEEPS)
                for part, state in zip(self._parts, states, strict=True)
            ]
            array[left] = self._join(results)
        return array

    def _join(self, results: list[Array]) -> Array:
        joined = results[0]
        for columns, result in zip(self._columns[1:], results[1:], strict=True):
            joined[:, columns] = result[:, columns]
        return joined

    def _shaped_columns(self, rows: HalfSpaces) -> npt.NDArray[np.bool_]:
        """Return for each column whether rows other than pairs reach it, directly or through other columns."""
        first, others = rows.indices[:, :1], rows.indices[:, 1:]
        edges = (np.broadcast_to(first, others.shape).ravel(), others.ravel())
        graph = sparse.coo_array((np.ones(others.size), edges), shape=(self.size, self.size))
        labels = connected_components(graph, directed=False)[1]
        return np.isin(labels, labels[rows.indices[~is_pair(rows), 0]])

    def _conflicting_groups(self) -> list[str]:
        """Return groups that leave no inside together although without any one of them there would be one."""
        kept = dict(self.groups)
        for name in self.groups:
            rest = [rows for other, rows in kept.items() if other != name]
            if rest and interior(reduce(add, rest), self.lower, self.upper, self.size) is None:
                del kept[name]
        return list(kept)

    def _conflict(self, names: list[str]) -> str:
        listed = ", ".join(repr(name) for name in names)
        message = (
            f"The constraints {listed} contradict each other: together they force values to be "
            "equal or to lie on a line. Drop or relax one of them."
        )
        if any(self.groups[name].indices.shape[1] == 3 for name in names):  # rows of curvature
            message += (
                " Keypoints at distances that differ by many powers of ten leave as little room; if they do, "
                "leave out the closest."
            )
        return message
