"""Plots of rho: from the mean score of a set to the prediction."""

from typing import TYPE_CHECKING, Any

import numpy as np

from clearset.display._protocols import Fitted
from clearset.display.plots._axis import draw_bars
from clearset.display.plots._figure import ACCENT, add_grid, name_axes, need_matplotlib, new_panels, title
from clearset.display.plots._model_parts import chosen_class, output_of, predictions_of_means, what_is_predicted

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FINENESS = 10
_BINS = 40


def plot_rho(model: Fitted, X: Any = None, *, label: Any = None) -> "Figure":
    """Draw the curve of rho: the prediction for every mean score that a set may have.

    If tokens have several scores, there is a panel for each of them; the other scores are at their medians over X, or
    at 0 without X.

    Parameters
    ----------
    model : fitted model or estimator
        The model.
    X : sets, as for `fit`, optional
        Sets whose mean scores are drawn as a histogram behind the curve.
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
    means = None if X is None else model.explain(X, label).aggregate
    centre = np.zeros(width) if means is None else np.median(means, axis=0)
    points = np.linspace(-1.0, 1.0, _FINENESS * (fitted.function.rho_keypoints - 1) + 1)
    figure, panels = new_panels(width, columns=2, width=5.0 if width == 1 else 4.2, height=3.4 if width == 1 else 2.9)
    curves = []
    for k in range(width):
        means_of_k = np.repeat(centre[None], len(points), axis=0)  # the others stay at the centre
        means_of_k[:, k] = points
        curves.append(predictions_of_means(fitted, means_of_k, output))
    lowest, highest = min(curve.min() for curve in curves), max(curve.max() for curve in curves)
    margin = 0.06 * (highest - lowest) or 1.0
    for k, (axes, curve) in enumerate(zip(panels, curves, strict=True)):
        if means is not None:
            counts, edges = np.histogram(means[:, k], np.linspace(-1.0, 1.0, _BINS + 1))
            draw_bars(axes, edges[:-1], 0.6 * counts / max(counts.max(), 1), np.diff(edges))
        axes.plot(points, curve, color=ACCENT, lw=2.2, zorder=3)
        axes.set(xlim=(-1.03, 1.03), ylim=(lowest - margin, highest + margin))
        add_grid(axes)
        name_axes(axes, "mean score of a set's tokens" if width == 1 else f"mean of score {k + 1}",
                  what_is_predicted(fitted, label))  # fmt: skip
    others = "their middle" if X is None else "their medians"
    title(panels[0], "rho: what the mean score becomes" if width == 1 else f"rho, the other scores at {others}")
    return figure
