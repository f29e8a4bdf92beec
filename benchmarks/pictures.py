"""The pictures of the README and the guides, from models trained here.

`curves` needs no data: ``python -m benchmarks.pictures curves`` makes it alone.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

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
    learned = model.fit(data.frame, data.sales).calibrators()
    s, w, h = (data.long[name].to_numpy() for name in ("star_rating", "word_count", "num_helpful"))
    long_ones = 0.85 * w / (w + 40)
    # phi of `make_reviews`, one feature at a time, the others as the reviews have them. More than 15 votes are rare.
    panels: list[tuple[str, str, float, Callable[[Any], Any]]] = [
        ("star_rating", "stars of a review", 5, lambda x: (x - 3) / 2 * np.mean(0.15 + long_ones * h / (h + 3))),
        ("num_helpful", "helpful votes of a review", 15, lambda x: x / (x + 3) * np.mean((s - 3) / 2 * long_ones)),
        ("price", "price of the product", np.inf, lambda x: -0.15 * np.log(x)),
        ("cs.SIZE", "number of reviews", np.inf, lambda x: 0.4 * np.log(x) / np.log(30)),
    ]
    drawn = []
    for name, title, most, law in panels:
        places, effects = np.asarray(learned[name].keypoints), learned[name].effects[0]
        drawn.append((title, law, places[places <= most], effects[places <= most]))
    # Scores have no unit: one factor for all panels, and the height of each.
    true = np.concatenate([law(x) - law(x).mean() for _, law, x, _ in drawn])
    factor = true @ np.concatenate([y - y.mean() for *_, y in drawn]) / (true @ true)
    picture = Figure(figsize=(10.4, 2.9), layout=ConstrainedLayoutEngine(rect=(0, 0.09, 1, 0.91)))
    for axes, (title, law, x, y) in zip(picture.subplots(1, 4, sharey=True), drawn, strict=True):
        grid = np.linspace(x.min(), x.max(), 300)
        height = y.mean() - factor * law(x).mean()
        axes.plot(x, y, "o-", color="#0072b2", markersize=3.5, label="learned")
        axes.plot(grid, factor * law(grid) + height, "--", color="#d55e00", label="the law that made the data")
        axes.set_xlabel(title)
        axes.grid(axis="y", color="#e4e8ec")
        axes.spines[["top", "right"]].set_visible(False)
    picture.axes[0].set_ylabel("effect on the score")
    picture.legend(*picture.axes[0].get_legend_handles_labels(), loc="lower center", ncols=2, frameon=False)
    with mpl.rc_context({"svg.hashsalt": "clearset"}):
        picture.savefig(IMAGES / "curves.svg", facecolor="white", metadata={"Date": None})


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
