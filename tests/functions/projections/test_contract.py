"""What every projection promises: feasible, idempotent, and as near to the input as feasible points come."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from clearset.functions.projections import (
    Chains,
    ConstraintSet,
    HalfSpaces,
    _chain,
    _hildreth,
    curvature_rows,
    edgeworth_rows,
    monotone_rows,
    order_rows,
    trapezoid_rows,
)

from .exact import exact_projection

Projection = Callable[[np.ndarray], np.ndarray]

KEYPOINTS = np.array([0.0, 1.0, 1.5, 4.0, 4.25, 9.0])


@dataclass
class Case:
    """A projection and, written down independently, the matrix of its set {x: matrix x >= 0} in a box.

    The matrix may hold fractions, where floats would round too much.
    """

    project: Projection
    exact: np.ndarray
    lower: float = -np.inf
    upper: float = np.inf

    @property
    def matrix(self) -> np.ndarray:
        return self.exact.astype(np.float64)

    @property
    def size(self) -> int:
        return self.exact.shape[1]


def differences(size: int, pairs: list[tuple[int, int]]) -> np.ndarray:
    matrix = np.zeros((len(pairs), size))
    for row, (low, high) in enumerate(pairs):
        matrix[row, low], matrix[row, high] = -1.0, 1.0
    return matrix


def steps(sizes: tuple[int, ...], feature: int) -> list[tuple[int, int]]:
    number = np.arange(np.prod(sizes)).reshape(sizes)
    found = []
    for place in np.ndindex(*sizes):
        after = tuple(p + (d == feature) for d, p in enumerate(place))
        if after[feature] < sizes[feature]:
            found.append((int(number[place]), int(number[after])))
    return found


def slopes(keypoints: np.ndarray) -> np.ndarray:
    matrix = np.zeros((len(keypoints) - 1, len(keypoints)))
    for row, (left, right) in enumerate(pairwise(keypoints)):
        matrix[row, row], matrix[row, row + 1] = -1 / (right - left), 1 / (right - left)
    return matrix


def bends(keypoints: np.ndarray) -> np.ndarray:
    points = [Fraction(point) for point in keypoints.tolist()]
    matrix = np.full((len(points) - 2, len(points)), Fraction(0))
    for row, (left, middle, right) in enumerate(zip(points, points[1:], points[2:], strict=False)):
        matrix[row, row : row + 3] = (
            1 / (middle - left),
            1 / (left - middle) + 1 / (middle - right),
            1 / (right - middle),
        )
    return matrix / Fraction(float(max(abs(matrix).ravel())))


def edgeworth(sizes: tuple[int, ...], main: int, by: int) -> np.ndarray:
    slope = {pair[0]: pair[1] for pair in steps(sizes, main)}
    matrix = []
    for before, after in steps(sizes, by):
        if before in slope:
            row = np.zeros(int(np.prod(sizes)))
            row[[slope[after], before]], row[[after, slope[before]]] = 1.0, -1.0
            matrix.append(row)
    return np.array(matrix)


def trapezoid(sizes: tuple[int, ...], main: int, by: int) -> np.ndarray:
    places = list(np.ndindex(*sizes))
    pairs = []
    for before, after in steps(sizes, by):
        if places[before][main] == 0:
            pairs.append((after, before))
        if places[before][main] == sizes[main] - 1:
            pairs.append((before, after))
    return differences(int(np.prod(sizes)), pairs)


def rising(size: int) -> np.ndarray:
    return differences(size, [(i, i + 1) for i in range(size - 1)])


def constrained(size: int, *rows: HalfSpaces, lower: float = -np.inf, upper: float = np.inf) -> Projection:
    groups = {f"group {place}": group for place, group in enumerate(rows)}
    return ConstraintSet(groups, lower, upper, size).project_exactly


def chained(starts: list[int], stops: list[int], lower: float = -np.inf, upper: float = np.inf) -> Projection:
    def project(values: np.ndarray) -> np.ndarray:
        values = values.copy()
        Chains(starts, stops, lower, upper).project(values)
        return values

    return project


def trusting(rows: Callable[..., HalfSpaces], matrix: Callable[..., np.ndarray], sizes: tuple[int, ...]) -> Case:
    """Return the first of three features trusted by the last, in a box."""
    return Case(constrained(12, rows(sizes, 0, 2), lower=-1.0, upper=1.0), matrix(sizes, 0, 2), -1.0, 1.0)


ORDER = [(0, 2), (1, 2), (2, 4), (3, 4), (0, 3)]
SECOND = np.diff(slopes(KEYPOINTS), axis=0)
CASES = {
    "bounds": Case(constrained(5, lower=-0.5, upper=1.0), np.zeros((0, 5)), -0.5, 1.0),
    "chain": Case(chained([0], [7]), rising(7)),
    "chain in a box": Case(chained([0], [7], -0.5, 0.75), rising(7), -0.5, 0.75),
    "chains": Case(chained([1, 4], [4, 7], -1.0, 1.0), differences(8, [(1, 2), (2, 3), (4, 5), (5, 6)]), -1.0, 1.0),
    "half-spaces": Case(
        lambda y: HalfSpaces([[0, 1, 2], [1, 2, 3]], [[1, 2, -1], [-1, 0, 3]]).project(y, -1.0, 2.0),
        np.array([[1.0, 2.0, -1.0, 0.0], [0.0, -1.0, 0.0, 3.0]]),
        -1.0,
        2.0,
    ),
    "monotone lattice": Case(
        constrained(12, monotone_rows((2, 3, 2), (1, -1, 0)), lower=-1.0, upper=1.0),
        np.concatenate([differences(12, steps((2, 3, 2), 0)), -differences(12, steps((2, 3, 2), 1))]),
        -1.0,
        1.0,
    ),
    "monotone 3 x 3 x 3": Case(
        constrained(27, monotone_rows((3, 3, 3), (1, 1, 1))),
        np.concatenate([differences(27, steps((3, 3, 3), d)) for d in range(3)]),
    ),
    "convex": Case(constrained(6, curvature_rows(KEYPOINTS, "convex")), SECOND),
    "convex, rising, in a box": Case(
        constrained(6, curvature_rows(KEYPOINTS, "convex"), monotone_rows((6,), (1,)), lower=-1.0, upper=0.5),
        np.concatenate([SECOND, rising(6)]),
        -1.0,
        0.5,
    ),
    "concave, falling, above a bound": Case(
        constrained(6, curvature_rows(KEYPOINTS, "concave"), monotone_rows((6,), (-1,)), lower=-1.0),
        np.concatenate([-SECOND, -rising(6)]),
        -1.0,
    ),
    "order": Case(constrained(5, order_rows(ORDER), lower=0.0, upper=1.0), differences(5, ORDER), 0.0, 1.0),
    "edgeworth": trusting(edgeworth_rows, edgeworth, (2, 2, 3)),
    "edgeworth, falling main": Case(constrained(9, edgeworth_rows((3, 3), 1, 0, -1)), -edgeworth((3, 3), 1, 0)),
    "trapezoid": trusting(trapezoid_rows, trapezoid, (3, 2, 2)),
    "trapezoid, falling main": Case(constrained(6, trapezoid_rows((2, 3), 1, 0, -1)), -trapezoid((2, 3), 1, 0)),
}


# Keypoints whose distances differ by up to thirteen powers of ten, as those of heavy-tailed values do.
TAILS = {
    "1 to 1e7": np.geomspace(1.0, 1e7, 9),
    "1e-6 to 1e7": np.geomspace(1e-6, 1e7, 9),
    "log-normal": np.sort(np.random.default_rng(4).lognormal(0.0, 3.0, 9)),
    "tails on both sides": np.array([-1e5, -2e3, -30.0, 0.0, 5.0, 1e3, 2e5]),
}
for name, points in TAILS.items():
    for curvature, sign in (("convex", 1), ("concave", -1)):
        # From 1e-6 to 1e7, a convex curve that rises has less room in its box than can be told from none.
        if (name, curvature) != ("1e-6 to 1e7", "convex"):
            CASES[f"{curvature}, rising, in a box, {name}"] = Case(
                constrained(
                    len(points),
                    curvature_rows(points, curvature),  # type: ignore[arg-type]
                    monotone_rows((len(points),), (1,)),
                    lower=-1.0,
                    upper=0.5,
                ),
                np.concatenate([sign * bends(points), rising(len(points))]),
                -1.0,
                0.5,
            )


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest) -> Case:
    return CASES[request.param]


def violation(case: Case, x: np.ndarray) -> float:
    return max(
        float(-(x @ case.matrix.T).min(initial=0.0)), float(np.max(case.lower - x)), float(np.max(x - case.upper)), 0.0
    )


def draws(case: Case) -> np.ndarray:
    rng = np.random.default_rng(7)
    random = rng.normal(size=(20, case.size))
    ties = rng.integers(-1, 2, size=(10, case.size)).astype(float)
    # Every constraint as wrong as can be.
    reverse = -rng.uniform(0.5, 1.5, size=(1, len(case.matrix))) @ case.matrix
    return np.concatenate([random, 3 * random, ties, reverse, -np.arange(case.size)[None], np.zeros((1, case.size))])


def test_equals_an_exact_solver(case: Case, engine: str) -> None:
    inputs = draws(case)
    expected = [exact_projection(case.exact, y, case.lower, case.upper) for y in inputs]
    np.testing.assert_allclose(case.project(inputs), expected, rtol=0, atol=1e-9)


def test_is_feasible(case: Case, engine: str) -> None:
    assert violation(case, case.project(draws(case))) <= 1e-11


def test_is_idempotent(case: Case, engine: str) -> None:
    once = case.project(draws(case))
    np.testing.assert_allclose(case.project(once), once, rtol=0, atol=1e-11)


def test_leaves_its_input_alone(case: Case, engine: str) -> None:
    inputs = draws(case)
    before = inputs.copy()
    case.project(inputs)
    np.testing.assert_array_equal(inputs, before)


def test_members_do_not_know_each_other(case: Case, engine: str) -> None:
    inputs = draws(case)[::3]
    one_by_one = np.concatenate([case.project(row[None]) for row in inputs])
    np.testing.assert_allclose(case.project(inputs), one_by_one, rtol=0, atol=1e-11)


def test_empty_batch(case: Case, engine: str) -> None:
    assert case.project(np.empty((0, case.size))).shape == (0, case.size)


def test_native_equals_numpy(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    if _hildreth._native is None:
        pytest.skip("clearset._native is not built")
    native = case.project(draws(case))
    monkeypatch.setattr(_chain, "_native", None)
    monkeypatch.setattr(_hildreth, "_native", None)
    np.testing.assert_allclose(case.project(draws(case)), native, rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", CASES)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_no_feasible_point_is_nearer(name: str, data: st.DataObject) -> None:
    case = CASES[name]
    values = st.floats(-4, 4) | st.sampled_from([0.0, 1.0, -1.0]) | st.floats(-1e9, 1e9)
    y, other = data.draw(arrays(np.float64, (2, case.size), elements=values))
    scale = max(1.0, np.abs(y).max(), np.abs(other).max())
    x, feasible = case.project(np.stack([y, other]))
    assert violation(case, x[None]) <= 1e-11 * scale
    # The variational inequality (y - x)·(v - x) <= 0 for feasible v holds at the projection and nowhere else.
    assert (y - x) @ (feasible - x) <= 1e-9 * scale**2


@pytest.mark.parametrize("values", [np.zeros(3), np.array([[np.nan] * 3]), np.array([[np.inf] * 3])])
def test_bad_values_are_refused(values: np.ndarray) -> None:
    rows = order_rows([(0, 1)])
    for project in (rows.project, ConstraintSet({"order": rows}, 0.0, 1.0, 3).project_exactly):
        with pytest.raises(ValueError, match=r"one member a row|NaN or infinity"):
            project(values)


def test_bounds_the_wrong_way_round_are_refused() -> None:
    rows = order_rows([(0, 1)])
    for make in (
        lambda: Chains([0], [1], 1.0, 0.0),
        lambda: ConstraintSet({"order": rows}, 1.0, 0.0, 2),
        lambda: rows.project([[0.5, 0.5]], 1.0, 0.0),
    ):
        with pytest.raises(ValueError, match=r"lower bound is 1.0 and the upper bound is 0.0"):
            make()
