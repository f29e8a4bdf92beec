"""Churn: how far two models differ on the same examples."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from clearset import display
from clearset.models._arrays import FloatArray, IntArray
from clearset.sets import check_numbers, label_column

# By how much the same number may differ, relative to the largest, where sums are taken in another order.
_ROUNDING = 1e-12

# In the order that they are shown in.
_SHOWN = (
    "accuracies", "errors", "wins", "losses", "unnecessary",
    "probability_difference", "mean_difference", "rms_difference", "relative_difference", "tolerance",
)  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class Churn:
    """How far the predictions of a second model, b, differ from those of a first, a, on the same examples.

    ``float(churn)`` is `changed`. What does not apply is None: the first block below is of all models, the second needs
    labels, the third is of classifiers, the last of models of a number.

    Attributes
    ----------
    n : int
        The number of examples.
    changed : float
        The share of examples whose prediction changed: another class, or a number farther off than `tolerance`.
    rows : ndarray of int64
        The row numbers of these examples, the largest change first (of classes without probabilities: in order).

    wins : float, optional
        The share of examples that changed for the better: only b is right, or b is nearer to the label.
    losses : float, optional
        The share that changed for the worse: only a is right, or a is nearer.

    accuracies : (float, float), optional
        The accuracy of a and of b.
    probability_difference : float, optional
        The mean over the examples of half the sum over classes of the differences between probabilities, from 0 (the
        same) to 1 (each sure of another class). With two classes it is the mean difference of either's probability.

    errors : (float, float), optional
        The mean absolute error of a and of b.
    mean_difference, rms_difference : float, optional
        The mean absolute difference of the predictions, and the root of the mean of its square.
    relative_difference : float, optional
        `rms_difference` over the standard deviation of a's predictions; 0 if nothing differs by more than rounding.
    tolerance : float, optional
        The difference that still counts as the same.

    Examples
    --------
    >>> import clearset as cs
    >>> from sklearn.dummy import DummyRegressor
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> a, b = (DummyRegressor(strategy="constant", constant=value).fit(X, X) for value in (1.0, 1.5))
    >>> churn = cs.churn(a, b, X, tolerance=0.1)
    >>> churn.n, churn.changed, churn.mean_difference
    (4, 1.0, 0.5)
    """

    n: int
    changed: float
    rows: IntArray
    wins: float | None = None
    losses: float | None = None
    accuracies: tuple[float, float] | None = None
    probability_difference: float | None = None
    errors: tuple[float, float] | None = None
    mean_difference: float | None = None
    rms_difference: float | None = None
    relative_difference: float | None = None
    tolerance: float | None = None

    @property
    def unnecessary(self) -> float | None:
        """The share of changes that bought nothing: `changed` less the gap between `wins` and `losses`.

        Between two classifiers the gap is the difference of their accuracies, and at least so many predictions had to
        change for it.
        """
        if self.wins is None or self.losses is None:
            return None
        return self.changed - abs(self.wins - self.losses)

    def __float__(self) -> float:
        return self.changed

    def __repr__(self) -> str:
        parts = [f"changed={self.changed:.4g} ({len(self.rows):,} of {self.n:,})"]
        known = {name: getattr(self, name) for name in _SHOWN}
        parts += [f"{name}={_in_digits(value)}" for name, value in known.items() if value is not None]
        return f"Churn({', '.join(parts)})"

    _repr_html_ = display.churn_html


def _in_digits(value: float | tuple[float, float]) -> str:
    return f"({value[0]:.4g}, {value[1]:.4g})" if isinstance(value, tuple) else f"{value:.4g}"


def churn(a: Any, b: Any, X: Any, y: Any = None, *, tolerance: float | None = None) -> Churn:
    """Measure how far two fitted models differ on the same examples, such as one model before and after retraining.

    Parameters
    ----------
    a, b : object
        Fitted models with ``predict``, of this package or any other; both of classes or both of a number. A model is
        one of classes if it has ``classes_``, or if it predicts something else than numbers.
    X : object
        Examples that both can predict.
    y : array-like of shape (n,), optional
        Their labels, if known. They show which changes were for the better.
    tolerance : float, optional
        By how much numbers may differ and still count as the same; by default a tenth of the standard deviation of
        a's predictions, and no less than rounding. Not for classes.

    Returns
    -------
    Churn
        ``changed``, the share of changed predictions, and more.

    Examples
    --------
    >>> import clearset as cs
    >>> from sklearn.dummy import DummyClassifier
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"]
    >>> a = DummyClassifier(strategy="constant", constant="no").fit(X, y)
    >>> b = DummyClassifier(strategy="constant", constant="yes").fit(X, y)
    >>> cs.churn(a, b, X[1:], y[1:])
    Churn(changed=1 (3 of 3), accuracies=(0.3333, 0.6667), wins=0.6667, losses=0.3333, unnecessary=0.6667,
    probability_difference=1)
    """
    for name, model in (("a", a), ("b", b)):
        if not callable(getattr(model, "predict", None)):
            raise TypeError(f"{name} must be a fitted model with predict; received {type(model).__name__}.")
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    if n == 0:
        raise ValueError("X has no rows, so there is nothing to compare. Pass at least one example.")
    first, second = _predict("a", a, X, n), _predict("b", b, X, n)
    if first.has_classes != second.has_classes:
        named = ["classes" if one.has_classes else "numbers" for one in (first, second)]
        raise ValueError(
            f"a ({type(a).__name__}) predicts {named[0]} but b ({type(b).__name__}) predicts {named[1]}. "
            "Compare two models of the same kind."
        )
    labels = None if y is None else label_column(y, n, "row")
    if first.has_classes:
        if tolerance is not None:
            raise ValueError("tolerance is for models of numbers, but a and b predict classes. Leave it out.")
        return _churn_of_classes(first, second, X, labels)
    return _churn_of_numbers(first.values, second.values, labels, tolerance)


class _Predicted(NamedTuple):
    """What a model predicts, and which classes it says it knows."""

    model: Any
    values: npt.NDArray[Any]
    classes: list[Any] | None

    @property
    def has_classes(self) -> bool:
        return self.classes is not None or not np.issubdtype(self.values.dtype, np.number)


def _predict(name: str, model: Any, X: Any, n: int) -> _Predicted:
    values = np.asarray(model.predict(X))
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.shape != (n,):
        raise ValueError(
            f"{name} should predict one class or number for each of {n} rows, but gave an array of shape "
            f"{values.shape}."
        )
    classes = getattr(model, "classes_", None)
    return _Predicted(model, values, None if classes is None else np.asarray(classes).tolist())


def _churn_of_classes(a: _Predicted, b: _Predicted, X: Any, y: npt.NDArray[Any] | None) -> Churn:
    if a.classes is not None and b.classes is not None and (apart := set(a.classes) ^ set(b.classes)):
        raise ValueError(
            f"a and b know different classes: only one of them knows {sorted(map(str, apart))[:10]}. "
            "Fit both on data with the same classes."
        )
    # As objects, labels of different types compare one by one.
    first, second = a.values.astype(object), b.values.astype(object)
    changed = np.asarray(first != second, dtype=np.bool_)
    rows = np.flatnonzero(changed)
    distances = _probability_distances(a, b, X)
    if distances is not None:
        rows = rows[np.argsort(-distances[rows], kind="stable")]
    wins = losses = accuracies = None
    if y is not None:
        known = {*(a.classes or first.tolist()), *(b.classes or second.tolist())}
        if known.isdisjoint(y.tolist()):
            raise ValueError(
                f"y holds none of the classes: it has {y.tolist()[0]!r}, the models {sorted(map(repr, known))[:10]}. "
                "Pass the labels as the models were fitted with them."
            )
        right = [np.asarray(made == y.astype(object), dtype=np.bool_) for made in (first, second)]
        wins, losses = float((right[1] & ~right[0]).mean()), float((right[0] & ~right[1]).mean())
        accuracies = (float(right[0].mean()), float(right[1].mean()))
    return Churn(
        n=len(first),
        changed=float(changed.mean()),
        rows=rows,
        wins=wins,
        losses=losses,
        accuracies=accuracies,
        probability_difference=None if distances is None else float(distances.mean()),
    )


def _probability_distances(a: _Predicted, b: _Predicted, X: Any) -> FloatArray | None:
    """Half the sum of the differences, for each example; None if a model gives no probabilities."""
    if a.classes is None or b.classes is None:
        return None
    if not (hasattr(a.model, "predict_proba") and hasattr(b.model, "predict_proba")):
        return None
    order = [b.classes.index(label) for label in a.classes]
    gap = np.asarray(a.model.predict_proba(X)) - np.asarray(b.model.predict_proba(X))[:, order]
    return np.asarray(np.abs(gap).sum(axis=1) / 2)


def _churn_of_numbers(
    first: npt.NDArray[Any], second: npt.NDArray[Any], y: npt.NDArray[Any] | None, tolerance: float | None
) -> Churn:
    for name, made in (("a", first), ("b", second)):
        if not np.isfinite(made).all():
            place = int(np.argmin(np.isfinite(made)))
            raise ValueError(f"{name} predicts {made[place]} for row {place}; predictions must be finite.")
    first, second = first.astype(np.float64), second.astype(np.float64)
    rounding = _ROUNDING * float(max(np.abs(first).max(), np.abs(second).max()))
    spread = float(np.std(first))
    if tolerance is None:
        tolerance = max(spread / 10, rounding)
    elif not isinstance(tolerance, int | float | np.integer | np.floating) or isinstance(tolerance, bool):
        raise TypeError(f"tolerance must be a finite number of at least 0; received {tolerance!r}.")
    elif not 0 <= tolerance < np.inf:
        raise ValueError(f"tolerance must be a finite number of at least 0; received {tolerance!r}.")
    differences = np.abs(second - first)
    changed = differences > tolerance
    rows = np.flatnonzero(changed)
    rms = float(np.sqrt(np.mean(differences**2)))
    wins = losses = errors = None
    if y is not None:
        numbers = check_numbers(y)
        ours, others = np.abs(first - numbers), np.abs(second - numbers)
        wins = float((changed & (others < ours)).mean())
        losses = float((changed & (ours < others)).mean())
        errors = (float(ours.mean()), float(others.mean()))
    return Churn(
        n=len(first),
        changed=float(changed.mean()),
        rows=rows[np.argsort(-differences[rows], kind="stable")],
        wins=wins,
        losses=losses,
        errors=errors,
        mean_difference=float(differences.mean()),
        rms_difference=rms,
        relative_difference=0.0 if rms <= rounding else rms / spread if spread > rounding else np.inf,
        tolerance=float(tolerance),
    )
