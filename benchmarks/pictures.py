"""The pictures of the README and the guides, from models trained here.

`curves` needs no data: ``python -m benchmarks.pictures curves`` makes it alone.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import clearset as cs
from benchmarks._browser import opened, served
from benchmarks.explorer import RECIPE, recipes_model
from clearset.datasets import load_puzzles, make_reviews
from clearset.models import report_document
from clearset.serve import create_app

IMAGES = Path(__file__).parents[1] / "docs" / "images"
FEATURES = [
    cs.Feature("star_rating", monotonic="increasing"),
    cs.Feature("word_count"),
    cs.Feature(cs.SIZE, monotonic="increasing"),
]


def curves() -> None:
    """Draw what is learned of generated reviews over the law that made them, which is known."""
    data = make_reviews(20_000)
    stars = cs.Feature("star_rating", monotonic="increasing")
    number = cs.Feature(cs.SIZE, monotonic="increasing")
    model = cs.SetRegressor([stars, "word_count", "num_helpful", "price", number], random_state=0)
    figure = model.fit(data.frame, data.sales).plot_calibrators(
        features=["star_rating", "num_helpful", "price", "cs.SIZE"]
    )
    s, w, h = (data.long[name].to_numpy() for name in ("star_rating", "word_count", "num_helpful"))
    long_ones = 0.85 * w / (w + 40)
    laws: list[
        Callable[[Any], Any]
    ] = [  # phi of `make_reviews`, one feature at a time; the others are as the reviews have them
        lambda x: (x - 3) / 2 * np.mean(0.15 + long_ones * h / (h + 3)),
        lambda x: x / (x + 3) * np.mean((s - 3) / 2 * long_ones),
        lambda x: -0.15 * np.log(x),
        lambda x: 0.4 * np.log(x) / np.log(30),
    ]
    panels = [axes for axes in figure.axes if axes.get_title(loc="left")]
    learned, true = [], []
    for axes, law in zip(panels, laws, strict=True):
        x, y = (np.asarray(values, float) for values in axes.lines[1].get_data())
        shown = np.isfinite(y)
        learned.append(y[shown])
        true.append(law(x[shown]))
    # Scores have no unit: one factor for all panels, and the height of each.
    distances = [np.concatenate([each - each.mean() for each in values]) for values in (true, learned)]
    factor = distances[0] @ distances[1] / (distances[0] @ distances[0])
    for axes, law, y, z in zip(panels, laws, learned, true, strict=True):
        x = np.asarray(axes.lines[1].get_xdata(), float)
        grid = np.linspace(x[np.isfinite(x)].min(), x[np.isfinite(x)].max(), 300)
        axes.plot(grid, factor * (law(grid) - z.mean()) + y.mean(), "--", color="#d55e00", linewidth=1.4, zorder=1)
    figure.savefig(IMAGES / "curves.svg", metadata={"Date": None})


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
    for make in (curves,) if sys.argv[1:] == ["curves"] else (curves, puzzles, recipes):
        make()
