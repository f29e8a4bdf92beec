"""The projection onto half-spaces and a box in rational numbers, with a proof that it is the projection."""

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

import numpy as np

Row = dict[int, Any]


def exact_projection(matrix: np.ndarray, y: np.ndarray, lower: float = -np.inf, upper: float = np.inf) -> np.ndarray:
    """Project y onto {x: matrix x >= 0, lower <= x <= upper}; the matrix may hold floats or fractions.

    Floats find constraints that are probably active. Whether they are is decided without rounding: the result
    satisfies the optimality conditions exactly, and these hold at the projection only.
    """
    rows, limits = _rows(matrix, len(y), lower, upper)
    try:
        start = list(_QuadraticProgram(rows, limits, y, float, 1e-11 * max(1.0, np.abs(y).max())).solve([])[1])
    except (ValueError, ZeroDivisionError):  # rounding, where rows are nearly parallel
        start = []
    exact = _QuadraticProgram(rows, limits, y, Fraction, Fraction(0))
    x, multipliers = exact.solve(start if exact.can_start_from(start) else [])
    exact.check(x, multipliers)
    return np.array([float(value) for value in x])


def _rows(matrix: np.ndarray, size: int, lower: float, upper: float) -> tuple[list[Row], list[float]]:
    rows = [{int(i): row[i] for i in np.flatnonzero(row)} for row in matrix]
    limits = [0.0] * len(rows)
    for bound, sign in ((lower, 1.0), (upper, -1.0)):
        if np.isfinite(bound):
            rows += [{i: sign} for i in range(size)]
            limits += [sign * bound] * size
    return rows, limits


class _QuadraticProgram:
    """The point nearest to y with rows x >= limits, by the dual method of Goldfarb and Idnani (1983).

    A point that is nearest under some of the constraints moves to where it is nearest under one more, until none is
    violated. In rational numbers this ends with the projection; in floats it may end anywhere.
    """

    def __init__(
        self, rows: list[Row], limits: list[float], y: Iterable[float], number: Callable[[Any], Any], tolerance: Any
    ) -> None:
        # Rows of similar length, by powers of two, so that no rounding comes in.
        scales = [2.0 ** -np.frexp(max(abs(float(c)) for c in row.values()))[1] for row in rows]
        self.rows = [
            {i: number(scale) * number(c) for i, c in row.items()} for row, scale in zip(rows, scales, strict=True)
        ]
        self.limits = [number(scale) * number(limit) for limit, scale in zip(limits, scales, strict=True)]
        self.y = [number(value) for value in y]
        self.zero, self.tolerance = number(0), tolerance

    def solve(self, active: list[int]) -> tuple[list[Any], dict[int, Any]]:
        """Return x and the multipliers of its active rows, from a start that `can_start_from` accepts."""
        multipliers = self._multipliers(active)
        x = self._point(multipliers)
        for _ in range(20 * len(self.rows)):
            shortfalls = self._shortfalls(x)
            worst = max(range(len(self.rows)), key=shortfalls.__getitem__, default=-1)
            if worst < 0 or shortfalls[worst] <= self.tolerance:
                break
            self._activate(worst, x, multipliers)
        return x, multipliers

    def can_start_from(self, active: list[int]) -> bool:
        """Return whether these rows are independent and the point nearest with all of them equal has multipliers."""
        try:
            return all(multiplier >= 0 for multiplier in self._multipliers(active).values())
        except ZeroDivisionError:
            return False

    def check(self, x: list[Any], multipliers: dict[int, Any]) -> None:
        """Raise unless x is feasible and stationary with multipliers >= 0 of rows that are equal to their limits."""
        shortfalls = self._shortfalls(x)
        assert max(shortfalls, default=0) <= 0
        assert min(multipliers.values(), default=0) >= 0
        assert all(shortfalls[row] == 0 for row in multipliers)
        assert x == self._point(multipliers)

    def _activate(self, new: int, x: list[Any], multipliers: dict[int, Any]) -> None:
        gained = self.zero
        while True:
            active = list(multipliers)
            shares = self._combination(active, [_dot(self.rows[row], self.rows[new]) for row in active])
            way = dict(self.rows[new])
            for row, share in shares.items():
                for i, coefficient in self.rows[row].items():
                    way[i] = way.get(i, self.zero) - share * coefficient
            square = sum(c * c for c in way.values())
            blocking = min(
                (row for row in active if shares[row] > 0), key=lambda row: multipliers[row] / shares[row], default=None
            )
            full = square > self.tolerance
            if not full and blocking is None:
                raise ValueError("No point satisfies all constraints.")
            step = (self.limits[new] - _at(self.rows[new], x)) / square if full else None
            if blocking is not None and (step is None or multipliers[blocking] / shares[blocking] < step):
                step, full = multipliers[blocking] / shares[blocking], False
            gained += step
            for row in active:
                multipliers[row] -= step * shares[row]
            for i, c in way.items():
                x[i] += step * c
            if full:
                multipliers[new] = gained
                return
            del multipliers[blocking]

    def _multipliers(self, active: list[int]) -> dict[int, Any]:
        return self._combination(active, [self.limits[r] - _at(self.rows[r], self.y) for r in active])

    def _point(self, multipliers: dict[int, Any]) -> list[Any]:
        x = list(self.y)
        for row, multiplier in multipliers.items():
            for i, coefficient in self.rows[row].items():
                x[i] += multiplier * coefficient
        return x

    def _shortfalls(self, x: list[Any]) -> list[Any]:
        return [limit - _at(row, x) for row, limit in zip(self.rows, self.limits, strict=True)]

    def _combination(self, active: list[int], products: list[Any]) -> dict[int, Any]:
        """Return the coefficients of the sum of active rows that has these products with them.

        Elimination in the order of the fewest neighbours: rows touch few columns, so that little fills in.
        """
        by_column: dict[int, list[int]] = {}
        for row in active:
            for i in self.rows[row]:
                by_column.setdefault(i, []).append(row)
        gram = {
            row: {o: _dot(self.rows[row], self.rows[o]) for i in self.rows[row] for o in by_column[i]} for row in active
        }
        right = dict(zip(active, products, strict=True))
        eliminated = []
        while gram:
            pivot = min(gram, key=lambda row: len(gram[row]))
            line = gram.pop(pivot)
            diagonal = line.pop(pivot)
            for row, entry in line.items():
                factor = entry / diagonal
                other = gram[row]
                del other[pivot]
                right[row] -= factor * right[pivot]
                for column, value in line.items():
                    other[column] = other.get(column, self.zero) - factor * value
            eliminated.append((pivot, diagonal, line))
        found: dict[int, Any] = {}
        for pivot, diagonal, line in reversed(eliminated):
            rest = right[pivot] - sum(value * found[row] for row, value in line.items())
            found[pivot] = rest / diagonal
        return found


def _at(row: Row, x: list[Any]) -> Any:
    return sum(c * x[i] for i, c in row.items())


def _dot(one: Row, other: Row) -> Any:
    return sum(c * other[i] for i, c in one.items() if i in other)
