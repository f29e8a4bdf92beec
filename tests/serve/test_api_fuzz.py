"""Requests made from the server's own description: a few of what ``python -m benchmarks.api_fuzz`` makes."""

from pathlib import Path
from typing import Any

import pytest

from clearset.serve import Service, create_app

pytest.importorskip("schemathesis")


@pytest.fixture
def fuzz(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(Path(__file__).parents[2])
    from benchmarks.api_fuzz import fuzz

    return fuzz


@pytest.mark.parametrize("name", ["cook", "regressor"])
def test_every_answer_is_as_described(request: pytest.FixtureRequest, fuzz: Any, name: str) -> None:
    model = request.getfixturevalue(name)
    data = request.getfixturevalue("reviews") if name == "regressor" else ([["salt", "water"], []],)
    found = fuzz(create_app(model, *data), examples=4)
    assert found.faults == {}
    assert found.cases > 40
    assert found.statuses[200] > 10
    assert found.statuses[400] > 10
    assert not [status for status in found.statuses if status >= 500]


def test_what_is_not_as_described_is_found(fuzz: Any, cook: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    items = Service.items
    monkeypatch.setattr(Service, "items", lambda *asked: {**items(*asked), "more": 1})
    monkeypatch.setattr(Service, "known", lambda *_: {}["nothing"])
    monkeypatch.setattr(Service, "tokens", lambda *_: {"n": 0, "tokens": []})  # whatever is asked
    faults = " ".join(fuzz(create_app(cook), examples=4).faults)
    assert "GET /api/items, positive: Response violates schema" in faults
    assert "POST /api/known, positive: Server error" in faults
    assert "GET /api/tokens, negative: Schema-violating request accepted" in faults
    assert "/api/predict" not in faults
