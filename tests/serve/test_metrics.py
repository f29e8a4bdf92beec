"""Metrics in Prometheus's text format."""

import re
from typing import Any

import pytest

from clearset.serve import Access, create_app
from clearset.serve._metrics import Metrics

LABELS = r'(?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\["\\n])*",?)*'
SAMPLE = re.compile(rf"(?P<name>[a-zA-Z_:][\w:]*)(?:{{(?P<labels>{LABELS})}})? (?P<value>\S+)")


def read(text: str) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    """Read the text format as its definition says: types come first, names stand together, samples are unique."""
    found: dict[tuple[str, frozenset[tuple[str, str]]], float] = {}
    typed: list[str] = []
    assert text.endswith("\n")
    for line in text.splitlines():
        if line.startswith("#"):
            _, kind, name, said = line.split(" ", 3)
            if kind == "TYPE":
                assert said in ("counter", "gauge", "histogram")
                assert name not in typed
                typed.append(name)
            continue
        sample = SAMPLE.fullmatch(line)
        assert sample, line
        base = re.sub("_(bucket|sum|count)$", "", sample["name"])
        assert typed[-1] in (sample["name"], base)
        labels = frozenset(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', sample["labels"] or ""))
        assert (sample["name"], labels) not in found
        found[sample["name"], labels] = float(sample["value"])
    return found


def of(found: Any, name: str, **labels: str) -> float:
    return float(found[name, frozenset(labels.items())])


def test_what_is_counted(client: Any, cook: Any) -> None:
    connected = client(create_app(cook))
    sets = [["salt", "water"], ["grapefruit juice"], []]
    for _ in range(3):
        connected.post("/api/predict", json={"sets": sets})
    connected.post("/api/explain", json={"sets": sets[:1]})
    connected.post("/api/predict", json={"sets": 1})
    connected.get("/no/such/address")
    connected.get("/another")
    answer = connected.get("/metrics")
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    found = read(answer.text)
    assert of(found, "clearset_requests_total", route="/api/predict", status="200") == 3
    assert of(found, "clearset_requests_total", route="/api/predict", status="400") == 1
    assert of(found, "clearset_requests_total", route="other", status="404") == 2
    assert of(found, "clearset_errors_total", code="not_found") == 2
    assert of(found, "clearset_requests_in_flight") == 1
    assert of(found, "clearset_sets_total") == 10
    n_tokens = [cook.as_model().read([one]).n_tokens for one in sets]
    assert of(found, "clearset_tokens_total") == 3 * sum(n_tokens) + n_tokens[0]
    assert of(found, "clearset_request_seconds_count", route="/api/predict") == 4
    assert (
        read(connected.get("/metrics").text)[
            "clearset_requests_total", frozenset({("route", "/metrics"), ("status", "200")})
        ]
        == 1
    )


def test_times_fall_into_buckets() -> None:
    metrics = Metrics({"estimator": 'a "quoted" \\ name\nof two lines'})
    for seconds in (0.001, 0.005, 0.006, 0.3, 100.0):
        metrics.begin()
        metrics.end("/", 200, "", seconds)
    found = read(metrics.text(0, 2).decode())
    ends = {dict(labels)["le"]: n for (name, labels), n in found.items() if name.endswith("_bucket")}
    assert [ends[each] for each in ("0.005", "0.01", "0.25", "0.5", "30", "+Inf")] == [2, 3, 3, 4, 4, 5]
    assert list(ends.values()) == sorted(ends.values())
    assert of(found, "clearset_request_seconds_sum", route="/") == pytest.approx(100.312)
    assert of(found, "clearset_model_info", estimator='a \\"quoted\\" \\\\ name\\nof two lines') == 1


def test_they_need_the_key(client: Any, cook: Any) -> None:
    connected = client(create_app(cook, access=Access(key="a-key-of-the-tests")))
    assert connected.get("/metrics").status_code == 401
    assert connected.get("/metrics", headers={"authorization": "Bearer a-key-of-the-tests"}).status_code == 200
