"""Partial dependence: what predictions become as one feature goes through its values."""

from __future__ import annotations

import reprlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from clearset import display
from clearset.models._arrays import FloatArray
from clearset.sets import Binning

if TYPE_CHECKING:
    from clearset.models._model import Model

# Sets that are drawn where no data are given.
DRAWN = 500


@dataclass(frozen=True, eq=False, repr=False)
class PartialDependence:
    """Predictions as one feature of one token goes through its values, and all else stays.

    Each token of a set in turn gets each value, and predictions are averaged over the set's tokens. A feature of whole
    sets is changed for the set.

    Attributes
    ----------
    feature : str
        Its name.
    label : object
        The class whose probability is predicted; None where labels are numbers.
    values : ndarray of shape (n,)
        The feature's values; of a categorical one its categories.
    prediction : ndarray of shape (n,)
        The mean prediction over the sets.
    sets : ndarray of shape (B, n)
        The prediction for each set.
    base : float
        The base rate: the average prediction for the training sets.
    probability : bool, default=False
        Whether predictions are probabilities; with the hinge loss, which knows none, they are outputs.
    made_up : bool, default=False
        Whether the sets are not given ones, but sets of one token whose features were drawn each by itself.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import clearset as cs
    >>> products = pa.table({"stars": [[5, 4], [1], [5, 5, 5], [2, 3]]})
    >>> feature = cs.Feature("stars", monotonic="increasing")
    >>> model = cs.SetRegressor([feature], random_state=0).fit(products, [120.0, 20.0, 180.0, 60.0])
    >>> dependence = model.partial_dependence(products, "stars", n=5)
    >>> dependence
    PartialDependence('stars', 5 values, 4 sets)
    >>> bool((dependence.prediction[1:] >= dependence.prediction[:-1]).all())
    True
    """

    feature: str
    label: Any
    values: npt.NDArray[Any]
    prediction: FloatArray
    sets: FloatArray
    base: float
    probability: bool = False
    made_up: bool = False

    def __repr__(self) -> str:
        values = display.counted(len(self.values), "value")
        return f"PartialDependence({reprlib.repr(self.feature)}, {values}, {self.said_of})"

    @property
    def said_of(self) -> str:
        """What the mean is taken over, in words."""
        made_up = "made-up set" if self.made_up else "set"
        return display.counted(len(self.sets), made_up) + (" of one token" if self.made_up else "")

    # These functions take the curve as their first argument.
    plot = display.plot_partial_dependence
    _repr_html_ = display.dependence_html


def name_and_sets(first: Any, second: Any) -> tuple[str, Any]:
    """Tell the name of a feature from sets, in whichever order they are given; sets may be None."""
    if isinstance(first, str) and not isinstance(second, str):
        return first, second
    if isinstance(second, str) and not isinstance(first, str):
        return second, first
    if isinstance(first, str):
        raise TypeError(
            f"partial_dependence takes one name of a feature and sets; received two strings, {first!r} and "
            f"{second!r}. Call it once for each feature, and pass sets as a frame, a list or an array."
        )
    raise TypeError(
        "partial_dependence needs the name of a feature, a string; received "
        f"{type(first).__name__} and {type(second).__name__}. Pass it with the sets: partial_dependence(X, 'stars')."
    )


def dependence_of(model: Model, feature: str, X: Any, n: int, label: Any) -> PartialDependence:
    """Let one feature go through its values, for given sets or, without X, for sets that are drawn."""
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 2:
        raise ValueError(f"n is {n!r}; a curve needs a whole number of at least 2 values.")
    binning = model.binning
    slots = binning.slots_of(feature)  # refuses an unknown feature, before any work
    label = _chosen_label(model.link.classes, label)
    place = [each.name for each in binning.features].index(feature)
    keypoints, categories = binning.keypoints[place], binning.categories[place]
    values: npt.NDArray[Any]
    if keypoints is None:
        values = np.array(categories, dtype=object)
        places, fractions = np.arange(slots.start, slots.stop), np.zeros(slots.stop - slots.start)
    else:
        # Between each two keypoints alike, so that values stand where the data do.
        steps = np.linspace(0, len(keypoints) - 1, int(n))
        values = np.interp(steps, np.arange(len(keypoints)), keypoints)
        places, fractions = binning.place(feature, values, np.float64)
    pieces = [model.drawn(label)] if X is None else model.read(X).scored(label)
    parts, base = [], float("nan")
    for piece in pieces:
        parts.append(piece.dependence(place, places, fractions))
        base = float(piece.base[0]) if len(piece.base) else base
    curves = np.concatenate(parts)
    if not len(curves):
        raise ValueError("X holds no sets, and there is no mean of nothing. Give at least one, or leave X out.")
    known = model.link.has_probabilities
    return PartialDependence(feature, label, values, curves.mean(axis=0), curves, base, known, X is None)


def _chosen_label(classes: npt.NDArray[Any] | None, label: Any) -> Any:
    """Settle the class whose probability is told: of two the second, of more one that is named."""
    if classes is None or label is not None:
        return label
    if len(classes) > 2:
        raise ValueError(
            f"There are {len(classes)} classes, {classes.tolist()[:20]}, and each depends on the feature in its own "
            "way. Name one: label=..."
        )
    return classes.tolist()[1]


def drawn_slots(binning: Binning) -> npt.NDArray[np.int32]:
    """Draw each feature by itself, ``(D, DRAWN)``: one of its keypoints, which stand where data are, or categories."""
    rng = np.random.default_rng(0)
    slots = [binning.slots_of(feature.name) for feature in binning.features]
    # A feature that was never seen has no category: only its slot for a missing value.
    ends = [max(each.stop, each.start + 1) for each in slots]
    drawn = [rng.integers(each.start, end, DRAWN) for each, end in zip(slots, ends, strict=True)]
    return np.array(drawn, dtype=np.int32)
