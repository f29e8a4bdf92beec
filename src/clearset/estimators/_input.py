"""What comes in from users: sets, labels and weights, checked and in one form."""

from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d, validate_data

from clearset.sets import (
    SIZE,
    Feature,
    SetData,
    Trust,
    check_trusts,
    holds_lists,
    is_frame,
    read_sets,
    resolve_features,
)


def read_training_sets(
    estimator: Any, X: Any, features: Any, trusts: Any
) -> tuple[SetData, tuple[Feature, ...], tuple[Trust, ...]]:
    """Read the sets to fit on, and settle which features they have."""
    # Those of an earlier fit may have nothing to be replaced by.
    for name in ("n_features_in_", "feature_names_in_"):
        vars(estimator).pop(name, None)
    X = _array_or_frame(estimator, X, reset=True)
    resolved = resolve_features(X, features)
    if trusts is None or isinstance(trusts, Trust):
        raise TypeError(
            f"trusts is a list of Trust, empty for none; received {trusts!r}. Put it into a list."
        )
    check_trusts(trusts, resolved)
    data = read_sets(X, resolved)
    if not hasattr(estimator, "n_features_in_"):
        estimator.n_features_in_ = sum(feature.name != SIZE for feature in resolved)
    return data, resolved, tuple(trusts)


def read_more_sets(estimator: Any, X: Any) -> SetData:
    """Read sets for a fitted estimator."""
    X = _array_or_frame(estimator, X, reset=False)
    sets = read_sets(X, estimator.features_)
    if is_frame(X) and not estimator.sets_of_one_ and not holds_lists(X, estimator.features_):
        raise ValueError(
            "The model was fitted on sets of several tokens, but no column of X holds lists, so that every row would "
            "be a set of one token. Group the rows by set first: clearset.from_long(X, by=...), or --by "
            "on the command line."
        )
    return sets


def read_sets_again(estimator: Any, X: Any) -> SetData:
    """Read sets to go on fitting with; what the first fit has settled must not have changed."""
    X = _array_or_frame(estimator, X, reset=False)
    model = estimator.set_function_
    changes = {
        "features": (estimator.features_, resolve_features(X, estimator.features)),
        "trusts": (estimator.trusts_, tuple(estimator.trusts)),
        "loss": (estimator.loss_, estimator.loss),
        "width": (model.width, estimator.width),
        "rho_keypoints": (model.rho_keypoints, estimator.rho_keypoints),
    }
    for name, (settled, wanted) in changes.items():
        if settled != wanted:
            raise ValueError(
                f"warm_start=True goes on from the last fit, but {name} has changed from {settled} to {wanted}. "
                "Set it back, or use warm_start=False."
            )
    return read_sets(X, estimator.features_)


def _array_or_frame(estimator: Any, X: Any, *, reset: bool) -> Any:
    if isinstance(X, SetData):
        return X
    if is_frame(X):
        # scikit-learn's convention of column names in the same order is for estimators that take every column.
        # A SetData that was fitted on had names of its own, which are looked up by name as declared ones are.
        if estimator.features is None and (reset or hasattr(estimator, "feature_names_in_")):
            validate_data(estimator, X, reset=reset, skip_check_array=True)
        return X
    if isinstance(X, list | tuple) and not X:
        raise ValueError("X holds 0 sample(s), that is, no sets, while a minimum of 1 is required.")
    try:
        array = validate_data(estimator, X, reset=reset, dtype="numeric", ensure_all_finite="allow-nan")
        return array.astype(np.float64, copy=False)
    except OverflowError:
        raise ValueError(_TOO_LARGE.format("X")) from None


# Squares of labels, and sums of many of them, have to stay within the range of floats.
LARGEST_LABEL = 1e100
# From here on floats are all whole, and sums of small ones are inexact: such weights can be no repetitions.
LARGEST_COUNT = 2.0**53

_TOO_LARGE = "{} holds a whole number that is too large for a float (1.8e308). Divide by a constant."


