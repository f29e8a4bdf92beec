"""What ``clearset demo`` shows of a model, as text."""

from typing import Any

import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.table import Table

from clearset.display import set_feature_texts

TOKEN_COLUMNS = ("star_rating", "word_count", "num_helpful", "photo")
_BARS = "▁▂▃▄▅▆▇█"
# Bars of a curve.
_LENGTH = 16


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


def effect_line(keypoints: npt.NDArray[np.float64], effects: npt.NDArray[np.float64], low: float, high: float) -> str:
    """Return the effect of a numeric feature over its range, with the ends of the range beside it.

    Examples
    --------
    >>> import numpy as np
    >>> from clearset.cli._demo_output import effect_line
    >>> effect_line(np.array([1.0, 3.0, 5.0]), np.array([1.0, 0.0, 0.0]), 0.0, 1.0)
    '1 █▇▆▅▄▃▂▁▁▁▁▁▁▁▁▁ 5'
    """
    places = np.linspace(keypoints[0], keypoints[-1], _LENGTH)
    return f"{keypoints[0]:g} {sparkline(np.interp(places, keypoints, effects), low, high)} {keypoints[-1]:g}"


def keypoint_list(keypoints: npt.NDArray[np.float64], effects: npt.NDArray[np.float64]) -> str:
    """Return keypoints and effects as ``1→-0.20  5→+0.30``.

    Examples
    --------
    >>> import numpy as np
    >>> from clearset.cli._demo_output import keypoint_list
    >>> keypoint_list(np.array([1.0, 5.0]), np.array([-0.2, 0.3]))
    '1→-0.20  5→+0.30'
    """
    pairs: list[tuple[Any, Any]] = list(zip(keypoints, effects, strict=True))
    return "  ".join(f"{keypoint:.4g}→{effect:+.2f}" for keypoint, effect in pairs)


def show_effects(console: Console, model: Any) -> None:
    """Print what each value of every feature does to the score of a review."""
    console.rule("[bold]What each feature does")
    console.print(
        "Every review gets a score. Here is what each value of a feature makes of it, all else as it is on average; "
        "0 is the base rate, the average prediction, and all curves are on one scale."
    )
    table = Table(box=None, pad_edge=False)
    for heading in ("feature", "score over its range", "score at some values"):
        table.add_column(heading, no_wrap=True)
    curves = model.calibrators()
    low, high = (end([end(curve.effects[0]) for curve in curves.values()]) for end in (np.min, np.max))
    for name, curve in curves.items():
        picked = sorted({0, len(curve.keypoints) // 2, len(curve.keypoints) - 1})
        table.add_row(
            "number of reviews" if name == "cs.SIZE" else name,
            effect_line(curve.keypoints, curve.effects[0], float(low), float(high)),
            keypoint_list(curve.keypoints[picked], curve.effects[0][picked]),
        )
    console.print(table)


def show_rho(console: Console, explanation: Any) -> None:
    """Print how the mean score of a set becomes a prediction."""
    (curve,) = explanation.rho.values()
    means = explanation.aggregate[:, 0]
    places = np.linspace(means.min(), means.max(), 40)
    outputs = np.interp(places, curve[:, 0], curve[:, 1])
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


def show_product(console: Console, explanation: Any, test: Any, sales: Any) -> None:
    """Print what the reviews of one product, which has about five, add to the base rate."""
    sizes = np.bincount(explanation.tokens["set"].to_numpy())
    row = int(np.argmin(np.abs(sizes - 5)))
    one, product = explanation[row], test.slice(row, 1)
    console.rule("[bold]One product, from the base rate to its prediction")
    table = Table(box=None, pad_edge=False)
    for heading in (*TOKEN_COLUMNS, "score", "adds"):
        table.add_column(heading, justify="right")
    blank = [""] * (len(TOKEN_COLUMNS) - 1)
    table.add_row(*blank, "base rate", "", f"{one.base[0]:.1f}")
    for token in one.tokens.to_pylist():
        values = ("missing" if token[name] is None else f"{token[name]:g}" for name in TOKEN_COLUMNS)
        table.add_row(*values, f"{token['score']:+.3f}", f"{token['contribution']:+.1f}")
    for feature, text in zip(one.of_sets.to_pylist(), set_feature_texts(one, 24), strict=True):
        table.add_row(*blank, text, f"{feature['score']:+.3f}", f"{feature['contribution']:+.1f}")
    table.add_row(*blank, "prediction", "", f"[bold]{one.prediction[0]:.1f}")
    console.print(table)
    console.print(f"Product {product['product'][0].as_py()}: actual sales {sales[row]:.0f}.")
