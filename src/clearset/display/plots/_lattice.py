"""Plots of phi as a surface over two features."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from clearset.display._protocols import Fitted, FloatArray, ShownModel
from clearset.display._short_text import said, shown
from clearset.display.plots._axis import MOST_SLANTED, Scale, choose_categories, name_categories
from clearset.display.plots._figure import ACCENT, INK, MUTED, fit, name_axes, need_matplotlib, new_panels, title
from clearset.display.plots._model_parts import base_of, chosen_class, columns_of, counts_in, numbers_in, output_of
from clearset.sets import Binning, Positions

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_STEPS = 80
_MOST_POINTS = 1000


class _Side(NamedTuple):
    """One of the two features: its values, and their slots and fractions."""

    name: str
    values: npt.NDArray[Any]
    slots: npt.NDArray[np.int32]
    fractions: FloatArray
    scale: Scale | None
    n_categories: int = 0

    @property
    def title(self) -> str:
        """The name of the axis."""
        n = len(self.values)
        return shown(self.name) + (f" ({n} of {self.n_categories:,})" if self.n_categories > n else "")


def plot_lattice(model: Fitted, x: str, y: str, X: Any = None, *, label: Any = None) -> "Figure":
    """Draw the score of a token, as distance from that of the base rate, as a surface over two of its features.

    The other features are at their medians over X, or at their most frequent category; without X they are at their
    middle keypoint or their first category.

    Parameters
    ----------
    model : fitted model or estimator
        The model.
    x, y : str
        The names of the two features.
    X : sets, as for `fit`, optional
        Sets; some of their tokens are drawn as points.
    label : object, optional
        For several classes, the class whose score is drawn; by default the first.

    Returns
    -------
    matplotlib.figure.Figure
        A panel for each score.
    """
    need_matplotlib()
    fitted = model.as_model()
    output = output_of(fitted, label)  # refuses an unknown class
    for name in (x, y):
        fitted.binning.slots_of(name)  # refuses an unknown feature
    if x == y:
        raise ValueError(f"x and y are both {x!r}; a surface needs two features. Try plot_calibrators.")
    label = chosen_class(fitted, label)
    columns = {} if X is None else columns_of(fitted, model.explain(X, label))
    across, up = _side(fitted.binning, x, columns.get(x)), _side(fitted.binning, y, columns.get(y))
    scores, others = surface(fitted, across, up, columns, output)
    scores = scores - base_of(fitted, label)
    upright = across.scale is None and len(across.values) > MOST_SLANTED
    figure, panels = new_panels(fitted.function.width, columns=2, width=4.9, height=4.8 if upright else 3.8)
    for k, axes in enumerate(panels):
        _draw(figure, axes, across, up, scores[..., k])
        if across.scale is not None and up.scale is not None and columns:
            _draw_points(axes, numbers_in(columns[x]), numbers_in(columns[y]))
        for which, side in (("x", across), ("y", up)):
            if side.scale is None:
                name_categories(axes, list(side.values), which)
            else:
                side.scale.set_on(axes, which, side.values, margin=0.0)
        name_axes(axes, across.title, up.title)
        if len(panels) > 1:
            title(axes, f"score {k + 1}")
    if others:
        text = fit("others: " + ", ".join(others), figure.get_figwidth() - 0.4, 8.5)
        figure.supxlabel(text, fontsize=8.5, color=INK, parse_math=False)
    return figure


def surface(
    model: ShownModel, across: _Side, up: _Side, columns: dict[str, pa.ChunkedArray], output: int
) -> tuple[FloatArray, list[str]]:
    """Return the score at every pair of values, ``(n_y, n_x, K)``, and the values of the other features as text."""
    binning, width = model.binning, model.function.width
    n_x, n_y = len(across.values), len(up.values)
    n = n_x * n_y
    slots, fractions = np.zeros((len(binning.features), n), np.int32), np.zeros((len(binning.features), n))
    others = []
    drawn = {
        across.name: (np.tile(across.slots, n_y), np.tile(across.fractions, n_y)),
        up.name: (np.repeat(up.slots, n_x), np.repeat(up.fractions, n_x)),
    }
    for place, feature in enumerate(binning.features):
        if feature.name in drawn:
            slots[place], fractions[place] = drawn[feature.name]
        else:
            slots[place], fractions[place], text = _middle(binning, place, columns.get(feature.name))
            others.append(f"{shown(feature.name, 20)} = {text}")
    scores = model.score_positions(Positions(slots, fractions, np.arange(n + 1)))
    return scores.reshape(n_y, n_x, -1, width)[:, :, output], others


def _side(binning: Binning, name: str, column: pa.ChunkedArray | None) -> _Side:
    place = [feature.name for feature in binning.features].index(name)
    keypoints, slots = binning.keypoints[place], binning.slots_of(name)
    if keypoints is None:
        categories = binning.categories[place] or ()
        counts = np.zeros(len(categories), np.int64)
        if column is not None:
            counts = counts_in(column, categories)[:-1]
        kept = choose_categories(categories, counts, counts.astype(np.float64))
        # Without any category there is only "missing".
        names = [str(categories[each]) for each in kept] or ["missing"]
        found = (slots.start + (kept if len(kept) else np.zeros(1))).astype(np.int32)
        return _Side(name, np.array(names, dtype=object), found, np.zeros(len(names)), None, len(categories))
    scale = Scale.of(keypoints)
    values = np.unique(np.concatenate([keypoints, scale.between(keypoints[0], keypoints[-1], _STEPS)]))
    found, fractions = binning.place(name, values, np.float64)
    return _Side(name, values, found, np.asarray(fractions, np.float64), scale)


def _middle(binning: Binning, place: int, column: pa.ChunkedArray | None) -> tuple[int, float, str]:
    """Return the slot and fraction where a feature stands that is not drawn, and its value in words."""
    name, keypoints = binning.features[place].name, binning.keypoints[place]
    if keypoints is None:
        categories = binning.categories[place] or ()
        common = 0 if column is None else int(np.argmax(counts_in(column, categories)))
        text = shown(categories[common], 16) if common < len(categories) else "missing"
        return binning.slots_of(name).start + common, 0.0, text
    value = keypoints[len(keypoints) // 2]
    if column is not None:
        numbers = numbers_in(column)
        value = np.median(numbers[~np.isnan(numbers)]) if not np.isnan(numbers).all() else np.nan
    slot, fraction = binning.place(name, np.array([value]), np.float64)
    return int(slot[0]), float(fraction[0]), "missing" if np.isnan(value) else said(value)


def _draw(figure: "Figure", axes: "Axes", across: _Side, up: _Side, scores: FloatArray) -> None:
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.ticker import MaxNLocator

    colours = LinearSegmentedColormap.from_list("clearset", ["#F7F9FB", "#9CC7E0", ACCENT, "#062F4A"])
    x = across.values if across.scale is not None else np.arange(len(across.values))
    y = up.values if up.scale is not None else np.arange(len(up.values))
    low, high = float(scores.min()), float(scores.max())
    if high - low < 1e-9:
        low, high = low - 0.05, high + 0.05
    drawn: Any
    if across.scale is not None and up.scale is not None:
        levels = MaxNLocator(12).tick_values(low, high)
        drawn = axes.contourf(x, y, scores, levels=levels, cmap=colours)
    else:
        drawn = axes.pcolormesh(x, y, scores, cmap=colours, vmin=low, vmax=high, shading="nearest")
    bar = figure.colorbar(drawn, ax=axes)
    bar.ax.tick_params(labelsize=8, colors=MUTED, length=2)
    bar.set_label("score of the token (0: base rate)", fontsize=9, color=INK)
    bar.outline.set_visible(False)


def _draw_points(axes: "Axes", x: FloatArray, y: FloatArray) -> None:
    present = np.flatnonzero(~np.isnan(x) & ~np.isnan(y))
    chosen = np.random.default_rng(0).permutation(present)[:_MOST_POINTS]
    axes.plot(x[chosen], y[chosen], "o", ms=2.6, mfc="white", mec=INK, mew=0.4, alpha=0.6)