def check_labels(y: Any, n_sets: int) -> np.ndarray:
    """Give labels as a column, one for each set."""
    if y is None:
        raise ValueError(
            "This estimator requires y to be passed, but the target y is None. Pass one label for each set."
        )
    labels: np.ndarray = column_or_1d(y, warn=True)
    if len(labels) != n_sets:
        raise ValueError(f"y has {len(labels)} labels but X has {n_sets} sets; give one label for each set.")
    return labels


def has_missing(labels: np.ndarray) -> bool:
    """Tell whether labels hold NaN, None or another value that is not equal to itself."""
    if labels.dtype != object:
        return bool((labels != labels).any())
    # Of pandas's NA even the comparison is missing.
    return any(label is None or (label == label) is not True for label in labels.tolist())


def check_classes(labels: np.ndarray) -> None:
    """Raise an error unless labels can be classes."""
    if has_missing(labels):
        raise ValueError("Input y contains NaN or None. Remove those sets or fill in their labels.")
    if labels.dtype.kind == "f" and np.isinf(labels).any():
        raise ValueError("Input y contains infinity. Remove those sets or correct their labels.")
    if labels.dtype == object and any(
        isinstance(label, int) and label.bit_length() > 63 for label in labels.tolist()
    ):
        raise ValueError("y holds a whole number of more than 64 bits. Give names of classes as strings.")
    check_classification_targets(labels)


def check_numbers(labels: np.ndarray) -> np.ndarray:
    """Give labels of a regression as finite float64."""
    try:
        numbers = labels.astype(np.float64)
    except OverflowError:
        raise ValueError(_TOO_LARGE.format("y")) from None
    except (TypeError, ValueError) as error:
        first = next(label for label in labels.tolist() if not _is_number(label))
        raise ValueError(
            f"y of a regression must hold numbers; received {first!r}. Convert it, or use SetClassifier."
        ) from error
    bad = ~np.isfinite(numbers)
    if bad.any():
        first = int(np.argmax(bad))
        kind = "NaN" if np.isnan(numbers[first]) else "infinity"
        raise ValueError(
            f"Input y contains {kind}: {int(bad.sum())} of {len(numbers)} labels are not finite, the first at position "
            f"{first}. Remove those sets or fill in their labels."
        )
    check_size(numbers)
    return numbers


def check_size(numbers: np.ndarray) -> None:
    """Raise an error if labels are so large or so small that their squares leave the range of floats."""
    largest = float(np.abs(numbers).max(initial=0.0))
    if largest > LARGEST_LABEL or 0.0 < largest < 1.0 / LARGEST_LABEL:
        raise ValueError(
            f"The largest absolute value of y is {largest:g}; a regression takes labels from {1.0 / LARGEST_LABEL:g} "
            f"to {LARGEST_LABEL:g}, for it calculates with their squares. Multiply y by a constant."
        )


def _is_number(label: Any) -> bool:
    try:
        float(label)
    except (TypeError, ValueError):
        return False
    return True


def check_weights(sample_weight: Any, n_sets: int) -> np.ndarray:
    """Return one weight per set: numbers of at least 0, not all of them 0.

    Weights too large for repetitions, or all of them tiny, are relative: they are brought to a mean of 1, so that sums
    of them stay within the range of floats.
    """
    if sample_weight is None:
        return np.ones(n_sets)
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
    except OverflowError:
        raise ValueError(_TOO_LARGE.format("sample_weight")) from None
    except (TypeError, ValueError) as error:
        raise ValueError(f"sample_weight must hold numbers of at least 0 ({error}).") from error
    if weights.ndim == 0:
        weights = np.full(n_sets, float(weights))
    if weights.ndim != 1 or len(weights) != n_sets:
        raise ValueError(
            f"sample_weight has shape {weights.shape} but X has {n_sets} sets; give one weight for each set."
        )
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError(
            "sample_weight holds negative, NaN or infinite values; weights must be numbers of at least 0."
        )
    if not weights.any():
        raise ValueError(
            "sample_weight is zero for every set: every weight is 0. At least one set must count."
        )
    largest = weights.max()
    if 1.0 / LARGEST_COUNT < largest < LARGEST_COUNT:
        return weights
    # Divided by the largest first, for the sum may be infinite.
    shares = weights / largest
    return np.asarray(shares / shares.mean())
