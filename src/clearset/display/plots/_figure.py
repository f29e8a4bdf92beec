"""Empty figures in one clean style, and text that is safe to put into them."""

from bisect import bisect
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Colours that people with any kind of colour vision can tell apart; the first marks what matters most.
ACCENT, OPPOSITE = "#0072B2", "#D55E00"
PALETTE = (ACCENT, OPPOSITE, "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C564B", "#333333")
DATA, INK, MUTED, LINE = "#D9DEE4", "#24292F", "#6A737D", "#B8C0C8"
RAISES, LOWERS = ACCENT, "#98A1AB"
"""The colours of what raises a prediction above the base rate, and of what lowers it."""


def need_matplotlib() -> None:
    """Raise an ImportError if matplotlib is not installed."""
    try:
        import matplotlib.figure  # noqa: F401
    except ModuleNotFoundError as error:
        raise ImportError(
            f"Plots need matplotlib, which is not installed ({error}). Run: pip install 'clearset[plot]'"
        ) from error


def new_figure(width: float, height: float) -> "Figure":
    """Return an empty figure of this size in inches, which belongs to no window and is unknown to pyplot."""
    from clearset.display.plots._notebook_figure import Drawing

    figure = Drawing(figsize=(width, height), layout="constrained", facecolor="white")
    figure.get_layout_engine().set(w_pad=0.09, h_pad=0.09)  # type: ignore[union-attr, call-arg]
    return figure


def new_panels(n: int, *, columns: int = 3, width: float = 3.6, height: float = 2.7) -> tuple["Figure", list["Axes"]]:
    """Return a figure with n panels, filled row by row, and these panels."""
    columns = columns_for(n, columns)
    rows = -(-n // columns)
    figure = new_figure(width * columns, height * rows)
    return figure, [clean(figure.add_subplot(rows, columns, place + 1)) for place in range(n)]


def columns_for(n: int, most: int = 3) -> int:
    """Return the number of columns for n panels."""
    return 2 if n == 4 else min(n, most)


def clean(axes: "Axes") -> "Axes":
    """Remove the decoration of a panel that carries no information, and return the panel."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(LINE)
    axes.tick_params(colors=MUTED, labelsize=8.5, length=3)
    axes.locator_params(axis="x", nbins=6)
    for axis in (axes.xaxis, axes.yaxis):
        axis.get_offset_text().set(fontsize=8, color=MUTED)
    axes.set_axisbelow(True)
    return axes


def add_grid(axes: "Axes", axis: Literal["both", "y"] = "both") -> None:
    """Draw faint lines behind a panel."""
    axes.grid(axis=axis, color=LINE, lw=0.5, alpha=0.5)


def mark_base(axes: "Axes", base: float, *, named: bool = True) -> None:
    """Draw the base rate as a thin line across a panel, named at its right end."""
    axes.axhline(base, color=MUTED, lw=0.8, ls=(0, (4, 3)), zorder=2, gid="base")
    if named:
        axes.annotate(
            "base rate", (1.0, base), (-2, 3), xycoords=axes.get_yaxis_transform(), textcoords="offset points",
            ha="right", va="bottom", fontsize=7.5, color=MUTED, annotation_clip=False, zorder=4,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6, "alpha": 0.8},
        )  # fmt: skip


def title(axes: "Axes", text: str) -> None:
    """Set the title of a panel, aligned to the left."""
    text = fit(text, _room(axes)[0], 10.5)
    axes.set_title(text, loc="left", fontsize=10.5, color=INK, parse_math=False)


def name_axes(axes: "Axes", x: str = "", y: str = "") -> None:
    """Set the names of the two axes."""
    width, height = _room(axes)
    # A name stands in the middle of its axis, which is off the page's by half of what ticks and their names take.
    axes.set_xlabel(fit(x, width - 0.7, 9), fontsize=9, color=INK, parse_math=False)
    axes.set_ylabel(fit(y, height - 0.7, 9), fontsize=9, color=INK, parse_math=False)


def _room(axes: "Axes") -> tuple[float, float]:
    """Return how many inches text below and beside a panel may take, without its margins."""
    figure, place = axes.get_figure(root=True), axes.get_subplotspec()
    if figure is None or place is None:
        raise TypeError("A panel stands in a grid.")
    rows, columns = place.get_gridspec().get_geometry()
    return figure.get_figwidth() / columns - 0.5, figure.get_figheight() / rows - 0.5


def inches_of(text: str, size: float) -> float:
    """Return the width of a text, in inches, in a font of `size` points."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextToPath

    if not text:
        return 0.0
    font = FontProperties(size=size)
    return float(TextToPath().get_text_width_height_descent(text, font, ismath=False)[0]) / 72


def fit(text: str, inches: float, size: float) -> str:
    """Return a text, without its end if it would be wider than `inches`."""
    if inches_of(text, size) <= inches:
        return text
    kept = bisect(range(len(text)), inches, key=lambda n: inches_of(text[:n] + "…", size))
    return text[: max(kept - 1, 0)].rstrip(" ,…") + "…"


def add_legend(where: "Axes | Figure", handles: Sequence[Any], names: Sequence[str], **options: Any) -> None:
    """Add a legend; names must not begin with an underscore, which matplotlib would leave out."""
    texts = [fit(name, 2.2, 8) for name in names]
    legend = where.legend(handles, texts, fontsize=8, frameon=False, labelcolor=INK, handlelength=1.6, **options)
    for text in legend.get_texts():
        text.set_parse_math(False)


def colour_of(place: int) -> str:
    """Return the colour of a curve."""
    return PALETTE[place % len(PALETTE)]


def dashes_of(place: int) -> str:
    """Return the line style of a curve, which changes where the colours repeat."""
    return ("-", "--", ":", "-.")[place // len(PALETTE) % 4]
