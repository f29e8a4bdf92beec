"""Examples of the data and items of the table, by themselves."""

from typing import Any

import numpy as np
import pytest

import clearset as cs
from clearset.models import report_document
from clearset.models.documents import MOST_VALUES
from clearset.serve import create_app


def test_an_example_is_as_in_the_document(client: Any, regressor: Any, reviews: Any) -> None:
    X, y = reviews
    connected = client(create_app(regressor, X, y))
    document = report_document(regressor, X, y)["examples"]
    assert len(document) == 50
    for expected in document[::7]:
        assert connected.get(f"/api/example?row={expected['row']}").json() == expected
    left = sorted(set(range(60)) - {one["row"] for one in document})
    for row in left:
        found = connected.get(f"/api/example?row={row}").json()
        assert (found["row"], found["name"]) == (row, f"Example {row}")
        assert found["label"] == pytest.approx(y[row], rel=1e-9)
        assert [token[0] for token in found["tokens"]] == X["stars"][row].as_py()


def test_names_of_examples(client: Any, cook: Any) -> None:
    X = [["salt", "water"], ["sugar"], []]
    connected = client(create_app(cook, X, ["other", "mexican", "other"], names=["soup", "", "<i>"]))
    found = [connected.get(f"/api/example?row={row}").json() for row in range(3)]
    assert [(one["name"], one["items"], one["label"]) for one in found] == [
        ("soup", ["salt", "water"], "other"),
        ("Example 1", ["sugar"], "mexican"),
        ("<i>", [], "other"),
    ]


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("", "'row' is missing; give a whole number from 0 to 1"),
        ("?row=2", "'row' is '2'; it must be a whole number from 0 to 1"),
        ("?row=-1", "'row' is '-1'"),
        ("?row=0&row=1", "'row' more than once"),
        ("?row=1", "20,001 numbers or items"),
    ],
)
def test_what_is_no_example(client: Any, cook: Any, query: str, said: str) -> None:
    app = create_app(cook, [["salt"], ["salt"] + [f"item {place}" for place in range(MOST_VALUES)]])
    answer = client(app).get(f"/api/example{query}")
    assert answer.status_code == (413 if "20,001" in said else 400)
    assert said in answer.json()["message"]


def test_without_data_there_is_no_example(client: Any, cook: Any) -> None:
    answer = client(create_app(cook)).get("/api/example?row=0")
    assert (answer.status_code, "without data" in answer.json()["message"]) == (404, True)


def test_items_by_what_they_hold(client: Any) -> None:
    rng = np.random.default_rng(0)
    kinds = [f"Salt {kind}" for kind in range(120)] + ["salt", "SALT", "Pepper"]
    X = [rng.choice(kinds, 3, replace=False).tolist() for _ in range(900)]
    options: dict[str, Any] = {"refine": False, "epochs": 1, "random_state": 0, "n_jobs": 1}
    connected = client(create_app(cs.SemanticRegressor(cs.Items(), **options).fit(X, np.arange(900.0))))
    counts = {kind: sum(kind in row for row in X) for kind in kinds}
    found = connected.get("/api/items", params={"search": " sAlt ", "limit": 100}).json()
    assert found["n"] == 122
    assert len(found["items"]) == 100
    assert set(found["items"][:2]) == {"salt", "SALT"}
    ordered = [counts[item] for item in found["items"][2:]]
    assert ordered == sorted(counts[kind] for kind in kinds[:120])[:-99:-1]
    assert connected.get("/api/items", params={"search": "eppe"}).json() == {"n": 1, "items": ["Pepper"]}
    assert len(connected.get("/api/items").json()["items"]) == 12
    assert connected.get("/api/items?limit=101").status_code == 400
