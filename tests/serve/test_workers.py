"""A bounded number of requests is computed at a time, and a bounded number waits."""

import json
import logging
import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from clearset.serve import Limits, Service, create_app
from clearset.serve import _workers as workers

SLOW = {"sets": [["slow"]]}
QUICK = {"sets": [["quick"]]}


@pytest.fixture(params=[0, 2], ids=["threads", "processes"])
def processes(request: pytest.FixtureRequest) -> int:
    if request.param and not hasattr(os, "fork"):
        pytest.skip("This system has no fork.")
    return int(request.param)


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let explanations take half a second, and two workers compute."""
    monkeypatch.setattr(workers, "usual_number", lambda: 2)

    def explain(_self: Any, asked: Any, _counts: Any) -> Any:
        if asked["sets"] == [["killed"]]:
            os.kill(os.getpid(), signal.SIGKILL)
        if asked["sets"] == [["endless"]]:
            time.sleep(60)
        time.sleep(0.5)
        return {"sets": [os.getpid()]}

    monkeypatch.setattr(Service, "explain", explain)


def test_processes_say_what_threads_say(client: Any, cook: Any) -> None:
    if not hasattr(os, "fork"):
        pytest.skip("This system has no fork.")
    sets = [["salt", "water", "sugar"], ["grapefruit juice"], [], ["never heard of"]]
    asked: list[tuple[str, str, Any]] = [("post", path, {"sets": sets}) for path in ("/api/predict", "/api/explain")]
    asked += [("post", "/api/known", {"items": sets[0]}), ("get", "/api/tokens?search=salt", None)]
    asked += [("post", "/api/predict", {"sets": [1]}), ("get", "/api/items?limit=0", None), ("get", "/api/model", None)]
    asked += [("post", "/api/edit", {"edits": [], "sets": sets}), ("get", "/api/example?row=0", None)]
    found = []
    for n in (0, 2):
        with client(create_app(cook, limits=Limits(processes=n))) as connected:
            answers = [connected.request(method, path, json=body) for method, path, body in asked]
            same = [(each.status_code, {**each.json(), "request_id": ""}) for each in answers]
            found.append((same, [each.headers["content-type"] for each in answers]))
    assert found[0] == found[1]
    assert {status for status, _ in found[0][0]} == {200, 400, 404}


@pytest.mark.usefixtures("slow")
def test_what_is_too_much_is_refused_at_once(client: Any, cook: Any, processes: int) -> None:
    app = create_app(cook, limits=Limits(waiting=2, processes=processes))
    with client(app) as connected, ThreadPoolExecutor(10) as pool:
        begun = time.monotonic()
        answers = list(pool.map(lambda _: connected.post("/api/explain", json=SLOW), range(8)))
        statuses = sorted(each.status_code for each in answers)
        refused = [each for each in answers if each.status_code == 503]
        # One is computed, for the other worker is left to requests that are quick; two wait.
        assert statuses == [200] * 3 + [503] * 5
        assert {each.json()["code"] for each in refused} == {"busy"}
        assert all(int(each.headers["retry-after"]) >= 1 for each in refused)
        assert time.monotonic() - begun >= 1.5
        counted = connected.get("/metrics").text.splitlines()
        assert 'clearset_errors_total{code="busy"} 5' in counted
        assert "clearset_requests_waiting 0" in counted
        assert connected.post("/api/explain", json=SLOW).status_code == 200


@pytest.mark.usefixtures("slow")
def test_quick_requests_do_not_wait_for_slow_ones(client: Any, cook: Any, processes: int) -> None:
    with client(create_app(cook, limits=Limits(processes=processes))) as connected, ThreadPoolExecutor(10) as pool:
        slow = [pool.submit(connected.post, "/api/explain", json=SLOW) for _ in range(4)]
        while "clearset_requests_waiting 3" not in connected.get("/metrics").text:
            time.sleep(0.01)
        for _ in range(5):
            assert connected.post("/api/predict", json=QUICK).status_code == 200
        assert sum(each.done() for each in slow) <= 3
        assert {each.result().status_code for each in slow} == {200}


@pytest.mark.usefixtures("slow")
def test_what_takes_too_long_is_answered(client: Any, cook: Any, processes: int) -> None:
    app = create_app(cook, limits=Limits(seconds=1, processes=processes))
    with client(app) as connected, ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(lambda _: connected.post("/api/explain", json={"sets": [["endless"]]}), range(2)))
        assert [each.status_code for each in answers] == [503, 503]
        # One was computed, the other waited.
        assert {each.json()["code"] for each in answers} == {"took_too_long", "busy"}
        assert connected.post("/api/predict", json=QUICK).status_code == 200


@pytest.mark.usefixtures("slow")
def test_a_process_that_dies_is_replaced(
    client: Any, cook: Any, processes: int, caplog: pytest.LogCaptureFixture
) -> None:
    if not processes:
        pytest.skip("Threads do not die alone.")
    with client(create_app(cook, limits=Limits(processes=processes))) as connected:
        seen = set()
        for _ in range(3):
            answer = connected.post("/api/explain", json={"sets": [["killed"]]})
            assert (answer.status_code, answer.json()["code"]) == (500, "internal_error")
            for _ in range(2):
                seen.add(connected.post("/api/explain", json=SLOW).json()["sets"][0])
                assert connected.post("/api/predict", json=QUICK).status_code == 200
        assert len(seen) > 1
        assert os.getpid() not in seen
    failures = [each.request["failure"] for each in caplog.records if each.levelno >= logging.ERROR]
    assert failures == ["a worker was ended by signal 9"] * 3


def is_there(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.usefixtures("slow")
def test_no_process_is_left(client: Any, cook: Any, processes: int) -> None:
    if not processes:
        pytest.skip("There are only threads.")
    with client(create_app(cook, limits=Limits(processes=processes))) as connected:
        worker = connected.post("/api/explain", json=SLOW).json()["sets"][0]
        assert is_there(worker)
    for _ in range(1000):
        if not is_there(worker):
            break
        time.sleep(0.01)
    assert not is_there(worker)


def test_bodies_of_all_requests_are_bounded(client: Any, cook: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from clearset.serve import _uploads

    body = json.dumps(QUICK).encode()
    monkeypatch.setattr(_uploads, "_MOST_AT_ONCE", 0)
    connected = client(create_app(cook))
    answer = connected.post("/api/predict", content=body, headers={"content-type": "application/json"})
    assert (answer.status_code, answer.json()["code"], answer.headers["retry-after"]) == (503, "busy", "1")
    monkeypatch.undo()
    for _ in range(30):
        assert connected.post("/api/predict", json=QUICK).status_code == 200


@pytest.mark.parametrize("name", ["body", "sets", "tokens", "rows", "waiting", "seconds"])
@pytest.mark.parametrize("value", [0, -1, 1.5, True, "3", None])
def test_what_is_no_limit(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"The limit '{name}' must be a whole number from 1 on; received"):
        Limits(**{name: value})
