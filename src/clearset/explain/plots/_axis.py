"""A feature along the x axis: its unit, the categories, where missing values stand, and how data are distributed."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from clearset.explain.plots._figure import DATA, LINE, MUTED, FloatArray, shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BINS = 30
_SKEWED = 30
MOST_CATEGORIES = 16
MISSING = 1.09
"""Where missing values stand beside a numeric axis, as a share of its length."""


class Scale(NamedTuple):
    """How numbers stand along an axis: evenly, or crowded ones drawn apart."""

    kind: str
    unit: float = 1.0

    @classmethod
    def of(cls, keypoints: FloatArray) -> "Scale":
        """Choose a scale: where the largest keypoint is far beyond the middle one, a logarithmic one."""
        if keypoints[0] < 0 or keypoints[-1] <= _SKEWED * np.median(keypoints):
            return cls("linear")
        smallest = float(keypoints[keypoints > 0].min())
        return cls("log" if keypoints[0] > 0 else "symlog", smallest)

    def apart(self, values: npt.ArrayLike) -> FloatArray:
        """Give places along the axis."""
        numbers = np.asarray(values, dtype=np.float64)
        if self.kind == "linear":
            return numbers
        return np.asarray(np.log(numbers) if self.kind == "log" else np.arcsinh(numbers / self.unit))

    def values(self, places: FloatArray) -> FloatArray:
        """Give the numbers at places along the axis."""
        if self.kind == "linear":
            return places
        return np.asarray(np.exp(places) if self.kind == "log" else np.sinh(places) * self.unit)

    def between(self, low: float, high: float, n: int) -> FloatArray:
        """Give numbers at even distances along the axis."""
        first, last = self.apart([low, high])
        steps = self.values(np.linspace(first, last, n))
        steps[0], steps[-1] = low, high
        return steps

    def set_on(self, axes: "Axes", which: str, keypoints: FloatArray, margin: float = 0.03) -> None:
        """Set up an axis, ``"x"`` or ``"y"``, for a feature with these keypoints."""
        if self.kind != "linear":
            options = {"linthresh": self.unit} if self.kind == "symlog" else {}
            getattr(axes, f"set_{which}scale")(self.kind, **options)
        first, last = self.apart(keypoints[[0, -1]])
        ends = np.array([first - margin * (last - first), last + margin * (last - first)])
        getattr(axes, f"set_{which}lim")(*self.values(ends).tolist())


def draw_numbers(axes: "Axes", values: FloatArray, keypoints: FloatArray, scale: Scale, height: float) -> None:
    """Draw the distribution of a numeric feature behind its curve; what is missing stands beside the axis."""
    present = np.clip(values[~np.isnan(values)], keypoints[0], keypoints[-1])
    places = scale.apart(present)
    distinct = np.unique(places)
    if 1 < len(distinct) <= _BINS:
        middles = (distinct[1:] + distinct[:-1]) / 2
        first, last = 2 * distinct[0] - middles[0], 2 * distinct[-1] - middles[-1]
        edges = np.array([first, *middles, last])
    else:
        ends = scale.apart(keypoints[[0, -1]])
        edges = np.linspace(ends[0], ends[1], _BINS + 1)
    counts = np.histogram(places, edges)[0]
    absent = len(values) - len(present)
    highest = max(counts.max(), absent, 1)
    sides = scale.values(edges)
    axes.bar(
        sides[:-1],
        height * counts / highest,
        np.diff(sides),
        align="edge",
        color=DATA,
        edgecolor="white",
        linewidth=0.4,
        transform=axes.get_xaxis_transform(),
        zorder=0,
    )
    if absent:
        share = height * absent / highest
        axes.bar(
            MISSING, share, 0.04, color=DATA, transform=axes.transAxes, clip_on=False, zorder=0, in_layout=True
        )


def mark_missing(axes: "Axes", values: FloatArray, colours: list[str]) -> None:
    """Mark what a numeric feature's missing values become, beside its axis."""
    transform = axes.get_yaxis_transform()
    axes.plot(
        [MISSING - 0.045] * 2, [0, 1], color=LINE, lw=0.8, ls=":", transform=axes.transAxes, clip_on=False
    )
    for value, colour in zip(values.tolist(), colours, strict=True):
        (mark,) = axes.plot(
            [MISSING], [value], "o", ms=5, mfc="white", mec=colour, mew=1.4, transform=transform, clip_on=False
        )
        mark.set_gid("missing")
    axes.text(
        MISSING, -0.03, "missing", rotation=90, ha="center", va="top", fontsize=7.5, color=MUTED,
        transform=axes.transAxes,
    )  # fmt: skip


def choose_categories(
    categories: tuple[Any, ...], counts: npt.NDArray[np.int64] | None, heights: FloatArray
) -> npt.NDArray[np.intp]:
    """Choose the categories that there is room for: the most frequent, or else the lowest and the highest."""
    if len(categories) <= MOST_CATEGORIES:
        return np.arange(len(categories))
    if counts is not None:
        return np.sort(np.argsort(-counts, kind="stable")[:MOST_CATEGORIES])
    order = np.argsort(heights, kind="stable")
    half = MOST_CATEGORIES // 2
    return np.concatenate([order[:half], order[-half:]])


def name_categories(axes: "Axes", names: list[str], which: str = "x") -> None:
    """Write categories along an axis."""
    slanted = which == "x" and sum(len(name) for name in names) > 22
    options: dict[str, Any] = {"rotation": 35, "ha": "right", "rotation_mode": "anchor"} if slanted else {}
    set_ticks = getattr(axes, f"set_{which}ticks")
    set_ticks(range(len(names)), [shown(name, 16) for name in names], parse_math=False, **options)
    getattr(axes, f"set_{which}lim")(-0.6, len(names) - 0.4)
