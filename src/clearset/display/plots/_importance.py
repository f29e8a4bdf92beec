"""Plots of importance: how much features and tokens contribute to the predictions of many sets."""

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from clearset.display._protocols import FloatArray, ShownImportance
from clearset.display._short_text import counted, item_texts, said_alike, shown
from clearset.display.plots._figure import (
    INK,
    LINE,
    LOWERS,
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

_SMALL = 8.5
# In inches: the widest name beside a bar, the bars of a panel, and the number at the end of one.
_WIDEST_NAME, _BARS, _NUMBER = 2.6, 2.6, 0.6


def plot_importance(importance: ShownImportance, *, most: int = 15) -> "Figure":
    """Draw how much each feature, and each token where they have names, contributes to predictions.

    Parameters
    ----------
    importance : Importance
        The contributions of features and of tokens.
    most : int, default=15
        The largest number of bars of a panel: those with the largest contributions.

    Returns
    -------
    matplotlib.figure.Figure
        A panel of features and, where tokens have names, one of tokens.
    """
    need_matplotlib()
    if isinstance(most, bool) or not isinstance(most, int | np.integer) or most < 1:
        raise ValueError(f"most is {most!r}; draw at least 1 bar.")
    features, tokens = importance.features, importance.tokens
    names = [shown(name) for name in features["feature"].to_pylist()]
    if "contribution" in features.column_names:
        panels, axis = {"features": (names, _numbers(features, "contribution"))}, "mean absolute contribution"
    else:
        ways = {"between": "features shuffled between sets", "within": "features shuffled within sets"}
        panels, axis = {what: (names, _numbers(features, way)) for way, what in ways.items()}, "lost or changed"
    if tokens is not None:
        panels["tokens"] = _token_names(tokens), _numbers(tokens, "contribution")
    if not any(len(values) for _, values in panels.values()):
        raise ValueError("The importance names no feature and no token, so there is nothing to draw.")
    drawn = {what: _largest(*panel, int(most)) for what, panel in panels.items()}
    beside = {what: max((inches_of(name, _SMALL) for name in names), default=0) for what, (names, _) in drawn.items()}
    rows = max(len(names) for names, _ in drawn.values())
    sizes = [beside[what] + _BARS + 0.4 for what in drawn]
    figure = new_figure(sum(sizes), 1.1 + 0.27 * max(rows, 3))
    grid = figure.add_gridspec(1, len(sizes), width_ratios=sizes)
    for place, (what, (names, values)) in enumerate(drawn.items()):
        axes = clean(figure.add_subplot(grid[place]))
        _draw(axes, names, values, rows)
        name_axes(axes, f"{axis}, {importance.unit}")
        n = len(panels[what][1])
        chosen = counted(n, what) if len(names) == n else f"{len(names)} of {n:,} {what}"
        title(axes, f"{chosen}, {counted(importance.n_sets, 'set')}")
    return figure


def _numbers(table: pa.Table, name: str) -> FloatArray:
    return np.array(table[name].to_pylist(), dtype=np.float64)


def _token_names(table: pa.Table) -> list[str]:
    sets = table["sets"].to_pylist()
    return [f"{text} (in {n:,})" for text, n in zip(item_texts(table, 40), sets, strict=True)]


def _largest(names: list[str], values: FloatArray, most: int) -> tuple[list[str], FloatArray]:
    order = np.argsort(-np.abs(values), kind="stable")[:most]
    return [fit(names[place], _WIDEST_NAME, _SMALL) for place in order], values[order]


def _draw(axes: "Axes", names: list[str], values: FloatArray, rows: int) -> None:
    """Draw bars from 0, on a panel with room for so many rows."""
    n = len(names)
    axes.barh(range(n), values, height=0.7, color=[RAISES if value >= 0 else LOWERS for value in values], zorder=2)
    axes.set_yticks(range(n), names, parse_math=False, color=INK, fontsize=_SMALL)
    axes.set_ylim(rows - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.axvline(0, color=LINE, lw=1, zorder=3)
    low, high = values.min(initial=0.0), values.max(initial=0.0)
    left, right = (_NUMBER if low < 0 else 0.0), (_NUMBER if high >= 0 else 0.0)
    inch = ((high - low) or 1.0) / (_BARS - 0.3 - left - right)
    axes.set_xlim(low - left * inch, high + right * inch)
    axes.locator_params(axis="x", nbins=4)
    for row, (value, text) in enumerate(zip(values.tolist(), said_alike(values.tolist()), strict=True)):
        axes.text(
            value + (0.05 if value >= 0 else -0.05) * inch, row, text, va="center", fontsize=8, color=INK,
            ha="left" if value >= 0 else "right",
        )  # fmt: skip
