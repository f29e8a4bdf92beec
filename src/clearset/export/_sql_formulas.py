"""Formulas of a set function in SQL: calibrators as lines between keypoints, and lattices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from clearset.export._sql_dialects import DOUBLE, Dialect

FloatArray = npt.NDArray[np.float64]

# A formula is broken over lines where it is longer.
_LONGEST = 100


def line(dialect: Dialect, value: str, keypoints: FloatArray, table: FloatArray, missing: float | None = None) -> str:
    """Return the formula of a calibrator: lines between keypoints, level outside of them; NULL is missing.

    Parameters
    ----------
    dialect : Dialect
        The database.
    value : str
        The column that it reads.
    keypoints : ndarray of shape (V,)
        The keypoints.
    table : ndarray of shape (V,)
        The calibrated value at each.
    missing : float, optional
        What stands for NULL; by default there is none.
    """
    number = dialect.number
    # Until where each formula holds; neighbours that are the same are one.
    branches = [(keypoints[0], number(table[0]))]
    for left, right, low, high in zip(keypoints[:-1], keypoints[1:], table[:-1], table[1:], strict=True):
        formula = number(low)
        if high != low:
            place, width = f"({value} - {number(left)})".replace("- -", "+ "), right - left
            if not np.isfinite(width):  # halves of two finite numbers always have a difference
                place, width = f"({value} / 2e0 - {number(left / 2)})", right / 2 - left / 2
            formula = f"{number(low)} + {place} / {number(width)} * {number(high - low)}"
        if branches[-1][1] == formula:
            branches.pop()
        branches.append((right, formula))
    last = number(table[-1])
    if branches[-1][1] == last:
        branches.pop()
    lines = [] if missing is None else [f"WHEN {value} IS NULL THEN {number(missing)}"]
    lines += [f"WHEN {value} <= {number(upper)} THEN {formula}" for upper, formula in branches]
    if not lines:
        return f"CAST({last} AS {DOUBLE})"
    inside = "".join(f"\n      {each}" for each in [*lines, f"ELSE {last}"])
    return f"CAST(CASE{inside}\n    END AS {DOUBLE})"


def lattice(dialect: Dialect, vertices: npt.NDArray[Any], places: Sequence[Sequence[str]], depth: int = 2) -> str:
    """Return the formula of a lattice: the sum of its vertices by weights, one dimension within the other.

    Parameters
    ----------
    dialect : Dialect
        The database.
    vertices : ndarray with an axis for each dimension
        The values: numbers, or the columns that hold them.
    places : sequence of sequences of str
        For each dimension the calibrated value, if it has two vertices, or a weight for each vertex.
    depth : int, default=2
        By how much the formula is indented.
    """
    if not places:
        return dialect.number(vertices.item()) if vertices.dtype == np.float64 else str(vertices.item())
    (place, *more), *others = places
    parts = [lattice(dialect, np.asarray(part), others, depth + 1) for part in vertices]
    if len(set(parts)) == 1:  # along this dimension the function does not change
        return parts[0]
    if not others and not more and vertices.dtype == np.float64:
        return f"({parts[0]} + {place} * {dialect.number(vertices[1] - vertices[0])})"
    weights = [place, *more] if more else [f"(1e0 - {place})", place]
    terms = [f"{weight} * {part}" for weight, part in zip(weights, parts, strict=True)]
    joined = f"({' + '.join(terms)})"
    indent = "\n" + "  " * depth
    return joined if len(joined) <= _LONGEST else f"({f'{indent}  + '.join(terms)})"


def exponential(argument: str) -> str:
    """Return the formula of an exponential that does not fail where it is nearly 0."""
    return f"CASE WHEN {argument} < -700e0 THEN 0e0 ELSE EXP({argument}) END"
