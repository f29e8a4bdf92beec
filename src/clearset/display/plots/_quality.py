"""Plots that compare predictions with labels."""

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from clearset.display._protocols import FloatArray
from clearset.display._short_text import shown
from clearset.display.plots._figure import (
    ACCENT,
    DATA,
    MUTED,
    add_grid,
    add_legend,
    colour_of,
    name_axes,
    need_matplotlib,
    new_panels,
    title,
)
from clearset.sets import label_column

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_BINS = 10
_MOST_POINTS = 3000
_MOST_CLASSES = 8


def plot_quality(model: Any, X: Any, y: Any) -> "Figure":
    """Draw how good predictions are: the reliability of probabilities, or observed over predicted numbers.

    Parameters
    ----------
    model : fitted model or estimator
        The model; it may be any with ``predict`` or ``predict_proba``.
    X : sets, as for `fit`
        Sets, preferably some that the model was not fitted on.
    y : array-like
        Their labels.

    Returns
    -------
    matplotlib.figure.Figure
        For probabilities: the share of sets for which predictions came true, by probability, and a histogram of the
        probabilities. They are those of the second of two classes, and those of the predicted class of several. For
        numbers: labels and residuals over the predictions. With the hinge loss: the outputs, class by class.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import clearset as cs
    >>> import clearset.display
    >>> products = pa.table({"stars": [[5, 4], [1], [5, 5, 5], [2, 3]], "price": [9.0, 7.0, 8.0, 5.0]})
    >>> model = cs.SetRegressor(random_state=0).fit(products, [120.0, 20.0, 180.0, 60.0])
    >>> figure = cs.display.plot_quality(model, products, [120.0, 20.0, 180.0, 60.0])
    >>> [panel.get_ylabel() for panel in figure.axes]
    ['observed', 'observed less predicted']
    """
    need_matplotlib()
    labels = label_column(y, len(y))
    if not len(labels):
        raise ValueError("y holds no labels, so there is nothing to compare. Pass at least one set.")
    classes = getattr(model, "classes_", None)
    predicted = _predicted(model, X)
    if len(predicted) != len(labels):
        raise ValueError(f"y has {len(labels)} labels but X has {len(predicted)} sets; give one label for each.")
    if classes is None:
        return _numbers(labels.astype(np.float64), predicted)
    if not np.isin(labels, classes).any():
        raise ValueError(
            f"y holds none of the classes: it has {labels.tolist()[0]!r}, the model {classes.tolist()[:10]}. Pass the "
            "labels as the model was fitted with them."
        )
    # What does not predict is an engine, whose estimates are probabilities.
    if hasattr(model, "predict_proba") or not hasattr(model, "predict"):
        return _reliability(labels, predicted, classes)
    return _margins(labels, predicted, classes)


def _predicted(model: Any, X: Any) -> FloatArray:
    """Return probabilities ``(n, classes)``, outputs where there are none, or numbers ``(n,)``."""
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(X))
    if not hasattr(model, "predict"):  # an engine, which only estimates
        shares = np.asarray(model.transform(X))
        if not hasattr(model, "classes_"):
            return np.asarray(shares[:, 0])
        return np.hstack([1.0 - shares, shares]) if shares.shape[1] == 1 else shares
    if hasattr(model, "classes_"):
        return np.asarray(model.decision_function(X))
    return np.asarray(model.predict(X))


def _numbers(labels: FloatArray, predicted: FloatArray) -> "Figure":
    figure, (left, right) = new_panels(2, width=4.4, height=3.6)
    chosen = np.random.default_rng(0).permutation(len(labels))[:_MOST_POINTS]
    x, residuals = predicted[chosen], labels[chosen] - predicted[chosen]
    size, alpha = (3.2, 0.35) if len(chosen) > 300 else (5.0, 0.7)
    low, high = min(labels.min(), predicted.min()), max(labels.max(), predicted.max())
    left.plot([low, high], [low, high], color=MUTED, lw=1, ls="--", zorder=1)
    right.axhline(0, color=MUTED, lw=1, ls="--", zorder=1)
    for axes, y, name in ((left, labels[chosen], "observed"), (right, residuals, "observed less predicted")):
        axes.plot(x, y, "o", ms=size, mew=0, color=ACCENT, alpha=alpha, zorder=2)
        name_axes(axes, "predicted", name)
        add_grid(axes)
    error, spread = np.mean((labels - predicted) ** 2), np.var(labels)
    title(left, f"R² {1 - error / spread if spread else np.nan:.3f}, {len(labels):,} sets")
    title(right, f"typical error {np.sqrt(error):.4g}")
    return figure


