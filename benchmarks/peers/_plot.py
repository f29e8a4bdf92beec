"""The curves of growth as one picture."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.peers._environments import CONTENDERS
from benchmarks.peers._run import Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Panel to the curves in it: part and series of the cases, and how they are called.
PANELS: dict[str, dict[tuple[str, str], str]] = {
    "tokens": {("growth", "tokens"): "fit, D=6 K=1"},
    "features D": {("growth", "features D"): "K=1"},
    "width K": {("growth", "width K"): "D=6"},
    "sets of items, 2 classes": {("items", "2 classes"): ""},
    "sets of items, 20 classes": {("items", "20 classes"): ""},
    "classes": {("growth", "classes"): "sets of items"},
    "threads": {("growth", "threads, numeric"): "numeric tokens", ("growth", "threads, items"): "sets of items"},
}
# Where contenders and threads are compared, what counts is how long one waits; elsewhere how much is to be done.
WAITING = frozenset({"sets of items, 2 classes", "sets of items, 20 classes", "threads"})
COLUMNS = 4

Curves = dict[tuple[str, str, str], list[Row]]


def draw(rows: Sequence[Row], path: Path) -> None:
    """Draw the time of fit over size, both axes logarithmic."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    curves: Curves = defaultdict(list)
    for row in rows:
        if row.values and row.case.at:
            curves[row.case.part, row.case.series, row.contender].append(row)
    chosen = [name for name, kinds in PANELS.items() if any(key[:2] in kinds for key in curves)]
    if not chosen:
        return
    n_rows = -(-len(chosen) // COLUMNS)
    figure, axes = plt.subplots(
        n_rows, COLUMNS, figsize=(4 * COLUMNS, 3.4 * n_rows), squeeze=False, layout="constrained"
    )
    for panel, name in zip(axes.flat, chosen, strict=False):
        _panel(panel, name, curves)
    for panel in axes.flat[len(chosen) :]:
        panel.set_axis_off()
    figure.suptitle("Time of fit, both axes logarithmic; the dotted line is proportional growth")
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _panel(panel: Axes, name: str, curves: Curves) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    measure = "wall" if name in WAITING else "cpu"
    for (part, series, contender), rows in curves.items():
        label = PANELS[name].get((part, series))
        if label is None:
            continue
        at, times = zip(*sorted((row.case.at, row.values[measure]) for row in rows), strict=True)
        panel.plot(at, times, marker="o", label=label or CONTENDERS[contender].title)
        if len(at) > 1 and contender == "clearset":
            falls = name == "threads"
            last = times[0] * (at[0] / at[-1] if falls else at[-1] / at[0])
            panel.plot((at[0], at[-1]), (times[0], last), linestyle=":", color="grey", linewidth=1)
    panel.set_xscale("log")
    panel.set_yscale("log")
    for axis in (panel.xaxis, panel.yaxis):
        low, high = axis.get_view_interval()
        wide = high > 100 * low  # then powers of ten are enough
        axis.set_major_locator(LogLocator(subs=(1.0,) if wide else (1.0, 2.0, 5.0)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}" if value < 10_000 else f"{value:.0e}"))
        axis.set_minor_formatter(NullFormatter())
    panel.set_xlabel(name)
    panel.set_ylabel(f"{'wall' if measure == 'wall' else 'processor'} seconds")
    panel.grid(visible=True, which="major", alpha=0.3)
    panel.legend(fontsize="small")
