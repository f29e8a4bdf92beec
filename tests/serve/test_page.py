"""The explorer in a real browser, from a real server."""

from typing import Any

import numpy as np
import pytest

import clearset as cs
from clearset.serve import Access

RECIPE = ["sugar", "salt", "fennel bulb", "water", "lemon olive oil", "grapefruit juice"]


def number(page: Any, selector: str) -> float:
    return float(page.locator(selector).get_attribute("data-value"))


def typed(page: Any, text: str) -> None:
    page.get_by_role("button", name="Empty").click()
    with page.expect_response("**/api/known"):
        page.locator("#items").fill(text)
        page.keyboard.press("Enter")


def wait_for(page: Any, selector: str, count: int) -> None:
    from playwright.sync_api import expect

    expect(page.locator(selector)).to_have_count(count)


def rows(page: Any) -> dict[str, list[str]]:
    """Return the cells of the tokens that are shown, by their items."""
    found = {}
    for row in page.locator(".found tr.token").all():
        found[row.locator(".item").inner_text()] = row.locator("td").all_inner_texts()[1:]
    return found


def test_the_page_of_a_server_that_needs_a_key(opened: Any, cook: Any) -> None:
    page = opened(cook, access=Access(key="a-key-of-the-tests"))
    typed(page, ", ".join(RECIPE))
    wait_for(page, ".found tr.token", 3)
    assert "a-key-of-the-tests" not in page.content()


def test_the_recipe_of_the_paper(opened: Any, cook: Any) -> None:
    page = opened(cook)
    typed(page, ", ".join(RECIPE))
    wait_for(page, ".found tr.token", 3)
    found = rows(page)
    explained = cook.explain([RECIPE])
    assert set(found) == {" + ".join(token) for token in explained.tokens["token"].to_pylist()}
    assert set(found) == {"fennel bulb + salt + water", "salt + sugar + water", "grapefruit juice"}
    counted = {
        "fennel bulb + salt + water": (16 / 17, "17"),
        "grapefruit juice": (0.8, "10"),
        "salt + sugar + water": (488 / 510, "510"),
    }
    for row in explained.tokens.to_pylist():
        cells = found[" + ".join(row["token"])]
        share, seen = cells[0].split("\n")
        assert float(share.rstrip(" %")) / 100 == pytest.approx(counted[" + ".join(row["token"])][0], abs=0.005)
        assert seen == f"in {counted[' + '.join(row['token'])][1]} sets"
        score, adds = (float(cell.removesuffix(" pp").replace("\N{MINUS SIGN}", "-")) for cell in cells[1:3])
        assert score == pytest.approx(row["score"], abs=2e-3)
        assert adds == pytest.approx(100 * row["contribution"], abs=0.06)
    assert number(page, "#average") == pytest.approx(explained.aggregate[0, 0], abs=1e-9)
    assert number(page, "#prediction") == pytest.approx(cook.predict_proba([RECIPE])[0].max(), abs=1e-9)
    assert page.locator(".chip.unknown").all_inner_texts() == ["lemon olive oil \N{MULTIPLICATION SIGN}"]


def test_search_asks_the_server(opened: Any, cook: Any) -> None:
    page = opened(cook)
    page.locator("#search").fill("fennel sal")
    wait_for(page, "#tokens tbody tr", 2)
    page.locator("#tokens tbody button").last.click()
    wait_for(page, ".found tr.token", 1)
    assert page.locator(".warning").count() == 0


def test_many_tokens_are_paged(opened: Any) -> None:
    rng = np.random.default_rng(0)
    X = [[f"item {number}" for number in rng.integers(0, 50, 3)] for _ in range(300)]
    options: dict[str, Any] = {"cover": True, "refine": True, "epochs": 3, "random_state": 0, "n_jobs": 1}
    y = rng.choice(["a", "b", "c"], 300)
    model = cs.SemanticClassifier(cs.Items(), **options).fit(X, y)
    page = opened(model, X[:20], y[:20])
    assert page.locator("#example option").count() == 21
    first = page.locator("#tokens tbody tr").first.inner_text()
    page.get_by_role("button", name="Next").click()
    page.get_by_text("21 to 40 are shown").wait_for()
    assert page.locator("#tokens tbody tr").first.inner_text() != first
    page.get_by_role("button", name="Next").click()
    page.get_by_text(f"41 to {len(model.token_table_)} are shown").wait_for()
    assert page.get_by_role("button", name="Next").is_disabled()


