"""Metrics in Prometheus's text format, which is simple enough to be written here."""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
"""Upper ends of the histogram's buckets."""


class Metrics:
    """Counts requests, and what was computed for them.

    Parameters
    ----------
    model : mapping of str to str
        What the model is, as labels of a metric that is always 1.
    """

    def __init__(self, model: Mapping[str, str]) -> None:
        self._model = model
        self._in_flight = self._sets = self._tokens = 0
        self._requests: Counter[tuple[str, int]] = Counter()
        self._refused: Counter[str] = Counter()
        self._buckets: dict[str, list[int]] = {}
        self._seconds: defaultdict[str, float] = defaultdict(float)

    def begin(self) -> None:
        """Count a request that has come."""
        self._in_flight += 1

    def end(self, route: str, status: int, code: str, seconds: float) -> None:
        """Count a request that was answered; `code` is that of its error, if any."""
        self._in_flight -= 1
        self._requests[route, status] += 1
        if code:
            self._refused[code] += 1
        buckets = self._buckets.setdefault(route, [0] * (len(_SECONDS) + 1))
        buckets[bisect_left(_SECONDS, seconds)] += 1
        self._seconds[route] += seconds

    def computed(self, sets: int, tokens: int) -> None:
        """Count sets and tokens that were predicted or explained."""
        self._sets += sets
        self._tokens += tokens

    def text(self, waiting: int, workers: int) -> bytes:
        """Return all metrics; how many requests wait, and how many are computed at a time, is known elsewhere."""
        lines = [
            *_metric("clearset_model_info", "gauge", "The model that is served.", [(self._model, 1)]),
            *_metric(
                "clearset_requests_total",
                "counter",
                "Requests that were answered.",
                [({"route": r, "status": str(status)}, n) for (r, status), n in sorted(self._requests.items())],
            ),
            *_metric(
                "clearset_errors_total",
                "counter",
                "Requests that were refused or failed, by the code of the error.",
                [({"code": code}, n) for code, n in sorted(self._refused.items())],
            ),
            *_metric("clearset_requests_in_flight", "gauge", "Requests in progress.", [({}, self._in_flight)]),
            *_metric("clearset_requests_waiting", "gauge", "Requests that wait for a worker.", [({}, waiting)]),
            *_metric("clearset_workers", "gauge", "Requests that are computed at a time.", [({}, workers)]),
            *_metric("clearset_sets_total", "counter", "Sets predicted or explained.", [({}, self._sets)]),
            *_metric("clearset_tokens_total", "counter", "Tokens of these sets.", [({}, self._tokens)]),
            *self._histogram("clearset_request_seconds"),
        ]
        return ("\n".join(lines) + "\n").encode()

    def _histogram(self, name: str) -> Iterable[str]:
        yield from _metric(name, "histogram", "Seconds until requests were answered.", [])
        for route, buckets in sorted(self._buckets.items()):
            below = 0
            for end, n in zip((*map(str, _SECONDS), "+Inf"), buckets, strict=True):
                below += n
                yield _sample(f"{name}_bucket", {"route": route, "le": end}, below)
            yield _sample(f"{name}_sum", {"route": route}, self._seconds[route])
            yield _sample(f"{name}_count", {"route": route}, below)


def _metric(name: str, kind: str, said: str, samples: Iterable[tuple[Mapping[str, str], float]]) -> Iterable[str]:
    yield f"# HELP {name} {said}"
    yield f"# TYPE {name} {kind}"
    for labels, value in samples:
        yield _sample(name, labels, value)


def _sample(name: str, labels: Mapping[str, str], value: float) -> str:
    inside = ",".join(f'{label}="{_escaped(text)}"' for label, text in labels.items())
    return f"{name}{{{inside}}} {value}" if inside else f"{name} {value}"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
