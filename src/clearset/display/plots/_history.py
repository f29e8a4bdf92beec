"""Plots of the losses over the epochs of training."""

from typing import TYPE_CHECKING

from clearset.display._protocols import Trained
from clearset.display.plots._figure import (
    ACCENT,
    MUTED,
    OPPOSITE,
    add_grid,
    add_legend,
    name_axes,
    need_matplotlib,
    new_panels,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_history(model: Trained) -> "Figure":
    """Draw the losses of training and validation by epoch.

    Parameters
    ----------
    model : fitted model or estimator
        The model.

    Returns
    -------
    matplotlib.figure.Figure
        One panel.
    """
    need_matplotlib()
    history = model.history_
    if not history:
        raise ValueError(f"This {type(model).__name__} has no history: it was trained for no epoch.")
    figure, (axes,) = new_panels(1, width=5.2, height=3.2)
    lines, names = [], []
    for key, name, colour in (("loss", "training", OPPOSITE), ("validation_loss", "validation", ACCENT)):
        known = [(row["epoch"], row[key]) for row in history if row.get(key) is not None]
        if known:
            lines += axes.plot(*zip(*known, strict=True), color=colour, lw=1.8)
            names.append(name)
    best = getattr(model, "best_epoch_", None)
    if best is not None and len(names) == 2:
        lines.append(axes.axvline(best, color=MUTED, lw=1, ls=":"))
        names.append(f"best epoch, {best}")
    add_grid(axes, "y")
    axes.locator_params(axis="x", integer=True)
    name_axes(axes, "epoch", "loss")
    add_legend(axes, lines, names)
    return figure
