"""Plots of calibrators: what each value of a feature does to the score of a token, over the distribution of data."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from clearset.display._protocols import Fitted
from clearset.display._short_text import shown
from clearset.display.plots._axis import MOST_SLANTED
from clearset.display.plots._calibrator_panel import Panel
from clearset.display.plots._figure import (
    DATA,
    LINE,
    MUTED,
    add_grid,
    add_legend,
    colour_of,
    columns_for,
    dashes_of,
    mark_base,
    name_axes,
    need_matplotlib,
    new_panels,
    title,
)
from clearset.display.plots._model_parts import columns_of, effect_shift, named_scores

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST_IN_LEGEND = 16


def plot_calibrators(
    model: Fitted,
    X: Any = None,
    features: Sequence[str] | str | None = None,
    *,
    label: Any = None,
    calibrated: bool = False,
) -> "Figure":
    """Draw the effect of each feature: the score of a token as its value changes, from each feature's own unit.

    The other features are calibrated as they are on average, and 0 is the score of the base rate: values above it raise
    predictions. All panels have the same scale, so that features can be compared.

    Parameters
    ----------
    model : fitted model or estimator
        The model.
    X : sets, as for `fit`, optional
        Sets; the distribution of their tokens is drawn behind the curves. By default that of the training sets.
    features : str or sequence of str, optional
        The names of the features to draw; by default all.
    label : object, optional
        The class to draw, if classes have curves of their own; by default all of them.
    calibrated : bool, default=False
        Whether to draw the calibrators themselves: the calibrated values from 0 to 1 that the lattice of phi reads.
        They do not say which values are good.

    Returns
    -------
    matplotlib.figure.Figure
        A panel for each feature. Where fewer than 1 in 50 of the training sets have such values, curves are dotted and
        bars pale.
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
    shift = 0.0 if calibrated else effect_shift(fitted, label)
    drawn = [Panel.of(curves[name], list(scores), columns.get(name), shift, calibrated=calibrated) for name in names]
    upright = any(len(panel.categories or ()) >= MOST_SLANTED for panel in drawn)
    figure, panels = new_panels(len(names), height=3.7 if upright else 2.7)
    limits = (-0.05, 1.05) if calibrated else _common(drawn)
    for place, (axes, panel, name) in enumerate(zip(panels, drawn, names, strict=True)):
        axes.set_ylim(*limits)
        panel.draw(axes)
        _finish(axes, panel, shown(name), first=place % columns_for(len(names)) == 0)
    _add_legend(figure, scores, drawn, "tokens of X" if X is not None else "training sets")
    return figure


def _common(panels: list[Panel]) -> tuple[float, float]:
    """Return the limits that all effects fit in, and 0."""
    heights = np.concatenate([[0.0], *(panel.heights.ravel() for panel in panels)])
    low, high = float(heights.min()), float(heights.max())
    margin = 0.08 * (high - low) or 0.05
    return low - margin, high + margin


def _finish(axes: "Axes", panel: Panel, name: str, *, first: bool) -> None:
    title(axes, name)
    add_grid(axes, "y")
    if panel.calibrated:
        axes.set_yticks([0, 0.5, 1])
    else:
        mark_base(axes, 0.0, named=first)
    what = "calibrated value" if panel.calibrated else "effect on the score"
    below = axes.get_xlabel()
    name_axes(axes, below, what if first else "")
    axes.xaxis.label.set_color(MUTED)


def _add_legend(figure: "Figure", scores: dict[int, str], drawn: list[Panel], data: str) -> None:
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
    if any(panel.has_data for panel in drawn):
        handles.append(Patch(color=DATA))
        names.append(f"distribution of the {data}")
    if any(panel.little.any() for panel in drawn):
        handles.append(Line2D([], [], color=LINE, lw=2, ls=":"))
        names.append("few training sets")
    if names:
        add_legend(figure, handles, names, loc="outside lower center", ncols=min(len(names), 3))
