"""Parameters in addresses: what is described is what is served."""

from typing import Any

import pytest

from clearset.serve import create_app


@pytest.fixture(scope="module")
def app(cook: Any) -> Any:
    return create_app(cook, [["salt"], ["water"]])


def described(connected: Any, path: str) -> dict[str, Any]:
    parameters = connected.get("/openapi.json").json()["paths"][path]["get"]["parameters"]
    return {each["name"]: each["schema"] for each in parameters}


@pytest.mark.parametrize(
    ("path", "name"), [("/api/tokens", "limit"), ("/api/tokens", "offset"), ("/api/items", "limit")]
)
def test_bounds_of_whole_numbers(client: Any, app: Any, path: str, name: str) -> None:
    connected = client(app)
    schema = described(connected, path)[name]
    low, high = schema["minimum"], schema["maximum"]
    for number in (low, high):
        assert connected.get(path, params={name: number}).status_code == 200
    for number in (low - 1, high + 1):
        answer = connected.get(path, params={name: number})
        assert answer.status_code == 400
        assert f"must be a whole number from {low:,} to {high:,}" in answer.json()["message"]
    default = connected.get(path, params={name: schema["default"]})
    assert connected.get(path).json() == default.json()


def test_orders(client: Any, app: Any) -> None:
    connected = client(app)
    schema = described(connected, "/api/tokens")["by"]
    pages = {by: connected.get("/api/tokens", params={"by": by}).json() for by in schema["enum"]}
    assert len({str(page) for page in pages.values()}) == 4
    assert connected.get("/api/tokens").json() == pages[schema["default"]]
    answer = connected.get("/api/tokens", params={"by": "beauty"})
    assert f"choose one of: {', '.join(schema['enum'])}" in answer.json()["message"]


def test_the_page_asks_for_no_more_items_than_are_sent(client: Any, app: Any) -> None:
    connected = client(app)
    most = described(connected, "/api/items")["limit"]["maximum"]
    assert f"const MOST_ITEMS = {most};" in connected.get("/").text


def test_rows(client: Any, app: Any) -> None:
    connected = client(app)
    assert described(connected, "/api/example")["row"]["minimum"] == 0
    assert connected.get("/api/example?row=1").json()["items"] == ["water"]
    assert "from 0 to 1, as digits" in connected.get("/api/example?row=2").json()["message"]
