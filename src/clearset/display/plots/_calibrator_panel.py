"""One panel of a plot of calibrators: the curves of a numeric feature, or the bars of a categorical one."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from clearset.display._protocols import FloatArray, ShownCurve
from clearset.display.plots._axis import (
    Scale,
    choose_categories,
    draw_counts,
    draw_numbers,
    mark_missing,
    mark_missing_value,
    name_categories,
)
from clearset.display.plots._figure import DATA, LINE, LOWERS, RAISES, colour_of, dashes_of
from clearset.display.plots._model_parts import counts_in, numbers_in

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_HEIGHT = 0.4
_PALE = 0.45


@dataclass(frozen=True, eq=False)
class Panel:
    """What is drawn of one feature: R curves through V values."""

    keypoints: FloatArray | None
    categories: tuple[Any, ...] | None
    heights: FloatArray  # (R, V + 1): last of a missing value
    counts: FloatArray  # (V + 1,): training sets with the value
    little: npt.NDArray[np.bool_]  # (V + 1,): whether few have it
    column: pa.ChunkedArray | None  # the feature's values of given tokens
    calibrated: bool

    @classmethod
    def of(
        cls, curve: ShownCurve, rows: list[int], column: pa.ChunkedArray | None, shift: Any, *, calibrated: bool
    ) -> "Panel":
        """Take rows of a calibrator's curves: calibrated values, or effects, which are shifted."""
        heights, missing = (curve.values, curve.missing) if calibrated else (curve.effects, curve.missing_effects)
        both = np.hstack([heights, missing[:, None]])[rows]
        both = both + np.broadcast_to(shift, len(rows))[:, None]
        return cls(curve.keypoints, curve.categories, both, curve.counts, curve.rare, column, calibrated)

    @property
    def has_data(self) -> bool:
        """Whether there is a distribution to draw."""
        return self.column is not None or bool(self.counts.sum() > 0)

    def draw(self, axes: "Axes") -> None:
        """Draw the panel; the limits of the vertical axis are set before."""
        if self.keypoints is None:
            self._draw_categories(axes)
        else:
            self._draw_numeric(axes, np.asarray(self.keypoints))

    def _draw_numeric(self, axes: "Axes", keypoints: FloatArray) -> None:
        scale = Scale.of(keypoints)
        scale.set_on(axes, "x", keypoints)
        places = keypoints
        if scale.kind != "linear":
            # What is straight between two keypoints is bent on another scale.
            places = np.unique(np.concatenate([keypoints, scale.between(keypoints[0], keypoints[-1], 200)]))
        known = ~self.little[:-1]
        for number, row in enumerate(self.heights):
            colour, heights = colour_of(number), np.interp(places, keypoints, row[:-1])
            axes.plot(places, heights, color=colour, ls=":", lw=1.5, alpha=0.6, zorder=3, gid="curve")
            for start, stop in _runs(known[:-1] & known[1:]):
                inside = (places >= keypoints[start]) & (places <= keypoints[stop])
                axes.plot(places[inside], heights[inside], color=colour, ls=dashes_of(number), lw=2, zorder=3)
            if len(self.heights) == 1:
                axes.plot(keypoints[known], row[:-1][known], "o", ms=3.5, color=colour, zorder=3)
        if self.column is not None:
            draw_numbers(axes, numbers_in(self.column), keypoints, scale, _HEIGHT)
        elif self.has_data:
            draw_counts(axes, self.counts, keypoints, scale, _HEIGHT)
        colours = [colour_of(n) for n in range(len(self.heights))]
        mark_missing(axes, self.heights[:, -1], colours, _PALE if self.little[-1] else 1.0)

    def _draw_categories(self, axes: "Axes") -> None:
        categories, n_rows = self.categories or (), len(self.heights)
        counts = self.counts if self.column is None else counts_in(self.column, categories)
        kept = choose_categories(categories, counts[:-1] if self.has_data else None, self.heights[0, :-1])
        if not self.calibrated:
            kept = kept[np.argsort(-self.heights[:, kept].mean(axis=0), kind="stable")]
        n = len(kept)
        if self.has_data:
            low, high = axes.get_ylim()
            shares = np.append(counts[kept], counts[-1])
            axes.bar(
                np.arange(n + 1), _HEIGHT * (high - low) * shares / max(shares.max(), 1e-300), 0.9, bottom=low,
                color=DATA, zorder=0, gid="data",
            )  # fmt: skip
        width = 0.7 / n_rows
        for number, row in enumerate(self.heights):
            places: FloatArray = np.arange(n + 1.0) + width * (number - (n_rows - 1) / 2)
            if self.calibrated:
                axes.plot(places[:-1], row[kept], "o", ms=6, color=colour_of(number), zorder=3, gid="curve")
            else:
                self._draw_bars(axes, places[:-1], width, row[kept], self.little[kept], number)
            mark_missing_value(axes, places[-1], row[-1], colour_of(number), zorder=3)
        name_categories(axes, [*(str(categories[place]) for place in kept), "missing"])
        axes.axvline(n - 0.5, color=LINE, lw=0.8, ls=":")
        if n < len(categories):
            axes.set_xlabel(f"{n} of {len(categories):,} categories")

    def _draw_bars(
        self, axes: "Axes", places: FloatArray, width: float, heights: FloatArray, little: Any, number: int
    ) -> None:
        """Draw the effects of categories as bars from 0."""
        one = len(self.heights) == 1
        bars = axes.bar(places, heights, 0.9 * width, zorder=3, gid="effect")
        for bar, height, pale in zip(bars, heights.tolist(), little.tolist(), strict=True):
            bar.set_facecolor((RAISES if height >= 0 else LOWERS) if one else colour_of(number))
            bar.set_alpha(_PALE if pale else 1.0)


def _runs(known: npt.NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return where runs of segments that are known begin and end, as places of keypoints."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], known, [False]]).astype(np.int8)))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))
