"""Waterfall plots: what each token of one set adds to the mean score, and the prediction that follows from it."""

from typing import TYPE_CHECKING

import numpy as np

from clearset.display._protocols import FloatArray, ShownExplanation
from clearset.display._short_text import said, shown, token_texts
from clearset.display.plots._figure import (
    ACCENT,
    INK,
    LINE,
    MUTED,
    OPPOSITE,
    clean,
    fit,
    inches_of,
    name_axes,
    need_matplotlib,
    new_figure,
    title,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST_CHARACTERS = 58
_SMALL = 8.5
# In inches: the widest name of a token, and a number beside a bar.
_WIDEST_NAME, _NUMBER = 4.0, 0.62


def plot_waterfall(explanation: ShownExplanation, *, tokens: int = 10) -> "Figure":
    """Draw what each token of one set adds to its mean score, and the prediction that follows from it.

    Parameters
    ----------
    explanation : Explanation
        The explanation of one set; of several sets the first is drawn.
    tokens : int, default=10
        The largest number of tokens to name: those with the largest contributions. One bar sums up the others.

    Returns
    -------
    matplotlib.figure.Figure
        A panel for each score; beside a single one, the curve of rho.
    """
    need_matplotlib()
    if isinstance(tokens, bool) or not isinstance(tokens, int | np.integer) or tokens < 1:
        raise ValueError(f"tokens is {tokens!r}; name at least 1 token.")
    if not len(explanation):
        raise ValueError("The explanation holds no set, so there is nothing to draw.")
    one = explanation[0]
    parts = contributions_of(one)
    names, bars = _most_important(token_texts(one, _MOST_CHARACTERS), parts, int(tokens))
    width, label = parts.shape[1], None if one.label is None else one.label[0]
    curve = one.rho.get(label, next(iter(one.rho.values()), None))
    sizes = [3.2 if width == 1 else 2.8] * width + ([2.1] if curve is not None else [])
    names = [fit(name, _WIDEST_NAME, _SMALL) for name in names]
    beside = max(inches_of(name, _SMALL) for name in (*names, "mean score"))
    figure = new_figure(beside + 0.5 + sum(sizes), 1.5 + 0.32 * (len(names) + 1))
    grid = figure.add_gridspec(1, len(sizes), width_ratios=sizes)
    for k in range(width):
        axes = clean(figure.add_subplot(grid[k]))
        _draw_bars(axes, bars[:, k], float(one.aggregate[0, k]), sizes[k] - 0.5)
        _name_rows(axes, names if k == 0 else None, len(names))
        name_axes(axes, "contribution to the mean score" if width == 1 else f"contribution to score {k + 1}")
    if curve is not None:
        _draw_rho(clean(figure.add_subplot(grid[width])), curve, one)
    what = "Prediction:" if label is None else f"Prediction for class {shown(label)}:"
    text = fit(f"{what} {said(float(one.prediction[0]))}", figure.get_figwidth() - 0.2, 12)
    figure.suptitle(text, x=0.01, ha="left", fontsize=12, color=INK, parse_math=False)
    return figure


def contributions_of(explanation: ShownExplanation) -> FloatArray:
    """Return the contributions of all tokens, ``(T, K)``."""
    column = explanation.tokens["contribution"].to_pylist()
    return np.array(column, dtype=np.float64).reshape(len(column), -1)


def _most_important(texts: list[str], parts: FloatArray, most: int) -> tuple[list[str], FloatArray]:
    """Sort tokens by the size of their contributions, and sum up those that are not named."""
    order = np.argsort(-np.abs(parts).sum(axis=1), kind="stable")
    if len(order) <= most + 1:
        return [texts[place] for place in order], parts[order]
    named, rest = order[:most], order[most:]
    names = [*(texts[place] for place in named), f"{len(rest):,} other tokens"]
    return names, np.vstack([parts[named], parts[rest].sum(axis=0)])


def _draw_bars(axes: "Axes", bars: FloatArray, aggregate: float, inches: float) -> None:
    """Draw bars from left to right, and their numbers beside them, on an axis that is about `inches` wide."""
    ends = np.cumsum(bars)
    starts = ends - bars
    n = len(bars)
    colours = [ACCENT if bar >= 0 else OPPOSITE for bar in bars]
    axes.barh(np.arange(n), bars, left=starts, height=0.66, color=colours, zorder=2)
    axes.barh(n, aggregate, height=0.66, color=MUTED, zorder=2)
    for row in range(n):
        axes.plot([ends[row]] * 2, [row - 0.33, row + 1.33], color=LINE, lw=0.8, zorder=1)
    low, high = min(0.0, ends.min()), max(0.0, ends.max())
    # Numbers stand to the left of what is taken away, and to the right of what is added.
    values = [*bars, aggregate]
    left = _NUMBER if min(values) < 0 else 0.12
    right = _NUMBER if max(values) >= 0 else 0.12
    unit = ((high - low) or 1.0) / (inches - left - right)
    axes.set_xlim(low - left * unit, high + right * unit)
    axes.locator_params(axis="x", nbins=4)
    offset = 0.04 * unit
    for row, (bar, start, end) in enumerate(zip(values, [*starts, 0.0], [*ends, aggregate], strict=True)):
        side = max(start, end) + offset if bar >= 0 else min(start, end) - offset
        axes.text(
            side, row, f"{bar:+.3g}" if row < n else f"{bar:.3g}", va="center", fontsize=8, color=INK,
            ha="left" if bar >= 0 else "right", fontweight="bold" if row == n else "normal", zorder=3,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.4, "alpha": 0.85},
        )  # fmt: skip
    axes.axvline(0, color=LINE, lw=1, zorder=1)


def _name_rows(axes: "Axes", names: list[str] | None, n: int) -> None:
    if names is None:
        axes.set_yticks([])
    else:
        texts = [*names, "mean score"]
        axes.set_yticks(range(n + 1), texts, parse_math=False, color=INK, fontsize=_SMALL)
    axes.set_ylim(n + 0.6, -0.6)
    axes.axhline(n - 0.5, color=LINE, lw=0.8)
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)


def _draw_rho(axes: "Axes", curve: FloatArray, one: ShownExplanation) -> None:
    score, output = float(one.aggregate[0, 0]), float(one.output[0])
    low, high = float(curve[:, 1].min()), float(curve[:, 1].max())
    axes.plot(curve[:, 0], curve[:, 1], color=ACCENT, lw=1.8, zorder=2)
    axes.plot([score, score], [low, output], color=LINE, lw=1, ls=":", zorder=1)
    axes.plot([score], [output], "o", ms=7, color=MUTED, mec="white", zorder=3)
    axes.set_xlim(-1.05, 1.05)
    margin = 0.06 * (high - low) or 1.0
    axes.set_ylim(min(low, output) - margin, max(high, output) + margin)
    title(axes, "rho")
    # Where the output is the prediction, it is called so.
    name_axes(axes, "mean score", "prediction" if np.isclose(output, one.prediction[0]) else "output")
