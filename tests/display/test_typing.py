"""What people type into the page becomes the items that Python reads."""

import json
import sys
import unicodedata
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import clearset as cs

from .conftest import said

QUICK: dict[str, Any] = {"epochs": 5, "random_state": 0, "n_jobs": 1}


def chips(page: Any) -> list[str]:
    """Give the items that the page shows."""
    return [text.removesuffix(" \N{MULTIPLICATION SIGN}") for text in page.locator(".chip").all_inner_texts()]


def opened(page: Any, model: Any, path: Path, *data: Any) -> Any:
    """Open the report of a model and empty its example."""
    model.report(path, *data)
    page.goto(path.as_uri())
    page.get_by_role("button", name="Empty").click()
    return page


@pytest.fixture
def words(modules: Any) -> Any:
    """Give what takes texts apart in the browser."""

    def split(texts: list[str]) -> list[list[str]]:
        model = {"tokens": {"tokeniser": cs.NGrams(1).to_json()}}
        script = """async (asked) => {
            const { split } = await import("/typing.js");
            const [model, texts] = JSON.parse(asked);
            return JSON.stringify(texts.map((text) => split(model, text)));
        }"""
        # As one text: the browser's protocol is slow with long lists.
        found: list[list[str]] = json.loads(modules.evaluate(script, json.dumps([model, texts])))
        return found

    return split


def test_letters_of_all_scripts_are_lowered_as_in_python(page: Any, words: Any) -> None:
    every = "".join(chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code < 0xE000)
    # Letters that both know: either may be of a later Unicode than the other.
    assigned = page.evaluate(r"(text) => text.replaceAll(/\p{Cn}/gu, '')", every)
    expected = zip(assigned, cs.NGrams(1).parts(list(assigned)).to_pylist(), strict=True)
    known = {one: found for one, found in expected if found}
    assert len(known) > 130_000
    assert words(list(known)) == list(known.values())


def test_what_ends_words_is_the_same_as_in_python(words: Any) -> None:
    old = unicodedata.ucd_3_2_0  # what was assigned long ago, all know
    every = [chr(code) for code in range(0x10000) if old.category(chr(code))[0] in "PSZ"]
    texts = [f"a{one}b" for one in every]
    assert len(texts) > 3000
    assert words(texts) == cs.NGrams(1).parts(texts).to_pylist()


@pytest.mark.parametrize("text", ["ΩΔΗΣ", "ΩΔΥΣΣΕΥΣ, ΣΟΦΟΣ.", "İSTANBUL I\u0307", "STRASSE ẞ ǅ", "A\u0301Σ\u0301"])
def test_words_that_other_rules_would_lower_otherwise(words: Any, text: str) -> None:
    assert words([text]) == cs.NGrams(1).parts([text]).to_pylist()


def test_a_text_is_taken_apart_as_in_python(page: Any, tmp_path: Path) -> None:
    texts = ["Ripe cherry, ΜΑΚΡΥΣ finish", "thin and sour", "ripe plum; μακρυσ", "sour finish"] * 20
    y = np.array([94.0, 82.0, 92.0, 84.0] * 20) + np.random.default_rng(0).normal(0, 0.5, 80)
    model = cs.SemanticRegressor(cs.NGrams(2), refine=False, cover=True, **QUICK).fit(texts, y)
    opened(page, model, tmp_path / "report.html")
    text = "ΜΑΚΡΥΣ: RIPE cherry — crème sour finish"
    page.get_by_label("Text", exact=True).fill(text)
    assert said(page) == pytest.approx(model.predict([text])[0], rel=1e-6)


