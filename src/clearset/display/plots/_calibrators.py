"""Plots of calibrators, over the distribution of the data."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from clearset.display._protocols import Fitted, ShownCurve
from clearset.display._short_text import shown
from clearset.display.plots._axis import (
    MOST_SLANTED,
    Scale,
    choose_categories,
    draw_numbers,
    mark_missing,
    mark_missing_value,
    name_categories,
)
from clearset.display.plots._figure import (
    DATA,
    INK,
    LINE,
    MUTED,
    add_grid,
    add_legend,
    colour_of,
    columns_for,
    dashes_of,
    name_axes,
    need_matplotlib,
    new_panels,
    title,
)
from clearset.display.plots._model_parts import columns_of, counts_in, named_scores, numbers_in

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_HEIGHT = 0.6
_MOST_IN_LEGEND = 16
_LIMITS = (-0.05, 1.05)


def plot_calibrators(
    model: Fitted, X: Any = None, features: Sequence[str] | str | None = None, *, label: Any = None
) -> "Figure":
    """Draw the calibrators of phi: from each feature's own unit to a calibrated value from 0 to 1.

    Parameters
    ----------
    model : fitted model or estimator
        The model.
    X : sets, as for `fit`, optional
        Sets; the distribution of their tokens is drawn behind the curves.
    features : str or sequence of str, optional
        The names of the features to draw; by default all.
    label : object, optional
        The class to draw, if classes have curves of their own; by default all of them.

    Returns
    -------
    matplotlib.figure.Figure
        A panel for each feature.
    """
    need_matplotlib()
    fitted = model.as_model()
    scores = named_scores(fitted, label)
    curves = fitted.calibrators()
    names = [features] if isinstance(features, str) else list(curves) if features is None else list(features)
    if not names:
        raise ValueError(f"features names none to draw; there are {list(curves)[:20]}.")
    for name in names:
        fitted.binning.slots_of(name)  # refuses an unknown feature, before any work
    columns = {} if X is None else columns_of(fitted, model.explain(X, label))
    upright = any(len(curves[name].categories or ()) >= MOST_SLANTED for name in names)
    figure, panels = new_panels(len(names), height=3.7 if upright else 2.7)
    for place, (axes, name) in enumerate(zip(panels, names, strict=True)):
        draw = _draw_categories if curves[name].keypoints is None else _draw_numeric
        draw(axes, curves[name], scores, columns.get(name))
        title(axes, shown(name))
        axes.set_ylim(*_LIMITS)
        axes.set_yticks([0, 0.5, 1])
        add_grid(axes, "y")
        if place % columns_for(len(names)) == 0:
            axes.set_ylabel("calibrated value", fontsize=9, color=INK)
    _add_legend(figure, scores, with_data=bool(columns))
    return figure


def _add_legend(figure: "Figure", scores: dict[int, str], *, with_data: bool) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Any] = []
    names: list[str] = []
    if 1 < len(scores) <= _MOST_IN_LEGEND:
        names = list(scores.values())
        handles = [Line2D([], [], color=colour_of(n), ls=dashes_of(n), lw=2) for n in range(len(names))]
    elif len(scores) > 1:
        handles = [Line2D([], [], color=MUTED, lw=2)]
        names = [f"{len(scores)} curves; name a class: label=…"]
    if with_data:
        handles.append(Patch(color=DATA))
        names.append("distribution of the tokens")
    if names:
        add_legend(figure, handles, names, loc="outside lower center", ncols=min(len(names), 5))


def _draw_numeric(axes: "Axes", curve: ShownCurve, scores: dict[int, str], column: pa.ChunkedArray | None) -> None:
    keypoints = np.asarray(curve.keypoints)
    scale = Scale.of(keypoints)
    scale.set_on(axes, "x", keypoints)
    places = keypoints
    if scale.kind != "linear":
        # What is straight between two keypoints is bent on another scale.
        places = np.unique(np.concatenate([keypoints, scale.between(keypoints[0], keypoints[-1], 200)]))
    for number, row in enumerate(scores):
        heights, colour = np.interp(places, keypoints, curve.values[row]), colour_of(number)
        axes.plot(places, heights, color=colour, ls=dashes_of(number), lw=2, zorder=3, gid="curve")
        if len(scores) == 1:
            axes.plot(keypoints, curve.values[row], "o", ms=3.5, color=colour, zorder=3)
    if column is not None:
        draw_numbers(axes, numbers_in(column), keypoints, scale, _HEIGHT)
    mark_missing(axes, curve.missing[list(scores)], [colour_of(n) for n in range(len(scores))])


def _draw_categories(axes: "Axes", curve: ShownCurve, scores: dict[int, str], column: pa.ChunkedArray | None) -> None:
    categories = curve.categories or ()
    counts = None if column is None else counts_in(column, categories)
    known = None if counts is None else counts[:-1]
    kept = choose_categories(categories, known, curve.values[min(scores)])
    n, n_rows = len(kept), len(scores)
    places = np.arange(n + 1)
    if counts is not None:
        heights = np.append(counts[:-1][kept], counts[-1])
        low, high = _LIMITS
        heights = _HEIGHT * (high - low) * heights / max(heights.max(), 1)
        axes.bar(places, heights, 0.8, bottom=low, color=DATA, zorder=0)
    spread = np.linspace(-0.25, 0.25, n_rows) if n_rows > 1 else [0.0]
    for number, (row, shift) in enumerate(zip(scores, spread, strict=True)):
        colour = colour_of(number)
        heights = curve.values[row][kept]
        axes.plot(places[:-1] + shift, heights, "o", ms=6, color=colour, zorder=3, gid="curve")
        mark_missing_value(axes, n + shift, curve.missing[row], colour, zorder=3)
    name_categories(axes, [*(str(categories[place]) for place in kept), "missing"])
    axes.axvline(n - 0.5, color=LINE, lw=0.8, ls=":")
    if n < len(categories):
        name_axes(axes, f"{n} of {len(categories):,} categories")
        axes.xaxis.label.set_color(MUTED)
