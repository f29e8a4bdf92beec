from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import clearset as cs

MEXICAN = {
    ("salt", "water", "fennel bulb"): (1, 17),
    ("salt", "water", "sugar"): (22, 510),
    ("grapefruit juice",): (2, 10),
}


def recipes() -> tuple[list[list[str]], np.ndarray]:
    """Make recipes in which the tokens of the paper's example occur as often as there, and as often Mexican."""
    X: list[list[str]] = []
    y: list[str] = []
    for items, (mexican, count) in MEXICAN.items():
        X += [list(items)] * count
        y += ["mexican"] * mexican + ["other"] * (count - mexican)
    return X, np.array(y)


@pytest.fixture(scope="session")
def cook() -> Any:
    """Fit a model of recipes."""
    X, y = recipes()
    options: dict[str, Any] = {"cover": True, "refine": False, "epochs": 8, "random_state": 0, "n_jobs": 1}
    return cs.SemanticClassifier(cs.Subsets(3), [cs.MinCount(5)], **options).fit(X, y)


@pytest.fixture(scope="session")
def reviews() -> tuple[pa.Table, np.ndarray]:
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 5, 60)
    stars = [rng.integers(1, 6, size).astype(float).tolist() for size in sizes]
    stores = [rng.choice(["market", "online"], size).tolist() for size in sizes]
    X = pa.table({"stars": stars, "store": stores, "price": rng.gamma(2.0, 10.0, 60)})
    return X, np.array([np.mean(row) for row in stars]) * 100 + rng.normal(0, 5, 60)


@pytest.fixture(scope="session")
def regressor(reviews: Any) -> Any:
    features = [cs.Feature("stars", monotonic="increasing"), cs.Feature("store", kind="categorical"), "price"]
    return cs.SetRegressor(features, epochs=5, random_state=0, n_jobs=1).fit(*reviews)


@pytest.fixture
def client() -> Iterator[Any]:
    """Return what makes a client of an application."""
    testing = pytest.importorskip("starlette.testclient")
    opened: list[Any] = []

    def connect(app: Any, **options: Any) -> Any:
        opened.append(testing.TestClient(app, base_url="http://127.0.0.1:8000", **options))
        return opened[-1]

    yield connect
    for each in opened:
        each.close()
