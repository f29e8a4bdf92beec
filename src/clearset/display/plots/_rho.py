"""Plots of rho: from the mean score of a set to the prediction."""

from typing import TYPE_CHECKING, Any

import numpy as np

from clearset.display._protocols import Fitted, FloatArray
from clearset.display._short_text import said
from clearset.display.plots._axis import draw_bars
from clearset.display.plots._figure import ACCENT, INK, MUTED, add_grid, name_axes, need_matplotlib, new_panels, title
from clearset.display.plots._model_parts import base_of, chosen_class, output_of, predictions_of_means, unit_of_one

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_FINENESS = 10
_BINS = 40


def plot_rho(model: Fitted, X: Any = None, *, label: Any = None) -> "Figure":
    """Draw the curve of rho: the prediction for every mean score that a set may have.

    Mean scores are distances from that of the base rate, which is marked at 0. If tokens have several scores, there is
    a panel for each of them; the other scores are at their medians over X, or at the base rate without X.

    Parameters
    ----------
    model : fitted model or estimator
        The model.
    X : sets, as for `fit`, optional
        Sets whose mean scores are drawn as a histogram behind the curve. Where none of them is, the curve is dashed.
    label : object, optional
        For several classes, the class to draw; by default the first.

    Returns
    -------
    matplotlib.figure.Figure
        A panel for each score.
    """
    need_matplotlib()
    fitted = model.as_model()
    output, width = output_of(fitted, label), fitted.function.width  # refuses an unknown class
    label = chosen_class(fitted, label)
    base = base_of(fitted, label)
    means = None if X is None else model.explain(X, label).aggregate
    centre = np.zeros(width) if means is None else np.median(means, axis=0)
    # A keypoint of rho stays one, whatever the base is.
    points = np.linspace(-1.0, 1.0, _FINENESS * (fitted.function.rho_keypoints - 1) + 1)
    figure, panels = new_panels(width, columns=2, width=5.0 if width == 1 else 4.2, height=3.4 if width == 1 else 2.9)
    curves, marks = [], []
    for k in range(width):
        at = np.repeat((centre + base)[None], len(points) + 1, axis=0)  # the others stay at the centre
        at[:, k] = [*points, base[k]]
        predicted = predictions_of_means(fitted, at, output)
        curves.append(predicted[:-1])
        marks.append(float(predicted[-1]))
    lowest, highest = min(curve.min() for curve in curves), max(curve.max() for curve in curves)
    margin = 0.06 * (highest - lowest) or 1.0
    for k, (axes, curve) in enumerate(zip(panels, curves, strict=True)):
        x = points - base[k]
        axes.set(xlim=(x[0] - 0.03, x[-1] + 0.03), ylim=(lowest - margin, highest + margin))
        _draw_curve(axes, x, curve, None if means is None else means[:, k])
        axes.axvline(0, color=MUTED, lw=0.8, ls=(0, (4, 3)), zorder=2, gid="base")
        axes.plot([0.0], [marks[k]], "o", ms=6, mfc="white", mec=INK, mew=1.2, zorder=4, gid="mark")
        at_base = "base rate" if width == 1 else "at the base"
        axes.annotate(
            f"{at_base} {said(marks[k])}", (0.0, marks[k]), (7, -3), textcoords="offset points", fontsize=8, color=INK,
            va="top",
        )  # fmt: skip
        add_grid(axes)
        score = "mean score of a set's tokens" if width == 1 else f"mean of score {k + 1}"
        name_axes(axes, f"{score} (0: base rate)", unit_of_one(fitted, label))
    others = "the base rate" if X is None else "their medians"
    what = "rho: what the mean score becomes" if X is not None else "rho; give X to see where sets are"
    title(panels[0], what if width == 1 else f"rho, other scores at {others}")
    return figure


def _draw_curve(axes: "Axes", x: FloatArray, curve: FloatArray, means: FloatArray | None) -> None:
    """Draw the curve, dashed where no set is, and the mean scores of sets behind it."""
    if means is None:
        axes.plot(x, curve, color=ACCENT, lw=2.2, zorder=3, gid="curve")
        return
    counts, edges = np.histogram(means, np.linspace(x[0], x[-1], _BINS + 1))
    draw_bars(axes, edges[:-1], 0.6 * counts / max(counts.max(), 1), np.diff(edges))
    axes.plot(x, curve, color=ACCENT, lw=1.2, ls=(0, (3, 3)), alpha=0.6, zorder=3, gid="curve")
    low, high = float(means.min()), float(means.max())
    within = np.unique(np.concatenate([[low, high], x[(x > low) & (x < high)]]))
    axes.plot(within, np.interp(within, x, curve), color=ACCENT, lw=2.4, zorder=3, gid="within")
