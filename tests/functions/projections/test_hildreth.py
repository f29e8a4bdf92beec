import numpy as np
import pytest

from clearset.functions.projections import HalfSpaces, curvature_rows, edgeworth_rows, monotone_rows, order_rows

from .exact import exact_projection


def dense(rows: HalfSpaces, size: int) -> np.ndarray:
    return rows.residuals(np.eye(size)).T


EVEN = np.linspace(0.0, 1.0, 50)
GROWING = np.cumsum(1.3 ** np.arange(20))
HARD = {
    "a chain of 50": (order_rows([(i, i + 1) for i in range(49)]), 50),
    "3 x 3 x 3": (monotone_rows((3, 3, 3), (1, 1, 1)), 27),
    "8 features": (monotone_rows((2,) * 8, (1,) * 8), 256),
    "convex": (curvature_rows(EVEN, "convex"), 50),
    "concave and rising": (curvature_rows(GROWING, "concave") + monotone_rows((20,), (1,)), 20),
    "edgeworth": (monotone_rows((4, 4, 3), (1, 1, 0)) + edgeworth_rows((4, 4, 3), 0, 2), 48),
}


@pytest.mark.parametrize("name", HARD)
@pytest.mark.parametrize("start", ["random", "reversed"])
def test_converges_on_hard_inputs(name: str, start: str, engine: str) -> None:
    rows, size = HARD[name]
    matrix = dense(rows, size)
    y = np.random.default_rng(5).normal(size=size) if start == "random" else -np.sum(np.cumsum(matrix, 0), axis=0)
    result = rows.project(y[None])[0]
    scale = np.abs(y).max()
    np.testing.assert_allclose(result, exact_projection(matrix, y), rtol=0, atol=1e-9 * scale)


def test_a_warm_start_leads_to_the_projection_of_the_current_values(engine: str) -> None:
    rng = np.random.default_rng(6)
    rows = monotone_rows((3, 3), (1, 1)) + edgeworth_rows((3, 3), 0, 1)
    state = rows.state(2)
    for _ in range(10):
        values = rng.normal(size=(2, 9))
        expected = [exact_projection(dense(rows, 9), y, -0.5, 0.5) for y in values]
        result = rows.project(values, -0.5, 0.5, state=state)
        np.testing.assert_allclose(result, expected, rtol=0, atol=1e-10)


def test_a_warm_start_saves_sweeps(engine: str) -> None:
    y = np.random.default_rng(8).normal(size=(1, 50))
    rows = curvature_rows(EVEN, "convex")
    state = rows.state(1)
    solved = rows.project(y, state=state)
    np.testing.assert_allclose(rows.project(y, state=state, max_sweeps=1), solved, atol=1e-9)
    assert np.abs(rows.project(y, max_sweeps=1) - solved).max() > 1e-3


def test_feasible_values_stay_and_forget_the_start(engine: str) -> None:
    rows = order_rows([(0, 1), (1, 2)])
    state = rows.state(1)
    rows.project([[3.0, 2.0, 1.0]], state=state)
    assert state.duals.max() > 0
    values = np.array([[0.1, 0.1, 0.7]])
    np.testing.assert_array_equal(rows.project(values, state=state), values)
    assert state.duals.max() == 0
