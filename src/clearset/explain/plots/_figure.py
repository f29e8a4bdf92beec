"""Empty figures in one clean style, and text that is safe to put into them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FloatArray = npt.NDArray[np.float64]

# Colours that people with any kind of colour vision tell apart; the first is the one that says "look here".
ACCENT, OPPOSITE = "#0072B2", "#D55E00"
PALETTE = (ACCENT, OPPOSITE, "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C564B", "#333333")
DATA, INK, MUTED, LINE = "#D9DEE4", "#24292F", "#6A737D", "#B8C0C8"


def new_figure(width: float, height: float) -> "Figure":
    """Make an empty figure of so many inches, that no window and no pyplot knows of."""
    try:
        from clearset.explain.plots._drawing import Drawing
    except ModuleNotFoundError as error:
        raise ImportError(
            f"Plots need matplotlib, which is not installed ({error}). Run: pip install 'clearset[plot]'"
        ) from error
    figure = Drawing(figsize=(width, height), layout="constrained", facecolor="white")
    figure.get_layout_engine().set(w_pad=0.09, h_pad=0.09)  # type: ignore[union-attr, call-arg]
    return figure


def new_panels(
    n: int, *, columns: int = 3, width: float = 3.6, height: float = 2.7
) -> tuple["Figure", list["Axes"]]:
    """Make a figure of n panels, row by row."""
    columns = columns_for(n, columns)
    rows = -(-n // columns)
    figure = new_figure(width * columns, height * rows)
    found: list[Axes] = []
    for place in range(n):
        axes = figure.add_subplot(rows, columns, place + 1)
        found.append(clean(axes))
    return figure, found


def columns_for(n: int, most: int = 3) -> int:
    """Choose the number of columns for n panels."""
    return 2 if n == 4 else min(n, most)


def clean(axes: "Axes") -> "Axes":
    """Take away what only takes space."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(LINE)
    axes.tick_params(colors=MUTED, labelsize=8.5, length=3)
    axes.set_axisbelow(True)
    return axes


def title(axes: "Axes", text: str) -> None:
    """Put a title over the left end of a panel."""
    axes.set_title(text, loc="left", fontsize=10.5, color=INK, parse_math=False)


def name_axes(axes: "Axes", x: str = "", y: str = "") -> None:
    """Name the two axes."""
    axes.set_xlabel(x, fontsize=9, color=INK, parse_math=False)
    axes.set_ylabel(y, fontsize=9, color=INK, parse_math=False)


def add_legend(where: "Axes | Figure", handles: Sequence[Any], names: Sequence[str], **options: Any) -> None:
    """Add a legend; names must not begin with an underscore, which matplotlib would leave out."""
    legend = where.legend(
        handles, names, fontsize=8, frameon=False, labelcolor=INK, handlelength=1.6, **options
    )
    for text in legend.get_texts():
        text.set_parse_math(False)


def colour_of(place: int) -> str:
    """Give the colour of a curve."""
    return PALETTE[place % len(PALETTE)]


def dashes_of(place: int) -> str:
    """Give the kind of line of a curve: another one when the colours begin again."""
    return ("-", "--", ":", "-.")[place // len(PALETTE) % 4]
