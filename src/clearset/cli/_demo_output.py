"""What ``clearset demo`` shows of a model, as text."""

from typing import Any

import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.table import Table

TOKEN_COLUMNS = ("star_rating", "word_count", "num_helpful", "photo")
_BARS = "▁▂▃▄▅▆▇█"


def sparkline(values: npt.NDArray[np.float64], low: float, high: float) -> str:
    """Return one bar for each value, from the lowest bar at `low` to the full bar at `high`.

    Examples
    --------
    >>> import numpy as np
    >>> from clearset.cli._demo_output import sparkline
    >>> sparkline(np.array([0.0, 0.5, 1.0]), 0, 1)
    '▁▅█'
    """
    share = (values - low) / (high - low) if high > low else np.zeros(len(values))
    bars = np.clip(np.floor(share * len(_BARS)), 0, len(_BARS) - 1).astype(int)
    return "".join(_BARS[bar] for bar in bars)


def calibrator_line(keypoints: npt.NDArray[np.float64], values: npt.NDArray[np.float64], length: int = 20) -> str:
    """Return the curve of a numeric calibrator over its range, with the ends of the range beside it.

    Examples
    --------
    >>> import numpy as np
    >>> from clearset.cli._demo_output import calibrator_line
    >>> calibrator_line(np.array([1.0, 3.0, 5.0]), np.array([0.0, 0.0, 1.0]), 5)
    '1 ▁▁▁▅█ 5'
    """
    places = np.linspace(keypoints[0], keypoints[-1], length)
    return f"{keypoints[0]:g} {sparkline(np.interp(places, keypoints, values), 0, 1)} {keypoints[-1]:g}"


def keypoint_list(keypoints: npt.NDArray[np.float64], values: npt.NDArray[np.float64]) -> str:
    """Return keypoints and values as ``1→0.00  5→1.00``.

    Examples
    --------
    >>> import numpy as np
    >>> from clearset.cli._demo_output import keypoint_list
    >>> keypoint_list(np.array([1.0, 5.0]), np.array([0.0, 1.0]))
    '1→0.00  5→1.00'
    """
    pairs: list[tuple[Any, Any]] = list(zip(keypoints, values, strict=True))
    return "  ".join(f"{keypoint:.4g}→{value:.2f}" for keypoint, value in pairs)


def show_calibrators(console: Console, model: Any) -> None:
    """Print the curve of every feature."""
    console.rule("[bold]What it reads in each feature")
    console.print(
        "Every feature is first read through a curve from 0 to 1. Where the curve is steep, a difference "
        "matters; where it is flat, it does not. The curves are mixed into one score for each review."
    )
    table = Table(box=None, pad_edge=False)
    for heading in ("feature", "curve over its range", "some keypoints"):
        table.add_column(heading, no_wrap=True)
    for name, curve in model.calibrators().items():
        picked = sorted({0, len(curve.keypoints) // 3, 2 * len(curve.keypoints) // 3, len(curve.keypoints) - 1})
        table.add_row(
            "number of reviews" if name == "cs.SIZE" else name,
            calibrator_line(curve.keypoints, curve.values[0]),
            keypoint_list(curve.keypoints[picked], curve.values[0][picked]),
        )
    console.print(table)


def show_rho(console: Console, model: Any, test: Any) -> None:
    """Print how the mean score of a set becomes a prediction."""
    scores, offsets = model.phi(test)
    means = np.add.reduceat(scores[:, 0], offsets[:-1]) / np.diff(offsets)
    places = np.linspace(means.min(), means.max(), 40)
    outputs = np.asarray(model.rho(places)).reshape(-1)
    console.rule("[bold]From the mean score of the reviews to sales")
    console.print(
        f"score {places[0]:+.2f} {sparkline(outputs, 0, outputs.max())} {places[-1]:+.2f}\n"
        f"sales {outputs[0]:5.0f} {'':40} {outputs[-1]:5.0f}"
    )


def show_errors(console: Console, predicted: Any, known: Any, sales: Any, truth: Any) -> None:
    """Print the model's error beside those of a constant and of the true function."""

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


def show_product(console: Console, model: Any, test: Any, sales: Any) -> None:
    """Print the reviews, with their scores, of one product that has about five."""
    scores, offsets = model.phi(test)
    row = int(np.argmin(np.abs(np.diff(offsets) - 5)))
    product = test.slice(row, 1)
    own = scores[offsets[row] : offsets[row + 1], 0]
    columns = [product[name][0].as_py() for name in TOKEN_COLUMNS]
    console.rule("[bold]One product, review by review")
    table = Table(box=None, pad_edge=False)
    for heading in (*TOKEN_COLUMNS, "score"):
        table.add_column(heading, justify="right")
    for *values, score in zip(*columns, own, strict=True):
        table.add_row(*("missing" if value is None else f"{value:g}" for value in values), f"{score:+.3f}")
    table.add_row(*[""] * (len(TOKEN_COLUMNS) - 1), "mean", f"[bold]{own.mean():+.3f}")
    console.print(table)
    console.print(
        f"Product {product['product'][0].as_py()}, price {product['price'][0].as_py():.2f}: predicted sales "
        f"{model.predict(product)[0]:.0f}, actual sales {sales[row]:.0f}."
    )
