"""Features along an axis: scales, categories, missing values, and the distribution of data."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from clearset.display._protocols import FloatArray
from clearset.display._short_text import shown
from clearset.display.plots._figure import DATA, LINE, MUTED, fit

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BINS = 30
_SKEWED = 30
_TINY = 1e-280
"""Smaller numbers are 0 for matplotlib, unless the scale is logarithmic."""
_NARROW = 1e-40
"""The smallest ratio of values on an axis; the margin beside a longer axis would exceed the largest float."""
_LARGEST = 1e307
MOST_CATEGORIES = 16
MOST_SLANTED = 8
"""More names of categories than these are written vertically."""
MISSING = 1.12
"""The place of missing values beside a numeric axis, as a share of its length."""


class Scale(NamedTuple):
    """The scale of an axis: linear, logarithmic, or linear around 0 and logarithmic beyond (``"symlog"``)."""

    kind: str
    unit: float = 1.0

    @classmethod
    def of(cls, keypoints: FloatArray) -> "Scale":
        """Return the scale for a feature: logarithmic if its largest keypoint is far beyond the middle one."""
        middle, largest = float(np.median(keypoints)), float(keypoints[-1])
        if keypoints[0] > 0 and largest < _TINY:
            return cls("log")
        if keypoints[0] < 0 or largest <= _SKEWED * middle:
            return cls("linear")
        if keypoints[0] > 0 and largest * _NARROW < keypoints[0]:
            return cls("log")
        # What is far below the middle is nearly 0.
        smallest = max(float(keypoints[keypoints > 0].min()), middle / 3, largest * _NARROW)
        return cls("symlog", 10.0 ** np.floor(np.log10(smallest)))

    def apart(self, values: npt.ArrayLike) -> FloatArray:
        """Return the places of values along the axis."""
        numbers = np.asarray(values, dtype=np.float64)
        if self.kind == "linear":
            return numbers
        return np.asarray(np.log(numbers) if self.kind == "log" else np.arcsinh(numbers / self.unit))

    def values(self, places: FloatArray) -> FloatArray:
        """Return the values at places along the axis."""
        if self.kind == "linear":
            return places
        return np.asarray(np.exp(places) if self.kind == "log" else np.sinh(places) * self.unit)

    def between(self, low: float, high: float, n: int) -> FloatArray:
        """Return n values at even distances along the axis."""
        first, last = self.apart([low, high])
        steps = self.values(np.linspace(first, last, n))
        steps[0], steps[-1] = low, high
        return steps

    def set_on(self, axes: "Axes", which: str, keypoints: FloatArray, margin: float = 0.03) -> None:
        """Set up an axis, ``"x"`` or ``"y"``, for a feature with these keypoints."""
        if self.kind != "linear":
            options = {"linthresh": self.unit} if self.kind == "symlog" else {}
            getattr(axes, f"set_{which}scale")(self.kind, **options)
            axis = getattr(axes, f"{which}axis")
            axis.set_major_formatter(_power)
            axis.set_minor_formatter("")
            axis.get_major_locator().set_params(numticks=5)
        first, last = self.apart(keypoints[[0, -1]])
        ends = np.array([first - margin * (last - first), last + margin * (last - first)])
        with np.errstate(over="ignore", under="ignore"):
            low, high = np.clip(self.values(ends), -_LARGEST, _LARGEST).tolist()
        if self.kind == "symlog":
            low = max(low, -self.unit / 2)
        # A margin below the smallest float is none.
        getattr(axes, f"set_{which}lim")(low or float(keypoints[0]), high)


def _power(number: float, _: int | None = None) -> str:
    """Return a power of ten as short text."""
    return f"{number:,g}".replace("e+", "e")


def draw_bars(axes: "Axes", left: FloatArray, heights: npt.NDArray[Any], widths: FloatArray) -> None:
    """Draw the distribution of data behind a curve; heights are shares of the panel's."""
    axes.bar(
        left, heights, widths, align="edge", color=DATA, edgecolor="white", linewidth=0.4,
        transform=axes.get_xaxis_transform(), zorder=0,
    )  # fmt: skip


