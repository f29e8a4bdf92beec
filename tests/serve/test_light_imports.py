"""Saved models are loaded, used and served where neither torch nor scikit-learn can be imported."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet
import pytest

import clearset as cs

from .conftest import recipes

# Two packages are as if they were not installed.
BLOCKED = """
import sys
from importlib.machinery import PathFinder

find = PathFinder.find_spec


def find_others(name, path=None, target=None):
    return None if name.partition(".")[0] in ("torch", "sklearn") else find(name, path, target)


PathFinder.find_spec = find_others
"""

SCRIPT = """
import asyncio
import json
from pathlib import Path

import numpy as np
import pyarrow.parquet

import clearset as cs
from clearset.serve import Service, create_app
from clearset.serve._service import Counts

path, data, asked = Path(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3])
X = pyarrow.parquet.read_table(data)
if asked["items"]:
    X = X["items"].to_pylist()
model = cs.load(path)
found = {"predict": model.predict(X).tolist(), "transform": model.transform(X).tolist()}
if model.link.classes is not None:
    found["predict_proba"] = model.predict_proba(X).tolist()
found["explain"] = model.explain(X[:3], effects=True).to_json()
dependence = model.partial_dependence(asked["feature"], n=4, label=asked["label"])
found["dependence"] = dependence.prediction.tolist()
found["phi"] = model.phi(X).scores.tolist()
assert model.verify()
model.report(path.with_suffix(".html"), X)
model.save(path.with_suffix(".again"))
assert path.with_suffix(".again").read_bytes() == path.read_bytes()

service = Service(model, X, other=("last week's", cs.load(path)) if model.predicts else None)
found["answer"] = service.predict({"sets": asked["sets"]}, Counts())
found["explained"] = service.explain({"sets": asked["sets"], "effects": True}, Counts())
assert service.page.startswith("<!doctype html>")
assert ('"comparison":' in service.page) == model.predicts


async def ask(app, method, address, body=b""):
    sent = []
    headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
    scope = {"type": "http", "method": method, "path": address, "headers": headers, "query_string": b""}

    async def receive():
        return {"type": "http.request", "body": body}

    async def send(message):
        sent.append(message)

    await app(scope, receive, send)
    return sent[0]["status"], b"".join(message.get("body", b"") for message in sent)


app, body = create_app(model), json.dumps({"sets": asked["sets"]}).encode()
for name in ("predict", "explain"):
    status, answer = asyncio.run(ask(app, "POST", f"/api/{name}", body))
    assert status == 200, answer
    found[f"http {name}"] = json.loads(answer)
