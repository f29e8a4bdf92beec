"""Phi as a surface over two features."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import torch

from clearset.explain._spelling import said, shown
from clearset.explain.plots._axis import MOST_SLANTED, Scale, choose_categories, name_categories
from clearset.explain.plots._figure import (
    ACCENT,
    INK,
    MUTED,
    FloatArray,
    fit,
    name_axes,
    need_matplotlib,
    new_panels,
    title,
)
from clearset.explain.plots._models import (
    column_of,
    columns_of,
    counts_in,
    numbers_in,
    rows_of,
    width_of,
)
from clearset.setfunction import one_torch_thread, token_positions
from clearset.sets import Positions

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_STEPS = 80
_MOST_POINTS = 1000


class _Side(NamedTuple):
    """One of the two features: its values, and where they stand among its slots."""

    name: str
    values: npt.NDArray[Any]
    slots: npt.NDArray[np.int32]
    fractions: FloatArray
    scale: Scale | None
    n_categories: int = 0

    @property
    def title(self) -> str:
        """What the axis is called."""
        some = (
            f" ({len(self.values)} of {self.n_categories:,})" if self.n_categories > len(self.values) else ""
        )
        return shown(self.name) + some


def plot_lattice(model: Any, x: str, y: str, X: Any = None, *, label: Any = None) -> "Figure":
    """Draw the score of a token as a surface over two of its features.

    The other features stand at their medians over X, categorical ones at their most frequent category; without X at
    the middle keypoint and the first category.

    Parameters
    ----------
    model
        A fitted one.
    x, y
        Names of the two features.
    X
        Sets, as for `fit`; some of their tokens are drawn as points.
    label
        Of several classes the one whose score is drawn, the first by default.

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
    >>> cs.explain.plot_lattice(model, "stars", "price", products).axes[0].get_xlabel()
    'stars'
    """
    need_matplotlib()
    rows_of(model, label)  # refuses an unknown class
    for name in (x, y):
        model.binning_.slots_of(name)  # refuses an unknown feature
    if x == y:
        raise ValueError(f"x and y are both {x!r}; a surface needs two features. Try plot_calibrators.")
    if label is None and hasattr(model, "classes_") and len(model.classes_) > 2:
        label = model.classes_[0]
    columns = {} if X is None else columns_of(model, model.explain(X, label))
    across, up = _side(model, x, columns.get(x)), _side(model, y, columns.get(y))
    scores, others = surface(model, across, up, columns, column_of(model, label))
    upright = across.scale is None and len(across.values) > MOST_SLANTED
    figure, panels = new_panels(width_of(model), columns=2, width=4.9, height=4.8 if upright else 3.8)
    for k, axes in enumerate(panels):
        _draw(figure, axes, across, up, scores[..., k])
        if across.scale is not None and up.scale is not None and columns:
            _draw_points(axes, numbers_in(columns[x]), numbers_in(columns[y]))
        _set_axis(axes, "x", across)
        _set_axis(axes, "y", up)
        name_axes(axes, across.title, up.title)
        if len(panels) > 1:
            title(axes, f"score {k + 1}")
    if others:
        text = fit("others: " + ", ".join(others), figure.get_figwidth() - 0.4, 8.5)
        figure.supxlabel(text, fontsize=8.5, color=INK, parse_math=False)
    return figure


def surface(
    model: Any, across: _Side, up: _Side, columns: dict[str, pa.ChunkedArray], output: int
) -> tuple[FloatArray, list[str]]:
    """Score a token at every pair of values, ``(n_y, n_x, K)``; and say where the other features stand."""
    binning, width = model.binning_, width_of(model)
    n = len(up.values) * len(across.values)
    slots, fractions = np.zeros((len(binning.features), n), np.int32), np.zeros((len(binning.features), n))
    others = []
    for place, feature in enumerate(binning.features):
        if feature.name == across.name:
            slots[place] = np.tile(across.slots, len(up.values))
            fractions[place] = np.tile(across.fractions, len(up.values))
        elif feature.name == up.name:
            slots[place] = np.repeat(up.slots, len(across.values))
            fractions[place] = np.repeat(up.fractions, len(across.values))
        else:
            slots[place], fractions[place], text = _middle(binning, place, columns.get(feature.name))
            others.append(f"{shown(feature.name, 20)} = {text}")
    positions = token_positions(Positions(slots, fractions, np.arange(n + 1)))
    with torch.no_grad(), one_torch_thread():
        scores = model.set_function_.phi.scores(positions).numpy()
    scores = scores.reshape(len(up.values), len(across.values), -1, width)[:, :, output]
    return np.asarray(scores), others


def _side(model: Any, name: str, column: pa.ChunkedArray | None) -> _Side:
    binning = model.binning_
    place = [feature.name for feature in binning.features].index(name)
    keypoints, slots = binning.keypoints[place], binning.slots_of(name)
    if keypoints is None:
        categories = binning.categories[place]
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


def _middle(binning: Any, place: int, column: pa.ChunkedArray | None) -> tuple[int, float, str]:
    """Find the slot and fraction where a feature stands that is not drawn, and say its value."""
    name, keypoints, categories = (
        binning.features[place].name, binning.keypoints[place], binning.categories[place]
    )  # fmt: skip
    slots = binning.slots_of(name)
    if keypoints is None:
        common = 0 if column is None else int(np.argmax(counts_in(column, categories)))
        return (
            slots.start + common,
            0.0,
            shown(categories[common], 16) if common < len(categories) else "missing",
        )
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
    bar.set_label("score of the token", fontsize=9, color=INK)
    bar.outline.set_visible(False)


def _draw_points(axes: "Axes", x: FloatArray, y: FloatArray) -> None:
    present = np.flatnonzero(~np.isnan(x) & ~np.isnan(y))
    chosen = np.random.default_rng(0).permutation(present)[:_MOST_POINTS]
    axes.plot(x[chosen], y[chosen], "o", ms=2.6, mfc="white", mec=INK, mew=0.4, alpha=0.6)


def _set_axis(axes: "Axes", which: str, side: _Side) -> None:
    if side.scale is None:
        name_categories(axes, list(side.values), which)
    else:
        side.scale.set_on(axes, which, side.values, margin=0.0)
