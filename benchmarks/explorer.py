"""Speed of the explorer on a model of recipes: opening the page, a search over all tokens, a recipe typed in."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from starlette.testclient import TestClient

import clearset as cs
from benchmarks._browser import opened, served
from benchmarks._results import write_table
from clearset.datasets import Labelled, load_recipes
from clearset.serve import create_app

REPEATS = 20
RECIPE = ["sugar", "salt", "fennel bulb", "water", "lemon olive oil", "grapefruit juice"]


BUILT = "performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd"
SEARCHED = """(word) => new Promise((done) => {
  const results = document.getElementById("tokens");
  const box = document.getElementById("search");
  const before = results.textContent;
  const begun = performance.now();
  new MutationObserver((_, observer) => {
    if (results.textContent === before) return;
    observer.disconnect();
    requestAnimationFrame(() => setTimeout(() => done(performance.now() - begun)));
  }).observe(results, { childList: true, subtree: true });
  box.value = word;
  box.dispatchEvent(new Event("input"));
})"""
"""From a typed word to the frame that shows what was found."""


def summed_up(times: list[float]) -> tuple[str, str, str]:
    """Return the first time, and the median and the largest of the repeats after it."""
    first, *others = times
    return f"{first:.1f}", f"{statistics.median(others):.1f}", f"{max(others):.1f}"


def milliseconds(work: Callable[[], Any]) -> tuple[str, str, str]:
    """Sum up how long a request takes."""
    times = []
    for _ in range(REPEATS + 1):
        begun = time.perf_counter()
        assert work().status_code == 200
        times.append(1000 * (time.perf_counter() - begun))
    return summed_up(times)


def in_browser(app: Any) -> list[tuple[str, str, str, str]]:
    """Measure in Chromium: a page until it is built, and a search until its results are seen."""
    with served(app) as address, opened(address) as page:
        built = []
        for _ in range(REPEATS + 1):
            page.goto(address)
            built.append(page.evaluate(BUILT))
        page.wait_for_load_state("networkidle")
        words = ("salt", "olive oil garlic", "no such thing")
        searched = [page.evaluate(SEARCHED, words[turn % len(words)]) for turn in range(REPEATS + 1)]
    return [
        ("in a browser: the page, until it is built", *summed_up(built)),
        ("in a browser: a search, until its results are seen", *summed_up(searched)),
    ]


def recipes_model() -> tuple[cs.SemanticClassifier, Labelled]:
    """Return a model of ingredients as they are spelled, and recipes that it has not seen."""
    training, _, test = load_recipes(stem=False).split(random_state=0)
    model = cs.SemanticClassifier(cs.Subsets(3), [cs.MinCount(5)], cover=True, refine=False, epochs=5, random_state=0)
    return model.fit(*training), test


def main() -> None:
    """Measure requests, from the question to the whole answer, without a network between, and in a browser."""
    model, test = recipes_model()
    begun = time.perf_counter()
    app = create_app(model, *test)
    start = time.perf_counter() - begun
    client = TestClient(app, base_url="http://localhost")
    asked = {
        "search, no words, most telling": "/api/tokens?label=mexican",
        "search, one word": "/api/tokens?search=salt&label=mexican",
        "search, three words, most frequent": "/api/tokens?search=olive+oil+garlic&by=count&label=mexican",
        "search, nothing found": "/api/tokens?search=no+such+thing&label=mexican",
        "the page": "/",
    }
    rows = [(name, *milliseconds(partial(client.get, path))) for name, path in asked.items()]
    for name, path, body in (
        ("tokens of a typed recipe", "/api/known", {"items": RECIPE}),
        ("explanation of a recipe", "/api/explain", {"sets": [RECIPE]}),
    ):
        rows.append((name, *milliseconds(partial(client.post, path, json=body))))
    rows += in_browser(app)
    write_table(
        "explorer",
        "Speed of the explorer",
        f"Milliseconds a request, of {REPEATS} repeats, to a model of recipes with {len(model.token_table_):,} "
        f"tokens and 20 classes.\nThe server was ready after {start:.1f} s; its page has "
        f"{len(client.get('/').content) / 1e6:.1f} MB.",
        ("request", "first", "median", "largest"),
        rows,
    )


if __name__ == "__main__":
    main()
