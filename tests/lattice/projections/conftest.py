from collections.abc import Callable

import numpy as np
import pytest
from scipy.optimize import nnls

from clearset.lattice.projections import _chain, _hildreth


def least_distance(
    matrix: np.ndarray, y: np.ndarray, lower: float = -np.inf, upper: float = np.inf
) -> np.ndarray:
    """Project y onto {x: matrix x >= 0, lower <= x <= upper} by least distance programming."""
    # Lawson and Hanson, Solving Least Squares Problems, chapter 23.
    size, identity = len(y), np.eye(len(y))
    scale = max(1.0, np.abs(y).max())
    rows, limits = [matrix], [np.zeros(len(matrix))]
    for bound, sign in ((lower, 1.0), (upper, -1.0)):
        if np.isfinite(bound):
            rows.append(sign * identity)
            limits.append(np.full(size, sign * bound / scale))
    system = np.concatenate(rows)
    short = np.concatenate(limits) - system @ (y / scale)
    stacked = np.vstack([system.T, short])
    target = np.append(np.zeros(size), 1.0)
    multipliers, _ = nnls(stacked, target, maxiter=100 * len(system))
    rest = stacked @ multipliers - target
    x = y - scale * rest[:-1] / rest[-1]
    assert (matrix @ x).min(initial=0.0) >= -1e-9 * scale, "the reference itself failed"
    return np.asarray(x)


@pytest.fixture
def exact_projection() -> Callable[..., np.ndarray]:
    return least_distance


@pytest.fixture(params=["native", "numpy"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "numpy":
        monkeypatch.setattr(_chain, "_native", None)
        monkeypatch.setattr(_hildreth, "_native", None)
    elif _hildreth._native is None:
        pytest.skip("clearset._native is not built")
    return str(request.param)
