"""The report on screens of all sizes, with names and numbers of all lengths."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import clearset as cs
from clearset.display import render_report
from clearset.display._bundle import read_modules
from clearset.display._report_page import STYLES, TEMPLATES
from clearset.models import report_document

from ..random_models import HOSTILE
from .conftest import EXPLORER

QUICK: dict[str, Any] = {"epochs": 2, "random_state": 0, "n_jobs": 1}
LONG = ("an_unusually_long_name_that_has_no_space_in_it_" * 3, "W" * 60, "words " * 30, *HOSTILE)


CUT = """[...document.querySelectorAll("#try .scroll, .tokens, .token, .line")]
    .filter((box) => box.scrollWidth > box.clientWidth + 1).map((box) => box.outerHTML.slice(0, 300))"""
"""The boxes of tokens that hide a part of what is in them."""


def of_sets(scale: float = 1.0) -> tuple[Any, pa.Table, Any]:
    """Give a model with long names, of sets, and what it was fitted to."""
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 4, 40)
    numbers = {name: [(scale * rng.normal(size=size)).tolist() for size in sizes] for name in LONG[:4]}
    X = pa.table({**numbers, "kind": [rng.choice([*LONG, ""], size).tolist() for size in sizes]})
    features = [*LONG[:4], cs.Feature("kind", kind="categorical")]
    return cs.SetClassifier(features, **QUICK), X, rng.choice(LONG, 40)


def of_items() -> tuple[Any, Any, Any]:
    """Give a model with long names, of items, and what it was fitted to."""
    rng = np.random.default_rng(0)
    X = [rng.choice([*LONG, ""], 4).tolist() for _ in range(80)]
    return cs.SemanticClassifier(cs.Subsets(2), refine=False, cover=True, **QUICK), X, rng.choice(LONG, 80)


def of_texts() -> tuple[Any, Any, Any]:
    """Give a model of texts with long words, and what it was fitted to."""
    _, X, _ = of_items()
    y = 1e9 * np.random.default_rng(0).normal(size=80)
    return cs.SemanticRegressor(cs.NGrams(2), refine=False, **QUICK), [" ".join(row) for row in X], y


@pytest.mark.parametrize("make", [of_sets, of_items, of_texts])
def test_nothing_is_wider_than_a_small_screen(browser: Any, tmp_path: Path, make: Any) -> None:
    model, X, y = make()
    model.fit(X, y).report(tmp_path / "report.html", X, y)
    for width in (320, 390, 1200, 1400, 2000):
        context = browser.new_context(viewport={"width": width, "height": 700})
        page = context.new_page()
        page.goto((tmp_path / "report.html").as_uri())
        for details in page.locator("summary").all():
            details.click()
        assert page.evaluate("document.scrollingElement.scrollWidth") <= width
        assert page.evaluate(CUT) == []
        context.close()


@pytest.mark.parametrize("scale", [1e-7, 123456.789, 2.5e8, 3e12])
def test_numbers_stay_in_their_boxes(page: Any, tmp_path: Path, scale: float) -> None:
    rng = np.random.default_rng(0)
    X = pa.table({"x": [(scale * rng.normal(4, 1, 3)).tolist() for _ in range(60)]})
    y = scale * rng.normal(4.0, 0.01, 60)
    model = cs.SetRegressor(["x"], **(QUICK | {"epochs": 20})).fit(X, y)
    model.report(tmp_path / "report.html", X, y)
    page.goto((tmp_path / "report.html").as_uri())
    clipped = "(box) => box.scrollWidth > box.clientWidth"
    for box in page.locator("input[type=number]").all():
        assert not box.evaluate(clipped)
    outside = """(card) => {
        const { left, right } = card.getBoundingClientRect();
        const parts = [...card.querySelectorAll("text, .figure, .note")].map((part) => part.getBoundingClientRect());
        return parts.filter((part) => part.left < left || part.right > right).length;
    }"""
    for card in page.locator(".card, .tile, .panel").all():
        assert card.evaluate(outside) == 0
        assert not card.evaluate(clipped)
    for chart in page.locator(".chart").all():
        for side in (".tick.end", ".tick.middle"):
            texts = chart.locator(side).all_text_contents()
            assert len(set(texts)) == len(texts) > 0, texts


def test_ticks_of_a_loss_that_hardly_moves(page: Any) -> None:
    model = cs.SetRegressor(**QUICK).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 4.0])
    document = report_document(model)
    document["history"] = [{"epoch": i + 1, "loss": 0.6931 + 1e-5 * i} for i in range(3)]
    page.set_content(render_report(document))
    chart = page.locator("#training .chart")
    heights = chart.locator(".tick.end").all_text_contents()
    assert len(set(heights)) == len(heights) >= 3
    assert all(0.6930 < float(text) < 0.6933 for text in heights)
    assert chart.locator(".tick.middle").all_text_contents() == ["1", "2", "3"]


def test_nothing_is_shown_as_empty(page: Any, tmp_path: Path) -> None:
    X = pa.table({"store": [["", "market"], ["online", " "], [""]] * 10})
    y = ["", "b", ""] * 10
    model: Any = cs.SetClassifier([cs.Feature("store", kind="categorical")], **QUICK).fit(X, y)
    model.report(tmp_path / "report.html", X.slice(0, 1), y[:1])
    page.goto((tmp_path / "report.html").as_uri())
    assert sorted(page.locator("#features .category .empty").all_inner_texts()) == ["(blank)", "(empty)"]
    assert "(empty)" in page.locator(".field option").all_inner_texts()
    assert page.locator(".summary .empty").first.inner_text() == "(empty)"
    assert page.locator(".class .empty").inner_text() == "(empty)"
    items = [["", "a"], ["b"]] * 20
    model = cs.SemanticRegressor(cs.Items(), refine=False, **QUICK).fit(items, [1.0, 0.0] * 20)
    model.report(tmp_path / "report.html", items[:1])
    page.goto((tmp_path / "report.html").as_uri())
    assert page.locator(".chip .empty").inner_text() == "(empty)"
    assert page.locator(".found .item .empty").inner_text() == "(empty)"
    assert "(empty) · a" in page.locator("#example option").first.inner_text()


def test_as_many_promises_as_rows(page: Any, tmp_path: Path) -> None:
    X = [[0.0, 1.0], [1.0, 0.0], [2.0, 3.0]]
    features = [cs.Feature("x0", monotonic="increasing"), "x1"]
    model = cs.SetRegressor(features, **QUICK).fit(X, [0.0, 1.0, 4.0])
    document = report_document(model)
    page.set_content(render_report(document))
    rows = page.locator("#promises tbody tr").count()
    assert rows < len(document["certificate"])
    assert page.locator("#promises .lead").inner_text().startswith(f"All {rows} promises hold.")
    document["certificate"][0]["holds"] = False
    page.goto("about:blank")
    page.set_content(render_report(document))
    assert page.locator("#promises .lead").inner_text().startswith(f"1 of {rows} promises FAILS.")
    assert page.locator("#promises .no").count() == 1


def test_lines_of_templates_are_short_and_files_small() -> None:
    scripts = read_modules(EXPLORER).keys()
    others = {TEMPLATES / name for name in (*STYLES, "report.html")}
    assert {*scripts, *others} == {*TEMPLATES.iterdir(), *EXPLORER.parent.iterdir()}
    for file in (*scripts, *others):
        lines = file.read_text(encoding="utf-8").splitlines()
        assert max(map(len, lines)) <= 120, file
        assert len(lines) <= 260, file