def test_typed_items(page: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    items = ["basil", "feta", "lime", "soy sauce"]
    X = [rng.choice(items, rng.integers(1, 4)).tolist() for _ in range(200)]
    y = np.array([["italian", "greek", "thai", "chinese"][items.index(row[0])] for row in X])
    model = cs.SemanticClassifier(cs.Subsets(2), refine=True, cover=True, **QUICK).fit(X, y)
    opened(page, model, tmp_path / "report.html", X[:20], y[:20])
    page.keyboard.type("feta, soy sauce,unheard of,lime")
    page.keyboard.press("Enter")
    row = ["feta", "soy sauce", "unheard of", "lime"]
    assert chips(page) == row
    assert page.locator(".chip.unknown").count() == 1
    shares = model.predict_proba([row])[0]
    assert said(page) == pytest.approx(shares.max(), abs=1e-5)
    assert page.locator("#prediction").inner_text() == model.predict([row])[0]
    tokens = page.locator(".found .item").all_inner_texts()
    found = model.explain([row], model.predict([row])[0])
    by_strength = sorted(found.tokens.to_pylist(), key=lambda one: -abs(one["contribution"]))
    assert tokens == [" + ".join(one["token"]) for one in by_strength]
    assert len(tokens) > 1
    average = float(page.locator("#average").get_attribute("data-value"))
    assert average == pytest.approx(found.aggregate[0, 0], rel=1e-6)


@pytest.mark.parametrize("tokens", [cs.Union(cs.Items(), cs.Words()), cs.Words()], ids=repr)
def test_typed_items_become_those_of_each_kind(page: Any, tmp_path: Path, tokens: Any) -> None:
    rng = np.random.default_rng(0)
    items = ["Soy sauce", "Lime", "fish sauce", "feta, crumbled"]
    X = [rng.choice(items, rng.integers(1, 4)).tolist() for _ in range(100)]
    y = np.array(["thai" if "fish sauce" in row else "greek" for row in X])
    model = cs.SemanticClassifier(tokens, refine=False, **QUICK).fit(X, y)
    opened(page, model, tmp_path / "report.html", X[:5], y[:5])
    page.keyboard.type("feta, crumbled, Brown Soy, Lime")
    page.keyboard.press("Enter")
    row = ["feta, crumbled", "Brown Soy", "Lime"]
    split_by_hand = row if tokens.kinds else ["feta", "crumbled", "Brown Soy", "Lime"]
    assert sorted(chips(page)) == sorted(tokens.parts([split_by_hand]).to_pylist()[0])
    assert said(page) == pytest.approx(model.predict_proba([row])[0].max(), abs=1e-5)


@pytest.fixture
def pantry() -> Any:
    rng = np.random.default_rng(0)
    items = ["Oil, olive", "Oil, olive, virgin", "salt", "sea salt", "olive", "Beans; a, b, c, d, e, f"]
    X = [rng.choice(items, 3, replace=False).tolist() for _ in range(120)]
    y = [float("Oil, olive" in row) + rng.normal(0, 0.1) for row in X]
    return cs.SemanticRegressor(cs.Items(), refine=False, **QUICK).fit(X, y), X


def test_items_may_hold_commas(page: Any, tmp_path: Path, pantry: Any) -> None:
    model, X = pantry
    opened(page, model, tmp_path / "report.html", X[:5])
    for typed, expected in {
        "Oil, olive": ["Oil, olive"],
        " salt,Oil, olive ,olive ": ["salt", "Oil, olive", "olive"],
        "salt, Oil, olive, virgin": ["salt", "Oil, olive, virgin"],
        "Oil, unheard": ["Oil", "unheard"],
        "Beans; a, b, c, d, e, f": ["Beans; a, b, c, d, e, f"],
    }.items():
        page.get_by_role("button", name="Empty").click()
        page.keyboard.type(typed)
        page.keyboard.press("Enter")
        assert chips(page) == expected
    page.get_by_role("button", name="Empty").click()
    page.keyboard.type("Oil, olive")
    page.get_by_role("button", name="Add", exact=True).click()
    assert said(page) == pytest.approx(model.predict([["Oil, olive"]])[0], rel=1e-6)
    options = page.locator("#example option").all_inner_texts()
    assert options[0].startswith("Example 0: " + " · ".join(X[0])[:40])


def test_several_lines_can_be_pasted(page: Any, tmp_path: Path, pantry: Any) -> None:
    opened(page, pantry[0], tmp_path / "report.html")
    page.evaluate("""() => {
        const data = new DataTransfer();
        data.setData("text", "salt\\nOil, olive\\nolive\\n");
        const paste = new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true });
        document.activeElement.dispatchEvent(paste);
    }""")
    assert chips(page) == ["salt", "Oil, olive", "olive"]


def test_suggestions_are_taken_whole(page: Any, tmp_path: Path, pantry: Any) -> None:
    opened(page, pantry[0], tmp_path / "report.html")
    options = page.get_by_role("option")
    listed = page.locator("[role=listbox] [role=option]")
    page.keyboard.type("OLI")
    assert listed.all_inner_texts() == ["olive", "Oil, olive", "Oil, olive, virgin"]
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert listed.nth(1).get_attribute("aria-selected") == "true"
    page.keyboard.press("Enter")
    assert chips(page) == ["Oil, olive"]
    page.keyboard.type("unheard, sal")  # what stands before is added as well
    assert listed.all_inner_texts() == ["salt", "sea salt"]
    options.get_by_text("sea salt").click()
    assert chips(page) == ["Oil, olive", "unheard", "sea salt"]
    page.keyboard.type("sal")
    page.keyboard.press("Escape")
    assert listed.count() == 0
    page.keyboard.press("Enter")
    assert chips(page)[-1] == "sal"
    page.keyboard.press("Backspace")
    assert chips(page) == ["Oil, olive", "unheard", "sea salt"]
    page.locator(".chip").first.focus()
    page.keyboard.press("Enter")
    assert chips(page) == ["unheard", "sea salt"]


def test_the_focus_stays_where_people_work(page: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = [rng.choice(["a", "b", "c", "d"], 3, replace=False).tolist() for _ in range(200)]
    y = [f"class {i % 12}" for i in range(200)]
    model = cs.SemanticClassifier(cs.Items(), refine=False, **QUICK).fit(X, y)
    opened(page, model, tmp_path / "report.html")
    page.keyboard.type("a, b, c")
    page.keyboard.press("Enter")
    focused = "document.activeElement.innerText"
    page.locator(".found button").nth(1).focus()
    before = page.evaluate(focused)
    page.keyboard.press("Enter")
    assert page.evaluate(focused) == before
    assert page.locator(".found tr.current button").inner_text() == before
    page.get_by_text("4 more").click()
    page.locator("button.class").last.focus()
    before = page.evaluate(focused)
    page.keyboard.press("Enter")
    assert page.evaluate(focused) == before
    assert page.locator("button.class.current").inner_text() == before
