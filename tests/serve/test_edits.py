"""Edits that are tried on a served model: a copy is changed, verified and compared; nothing else changes."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import clearset as cs
from clearset.serve import Service, create_app
from clearset.serve._edit_trials import MOST_EDITS
from clearset.serve._service import Counts

from .schemas import fits

CAP = {"kind": "cap", "feature": "price", "high": 9.5}
FORBID = {"kind": "forbid", "feature": "store"}


def test_predictions_before_and_after(client: Any, regressor: Any, reviews: Any) -> None:
    X, y = reviews
    connected = client(create_app(regressor, X, y))
    answer = connected.post("/api/edit", json={"edits": [CAP, FORBID], "sets": X.to_pylist()})
    assert answer.status_code == 200, answer.text
    found, by_hand = answer.json(), regressor.edit().cap("price", high=9.5).forbid("store")
    assert found["edits"] == ["Feature 'price' capped above 9.5", "Feature 'store' forbidden"]
    assert found["before"] == {"predictions": regressor.predict(X).tolist()}
    assert found["after"] == {"predictions": by_hand.model.predict(X).tolist()}
    assert (found["holds"], found["checks"], found["saved"]) == (True, len(by_hand.model.certificate.checks), False)
    compared = by_hand.compare(X, y)
    assert found["comparison"]["n_changed"] == len(compared.rows)
    assert found["comparison"]["scores"] == pytest.approx(compared.scores)
    assert [one["row"] for one in found["comparison"]["examples"]] == compared.rows[:20].tolist()
    # The model served is what it was.
    assert connected.post("/api/predict", json={"sets": X.to_pylist()}).json() == found["before"]
    assert connected.get("/api/model").json()["edits"] == []
    described = connected.get("/openapi.json").json()["paths"]["/api/edit"]["post"]
    assert fits(found, described["responses"]["200"]["content"]["application/json"]["schema"])
    body = described["requestBody"]["content"]["application/json"]["schema"]
    assert fits({"edits": [CAP, FORBID], "sets": X.to_pylist()}, body)
    assert not fits({"edits": [{"kind": "explode"}]}, body)


def test_tokens(client: Any, cook: Any) -> None:
    token = ["salt", "sugar", "water"]
    edits = [{"kind": "drop_token", "token": token}, {"kind": "pin_token", "token": "salt", "value": 0.5}]
    found = client(create_app(cook)).post("/api/edit", json={"edits": edits, "sets": [token]}).json()
    by_hand = cook.edit().drop_token(token).pin_token("salt", 0.5).model
    assert "comparison" not in found
    np.testing.assert_array_equal(found["after"]["probabilities"], by_hand.predict_proba([token]))
    np.testing.assert_array_equal(found["before"]["probabilities"], cook.predict_proba([token]))


def test_saving_needs_a_file(client: Any, regressor: Any, tmp_path: Path) -> None:
    path = tmp_path / "edited.clearset"
    refused = client(create_app(regressor)).post("/api/edit", json={"edits": [CAP], "save": True})
    assert refused.status_code == 400
    assert "without a file" in refused.json()["message"]
    connected = client(create_app(regressor, edits_to=path))
    assert not connected.post("/api/edit", json={"edits": [CAP]}).json()["saved"]
    assert not path.exists()
    assert connected.post("/api/edit", json={"edits": [CAP], "save": True}).json()["saved"]
    assert [logged.edit.to_json() for logged in cs.load(path).edits] == [{**CAP, "low": None}]
    with pytest.raises(OSError, match="there is no folder"):
        create_app(regressor, edits_to=tmp_path / "nowhere" / "model")


def test_other_sites_may_not_save(client: Any, regressor: Any, tmp_path: Path) -> None:
    connected = client(create_app(regressor, edits_to=tmp_path / "edited"))
    asked = {"json": {"edits": [CAP], "save": True}, "headers": {"origin": "https://elsewhere.example"}}
    assert connected.post("/api/edit", **asked).status_code == 403
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("asked", "status", "message"),
    [
        ({}, 400, "'edits' must be a list"),
        ({"edits": [CAP] * (MOST_EDITS + 1)}, 413, f"Send {MOST_EDITS} at most"),
        ({"edits": [{"kind": "drop_token", "token": ["a"] * 10_000}]}, 413, "more than 10,000 characters"),
        ({"edits": ["cap"]}, 422, "An edit is a mapping"),
        ({"edits": [{"kind": "explode"}]}, 422, "there are: "),
        ({"edits": [{**CAP, "why": "so"}]}, 422, "'why' is not among them"),
        (
            {"edits": [{"kind": "cap"}]},
            422,
            "An edit of the kind 'cap' has 'feature', 'low', 'high'; 'feature' is missing.",
        ),
        ({"edits": [{"kind": "pin_token", "token": "a"}]}, 422, "'value' is missing."),
        ({"edits": [{**CAP, "high": "much"}]}, 422, "give a number"),
        ({"edits": [CAP, {**CAP, "feature": "prices"}]}, 422, "Did you mean 'price'?"),
        ({"edits": [CAP], "save": "yes"}, 400, "'save' must be true or false"),
        ({"edits": [CAP], "to": "model"}, 400, "does not know 'to'"),
    ],
)
def test_refusals(client: Any, regressor: Any, asked: Any, status: int, message: str) -> None:
    answer = client(create_app(regressor)).post("/api/edit", json=asked)
    assert answer.status_code == status
    assert message in answer.json()["message"]
    assert answer.json()["code"]
    assert "__init__" not in answer.text


def test_engines_estimate(cook: Any) -> None:
    texts = ["ripe cherry", "thin and sour"] * 10
    engine = cs.SemanticFeatureEngine(cs.NGrams(2), epochs=2, random_state=0, n_jobs=1).fit(texts, [94.0, 82.0] * 10)
    asked = {"edits": [{"kind": "drop_token", "token": ["ripe"]}], "sets": texts[:2]}
    found = Service(engine, texts).edit(asked, Counts())
    assert "comparison" not in found
    assert found["before"] == {"estimates": engine.transform(texts[:2]).tolist()}


def test_the_panel(opened: Any, regressor: Any, reviews: Any, tmp_path: Path) -> None:
    path = tmp_path / "edited"
    page = opened(regressor, *reviews, edits_to=path)
    panel = page.locator("#editing")
    panel.locator("#edit-feature").select_option(label="price")
    panel.locator("#edit-high").fill("9.5")
    panel.get_by_role("button", name="Try").click()
    panel.get_by_text("Feature 'price' capped above 9.5").wait_for()
    assert page.locator(".warning").count() == 0
    compared = regressor.edit().cap("price", high=9.5).compare(*reviews)
    assert f"{len(compared.rows)} of 60 predictions change" in panel.inner_text()
    panel.locator("#edit-kind").select_option("forbid")
    assert panel.locator("#edit-high").is_hidden()
    panel.locator("#edit-feature").select_option(label="store")
    panel.get_by_role("button", name="Try").click()
    panel.get_by_text("Feature 'store' forbidden").wait_for()
    panel.get_by_role("button", name="Undo").click()
    panel.get_by_text("Feature 'store' forbidden").wait_for(state="detached")
    assert not path.exists()
    panel.get_by_role("button", name="Save").click()
    panel.get_by_text("Saved.").wait_for()
    assert [str(logged) for logged in cs.load(path).edits] == ["Feature 'price' capped above 9.5"]


def test_the_panel_for_tokens(opened: Any, cook: Any) -> None:
    page = opened(cook)
    panel = page.locator("#editing")
    panel.locator("#edit-kind").select_option("pin_token")
    panel.locator("#edit-token").fill("salt; water")
    panel.locator("#edit-value").fill("0.25")
    panel.locator("#edit-class").select_option(label="mexican")
    panel.get_by_role("button", name="Try").click()
    panel.get_by_text("Token 'salt' + 'water' pinned to 0.25 for 'mexican'").wait_for()
    assert panel.get_by_role("button", name="Save").count() == 0


def test_what_the_server_refuses_is_said_and_changes_nothing(opened: Any, regressor: Any, reviews: Any) -> None:
    page = opened(regressor, *reviews)
    panel = page.locator("#editing")
    panel.locator("#edit-kind").select_option("forbid")
    panel.get_by_role("button", name="Try").click()
    panel.locator("li").wait_for()
    refusal = "new Response(JSON.stringify({ message: 'Not <i>so</i>.' }), { status: 400 })"
    page.evaluate(f"window.fetch = async () => {refusal}")
    panel.get_by_role("button", name="Try").click()
    page.get_by_role("alert").get_by_text("The server refused: Not <i>so</i>.").wait_for()
    assert panel.locator("li").count() == 1
