"""Requests made from the server's own description, valid and invalid ones: every answer must be as described."""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from schemathesis.core.failures import Failure, FailureGroup
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

import clearset as cs
from benchmarks._results import write_table
from clearset.serve import Limits, create_app

HOST = {"Host": "localhost"}


@dataclass
class Found:
    """How many requests were made, how they were answered, and what was not as described."""

    statuses: Counter[int] = field(default_factory=Counter)
    faults: dict[str, str] = field(default_factory=dict)

    @property
    def cases(self) -> int:
        """The number of requests."""
        return self.statuses.total()


def fuzz(app: Any, examples: int, random_state: int = 0) -> Found:
    """Ask for every endpoint of an application, with so many valid and so many invalid requests each."""
    found = Found()
    schema = schemathesis.openapi.from_asgi("/openapi.json", app, headers=HOST)
    operations: list[Any] = [each.ok() for each in schema.get_all_operations()]  # type: ignore[union-attr]
    for operation in operations:
        described = operation.definition.raw
        takes = "parameters" in described or "requestBody" in described
        # Where nothing is taken, nothing can be wrong.
        for mode in GenerationMode if takes else [GenerationMode.POSITIVE]:
            _ask(operation, mode, examples, random_state, found)
    return found


def _ask(operation: Any, mode: GenerationMode, examples: int, random_state: int, found: Found) -> None:
    """Make requests of one kind to one endpoint."""

    @seed(random_state)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=[Phase.generate],  # faults are counted, not made smaller
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def ask(case: Any) -> None:
        check(case)
        if mode is GenerationMode.POSITIVE and isinstance(case.body, dict) and "sets" in case.body:
            case.body["sets"] = [_agreeing(one) for one in case.body["sets"]]
            check(case)

    def check(case: Any) -> None:
        response = case.call(headers=HOST)
        found.statuses[response.status_code] += 1
        try:
            # What a description cannot say, such as that lists are of one length, is refused with another status than
            # what breaks it.
            known = [positive_data_acceptance, *([negative_data_rejection] if response.status_code == 413 else [])]
            case.validate_response(response, excluded_checks=known)
            fits = mode is GenerationMode.NEGATIVE or response.status_code in (200, 413, 422)
            assert fits, f"status {response.status_code}: {response.text[:200]}"
        except (AssertionError, FailureGroup, Failure) as error:
            said = [str(each) for each in getattr(error, "exceptions", [error])]
            found.faults[f"{operation.label}, {mode.value}: {said[0].splitlines()[0]}"] = case.as_curl_command()

    ask()


def _agreeing(one: Any) -> Any:
    """Give all features of a set lists of one length, which a description cannot demand."""
    if not isinstance(one, dict):
        return one
    size = max((len(value) for value in one.values() if isinstance(value, list)), default=1)
    lists = {name: value if isinstance(value, list) else [value] for name, value in one.items()}
    return {name: (value + [None] * size)[:size] for name, value in lists.items()}


def models() -> Iterator[tuple[str, Any, Any]]:
    """Make models of every kind, each with its name and the options of its application."""
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 5, 100)
    X = pa.table(
        {
            "stars": [rng.integers(1, 6, size).astype(float).tolist() for size in sizes],
            "store": [rng.choice(["market", "online"], size).tolist() for size in sizes],
            "price": rng.gamma(2.0, 10.0, 100),
        }
    )
    y = np.array([np.mean(stars) for stars in X["stars"].to_pylist()])
    options: dict[str, Any] = {"epochs": 3, "random_state": 0, "n_jobs": 1}
    features = [cs.Feature("stars", monotonic="increasing"), cs.Feature("store", kind="categorical"), "price"]
    regressor = cs.SetRegressor(features, **options).fit(X, y)
    yield "sets, numbers", regressor, {"X": X, "y": y}
    yield "sets, two classes", cs.SetClassifier(features, **options).fit(X, y > 3), {}
    editor = regressor.model_.edit()
    editor.cap("price", high=30.0)
    editor.forbid("store")
    yield "sets, edited", editor.model, {}
    yield "sets, compared", regressor, {"X": X, "y": y, "other": ("before", editor.model)}
    words = [f"word {place}" for place in range(20)]
    items = [rng.choice(words, rng.integers(0, 6), replace=False).tolist() for _ in range(300)]
    label = np.array([0 if not row else 1 + int(row[0][-1]) % 2 for row in items])
    classes = np.array(["none", "odd", "even"])[label]
    several = cs.SemanticClassifier(cs.Subsets(2), [cs.MinCount(2)], refine=True, **options).fit(items, classes)
    yield "items, three classes", several, {"X": items, "y": classes}
    pairs = [(row[:2], row[2:]) for row in items]
    yield "pairs of items", cs.SemanticRegressor(cs.Cross(), **options).fit(pairs, label.astype(float)), {}
    texts = [" ".join(row) for row in items]
    yield "texts, an engine", cs.SemanticFeatureEngine(cs.NGrams(2), **options).fit(texts, label.astype(float)), {}


def main() -> None:
    """Fuzz an application of each kind of model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=200, help="requests of each kind to each endpoint")
    examples = parser.parse_args().examples
    faults: dict[str, str] = {}
    begun, rows = time.perf_counter(), []
    for name, model, options in models():
        found = fuzz(create_app(model, limits=Limits(seconds=120), **options), examples)
        faults |= {f"{name}: {fault}": command for fault, command in found.faults.items()}
        answered = ", ".join(f"{status}: {n:,}" for status, n in sorted(found.statuses.items()))
        rows.append(
            (
                name,
                f"{found.cases:,}",
                answered,
                sum(n for s, n in found.statuses.items() if s >= 500),
                len(found.faults),
            )
        )
        print(*rows[-1], sep=" | ", flush=True)
    for fault, command in faults.items():
        print(fault, command[:500], sep="\n  ")
    write_table(
        "api_fuzz",
        "Requests made from the server's own description",
        f"Up to {examples} valid and {examples} invalid requests to every endpoint, made by schemathesis "
        f"{schemathesis.__version__} from /openapi.json.\nEvery answer must be as described there, status and headers "
        "too; valid requests must get 200, or 413 (too much) or 422 (parts that do not fit each other);\ninvalid ones "
        f"must be refused. It took {time.perf_counter() - begun:.0f} s.",
        ("model", "requests", "answers", "5xx", "kinds of faults"),
        rows,
    )
    if faults:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
