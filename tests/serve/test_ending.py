"""A server that ends while it works."""

import asyncio
import json
from threading import Event
from typing import Any

import pytest

import clearset as cs
from clearset.serve import create_app


def test_work_that_takes_too_long_is_given_up(cook: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    app, begun, go_on = create_app(cook), Event(), Event()
    monkeypatch.setattr(cs.SemanticModel, "read", lambda *_: begun.set() or go_on.wait(60))
    body, sent = json.dumps({"sets": [["salt"]]}).encode(), []
    headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
    scope = {"type": "http", "method": "POST", "path": "/api/predict", "headers": headers, "query_string": b""}

    async def receive() -> Any:
        return {"type": "http.request", "body": body}

    async def send(message: Any) -> None:
        sent.append(message)

    async def ask() -> None:
        task = asyncio.create_task(app(scope, receive, send))
        try:
            assert await asyncio.to_thread(begun.wait, 60)
            task.cancel()  # as a server does that has waited long enough
            await task
        finally:
            go_on.set()

    asyncio.run(ask())
    assert sent[0]["status"] == 503
    assert json.loads(sent[1]["body"])["code"] == "ending"
