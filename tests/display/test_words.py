"""What the report says in words fits the model it shows."""

from dataclasses import replace
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


def ways(page: Any, selector: str) -> list[str]:
    """Return what is written of additions, base rate and prediction."""
    return [text.strip() for text in page.locator(f"{selector} [data-value]").all_inner_texts()]


def test_a_set_says_what_each_token_is_worth(page: Any) -> None:
    rng = np.random.default_rng(1)
    lists = [rng.normal(size=size).tolist() for size in rng.integers(2, 6, 60)]
    rows = pa.table({"x": lists, "price": rng.uniform(size=60)})
    for width in (1, 3):
        kind: Any = cs.SetRegressor if width == 1 else cs.SetClassifier
        target = [sum(row) for row in lists] if width == 1 else rng.choice(["a", "b", "c"], 60)
        model = kind(["x", "price", cs.SIZE], width, **QUICK).fit(rows, target)
        opened(page, model, rows.slice(0, 1))
        explained = model.explain(rows.slice(0, 1))
        tokens, of_set = explained.tokens, explained.of_sets
        assert cells(page, ".token .left") == pytest.approx(tokens["without"].to_pylist(), abs=1e-5)
        added = [*tokens["contribution"].to_pylist(), *of_set["contribution"].to_pylist()]
        found = [explained.base[0], *added, explained.prediction[0]]
        assert cells(page, ".tokens .adds") == pytest.approx(found, rel=1e-5, abs=1e-7)
        assert sum(found[:-1]) == pytest.approx(found[-1])
        assert [text.endswith(" pp") for text in ways(page, ".tokens .adds")[1:-1]] == [width == 3] * len(added)
        names = page.locator(".line .value").all_inner_texts()
        assert names[0] == "base rate"
        assert names[-1] == "prediction"
        assert names[1].startswith("price ")
        assert names[2] == f"number of tokens {len(tokens)}"
        assert names[3:-1] == []
        if width == 1:
            scores = page.locator(".token .score").all_inner_texts()
            numbers = [float(text.replace("\N{MINUS SIGN}", "-")) for text in scores]
            assert numbers == pytest.approx(tokens["score"].to_pylist(), abs=6e-4)
            average = float(page.locator("#average").get_attribute("data-value"))
            assert average == pytest.approx(explained.aggregate[0, 0], abs=1e-7)
        else:
            assert page.locator(".averages .number").count() == width
        while page.locator(".token").count() > 1:
            page.get_by_role("button", name="Remove token").click()
        assert cells(page, ".token .left") == []
        assert "Without it" not in page.locator(".note.columns").inner_text()


def test_items_say_the_same_as_sets_do(page: Any) -> None:
    rng = np.random.default_rng(0)
    rows = [rng.choice(list("abcdef"), 4, replace=False).tolist() for _ in range(120)]
    options: dict[str, Any] = {"features": ["log_odds", "items"], "refine": False, **QUICK}
    model = cs.SemanticClassifier(cs.Items(), **options).fit(rows, rng.choice(["u", "v", "w"], 120))
    opened(page, model, rows[:1])
    page.locator("button.class", has_text="w").click()
    heads = page.locator(".found th").all_inner_texts()
    assert heads[-3:] == ["score", "adds", "without it"]
    explained = model.explain(rows[:1], label="w")
    expected = {row["token"][0]: (row["contribution"], row["without"]) for row in explained.tokens.to_pylist()}
    names = page.locator(".found .item").all_inner_texts()
    assert names == sorted(expected, key=lambda name: -abs(expected[name][0]))
    shown = cells(page, ".found tr.token td")
    assert shown == pytest.approx([value for name in names for value in expected[name]], rel=1e-5, abs=1e-7)
    whole = [explained.base[0], *explained.of_sets["contribution"].to_pylist(), explained.prediction[0]]
    assert cells(page, ".found tr.line td") == pytest.approx(whole, rel=1e-5, abs=1e-7)
    first = [name.strip() for name in page.locator(".found tr.line td:first-child").all_inner_texts()]
    assert first == ["base rate", "number of items 4", "prediction"]
    assert "the probability of w if this token were not there" in page.locator(".note.columns").inner_text()


