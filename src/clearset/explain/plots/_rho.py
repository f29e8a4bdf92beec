"""Rho: from the mean score of a set to what is predicted."""

from typing import TYPE_CHECKING, Any

import numpy as np

from clearset.explain.plots._figure import (
    ACCENT,
    DATA,
    LINE,
    FloatArray,
    name_axes,
    need_matplotlib,
    new_panels,
    title,
)
from clearset.explain.plots._models import (
    apply_rho,
    column_of,
    predicted,
    rows_of,
    what_is_predicted,
    width_of,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FINENESS = 10
_BINS = 40


def plot_rho(model: Any, X: Any = None, *, label: Any = None) -> "Figure":
    """Draw rho's curve: what is predicted for each mean score that a set may have.

    Of several scores to a token there is a panel for each, in which the others stand at their medians over X (without
    X at 0).

    Parameters
    ----------
    model
        A fitted one.
    X
        Sets, as for `fit`; the distribution of their mean scores is drawn behind the curve.
    label
        Of several classes the one to draw, the first by default.

    Returns
    -------
    matplotlib.figure.Figure
        A panel for each score.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import clearset as cs
    >>> import clearset.explain
    >>> products = pa.table({"stars": [[5, 4], [1], [5, 5, 5], [2, 3]], "price": [9.0, 7.0, 8.0, 5.0]})
    >>> model = cs.SetRegressor(random_state=0).fit(products, [120.0, 20.0, 180.0, 60.0])
    >>> cs.explain.plot_rho(model, products).axes[0].get_ylabel()
    'prediction'
    """
    need_matplotlib()
    rows_of(model, label)  # refuses an unknown class
    width, column = width_of(model), column_of(model, label)
    if label is None and hasattr(model, "classes_") and len(model.classes_) > 2:
        label = model.classes_[0]
    means = None if X is None else model.explain(X, label).aggregate
    centre = np.zeros(width) if means is None else np.median(means, axis=0)
    points = np.linspace(-1.0, 1.0, _FINENESS * (model.set_function_.rho_keypoints - 1) + 1)
    figure, panels = new_panels(
        width, columns=2, width=5.0 if width == 1 else 4.2, height=3.4 if width == 1 else 2.9
    )
    curves = [predicted(model, apply_rho(model, _slice(centre, k, points), column)) for k in range(width)]
    lowest, highest = min(curve.min() for curve in curves), max(curve.max() for curve in curves)
    margin = 0.06 * (highest - lowest) or 1.0
    for k, (axes, curve) in enumerate(zip(panels, curves, strict=True)):
        if means is not None:
            counts, edges = np.histogram(means[:, k], np.linspace(-1.0, 1.0, _BINS + 1))
            axes.bar(
                edges[:-1], 0.6 * counts / max(counts.max(), 1), np.diff(edges), align="edge", color=DATA,
                edgecolor="white", linewidth=0.4, transform=axes.get_xaxis_transform(), zorder=0,
            )  # fmt: skip
        axes.plot(points, curve, color=ACCENT, lw=2.2, zorder=3)
        axes.set(xlim=(-1.03, 1.03), ylim=(lowest - margin, highest + margin))
        axes.grid(color=LINE, lw=0.5, alpha=0.5)
        name_axes(axes, "mean score of a set's tokens" if width == 1 else f"mean of score {k + 1}",
                  what_is_predicted(model, label))  # fmt: skip
    others = "their middle" if X is None else "their medians"
    title(
        panels[0], "rho: what the mean score becomes" if width == 1 else f"rho, the other scores at {others}"
    )
    return figure


def _slice(centre: FloatArray, k: int, points: FloatArray) -> FloatArray:
    """Let one score go through all values while the others stay."""
    means = np.repeat(centre[None], len(points), axis=0)
    means[:, k] = points
    return means
