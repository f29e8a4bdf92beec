"""What the report says in words fits the model it shows."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import clearset as cs
from clearset.display import render_report
from clearset.models import report_document

from ..random_models import HOSTILE, Neighbours

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
        parts = [float(text.replace("\N{MINUS SIGN}", "-")) for text in page.locator(".token .part").all_inner_texts()]
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
    model = cs.SemanticClassifier(cs.Items(), refine=False, **QUICK).fit(rows, rng.choice(["u", "v", "w"], 120))
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


def test_effects_share_one_axis_and_say_how_far_they_go(page: Any) -> None:
    rng = np.random.default_rng(0)
    table = pa.table(
        {
            "strong": rng.uniform(0.0, 1.0, (200, 1)).tolist(),
            "weak": rng.uniform(0.0, 1.0, (200, 1)).tolist(),
            "store": rng.choice(["market", "online"], (200, 1)).tolist(),
        }
    )
    y = 300.0 * np.array(table["strong"].to_pylist())[:, 0]
    features = ["strong", "weak", cs.Feature("store", kind="categorical")]
    model = cs.SetRegressor(features, **(QUICK | {"epochs": 30})).fit(table, y)
    opened(page, model, table.slice(0, 1))
    lead = page.locator("#features .lead")
    assert "curve from 0 to 1" in lead.inner_text()
    assert page.locator("#features .moves").count() == 0
    page.get_by_role("button", name="Effect on this prediction").click()
    assert "curve from 0 to 1" not in lead.inner_text()
    assert "the same axis" in lead.inner_text()
    page.emulate_media(media="print")
    assert lead.is_visible()
    ticks = [chart.locator(".tick.end").all_text_contents() for chart in page.locator("#features .chart").all()]
    assert ticks[0] == ticks[1]
    values = {name: table[name][0].as_py() for name in features[:2]} | {"store": table["store"][0].as_py()}
    reached = [
        float(model.predict(pa.table({name: [v] for name, v in (values | {"strong": [at]}).items()}))[0])
        for at in model.binning_.keypoints[0]
    ]
    moves = page.locator("#features .moves").first
    shown = [float(text) for text in moves.locator("strong").all_inner_texts()]
    assert shown == pytest.approx([min(reached), max(reached)], abs=0.5)
    assert "moves it from" in moves.inner_text()
    assert page.locator("#features .moves").count() == 3
    page.emulate_media(media="screen")
    page.get_by_role("button", name="How it is read").click()
    assert "curve from 0 to 1" in lead.inner_text()


@pytest.mark.parametrize("change", ["slider", "Remove token", "Copy token", "Add token"])
def test_a_set_that_is_changed_is_no_longer_the_example(page: Any, change: str) -> None:
    model = cs.SetRegressor(**QUICK).fit(X, X[:, 0])
    opened(page, model, X[:3], X[:3, 0])
    assert "label of this example" in page.locator(".panel").inner_text()
    if change == "slider":
        page.locator("input[type=range]").first.focus()
        page.keyboard.press("End")
    else:
        page.get_by_role("button", name=change).click()
    assert page.locator("#example option:checked").inner_text() == "My own example"
    assert "label of this example" not in page.locator(".panel").inner_text()
    page.locator("#example").select_option("0")
    assert "label of this example" in page.locator(".panel").inner_text()


def test_a_cleared_number_comes_back(page: Any) -> None:
    opened(page, cs.SetRegressor(**QUICK).fit(X, X[:, 0]), X[:3])
    box = page.locator(".token.open input[type=number]").first
    before = box.input_value()
    box.fill("")
    assert box.input_value() == ""
    box.blur()
    assert box.input_value() == before


def test_what_figures_and_examples_stand_for(page: Any) -> None:
    opened(page, cs.SetRegressor(**QUICK).fit(X, X[:, 0]), X, X[:, 0])
    assert "has not seen" in page.locator("#quality .lead").inner_text()
    assert "50 of 60 examples, chosen at random" in page.locator("#try .toolbar").inner_text()
    opened(page, cs.SetRegressor(**QUICK).fit(X, X[:, 0]), X[:50])
    assert "at random" not in page.locator("#try .toolbar").inner_text()
    rows = [["a", "b"], ["b", "c"]] * 30
    opened(page, cs.SemanticRegressor(cs.Items(), refine=False, **QUICK).fit(rows, [1.0, 2.0] * 30), rows)
    assert "50 of 60 examples, chosen at random" in page.locator("#try .toolbar").inner_text()
    assert "all of it is on this page" in page.locator("header .lead").inner_text()


def test_a_tokenizer_of_ones_own_is_not_on_the_page(page: Any) -> None:
    rows = [["a", "b"], ["b", "c"]] * 30
    options: dict[str, Any] = {"cover": True, "refine": False, **QUICK}
    opened(page, cs.SemanticRegressor(Neighbours(), **options).fit(rows, [1.0, 2.0] * 30), rows[:2])
    assert "all of it is on this page" not in page.locator("header .lead").inner_text()
    assert "this page does not have" in page.locator("#try .lead").inner_text()
    assert page.locator("#items").get_attribute("placeholder") == "Type a token as the tokenizer makes it"


def test_lists_of_categories_are_whole_in_print(page: Any) -> None:
    names = [[f"shop {i}"] for i in range(40)]
    model: Any = cs.SetRegressor([cs.Feature("shop", kind="categorical")], **QUICK)
    opened(page, model.fit(pa.table({"shop": names * 3}), np.arange(120.0)))
    clipped = "(list) => list.scrollHeight > list.clientHeight + 1"
    assert page.locator(".categories").evaluate(clipped)
    page.emulate_media(media="print")
    assert not page.locator(".categories").evaluate(clipped)
