import numpy as np
import pytest

from clearset.functions.projections import (
    ConstraintSet,
    HalfSpaces,
    curvature_rows,
    edgeworth_rows,
    monotone_rows,
    order_rows,
    trapezoid_rows,
)

from .exact import exact_projection

CHAIN = order_rows([(0, 1), (1, 2), (2, 3)])
CURVE = curvature_rows([0.0, 1.0, 2.0, 5.0], "convex")


@pytest.fixture
def mixed() -> ConstraintSet:
    """A rising feature, a convex one and a free column in one vector."""
    return ConstraintSet({"rating": CHAIN, "price": HalfSpaces(CURVE.indices + 4, CURVE.coefficients)}, -1.0, 1.0, 9)


def test_violations_by_group(mixed: ConstraintSet) -> None:
    values = np.zeros((2, 9))
    values[0, 1], values[1, 5], values[1, 8] = 0.25, 0.5, 1.5
    assert mixed.violations(values) == {"rating": 0.25, "price": 0.5, "bounds": 0.5}
    assert repr(mixed) == "ConstraintSet({rating: 3 rows, price: 2 rows}, lower=-1.0, upper=1.0, size=9)"


def test_parts_are_projected_together(mixed: ConstraintSet, engine: str) -> None:
    values = 2 * np.random.default_rng(0).normal(size=(10, 9))
    matrix = mixed.rows.residuals(np.eye(9)).T
    expected = [exact_projection(matrix, y, -1.0, 1.0) for y in values]
    np.testing.assert_allclose(mixed.project_exactly(values), expected, rtol=0, atol=1e-9)
    np.testing.assert_allclose(mixed.project(values), expected, rtol=0, atol=1e-5)


def test_project_exactly_leaves_no_violation(mixed: ConstraintSet, engine: str) -> None:
    values = np.random.default_rng(1).normal(size=(50, 9)) / 3
    assert set(mixed.violations(mixed.project_exactly(values)).values()) == {0.0}


def test_an_ordered_feature_is_exactly_constant_beside_a_convex_one(mixed: ConstraintSet, engine: str) -> None:
    values = np.zeros((1, 9))
    values[0, :4], values[0, 5] = [0.7, 0.1, -0.3, -0.4], 0.9
    result = mixed.project_exactly(values)[0]
    assert np.unique(result[:4]).size == 1
    assert result[0] == pytest.approx(0.025)


def test_no_violation_is_returned_as_it_is(mixed: ConstraintSet, engine: str) -> None:
    values = np.array([[0.1, 0.1, 0.3, 0.9, 0.7, 0.4, 0.3, 0.3, -1.0]])
    np.testing.assert_array_equal(mixed.project_exactly(values), values)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize(("lower", "upper"), [(-np.inf, np.inf), (-0.5, np.inf), (-np.inf, 0.5), (-0.5, 0.5)])
def test_lattice_with_trust_is_exact_at_any_scale(scale: float, lower: float, upper: float, engine: str) -> None:
    sizes = (2, 3, 2)
    groups = {
        "monotone": monotone_rows(sizes, (1, 1, 0)),
        "trust": edgeworth_rows(sizes, 0, 2),
        "range": trapezoid_rows(sizes, 1, 2),
    }
    constraints = ConstraintSet(groups, lower, upper, 12)
    values = scale * np.random.default_rng(2).normal(size=(5, 12))
    result = constraints.project_exactly(values)
    assert set(constraints.violations(result).values()) == {0.0}
    near = constraints.rows.project(values, lower, upper)
    np.testing.assert_allclose(result, near, rtol=0, atol=1e-9 * max(1.0, scale))


def test_training_stays_near_feasible_with_a_warm_start(engine: str) -> None:
    rng = np.random.default_rng(3)
    groups = {"monotone": monotone_rows((2,) * 4, (1, 1, 0, 0)), "trust": edgeworth_rows((2,) * 4, 0, 3)}
    constraints = ConstraintSet(groups, -1.0, 1.0, 16)
    state = constraints.state(2)
    x = np.zeros((2, 16))
    for _ in range(30):
        y = x + 0.1 * rng.normal(size=x.shape)
        x = constraints.project(y, state)
        np.testing.assert_allclose(x, constraints.project_exactly(y), rtol=0, atol=1e-5)
        assert max(constraints.violations(x).values()) <= 1e-6


def test_no_groups() -> None:
    constraints = ConstraintSet({}, 0.0, 1.0, 3)
    np.testing.assert_array_equal(constraints.project_exactly([[-1.0, 0.5, 2.0]]), [[0.0, 0.5, 1.0]])
    assert constraints.violations([[-1.0, 0.5, 3.0]]) == {"bounds": 2.0}


def test_conflicting_curves_are_named() -> None:
    concave = curvature_rows([0.0, 1.0, 2.0, 5.0], "concave")
    with pytest.raises(ValueError, match="The constraints 'convex', 'concave' contradict") as error:
        ConstraintSet({"rising": CHAIN, "convex": CURVE, "concave": concave}, 0.0, 1.0, 4)
    assert "rising" not in str(error.value)


def test_heavy_tails_contradict_nothing_but_what_does() -> None:
    points = np.geomspace(1.0, 1e7, 10)
    rising, convex = monotone_rows((10,), (1,)), curvature_rows(points, "convex")
    assert ConstraintSet({"rising": rising, "convex": convex}, 0.0, 1.0, 10).size == 10
    with pytest.raises(ValueError, match="The constraints 'convex', 'concave' contradict"):
        ConstraintSet({"convex": convex, "concave": curvature_rows(points, "concave")}, 0.0, 1.0, 10)
    with pytest.raises(ValueError, match="The constraints 'rising', 'falling' contradict"):
        ConstraintSet({"rising": rising, "convex": convex, "falling": monotone_rows((10,), (-1,))}, 0.0, 1.0, 10)


def test_conflicting_orders_are_named() -> None:
    groups = {
        "a": order_rows([(0, 1)]),
        "b": order_rows([(1, 2)]),
        "c": order_rows([(2, 0)]),
        "d": order_rows([(0, 3)]),
    }
    with pytest.raises(ValueError, match="The constraints 'a', 'b', 'c' contradict"):
        ConstraintSet(groups, 0.0, 1.0, 4)


@pytest.mark.parametrize(
    ("groups", "lower", "upper", "size", "message"),
    [
        ({"bounds": CHAIN}, 0.0, 1.0, 4, "named 'bounds'"),
        ({"chain": CHAIN}, 1.0, 1.0, 4, "lower < upper"),
        ({"chain": CHAIN}, 2.0, 1.0, 4, "lower <= upper"),
        ({"chain": CHAIN}, 0.0, 1.0, 3, "touch column 3, but size is 3"),
    ],
)
def test_bad_sets_are_refused(
    groups: dict[str, HalfSpaces], lower: float, upper: float, size: int, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        ConstraintSet(groups, lower, upper, size)