def test_words_of_a_text_are_read_as_text_and_items_as_a_combination(page: Any) -> None:
    rows = [["tv", "shows", "now"], ["old", "shows", "tv"]] * 30
    y = [1.0, 2.0] * 30
    options: dict[str, Any] = {"cover": True, "refine": False, **QUICK}
    opened(page, cs.SemanticRegressor(cs.NGrams(2), **options).fit([" ".join(row) for row in rows], y), ["tv shows"])
    assert page.locator(".found .item").all_inner_texts() == ["tv shows"]
    opened(page, cs.SemanticRegressor(cs.Subsets(2), **options).fit(rows, y), [["tv", "shows"]])
    assert page.locator(".found .item").all_inner_texts() == ["shows + tv"]


def with_support(model: Any, **changes: Any) -> Any:
    model = model.as_model()
    function = replace(model.function, support=replace(model.support, **changes))
    return replace(model, function=function)


def test_why_adding_and_leaving_out_may_differ(page: Any) -> None:
    table = pa.table({"x": X[:, :1].tolist()})
    model = cs.SetRegressor(["x"], **(QUICK | {"epochs": 30})).fit(table, X[:, 0]).as_model()
    # Both tokens are above the base, so that both add to the prediction, but without the lower one it is higher.
    changed = with_support(model, base=model.support.base - 0.4)
    opened(page, changed, pa.table({"x": [[0.0, 1.5]]}))
    assert "changes the mean of the others" in page.locator(".note.columns").inner_text()
    opened(page, changed, pa.table({"x": [[0.0, 0.0]]}))
    assert "changes the mean of the others" not in page.locator(".note.columns").inner_text()


def test_where_the_model_goes_beyond_its_data(page: Any) -> None:
    table = pa.table({"x": [[1.0, 2.0], [3.0], [2.0, 4.0]] * 20, "shop": [["a", "b"], ["a"], ["b", "b"]] * 20})
    features = ["x", cs.Feature("shop", kind="categorical")]
    model = with_support(cs.SetRegressor(features, **QUICK).fit(table, [1.0, 2.0, 3.0] * 20), tokens=2)

    def said(x: list[float], shop: list[str]) -> list[str]:
        kinds = {"x": pa.array([x], pa.list_(pa.float64())), "shop": pa.array([shop], pa.list_(pa.string()))}
        opened(page, model, pa.table(kinds))
        return page.locator(".cautions li").all_inner_texts()

    assert said([1.0, 2.0], ["a", "b"]) == []
    assert said([1.0], ["a"]) == ["1 token; most training sets had 2 and more: drawn to the base rate"]
    assert said([9.0, 2.0], ["a", "b"]) == ["x (9) is outside 1 to 4: the nearest of these counts"]
    assert said([9.0, 0.5], ["a", "new"]) == [
        "x is outside 1 to 4 in 2 tokens: the nearest of these counts",
        "shop is a category that training did not have: it counts as missing",
    ]
    assert "shop unknown" in page.locator(".token").last.inner_text()
    assert said([], [])[0].startswith("No token: ")
    words = cs.SemanticRegressor(cs.Items(), refine=False, **QUICK).fit([["a", "b"], ["b"]] * 30, [1.0, 2.0] * 30)
    opened(page, words, [["c"]])
    assert page.locator(".cautions li").all_inner_texts()[0].startswith("No known token: ")
    assert said([1.0, 2.0], ["a", "b"]) == []


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
    bars = page.locator(".found .bar" if semantic else ".tokens .bar")
    widths = bars.evaluate_all("(bars) => bars.map((bar) => parseFloat(bar.style.width))")
    assert max(widths) == pytest.approx(50)
    assert "full half" in page.locator("#try .scores").first.get_attribute("title")