def test_two_models(opened: Any, reviews: Any, regressor: Any) -> None:
    X, y = reviews
    other = cs.SetRegressor(regressor.features, epochs=1, random_state=1, n_jobs=1).fit(X, y)
    page = opened(regressor, X, y, other=("<b>before</b>", other))
    section = page.locator("#changes")
    changed = cs.churn(other, regressor, X, y)
    assert f"{len(changed.rows)} of 60" in section.inner_text()
    assert "<b>before</b>" in section.inner_text()
    summary = section.locator("summary").first
    assert f"Example {changed.rows[0]}" in summary.inner_text()
    summary.click()
    rows = section.locator("details").first.locator("tbody tr")
    # Beside the tokens there are the base rate and the price, which belongs to the whole set.
    assert rows.count() == len(X["stars"][int(changed.rows[0])]) + 2
    assert "stars" in "".join(rows.all_inner_texts())


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("""new Response(JSON.stringify({ message: "Too <i>many</i>." }), { status: 413 })""", "refused: Too <i>"),
        ("Promise.reject(new TypeError('Failed to fetch'))", "did not answer: Failed to fetch"),
        ("new Promise(() => {})", "is asked"),
    ],
)
def test_what_is_not_known_is_not_shown(opened: Any, cook: Any, answer: str, said: str) -> None:
    page = opened(cook)
    typed(page, "salt, water, sugar")
    wait_for(page, ".found tr.token", 1)
    page.wait_for_load_state("networkidle")
    page.evaluate(f"() => {{ window.asks = window.fetch; window.fetch = async () => {answer}; }}")
    page.locator("#items").fill("grapefruit juice")
    page.keyboard.press("Enter")
    wait_for(page, "#prediction", 0)
    wait_for(page, ".found tr.token", 0)
    assert said in page.locator("aside .panel").inner_text()
    assert said in page.locator("aside [role=status]").inner_text()
    assert page.locator(".chip").count() == 4
    page.evaluate("() => { window.fetch = window.asks; }")
    page.get_by_role("button", name="Remove water").click()
    wait_for(page, "#prediction", 1)
    expected = cook.predict_proba([["salt", "sugar", "grapefruit juice"]])[0].max()
    assert number(page, "#prediction") == pytest.approx(expected, abs=1e-9)
    assert page.locator("#trouble").count() == 0


def test_a_server_that_is_gone_is_said_so(opened: Any, cook: Any) -> None:
    page = opened(cook)
    page.wait_for_load_state("networkidle")  # an answer that is still on its way would show that all is well
    answer = """new Response(JSON.stringify({ message: "<i>no</i>" }), { status: 400 })"""
    page.evaluate(f"window.fetch = async () => {answer}")
    page.locator("#search").fill("salt")
    assert "The server refused: <i>no</i>" in page.locator("#trouble").inner_text()
    wait_for(page, "#tokens tbody tr", 0)
    assert "<i>no</i>" in page.locator("#tokens .note").inner_text()


def test_suggestions_and_items_with_commas_come_from_the_whole_table(opened: Any) -> None:
    X = [["Oil, olive", "salt"], ["olive", "pepper"], ["Oil, corn", "sea salt"]] * 20
    options: dict[str, Any] = {"cover": True, "refine": False, "epochs": 2, "random_state": 0, "n_jobs": 1}
    page = opened(cs.SemanticRegressor(cs.Subsets(2), **options).fit(X, [1.0, 2.0, 3.0] * 20))
    typed(page, "salt, Oil, olive, unheard")
    wait_for(page, ".chip", 3)
    assert [text[:-2] for text in page.locator(".chip").all_inner_texts()] == ["salt", "Oil, olive", "unheard"]
    page.locator("#items").focus()
    page.keyboard.type("OIL")
    wait_for(page, "[role=listbox] [role=option]", 2)
    assert page.locator("[role=listbox] [role=option]").all_inner_texts() == ["Oil, corn", "Oil, olive"]
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    wait_for(page, ".chip", 4)
    assert page.locator(".chip").last.inner_text().startswith("Oil, corn")


def test_the_page_holds_no_tokens_and_people_may_type_faster_than_the_server_answers(cook: Any, opened: Any) -> None:
    page = opened(cook)
    document = page.evaluate("JSON.parse(document.getElementById('document').textContent).tokens")
    assert (document["items"], document["vocabulary"]) == ([], [])
    assert document["n_tokens"] == len(cook.token_table_)
    # The first answers come last.
    page.evaluate("""() => {
      const ask = window.fetch;
      let wait = 600;
      window.fetch = (...asked) => new Promise((done) => setTimeout(done, (wait -= 100))).then(() => ask(...asked));
    }""")
    page.locator("#items").focus()
    for item in RECIPE[:4]:
        page.keyboard.type(item)
        page.keyboard.press("Enter")
    wait_for(page, ".chip", 4)
    wait_for(page, ".found tr.token", 2)
    page.wait_for_load_state("networkidle")
    assert number(page, "#prediction") == pytest.approx(cook.predict_proba([RECIPE[:4]])[0].max(), abs=1e-9)


