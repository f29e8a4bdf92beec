"""Waterfall plots: from the base rate to the prediction for one set, token by token."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit

from clearset.display._explained_parts import ExplainedParts
from clearset.display._protocols import FloatArray, ShownExplanation
from clearset.display._short_text import said, said_alike, unit_of
from clearset.display.plots._figure import (
    ACCENT,
    INK,
    LINE,
    LOWERS,
    MUTED,
    RAISES,
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
_BASE = "base rate"
# In inches: the widest name of a token, a number beside a bar, the bars, and the curve of rho.
_WIDEST_NAME, _NUMBER, _BARS, _CURVE = 4.0, 0.72, 4.2, 2.2


def plot_waterfall(explanation: ShownExplanation, *, most: int = 10) -> "Figure":
    """Draw the way from the base rate to the prediction for one set: what each token and each feature of it adds.

    What raises the prediction is blue, what lowers it grey.

    Parameters
    ----------
    explanation : Explanation
        The explanation of one set; of several sets the first is drawn.
    most : int, default=10
        The largest number of tokens and features to name: those with the largest contributions. One bar sums up the
        others.

    Returns
    -------
    matplotlib.figure.Figure
        One panel; if tokens have one score, with the curve of rho beside it.
    """
    need_matplotlib()
    if isinstance(most, bool) or not isinstance(most, int | np.integer) or most < 1:
        raise ValueError(f"most is {most!r}; name at least 1 token.")
    if not len(explanation):
        raise ValueError("The explanation holds no set, so there is nothing to draw.")
    one = explanation[0]
    unit, label = unit_of(one), None if one.label is None else one.label[0]
    parts = ExplainedParts.of(one, _MOST_CHARACTERS)
    places, rest, rest_adds = parts.named(int(most))
    names, bars = [parts.texts[place] for place in places], parts.contributions[places]
    if rest:
        names, bars = [*names, rest], np.append(bars, rest_adds)
    names = [fit(name, _WIDEST_NAME, _SMALL) for name in (_BASE, *names, unit)]
    curve = one.rho.get(label, next(iter(one.rho.values()), None))
    sizes = [_BARS, *([] if curve is None else [_CURVE])]
    beside = max(inches_of(name, _SMALL) for name in names)
    figure = new_figure(beside + 0.5 + sum(sizes), 1.5 + 0.32 * len(names))
    grid = figure.add_gridspec(1, len(sizes), width_ratios=sizes)
    axes = clean(figure.add_subplot(grid[0]))
    _draw_bars(axes, bars, float(one.base[0]), float(one.prediction[0]))
    _name_rows(axes, names)
    name_axes(axes, unit if label is not None else "prediction, in the unit of the labels")
    if curve is not None:
        _draw_rho(clean(figure.add_subplot(grid[1])), curve, one, unit)
    text = fit(f"{unit}: {said(float(one.prediction[0]))}", figure.get_figwidth() - 0.2, 12)
    figure.suptitle(text[0].upper() + text[1:], x=0.01, ha="left", fontsize=12, color=INK, parse_math=False)
    return figure


def _draw_bars(axes: "Axes", bars: FloatArray, base: float, prediction: float) -> None:
    """Draw the base rate, bars from there, the prediction below them, and the numbers beside all."""
    ends = base + np.cumsum(bars)
    starts, n = ends - bars, len(bars)
    rows = np.arange(1, n + 1)
    axes.barh(rows, bars, left=starts, height=0.66, color=[RAISES if bar >= 0 else LOWERS for bar in bars], zorder=2)
    for row, end in enumerate([base, *ends]):
        axes.plot([end] * 2, [row - 0.33 * (row > 0), row + 1.33], color=LINE, lw=0.8, zorder=1)
    axes.plot([base, prediction], [0, n + 1], "D", ls="", ms=6, color=INK, zorder=3, gid="ends")
    reached = [base, *ends, prediction]
    low, high = min(reached), max(reached)
    # Numbers stand to the left of what is taken away, and to the right of what is added.
    left = _NUMBER if bars.min(initial=0.0) < 0 else 0.12
    inch = ((high - low) or max(abs(base), 1.0)) / (_BARS - 0.4 - left - _NUMBER)
    axes.set_xlim(low - left * inch, high + _NUMBER * inch)
    axes.locator_params(axis="x", nbins=5)
    base_text, *texts, prediction_text = said_alike([base, *bars.tolist(), prediction], signs=True)
    box = {"facecolor": "white", "edgecolor": "none", "pad": 0.4, "alpha": 0.85}
    style: dict[str, Any] = {"va": "center", "fontsize": 8, "color": INK, "zorder": 3, "bbox": box}
    for row, (bar, start, end, text) in enumerate(zip(bars, starts, ends, texts, strict=True), 1):
        if bar < 0:
            axes.text(min(start, end) - 0.05 * inch, row, text, ha="right", **style)
        else:
            axes.text(max(start, end) + 0.05 * inch, row, text, ha="left", **style)
    axes.text(base + 0.1 * inch, 0, base_text.removeprefix("+"), **style)
    axes.text(prediction + 0.1 * inch, n + 1, prediction_text.removeprefix("+"), fontweight="bold", **style)


def _name_rows(axes: "Axes", names: list[str]) -> None:
    axes.set_yticks(range(len(names)), names, parse_math=False, color=INK, fontsize=_SMALL)
    axes.get_yticklabels()[-1].set_fontweight("bold")
    axes.set_ylim(len(names) - 0.4, -0.6)
    for row in (0.5, len(names) - 1.5):
        axes.axhline(row, color=LINE, lw=0.8)
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)


def _draw_rho(axes: "Axes", curve: FloatArray, one: ShownExplanation, unit: str) -> None:
    """Draw rho's curve with the set on it, and the base rate at 0."""
    x, score = curve[:, 0], float(one.aggregate[0, 0])
    link = _link(one)
    y = curve[:, 1] if link is None else link(curve[:, 1])
    reached = float(one.output[0] if link is None else one.prediction[0])
    low, high = min(float(y.min()), reached), max(float(y.max()), reached)
    axes.plot(x, y, color=ACCENT, lw=1.8, zorder=2, gid="curve")
    axes.axvline(0, color=MUTED, lw=0.8, ls=(0, (4, 3)), zorder=1, gid="base")
    axes.plot([score, score], [low, reached], color=LINE, lw=1, ls=":", zorder=1)
    axes.plot([0.0], [np.interp(0.0, x, y)], "o", ms=6, mfc="white", mec=MUTED, mew=1.4, zorder=3)
    axes.plot([score], [reached], "D", ms=6, color=INK, zorder=4)
    margin = 0.06 * (high - low) or 1.0
    axes.set_ylim(low - margin, high + margin)
    title(axes, "rho")
    name_axes(axes, "mean score (0: base rate)", "output" if link is None else unit)


def _link(one: ShownExplanation) -> Callable[[FloatArray], FloatArray] | None:
    """Return the function from outputs to predictions; None where a prediction needs the other classes' outputs too."""
    if one.prediction[0] == one.output[0]:
        return np.array
    if one.label is None:
        return np.exp
    # Where other outputs have a say, the sigmoid of this one is another number.
    return expit if np.isclose(expit(one.output[0]), one.prediction[0], rtol=1e-9) else None
