"""What the report says in words fits the model it shows."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import clearset as cs
from clearset.explain import render_report, report_document

from .random_models import HOSTILE, Neighbours

QUICK: dict[str, Any] = {"epochs": 2, "random_state": 0, "n_jobs": 1}
X = np.random.default_rng(0).normal(size=(60, 2))


def opened(page: Any, model: Any, *data: Any, **options: Any) -> Any:
    page.goto("about:blank")
    page.set_content(render_report(report_document(model, *data, **options)))
    return page


@pytest.mark.parametrize(
    ("labels", "loss", "unit"),
    [
        ([False, True], "log_loss", "log-odds of True"),
        ([False, True], "hinge", "margin of True"),
        (["a", "b", "c"], "log_loss", "output"),
        (["a", "b", "c"], "hinge", "margin of c"),
    ],
)
def test_the_output_is_called_what_it_is(page: Any, labels: list[Any], loss: str, unit: str) -> None:
    model = cs.SetClassifier(loss=loss, **QUICK).fit(X, np.resize(labels, 60))
    opened(page, model, X[:3])
    if len(labels) > 2:
        page.locator("button.class", has_text="c").click()
    assert page.locator(".averaged .chart text").last.text_content() == unit
    assert f"the {unit} that follows" in page.locator(".averaged .note").inner_text()
    assert ("log-odds" in page.locator("main").inner_text()) == unit.startswith("log-odds")


def test_a_title_of_ones_own(page: Any) -> None:
    model = cs.SetRegressor(**QUICK).fit(X, X[:, 0])
    opened(page, model)
    assert page.locator("h1").inner_text() == "SetRegressor"
    assert page.locator(".facts li", has_text="SetRegressor").count() == 0
    for title in ("House prices", HOSTILE[1]):
        opened(page, model, title=title)
        assert page.title() == f"{title} · clearset report"
        assert page.locator("h1").inner_text() == title
        assert page.locator(".facts li").first.inner_text() == "SetRegressor"


def cells(page: Any, selector: str) -> list[float]:
    found = [cell.get_attribute("data-value") for cell in page.locator(f"{selector} [data-value]").all()]
    return [float(value) for value in found]


def test_a_set_says_what_each_token_is_worth(page: Any) -> None:
    rng = np.random.default_rng(1)
    rows = pa.table({"x": [rng.normal(size=size).tolist() for size in rng.integers(2, 6, 60)]})
    for width, y in ((1, rows["x"].to_pylist()), (4, rng.choice(["a", "b", "c"], 60))):
        kind: Any = cs.SetRegressor if width == 1 else cs.SetClassifier
        target = [sum(row) for row in y] if width == 1 else y
        model = kind(["x", cs.SIZE], width, **QUICK).fit(rows, target)
        opened(page, model, rows.slice(0, 1))
        tokens = model.explain(rows.slice(0, 1)).tokens
        assert cells(page, ".token .left") == pytest.approx(tokens["without"].to_pylist(), abs=1e-5)
        parts = [float(text.replace("−", "-")) for text in page.locator(".token .part").all_inner_texts()]
        assert len(parts) == (len(tokens) if width == 1 else 0)
        if width == 1:
            assert parts == pytest.approx(tokens["contribution"].to_pylist(), abs=2e-3)
            average = float(page.locator("#average").get_attribute("data-value"))
            assert sum(parts) == pytest.approx(average, abs=1e-2)
        else:
            assert page.locator(".averages .number").count() == width
        while page.locator(".token").count() > 1:
            page.get_by_role("button", name="Remove token").click()
        assert cells(page, ".token .left") == []
        assert "Without it" not in page.locator(".note.columns").inner_text()


def test_items_say_the_same_as_sets_do(page: Any) -> None:
    rng = np.random.default_rng(0)
    rows = [rng.choice(list("abcdef"), 4, replace=False).tolist() for _ in range(120)]
    model = cs.SemanticClassifier(cs.Items(), refine=False, **QUICK).fit(
        rows, rng.choice(["u", "v", "w"], 120)
    )
    opened(page, model, rows[:1])
    page.locator("button.class", has_text="w").click()
    heads = page.locator(".found th").all_inner_texts()
    assert heads[-3:] == ["score", "part of average", "without it"]
    explained = model.explain(rows[:1], label="w").tokens
    expected = {row["token"][0]: row["without"] for row in explained.to_pylist()}
    shown = dict(zip(page.locator(".found .item").all_inner_texts(), cells(page, ".found td"), strict=True))
    assert shown == pytest.approx(expected, abs=1e-5)
    assert "the probability of w if this token were not there" in page.locator(".note.columns").inner_text()


@pytest.mark.parametrize("semantic", [False, True])
def test_the_longest_bar_fills_its_half(page: Any, semantic: bool) -> None:
    rows = [["a", "b"], ["b", "c"], ["a", "c"]] * 20
    numbers = pa.table({"x": [[0.1, 0.2], [0.3, 0.1], [0.2, 0.3]] * 20})
    model: Any = (
        cs.SemanticRegressor(cs.Items(), refine=False, **QUICK).fit(rows, [1.0, 2.0, 3.0] * 20)
        if semantic
        else cs.SetRegressor(**QUICK).fit(numbers, [1.0, 2.0, 3.0] * 20)
    )
    opened(page, model, rows[:1] if semantic else numbers.slice(0, 1))
    bars = page.locator(".found .bar" if semantic else ".token .bar")
    widths = bars.evaluate_all("(bars) => bars.map((bar) => parseFloat(bar.style.width))")
    assert max(widths) == pytest.approx(50)
    assert "longest bar" in page.locator("#try .scores").first.get_attribute("title")
