"""The pictures of the README, from models trained here: a report, effects, a waterfall, and the explorer."""

from __future__ import annotations

import tempfile
from pathlib import Path

import clearset as cs
from benchmarks._browser import opened, served
from benchmarks.explorer import RECIPE, recipes_model
from clearset.datasets import load_puzzles
from clearset.models import report_document
from clearset.serve import create_app

IMAGES = Path(__file__).parents[1] / "docs" / "images"
FEATURES = [
    cs.Feature("star_rating", monotonic="increasing"),
    cs.Feature("word_count"),
    cs.Feature(cs.SIZE, monotonic="increasing"),
]


def puzzles() -> None:
    """Show a model of puzzles' sales, fitted with nothing but its features declared, and one product."""
    data = load_puzzles()
    model = cs.SetRegressor(FEATURES, random_state=0).fit(*data.training)
    examples = report_document(model, *data.test)["examples"]
    few = [place for place, example in enumerate(examples) if len(example["tokens"]) <= 10]
    # Of these, the product whose reviews have the most different stars, and then the most reviews, tells most.
    place = max(few, key=lambda i: (len({t[0] for t in examples[i]["tokens"]}), len(examples[i]["tokens"])))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        model.report(path, *data.test, title="Sales of puzzles, from their reviews")
        with opened(path.as_uri(), height=1640) as page:
            page.select_option("#example", index=place)
            page.screenshot(path=IMAGES / "report.png")
    model.explain(data.test.X.slice(examples[place]["row"], 1)).plot().savefig(IMAGES / "waterfall.png", dpi=100)
    model.plot_calibrators().savefig(IMAGES / "effects.png", dpi=100)


def recipes() -> None:
    """Type a recipe into the explorer of a model of recipes."""
    model, test = recipes_model()
    with served(create_app(model, *test)) as address, opened(address) as page:
        page.get_by_role("button", name="Empty").click()
        for item in RECIPE:
            page.keyboard.type(item)
            page.keyboard.press("Enter")
        page.wait_for_load_state("networkidle")
        page.screenshot(path=IMAGES / "explorer.png")


if __name__ == "__main__":
    puzzles()
    recipes()