def _reliability(labels: npt.NDArray[Any], shares: FloatArray, classes: npt.NDArray[Any]) -> "Figure":
    if len(classes) == 2:
        chances, true = shares[:, 1], labels == classes[1]
        names = (f"probability of {shown(classes[1])}", f"share of {shown(classes[1])}")
    else:
        chances, true = shares.max(axis=1), labels == classes[shares.argmax(axis=1)]
        names = ("probability of the predicted class", "share that is right")
    predicted, observed, counts = reliability(chances, true)
    figure, (left, right) = new_panels(2, width=4.4, height=3.6)
    left.plot([0, 1], [0, 1], color=MUTED, lw=1, ls="--", zorder=1)
    # Two standard errors of a share of so many sets.
    errors = 2 * np.sqrt(np.maximum(observed * (1 - observed), 0.25 / counts) / counts)
    left.errorbar(predicted, observed, errors, color=ACCENT, lw=2, elinewidth=1, fmt="o-", ms=5, zorder=2)
    left.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03))
    add_grid(left)
    name_axes(left, *names)
    accuracy = float(np.mean(classes[shares.argmax(axis=1)] == labels))
    title(left, f"accuracy {accuracy:.3f}, {len(labels):,} sets")
    edges = np.linspace(0, 1, 2 * _BINS + 1).tolist()
    right.hist(chances, edges, color=DATA, edgecolor=ACCENT, linewidth=0.8)
    right.set_xlim(-0.03, 1.03)
    name_axes(right, names[0], "sets")
    title(right, "how often each was predicted")
    return figure


def reliability(chances: FloatArray, true: npt.NDArray[np.bool_]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Compare probabilities with what came true, in ten bins.

    Parameters
    ----------
    chances : ndarray of shape (n,)
        The probabilities.
    true : ndarray of bool, shape (n,)
        What came true.

    Returns
    -------
    tuple of ndarray
        The mean probability, the share that came true and the count, of every bin that is not empty.
    """
    bins = np.minimum((chances * _BINS).astype(np.int64), _BINS - 1)
    counts = np.bincount(bins, minlength=_BINS).astype(np.float64)
    filled = counts > 0
    sums = [np.bincount(bins, part, _BINS)[filled] for part in (chances, true.astype(np.float64))]
    return sums[0] / counts[filled], sums[1] / counts[filled], counts[filled]


def _margins(labels: npt.NDArray[Any], outputs: FloatArray, classes: npt.NDArray[Any]) -> "Figure":
    from matplotlib.patches import Patch

    if outputs.ndim == 2:
        # How far the output of the true class is above that of the best other one.
        places = np.searchsorted(classes, labels)
        own = np.take_along_axis(outputs, places[:, None], 1)[:, 0]
        others = outputs.copy()
        np.put_along_axis(others, places[:, None], -np.inf, 1)
        outputs, name = own - others.max(axis=1), "output of the true class above the best other"
    else:
        name = f"output for {shown(classes[1])}"
    figure, (axes,) = new_panels(1, width=6.4, height=3.4)
    same = not np.ptp(outputs)
    edges = outputs[0] + np.array([-0.5, 0.5]) if same else np.linspace(outputs.min(), outputs.max(), 31)
    handles: list[Any] = []
    names = []
    for place, label in enumerate(classes[:_MOST_CLASSES]):
        _, _, patches = axes.hist(
            outputs[labels == label], edges.tolist(), histtype="step", lw=1.8, color=colour_of(place)
        )
        handles.append(patches[0])  # type: ignore[index]
        names.append(f"class {shown(label)}")
    axes.axvline(0, color=MUTED, lw=1, ls="--")
    name_axes(axes, name, "sets")
    if len(classes) > _MOST_CLASSES:
        handles.append(Patch(alpha=0))
        names.append(f"{len(classes) - _MOST_CLASSES:,} more not drawn")
    add_legend(figure, handles, names, loc="outside right upper")
    return figure