def test_any_example_of_the_data(opened: Any, cook: Any) -> None:
    rng = np.random.default_rng(0)
    X = [rng.permutation(RECIPE)[: 1 + row % 5].tolist() for row in range(120)]
    page = opened(cook, X)
    row = next(row for row in range(120) if f"Example {row}:" not in page.locator("#example").inner_text())
    page.locator("#row").fill(str(row))
    page.keyboard.press("Enter")
    page.get_by_role("option", name=f"Example {row}:").wait_for(state="attached")
    wait_for(page, ".chip", len(X[row]))
    assert page.locator("#example option:checked").inner_text().startswith(f"Example {row}: {X[row][0]}")
    page.wait_for_load_state("networkidle")
    assert number(page, "#prediction") == pytest.approx(cook.predict_proba([X[row]])[0].max(), abs=1e-9)
    page.locator("#row").fill("120")
    page.keyboard.press("Enter")
    assert page.locator("#example option:checked").inner_text().startswith(f"Example {row}:")


def test_what_changed_is_opened(opened: Any, reviews: Any, regressor: Any) -> None:
    X, y = reviews
    other = cs.SetRegressor(regressor.features, epochs=1, random_state=1, n_jobs=1).fit(X, y)
    names = [f"product {row:03}" for row in range(60)]
    page = opened(regressor, X, y, names=names, other=("the other model", other))
    for place, row in enumerate(cs.churn(other, regressor, X, y).rows[:6].tolist()):
        changed = page.locator("#changes details").nth(place)
        assert f"product {row:03}" in changed.locator("summary").inner_text()
        changed.locator("summary").click()
        changed.get_by_role("button", name="Open").click()
        page.locator("#example option:checked", has_text=f"product {row:03}").wait_for(state="attached")
        expected = regressor.predict(X.slice(row, 1))[0]
        assert number(page, "#prediction") == pytest.approx(expected, rel=1e-9)
        assert page.evaluate("document.activeElement.id") == "try-title"
    assert "leads from the base rate" in page.locator("#changes").inner_text()


def test_all_items_are_suggested_and_another_case_is_mended(opened: Any) -> None:
    X = [[f"salt of kind {kind}", "water"] for kind in range(41)] * 3 + [["Salt", "pepper"]] * 9
    options: dict[str, Any] = {"cover": True, "refine": False, "epochs": 2, "random_state": 0, "n_jobs": 1}
    page = opened(cs.SemanticRegressor(cs.Subsets(2), **options).fit(X, np.arange(132.0)))
    page.locator("#items").focus()
    page.keyboard.type("sal")
    wait_for(page, "[role=listbox] [role=option]", 42)
    assert page.locator("[role=option]", has_text="alt").first.inner_text() == "Salt"
    page.keyboard.press("Escape")
    typed(page, "salt, WATER")
    wait_for(page, ".chip.unknown", 2)
    wait_for(page, "#try .note button", 2)
    assert page.locator("#try .note button").all_inner_texts() == ["Salt", "water"]
    page.locator("#try .note button", has_text="Salt").click()
    wait_for(page, ".chip.unknown", 1)
    assert page.locator(".chip").first.inner_text().startswith("Salt")


SLOWLY = """() => {
  const ask = window.fetch;
  window.fetch = (...asked) => new Promise((done) => setTimeout(done, 500)).then(() => ask(...asked));
}"""


def test_a_late_answer_does_not_undo_what_came_after(cook: Any, opened: Any) -> None:
    X = [["salt"], ["water"], ["sugar", "salt"]] + [["water", "sugar"]] * 60
    page = opened(cook, X)
    asked = next(
        row for row in range(len(X)) if page.locator("#example option", has_text=f"Example {row}:").count() == 0
    )
    page.evaluate(SLOWLY)
    page.locator("#row").fill(str(asked))
    page.keyboard.press("Enter")
    page.select_option("#example", index=1)
    chosen = page.locator("#example option:checked").inner_text()
    page.wait_for_timeout(1200)
    assert page.locator("#example option:checked").inner_text() == chosen
    assert f"Example {page.locator('#row').input_value()}:" in chosen
    # What was typed for one example does not go into another.
    page.get_by_role("button", name="Empty").click()
    page.locator("#items").fill("salt, water")
    page.keyboard.press("Enter")
    page.select_option("#example", index=1)
    page.wait_for_timeout(1200)
    assert page.locator("#example option:checked").inner_text() == chosen


def test_a_row_can_be_asked_for_again(cook: Any, opened: Any) -> None:
    X = [["salt"], ["water"], ["sugar", "salt"]]
    page = opened(cook, X)
    page.locator("#row").fill("2")
    page.keyboard.press("Enter")
    assert "Example 2:" in page.locator("#example option:checked").inner_text()
    page.select_option("#example", index=0)
    page.locator("#row").fill("2")
    page.keyboard.press("Enter")
    assert "Example 2:" in page.locator("#example option:checked").inner_text()
