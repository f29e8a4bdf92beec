import threading
import time
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


@pytest.fixture
def opened(browser: Any) -> Iterator[Any]:
    """Return what opens the explorer of a model; anything unusual on its page is an error."""
    uvicorn = pytest.importorskip("uvicorn")
    from clearset.serve import create_app, listening

    listener = listening("127.0.0.1", 0)
    address = f"http://127.0.0.1:{listener.getsockname()[1]}/"
    seen: list[str] = []
    running: list[Any] = []
    contexts: list[Any] = []

    def open_page(model: Any, *data: Any, **options: Any) -> Any:
        config = uvicorn.Config(create_app(model, *data, **options), log_level="error", lifespan="off")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        running.append((server, thread))
        while not server.started:
            time.sleep(0.01)
        access = options.get("access")  # people type the key when their browser asks
        typed = None if access is None else {"username": "", "password": access.key}
        context = browser.new_context(viewport={"width": 1200, "height": 900}, http_credentials=typed)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on("pageerror", lambda error: seen.append(f"error: {error}"))
        page.on("console", lambda message: seen.append(f"console: {message.text}"))
        page.on("dialog", lambda dialog: (seen.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("request", lambda request: request.url.startswith(address) or seen.append(request.url))
        page.goto(address)
        return page

    yield open_page
    for context in contexts:
        context.close()
    for server, thread in running:
        server.should_exit = True
        thread.join()
    listener.close()
    assert seen == []
