"""Plots of partial dependence, over the curves of single sets."""

from typing import TYPE_CHECKING

import numpy as np

from clearset.display._protocols import ShownDependence
from clearset.display._short_text import shown, what_is_predicted
from clearset.display.plots._axis import MOST_SLANTED, Scale, choose_categories, name_categories
from clearset.display.plots._figure import (
    ACCENT,
    LINE,
    MUTED,
    add_grid,
    mark_base,
    name_axes,
    need_matplotlib,
    new_panels,
    title,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_partial_dependence(dependence: ShownDependence, *, sets: int = 50) -> "Figure":
    """Draw how predictions depend on one feature of one token; a thin line is the base rate.

    Parameters
    ----------
    dependence : PartialDependence
        The result of a model's `partial_dependence`.
    sets : int, default=50
        The largest number of single sets whose curves are drawn behind the mean.

    Returns
    -------
    matplotlib.figure.Figure
        One panel.
    """
    need_matplotlib()
    named = dependence.values.dtype == object
    long = named and (
        len(dependence.values) > MOST_SLANTED or max(map(len, map(str, dependence.values)), default=0) > 12
    )
    figure, (axes,) = new_panels(1, width=5.0, height=4.4 if long else 3.4)
    n_sets, feature = len(dependence.sets), shown(dependence.feature, 40)
    chosen = np.sort(np.random.default_rng(0).permutation(n_sets)[: max(sets, 0)])
    if named:
        kept = choose_categories(tuple(dependence.values), None, dependence.prediction)
        places = np.arange(len(kept))
        axes.plot(places, dependence.sets[chosen][:, kept].T, "_", ms=12, color=LINE, alpha=0.6, zorder=1)
        axes.plot(places, dependence.prediction[kept], "o", ms=8, color=ACCENT, zorder=3)
        name_categories(axes, [str(each) for each in dependence.values[kept]])
        if len(kept) < len(dependence.values):
            feature += f": {len(kept)} of {len(dependence.values):,} categories, the lowest and the highest"
    else:
        scale = Scale.of(dependence.values)
        scale.set_on(axes, "x", dependence.values, margin=0.02)
        axes.plot(dependence.values, dependence.sets[chosen].T, color=LINE, lw=0.7, alpha=0.6, zorder=1)
        axes.plot(dependence.values, dependence.prediction, color=ACCENT, lw=2.4, zorder=3)
    add_grid(axes, "y")
    mark_base(axes, dependence.base)
    name_axes(axes, feature, what_is_predicted(dependence.label, probability=dependence.probability))
    drawn = ""
    if len(chosen):
        drawn = f", and {len(chosen) if len(chosen) < n_sets else 'each'} of them"
    title(axes, f"mean over {dependence.said_of}{drawn}" if n_sets > 1 else "one set")
    axes.title.set_color(MUTED)
    return figure