def same_ticks(page: Any) -> None:
    ticks = [chart.locator(".tick.end").all_text_contents() for chart in page.locator("#features .chart").all()]
    assert ticks[0] == ticks[1] != []


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
    assert "0 is the base rate" in lead.inner_text()
    assert page.locator("#features .moves").count() == 0
    same_ticks(page)
    page.get_by_role("button", name="Effect on this prediction").click()
    assert "0 is the base rate" not in lead.inner_text()
    assert "the same axis" in lead.inner_text()
    page.emulate_media(media="print")
    assert lead.is_visible()
    same_ticks(page)
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
    page.get_by_role("button", name="Calibration").click()
    assert "curve from 0 to 1" in lead.inner_text()


def test_a_feature_that_lowers_falls(page: Any) -> None:
    rng = np.random.default_rng(0)
    price, shops = rng.uniform(1.0, 9.0, 300), rng.choice(["cheap", "dear", "fair"], 300)
    table = pa.table({"price": price[:, None].tolist(), "shop": shops[:, None].tolist()})
    y = 100.0 - 8.0 * price + np.array([{"cheap": 30.0, "fair": 0.0, "dear": -30.0}[shop] for shop in shops])
    features = [cs.Feature("price", monotonic="decreasing"), cs.Feature("shop", kind="categorical")]
    model = cs.SetRegressor(features, **(QUICK | {"epochs": 60})).fit(table, y)
    opened(page, model)
    chart = page.locator("#features .chart").first
    lines = chart.locator(".curve").evaluate_all("(all) => all.map((one) => one.getAttribute('d'))")
    heights = [float(point.split(",")[1]) for line in lines for point in line[1:].split("L")]
    assert heights == sorted(heights)  # from the top of the chart down
    assert len(lines) == 2
    assert "below" in chart.locator(".curve").last.get_attribute("class")
    assert "below" not in chart.locator(".curve").first.get_attribute("class")
    assert chart.locator(".histogram rect").count() > 3  # of training, as there are no data
    rows = page.locator("#features .category")
    assert [row.split()[0] for row in rows.all_inner_texts()] == ["cheap", "fair", "dear"]
    assert rows.first.locator(".bar.below").count() == 0
    assert rows.last.locator(".bar.below").count() == 1


def test_what_few_training_sets_show_is_drawn_lighter(page: Any) -> None:
    features = ["x", cs.Feature("shop", kind="categorical")]
    shops = [["a"] if row else ["b"] for row in range(900)]
    table = pa.table({"x": [[row % 4 * 1.0] if row else [9.0] for row in range(900)], "shop": shops})
    model = cs.SetRegressor(features, **QUICK).fit(table, np.arange(900.0) % 4)
    opened(page, model)
    chart = page.locator("#features .chart").first
    thin = chart.locator(".curve.thin")
    assert thin.count() >= 1
    starts = thin.evaluate_all("(all) => all.map((one) => one.getBBox().x)")
    ticks = chart.locator(".tick.middle", has_text="2").first.get_attribute("x")
    assert min(starts) > float(ticks)  # 3 is the last that is supported
    notes = page.locator("#features .feature > .note").all_inner_texts()
    assert notes[0].endswith("dashed: fewer than 18 training sets have it")
    assert notes[1].endswith("pale: fewer than 18 training sets have it")
    assert page.locator("#features .category.thin").inner_text().startswith("b")


def test_what_matters_overall(page: Any) -> None:
    rows = [["a", "b"], ["b", "c"]] * 30
    model = cs.SemanticRegressor(cs.Subsets(2), refine=False, **QUICK).fit(rows, [1.0, 2.0] * 30)
    document = report_document(model) | {"importance": None}
    page.set_content(render_report(document))
    assert page.locator("#importance").count() == 0
    document["importance"] = {
        "features": [{"name": "mean_label", "contribution": 0.4}],
        "tokens": [
            {"token": ["a", "b"], "contribution": 0.2, "sets": 30},
            {"token": ["c"], "contribution": -0.1, "sets": 1},
        ],
        "unit": "euros",
        "n_sets": 60,
    }
    page.goto("about:blank")
    page.set_content(render_report(document))
    assert "over 60 sets, in euros" in page.locator("#importance .lead").inner_text()
    assert page.locator("#importance .item").all_inner_texts() == ["a + b", "c"]
    assert cells(page, "#importance") == [0.4, 0.2, -0.1]
    assert page.locator("#importance .bar.below").count() == 1


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
