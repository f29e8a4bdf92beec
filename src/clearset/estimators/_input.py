"""What comes in from users of scikit-learn: sets and labels, checked by its conventions."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d, validate_data

from clearset.sets import (
    Feature,
    SetData,
    Trust,
    check_trusts,
    feature_columns,
    has_missing,
    holds_lists,
    is_frame,
    name_columns,
    numbers_of_objects,
    read_sets,
    refuse_files,
    resolve_features,
)


def read_training_sets(
    estimator: Any, X: Any, features: Any, trusts: Any
) -> tuple[SetData, tuple[Feature, ...], tuple[Trust, ...]]:
    """Read the sets to fit on, and settle which features they have.

    Parameters
    ----------
    estimator : object
        The estimator, whose ``n_features_in_`` and ``feature_names_in_`` are set.
    X : frame, SetData or array-like of shape (n, n_features)
        The sets.
    features : sequence of str or Feature, or None
        The declared features; None takes every column of numbers or of a category dtype, and the size of sets.
    trusts : sequence of Trust
        The declared trusts.

    Returns
    -------
    sets : SetData
        The sets.
    features : tuple of Feature
        The features in full.
    trusts : tuple of Trust
        The trusts.
    """
    forget_columns(estimator)
    X = checked_sets(estimator, X, reset=True)
    resolved = resolve_features(X, features)
    declared = read_trusts(trusts)
    check_trusts(declared, resolved)
    data = read_sets(X, resolved)
    if "n_features_in_" not in vars(estimator):
        names = feature_columns(resolved)
        estimator.n_features_in_ = len(names)
        if is_frame(X):
            estimator.feature_names_in_ = np.array(names, dtype=object)
    return data, resolved, declared


def forget_columns(estimator: Any) -> None:
    """Remove what is known of the columns of an earlier fit, which may have nothing to be replaced by."""
    for name in ("n_features_in_", "feature_names_in_"):
        vars(estimator).pop(name, None)


def read_trusts(trusts: Any) -> tuple[Trust, ...]:
    """Return declared trusts; raise an error unless they are a list of Trust."""
    if not isinstance(trusts, Iterable):
        raise TypeError(f"trusts is a list of Trust, empty for none; received {trusts!r}. Put it into a list.")
    found = tuple(trusts)
    for trust in found:
        if not isinstance(trust, Trust):
            raise TypeError(f"trusts must be a list of Trust; it holds {trust!r}, which is not a Trust.")
    return found


def checked_sets(estimator: Any, X: Any, *, reset: bool) -> Any:
    """Return a frame or SetData as it is, and anything else as an array, checked by scikit-learn's conventions.

    scikit-learn's tools make arrays of frames, list columns included. Where there are names of columns from the fit,
    an array has these columns in order, as scikit-learn's own estimators read it.

    Parameters
    ----------
    estimator : object
        The estimator.
    X : frame, SetData or array-like of shape (n, n_features)
        The sets.
    reset : bool
        Whether they are to be fitted on; otherwise they must have the columns that were fitted on.

    Returns
    -------
    frame, SetData or ndarray
        The sets.
    """
    if isinstance(X, SetData):
        return X
    refuse_files(X)
    if is_frame(X):
        # scikit-learn's convention of column names in the same order is for estimators that take every column.
        # A SetData that was fitted on had names of its own, which are looked up by name as declared ones are.
        if estimator.features is None and (reset or "feature_names_in_" in vars(estimator)):
            validate_data(estimator, X, reset=reset, skip_check_array=True)
        return X
    if isinstance(X, list | tuple) and not X:
        raise ValueError("X holds 0 sample(s), that is, no sets, while a minimum of 1 is required.")
    names = None if reset else vars(estimator).get("feature_names_in_")
    objects = isinstance(X, np.ndarray) and X.dtype.kind == "O"
    as_it_is = objects and (names is not None or holds_lists(X))
    kind = None if as_it_is else "numeric"
    try:
        array = validate_data(estimator, X, reset=reset, dtype=kind, ensure_all_finite="allow-nan")
        array = array if as_it_is else array.astype(np.float64, copy=False)
        return array if names is None else name_columns(array, names)
    except OverflowError:
        raise ValueError(
            "X holds a whole number that is too large for a float (1.8e308). Divide by a constant."
        ) from None


def check_labels(y: Any, n_sets: int) -> npt.NDArray[Any]:
    """Return labels as a column, one for each set.

    Parameters
    ----------
    y : array-like of shape (n,)
        The labels.
    n_sets : int
        The number of sets.

    Returns
    -------
    ndarray of shape (n,)
        The labels.
    """
    if y is None:
        raise ValueError(
            "This estimator requires y to be passed, but the target y is None. Pass one label for each set."
        )
    labels: npt.NDArray[Any] = column_or_1d(y, warn=True)
    if len(labels) != n_sets:
        raise ValueError(f"y has {len(labels)} labels but X has {n_sets} sets; give one label for each set.")
    return numbers_of_objects(labels)


def check_classes(labels: npt.NDArray[Any]) -> None:
    """Raise an error unless labels can be classes.

    Parameters
    ----------
    labels : ndarray of shape (n,)
        The labels.
    """
    objects = labels.tolist() if labels.dtype == object else []
    nested = next((each for each in objects if isinstance(each, list | tuple | np.ndarray)), None)
    if nested is not None:
        raise ValueError(
            f"y holds labels of type {type(nested).__name__}. Give one label for each set: a string, a number, or True "
            "or False."
        )
    if has_missing(labels):
        raise ValueError("Input y contains NaN or None. Remove those sets or fill in their labels.")
    if labels.dtype.kind == "f" and np.isinf(labels).any():
        raise ValueError("Input y contains infinity. Remove those sets or correct their labels.")
    if labels.dtype == object and any(isinstance(label, int) and label.bit_length() > 63 for label in labels.tolist()):
        raise ValueError("y holds a whole number of more than 64 bits. Give names of classes as strings.")
    check_classification_targets(labels)


def check_counts(numbers: npt.NDArray[np.float64], *, allow_zeros: bool = False) -> None:
    """Raise an error unless the Poisson loss can learn from numbers; labels to validate on may all be 0."""
    if (numbers < 0).any() or not (allow_zeros or numbers.any()):
        raise ValueError(
            f"loss='poisson' needs labels of at least 0, not all of them 0; received {numbers.min():g} to "
            f"{numbers.max():g}. Use another loss, or shift the labels."
        )