status, page = asyncio.run(ask(app, "GET", "/"))
assert (status, page[:15]) == (200, b"<!doctype html>")
print(json.dumps(found))
"""


def run_blocked(script: str, *arguments: str) -> Any:
    """Run a script in a process of its own, where torch and scikit-learn cannot be imported."""
    command = [sys.executable, "-c", BLOCKED + script, *arguments]
    found = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    assert found.returncode == 0, found.stderr
    return found.stdout


@pytest.fixture(scope="module")
def kinds(cook: Any, regressor: Any, reviews: Any) -> dict[str, tuple[Any, Any, list[Any], str, Any]]:
    """Return estimators with data, sets for requests, a feature, and the class that it is looked at for."""
    items, cuisines = recipes()
    several = np.where(np.arange(len(items)) % 7 == 0, "thai", cuisines)
    options: dict[str, Any] = {"epochs": 2, "random_state": 0, "n_jobs": 1}
    many = cs.SemanticClassifier(cs.Subsets(2), [cs.MinCount(5)], refine=True, **options).fit(items, several)
    engine = cs.SemanticFeatureEngine(cs.Items(), refine=False, **options).fit(items, cuisines)
    sorted_out = cs.SetClassifier(["stars", "price"], **options).fit(reviews[0], reviews[1] > 300)
    sets: list[Any] = [["salt", "water"], [], ["no such thing"]]
    nothing = {"stars": None, "store": None, "price": None}
    return {
        "regressor": (regressor, reviews[0], [nothing | {"stars": [5, None], "price": 3}, nothing], "store", None),
        "classifier": (
            sorted_out,
            reviews[0].select(["stars", "price"]),
            [{"stars": [1, 2], "price": None}],
            "stars",
            None,
        ),
        "two": (cook, items[:30], sets, "log_odds", None),
        "several": (many, items[:30], sets, "log_odds", "thai"),
        "engine": (engine, items[:30], sets, "log_odds", None),
    }


@pytest.mark.parametrize("kind", ["regressor", "classifier", "two", "several", "engine"])
def test_everything_but_training(kinds: Any, kind: str, tmp_path: Path) -> None:
    estimator, X, sets, feature, label = kinds[kind]
    estimator.save(tmp_path / "model")
    frame = pyarrow.table({"items": X}) if isinstance(X, list) else X
    pyarrow.parquet.write_table(frame, tmp_path / "data.parquet")
    asked = {"items": isinstance(X, list), "feature": feature, "label": label, "sets": sets}
    paths = str(tmp_path / "model"), str(tmp_path / "data.parquet")
    found = json.loads(run_blocked(SCRIPT, *paths, json.dumps(asked)))

    if kind == "engine":
        assert found["transform"] == estimator.transform(X).tolist()
    else:
        assert found["predict"] == estimator.predict(X).tolist()
    if kind in ("classifier", "two", "several"):
        assert found["predict_proba"] == estimator.predict_proba(X).tolist()
    assert found["phi"] == estimator.phi(X).scores.tolist()
    assert found["explain"] == json.loads(json.dumps(estimator.explain(X[:3], effects=True).to_json()))
    dependence = estimator.partial_dependence(feature, n=4, label=label)
    assert found["dependence"] == dependence.prediction.tolist()
    assert found["http predict"] == found["answer"]
    assert len(found["explained"]["sets"]) == len(found["http explain"]["sets"]) == len(sets)
    assert "effects" in found["explained"]["sets"][0]


JOINT_SCRIPT = """
import json
import pyarrow.parquet
import clearset as cs

X, model = pyarrow.parquet.read_table(sys.argv[2]), cs.load(sys.argv[1])
found = {"predict": model.predict(X).tolist(), "estimates": model.estimates(X).to_pydict()}
if hasattr(model, "predict_proba"):
    found["predict_proba"] = model.predict_proba(X).tolist()
found["explain"] = model.explain(X[:3], effects=True).to_json()
found["verify"] = str(model.verify())
model.save(sys.argv[1] + ".again")
print(json.dumps(found))
"""


@pytest.mark.parametrize("numbers", [True, False])
def test_joint_models(numbers: bool, tmp_path: Path) -> None:
    items, cuisines = recipes()
    shift = np.random.default_rng(0).normal(size=len(items))
    frame = pyarrow.table({"items": items, "shift": shift})
    options: dict[str, Any] = {"epochs": 2, "n_jobs": 1}
    follow_on = (cs.SetRegressor if numbers else cs.SetClassifier)(**options)
    engines = {"items": cs.SemanticFeatureEngine(cs.Items(), **options)}
    model = cs.JointModel(engines, follow_on, epochs=1, random_state=0).fit(frame, shift if numbers else cuisines)
    path, data = tmp_path / "model", tmp_path / "data.parquet"
    model.save(path)
    pyarrow.parquet.write_table(frame[:30], data)
    found = json.loads(run_blocked(JOINT_SCRIPT, str(path), str(data)))
    assert found["predict"] == model.predict(frame[:30]).tolist()
    assert found["estimates"] == model.estimates(frame[:30]).to_pydict()
    if not numbers:
        assert found["predict_proba"] == model.predict_proba(frame[:30]).tolist()
    assert found["explain"] == json.loads(json.dumps(model.explain(frame[:3], effects=True).to_json()))
    assert found["verify"] == str(model.verify())
    assert (tmp_path / "model.again").read_bytes() == path.read_bytes()


@pytest.mark.parametrize(("name", "module"), [("torch", "torch"), ("sklearn", "clearset.estimators")])
def test_the_block_works(name: str, module: str) -> None:
    with pytest.raises(AssertionError, match=f"No module named '{name}"):
        run_blocked(f"import {module}")