def draw_numbers(axes: "Axes", values: FloatArray, keypoints: FloatArray, scale: Scale, height: float) -> None:
    """Draw the distribution of a numeric feature behind its curve; missing values are counted beside the axis."""
    present = np.clip(values[~np.isnan(values)], keypoints[0], keypoints[-1])
    distinct, counts = np.unique(present, return_counts=True)
    steps = np.diff(distinct)
    # Few values at even distances, such as stars, stand each for itself.
    if scale.kind == "linear" and 0 < len(steps) < _BINS and steps.max() < 1.5 * steps.min():
        width = 0.8 * float(steps.min())
        left, widths = distinct - width / 2, np.full(len(distinct), width)
        low, high = axes.get_xlim()
        axes.set_xlim(min(low, distinct[0] - width * 0.7), max(high, distinct[-1] + width * 0.7))
    else:
        edges = scale.between(float(keypoints[0]), float(keypoints[-1]), _BINS + 1)
        counts = np.histogram(present, edges)[0]
        left, widths = edges[:-1], np.diff(edges)
    absent = len(values) - len(present)
    unit = height / max(int(counts.max(initial=0)), absent, 1)
    draw_bars(axes, left, unit * counts, widths)
    if absent:
        axes.bar(MISSING, unit * absent, 0.04, color=DATA, transform=axes.transAxes, clip_on=False, zorder=0)


def draw_counts(axes: "Axes", counts: FloatArray, keypoints: FloatArray, scale: Scale, height: float) -> None:
    """Draw the distribution of a numeric feature from the counts at its keypoints, and last of missing values."""
    places, present, absent = scale.apart(keypoints), counts[:-1], float(counts[-1])
    steps = np.diff(places)
    if scale.kind == "linear" and len(steps) < _BINS and steps.max() < 1.5 * steps.min():
        width = 0.8 * float(steps.min())
        left, widths, heights = places - width / 2, np.full(len(places), width), present
        axes.set_xlim(left[0] - 0.1 * width, left[-1] + 1.1 * width)
    else:
        # What is counted at a keypoint lies about it, as far as the middles between it and its neighbours.
        cells = np.concatenate([places[:1], (places[1:] + places[:-1]) / 2, places[-1:]])
        edges = np.linspace(places[0], places[-1], _BINS + 1)
        heights = np.diff(np.interp(edges, cells, np.concatenate([[0.0], np.cumsum(present)])))
        values = scale.between(float(keypoints[0]), float(keypoints[-1]), _BINS + 1)
        left, widths = values[:-1], np.diff(values)
    unit = height / max(float(heights.max(initial=0.0)), absent, 1e-300)
    draw_bars(axes, left, unit * heights, widths)
    if absent:
        axes.bar(MISSING, unit * absent, 0.04, color=DATA, transform=axes.transAxes, clip_on=False, zorder=0)


def mark_missing(axes: "Axes", values: FloatArray, colours: list[str], alpha: float = 1.0) -> None:
    """Mark what is made of missing values of a numeric feature, beside its axis."""
    transform = axes.get_yaxis_transform()
    axes.plot([MISSING - 0.05] * 2, [0, 1], color=LINE, lw=0.8, ls=":", transform=axes.transAxes, clip_on=False)
    for value, colour in zip(values.tolist(), colours, strict=True):
        mark_missing_value(axes, MISSING, value, colour, transform=transform, clip_on=False, alpha=alpha)
    axes.text(
        MISSING, -0.03, "missing", rotation=90, ha="center", va="top", fontsize=7.5, color=MUTED,
        transform=axes.transAxes,
    )  # fmt: skip


def mark_missing_value(axes: "Axes", x: float, y: float, colour: str, **options: Any) -> None:
    """Mark what is made of a missing value by a circle."""
    axes.plot([x], [y], "o", ms=5, mfc="white", mec=colour, mew=1.4, gid="missing", **options)


def choose_categories(
    categories: tuple[Any, ...], counts: npt.NDArray[Any] | None, heights: FloatArray
) -> npt.NDArray[np.intp]:
    """Return the places of the categories to draw: the most frequent ones, or the lowest and the highest."""
    if len(categories) <= MOST_CATEGORIES:
        return np.arange(len(categories))
    if counts is not None:
        return np.sort(np.argsort(-counts, kind="stable")[:MOST_CATEGORIES])
    order = np.argsort(heights, kind="stable")
    half = MOST_CATEGORIES // 2
    return np.concatenate([order[:half], order[-half:]])


def name_categories(axes: "Axes", names: list[str], which: str = "x") -> None:
    """Write categories along an axis."""
    options: dict[str, Any] = {}
    if which == "x" and sum(len(name) for name in names) > 22:
        angle = 35 if len(names) <= MOST_SLANTED else 90
        middle = "top" if angle < 90 else "center"
        options = {"rotation": angle, "ha": "right", "va": middle, "rotation_mode": "anchor"}
    set_ticks = getattr(axes, f"set_{which}ticks")
    texts = [fit(shown(name, 18), 1.4, 8.5) for name in names]
    set_ticks(range(len(names)), texts, parse_math=False, **options)
    getattr(axes, f"set_{which}lim")(-0.6, len(names) - 0.4)
