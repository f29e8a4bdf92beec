"""The report in a real browser: sliders, keys, names that are no text, several screens."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import clearset as cs

from ..random_models import HOSTILE
from .conftest import said


@pytest.fixture(scope="module")
def sets() -> tuple[pa.Table, np.ndarray]:
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 5, 80)
    stars = [rng.integers(1, 6, size).astype(float).tolist() for size in sizes]
    words = [rng.gamma(2.0, 30.0, size).tolist() for size in sizes]
    stores = [rng.choice(["market", "online"], size).tolist() for size in sizes]
    X = pa.table({"stars": stars, "words": words, "store": stores, "price": rng.gamma(2.0, 10.0, 80)})
    return X, np.array([np.mean(row) for row in stars]) * 100 + rng.normal(0, 5, 80)


@pytest.fixture(scope="module")
def model(sets: Any) -> cs.SetRegressor:
    features = [
        cs.Feature("stars", monotonic="increasing"),
        "words",
        cs.Feature("store", kind="categorical"),
        "price",
        cs.SIZE,
    ]
    return cs.SetRegressor(features, epochs=15, random_state=0, n_jobs=1).fit(*sets)


@pytest.fixture(scope="module")
def report(model: cs.SetRegressor, sets: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    model.report(path, *sets)
    return path


def shown(page: Any, sets: Any) -> dict[str, Any]:
    """Give the set that the page begins with."""
    name = page.locator("#example option:checked").inner_text()
    row = int(name.split()[1])
    return {column: sets[0][column][row].as_py() for column in sets[0].column_names}


def predicted(model: Any, row: dict[str, Any]) -> float:
    types = {"stars": pa.list_(pa.float64()), "words": pa.list_(pa.float64()), "store": pa.list_(pa.string())}
    table = pa.table({name: pa.array([value], types.get(name)) for name, value in row.items()})
    return float(model.predict(table)[0])


def test_a_slider_moves_the_prediction(page: Any, report: Path, model: Any, sets: Any) -> None:
    page.goto(report.as_uri())
    row = shown(page, sets)
    assert said(page) == pytest.approx(predicted(model, row), abs=1e-5)
    slider = page.get_by_label("words of token 1", exact=True)
    slider.focus()
    page.keyboard.press("End")
    row["words"][0] = max(max(words) for words in sets[0]["words"].to_pylist() if words)
    assert said(page) == pytest.approx(predicted(model, row), rel=1e-5)
    box = slider.bounding_box()
    page.mouse.move(box["x"] + box["width"] - 8, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.3, box["y"] + box["height"] / 2, steps=3)
    page.mouse.up()
    row["words"][0] = float(page.locator(".token.open input[type=number]").nth(1).input_value())
    assert said(page) == pytest.approx(predicted(model, row), rel=1e-4)


def test_everything_can_be_done_from_the_keyboard(page: Any, report: Path, model: Any, sets: Any) -> None:
    page.goto(report.as_uri())
    row = shown(page, sets)
    page.get_by_label("stars of token 1", exact=True).focus()
    page.keyboard.press("Home")
    row["stars"][0] = 1.0
    assert said(page) == pytest.approx(predicted(model, row), abs=1e-4)
    page.keyboard.press("ArrowRight")
    row["stars"][0] = 2.0
    assert said(page) == pytest.approx(predicted(model, row), abs=1e-4)
    page.keyboard.press("Tab")  # the number
    page.keyboard.press("Tab")  # whether it is missing
    page.keyboard.press("Space")
    row["stars"][0] = None
    assert said(page) == pytest.approx(predicted(model, row), abs=1e-4)
    page.get_by_role("button", name="Copy token").focus()
    page.keyboard.press("Enter")
    for name in ("stars", "words", "store"):
        row[name].insert(1, row[name][0])
    assert said(page) == pytest.approx(predicted(model, row), abs=1e-4)
    page.get_by_label("price", exact=True).fill("12.5")
    row["price"] = 12.5
    assert said(page) == pytest.approx(predicted(model, row), abs=1e-4)
    while page.locator(".token").count():
        page.get_by_role("button", name="Remove token").click()
    row |= {"stars": [], "words": [], "store": []}
    assert said(page) == pytest.approx(predicted(model, row), abs=1e-4)
    page.get_by_role("button", name="Add token").click()
    assert page.locator(".token").count() == 1
    page.get_by_role("button", name="Effect on this prediction").click()
    assert page.locator("#features .feature").count() == 5


def test_tokens_move_to_other_places(page: Any, report: Path, sets: Any, tmp_path: Path) -> None:
    page.goto(report.as_uri())
    assert page.get_by_role("button", name="Move down").count() == 0  # where the order of tokens does not matter
    features = ["stars", cs.Feature(cs.PLACE, monotonic="decreasing"), cs.PLACE_FROM_START, cs.SIZE]
    X, y = sets[0], np.array([2 * row[-1] - row[0] for row in sets[0]["stars"].to_pylist()])
    ordered = cs.SetRegressor(features, epochs=15, random_state=0, n_jobs=1).fit(X, y)
    ordered.report(tmp_path / "report.html", X, y)
    page.goto((tmp_path / "report.html").as_uri())
    captions = page.locator("#features figcaption").all_inner_texts()
    names = ["stars", "place from the enddecreasing", "place from the start", "number of tokens"]
    assert [text.replace("\n", "").replace(" decreasing", "decreasing") for text in captions] == names
    assert "place from the end decreasing" in page.locator("#promises").inner_text()
    for stars in ("5", "1", "3"):
        page.get_by_role("button", name="Add token").click()
        page.locator(".token.open input[type=number]").first.fill(stars)

    def told() -> list[float | None]:
        rows = []
        for place in range(page.locator(".token").count()):
            page.locator(".token .pick").nth(place).click()
            rows.append(float(page.locator(".token.open input[type=number]").first.input_value()))
        return rows

    for name in ("Move up", "Move down", "Move down", "Remove token"):
        page.locator(".token .pick").nth(1).click()
        page.get_by_role("button", name=name).click()
        assert said(page) == pytest.approx(predicted(ordered, {"stars": told()}), abs=1e-4)
    page.locator(".token .pick").first.click()
    assert page.get_by_role("button", name="Move up").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1200])
def test_it_fits_the_screen(browser: Any, report: Path, scheme: str, width: int) -> None:
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page = context.new_page()
    page.goto(report.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    back = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, back[4:-1].split(","))) < 200) == (scheme == "dark")
    assert page.locator("h2").all_inner_texts()[0] == "Try it"
    context.close()


def test_hostile_names_are_text(page: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 4, 40)
    numbers = {name: [rng.normal(size=size).tolist() for size in sizes] for name in HOSTILE[:4]}
    X = pa.table({**numbers, "kind": [rng.choice(HOSTILE, size).tolist() for size in sizes]})
    features = [*HOSTILE[:4], cs.Feature("kind", kind="categorical")]
    labels = rng.choice(HOSTILE[:3], 40)
    model = cs.SetClassifier(features, epochs=2, random_state=0, n_jobs=1).fit(X, labels)
    model.report(tmp_path / "report.html", X, labels)
    page.goto((tmp_path / "report.html").as_uri())
    captions = page.locator("#features figcaption").all_inner_texts()
    assert captions[:3] == list(HOSTILE[:3])
    assert page.locator("option", has_text=HOSTILE[0]).count() > 0
    assert page.locator("#prediction").inner_text() in HOSTILE
    assert page.locator("main img, main script").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 1200


def test_hostile_items(page: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = [rng.choice(HOSTILE, 2).tolist() for _ in range(80)]
    y = np.array([float(HOSTILE[0] in row) for row in X]) + rng.normal(0, 0.1, 80)
    model = cs.SemanticRegressor(cs.Items(), epochs=3, refine=False, random_state=0, n_jobs=1).fit(X, y)
    model.report(tmp_path / "report.html", X, y)
    page.goto((tmp_path / "report.html").as_uri())
    page.locator("#search").fill("alert(1)")
    assert page.locator("#tokens tbody tr").count() == 1
    assert page.locator("#tokens tbody .item").inner_text() == HOSTILE[0]
    assert page.locator("main img, main script").count() == 0


def test_many_tokens(page: Any, tmp_path: Path) -> None:
    numbers = np.random.default_rng(0).normal(size=(6, 700))
    X = pa.table({"x": [row.tolist() for row in numbers]})
    model = cs.SetRegressor(epochs=2, random_state=0, n_jobs=1).fit(X, numbers[:, 0])
    model.report(tmp_path / "report.html", X.slice(0, 1))
    page.goto((tmp_path / "report.html").as_uri())
    assert page.locator(".token").count() == 100
    assert "and 600 more tokens" in page.locator(".tokens").inner_text()
    assert said(page) == pytest.approx(model.predict(X.slice(0, 1))[0], rel=1e-6)
    page.get_by_role("button", name="Add token").click()
    assert page.locator(".token.open .order").inner_text() == "2"
