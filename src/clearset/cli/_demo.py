"""``clearset demo``: train on made-up reviews and show what was learned."""

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console

_TOKEN_COLUMNS = ("star_rating", "word_count", "num_helpful", "photo")


def demo(
    seed: Annotated[int, typer.Option(min=0, help="Seed of data and training.")] = 0,
    products: Annotated[int, typer.Option(min=50, help="Number of products to make.")] = 3000,
    output: Annotated[Path, typer.Option(help="Folder for model, report and test products.")] = Path("demo"),
) -> None:
    """Train on made-up product reviews and show what was learned."""
    from rich.console import Console

    import clearset as cs
    from clearset.cli._table_files import count_tokens, write_table
    from clearset.datasets import make_reviews

    output.mkdir(parents=True, exist_ok=True)
    console = Console(highlight=False)
    reviews = make_reviews(products, random_state=seed)
    cut = products * 4 // 5
    train, test = reviews.frame.slice(0, cut), reviews.frame.slice(cut)
    console.rule("[bold]Sales of a product from its reviews")
    console.print(
        f"{products:,} made-up products with {count_tokens(reviews.frame):,} reviews; {cut:,} to learn from, "
        f"{products - cut:,} to test on.\nWe declare what must hold: more stars never lower the prediction, "
        "nor do more reviews, and the more helpful votes a review has, the more its stars count."
    )
    model = cs.SetRegressor(
        [
            cs.Feature("star_rating", monotonic="increasing"),
            "word_count",
            "num_helpful",
            "photo",
            "price",
            cs.Feature(cs.SIZE, monotonic="increasing"),
        ],
        trusts=[cs.Trust("star_rating", by="num_helpful")],
        random_state=seed,
        verbose=1,
    )
    model.fit(train, reviews.sales[:cut])
    if model.interrupted_:
        console.print("Interrupted: this is the best model so far.")
    _show_calibrators(console, model)
    _show_rho(console, model, test)
    _show_errors(console, model.predict(test), reviews.sales[:cut], reviews.sales[cut:], reviews.truth[cut:])
    _show_product(console, model, test, reviews.sales[cut:])
    console.rule("[bold]Is it true to what we declared?")
    console.print(str(model.verify(test)), markup=False, soft_wrap=True)

    model.save(output / "reviews.clearset")
    write_table(test, output / "test.parquet")
    model.report(output / "report.html", test, reviews.sales[cut:])
    console.rule("[bold]Next")
    console.print(
        f"Open {output / 'report.html'} in a browser: it holds the model and evaluates it.\n"
        f"The model is in {output / 'reviews.clearset'}. Try:",
        soft_wrap=True,
        markup=False,
    )
    program = "clearset" if shutil.which("clearset") else sys.argv[0]  # make demo leaves it off the path
    for command in ("predict", "explain", "verify"):
        line = f"  {program} {command} {output / 'reviews.clearset'} {output / 'test.parquet'} --by product"
        console.print(line, soft_wrap=True, markup=False)


def _show_calibrators(console: "Console", model: Any) -> None:
    from rich.table import Table

    from clearset.cli._curves import calibrator_line, keypoint_list

    console.rule("[bold]What it reads in each feature")
    console.print(
        "Every feature is first read through a curve from 0 to 1. Where the curve is steep, a difference "
        "matters; where it is flat, it does not. The curves are mixed into one score for each review."
    )
    table = Table(box=None, pad_edge=False)
    for heading in ("feature", "curve over its range", "some keypoints"):
        table.add_column(heading, no_wrap=True)
    for name, curve in model.calibrators().items():
        picked = sorted(
            {0, len(curve.keypoints) // 3, 2 * len(curve.keypoints) // 3, len(curve.keypoints) - 1}
        )
        table.add_row(
            "number of reviews" if name == "cs.SIZE" else name,
            calibrator_line(curve.keypoints, curve.values[0]),
            keypoint_list(curve.keypoints[picked], curve.values[0][picked]),
        )
    console.print(table)


def _show_rho(console: "Console", model: Any, test: Any) -> None:
    import numpy as np

    from clearset.cli._curves import sparkline

    means = _mean_scores(model, test)
    places = np.linspace(means.min(), means.max(), 40)
    outputs = np.asarray(model.rho(places)).reshape(-1)
    console.rule("[bold]From the mean score of the reviews to sales")
    console.print(
        f"score {places[0]:+.2f} {sparkline(outputs, 0, outputs.max())} {places[-1]:+.2f}\n"
        f"sales {outputs[0]:5.0f} {'':40} {outputs[-1]:5.0f}"
    )


def _mean_scores(model: Any, frame: Any) -> Any:
    import numpy as np

    scores, offsets = model.phi(frame)
    return np.add.reduceat(scores[:, 0], offsets[:-1]) / np.diff(offsets)


def _show_errors(console: "Console", predicted: Any, known: Any, sales: Any, truth: Any) -> None:
    import numpy as np

    def error(values: Any, target: Any) -> float:
        return float(np.sqrt(np.mean((values - target) ** 2)))

    constant = error(known.mean(), sales)
    best = error(truth, sales)
    console.rule("[bold]How far off it is on products it has not seen")
    console.print(
        f"typical error (root of the mean square), in sales; sales are {sales.mean():.0f} on average\n"
        f"  always guessing the mean       {constant:6.1f}\n"
        f"  this model                     {error(predicted, sales):6.1f}   "
        f"{constant / error(predicted, sales):.1f} times smaller\n"
        f"  knowing the true function      {best:6.1f}   the rest is chance\n"
        f"  this model against the truth   {error(predicted, truth):6.1f}   what is left to learn"
    )


def _show_product(console: "Console", model: Any, test: Any, sales: Any) -> None:
    """Print the reviews, with their scores, of one product that has about five."""
    import numpy as np
    from rich.table import Table

    scores, offsets = model.phi(test)
    row = int(np.argmin(np.abs(np.diff(offsets) - 5)))
    product = test.slice(row, 1)
    own = scores[offsets[row] : offsets[row + 1], 0]
    columns = [product[name][0].as_py() for name in _TOKEN_COLUMNS]
    console.rule("[bold]One product, review by review")
    table = Table(box=None, pad_edge=False)
    for heading in (*_TOKEN_COLUMNS, "score"):
        table.add_column(heading, justify="right")
    for *values, score in zip(*columns, own, strict=True):
        table.add_row(*("missing" if value is None else f"{value:g}" for value in values), f"{score:+.3f}")
    table.add_row(*[""] * (len(_TOKEN_COLUMNS) - 1), "mean", f"[bold]{own.mean():+.3f}")
    console.print(table)
    console.print(
        f"Product {product['product'][0].as_py()}, price {product['price'][0].as_py():.2f}: predicted sales "
        f"{model.predict(product)[0]:.0f}, actual sales {sales[row]:.0f}."
    )
