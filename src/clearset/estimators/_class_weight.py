"""Weights of classes, which multiply the weights of examples."""

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from clearset.sets import check_weights
from clearset.training import LabelledExamples

FloatArray = npt.NDArray[np.float64]


def class_factors(
    class_weight: Any, classes: npt.NDArray[Any] | None, labels: npt.NDArray[Any], weights: FloatArray
) -> FloatArray | None:
    """Return what the weight of an example of each class is multiplied by; labels are places among the classes."""
    if class_weight is None or classes is None:
        return None
    if isinstance(class_weight, str):
        return _balanced(np.bincount(labels.astype(np.int64), weights, len(classes)).astype(np.float64))
    return _named(class_weight, classes.tolist())


def weigh(factors: FloatArray | None, labels: npt.NDArray[Any], weights: FloatArray) -> FloatArray:
    """Multiply the weights of examples by the factors of their classes, if there are any."""
    if factors is None:
        return weights
    with np.errstate(over="ignore"):
        product = weights * factors[labels.astype(np.int64)]
    if not np.isfinite(product).all():
        raise ValueError("class_weight times sample_weight is infinite. Divide the weights by a constant.")
    return check_weights(product, len(product))


def weighed(rows: LabelledExamples, factors: FloatArray | None) -> LabelledExamples:
    """Return examples whose weights are multiplied by the factors of their classes."""
    return replace(rows, weights=as_repetitions(weigh(factors, rows.labels, rows.weights)))


def as_repetitions(weights: FloatArray) -> FloatArray:
    """Return how many examples each stands for: whole weights say so; of others only the ratios matter."""
    if not len(weights) or (weights == np.floor(weights)).all():
        return weights
    return np.asarray(weights / weights[weights > 0].mean())


def weigh_same_classes(
    class_weight: Any,
    classes: npt.NDArray[Any] | None,
    fitted: npt.NDArray[Any] | None,
    labels: npt.NDArray[Any],
    weights: FloatArray,
) -> FloatArray:
    """Weigh examples of a token table, by classes too if these are those of the fit; they may be others."""
    same = classes is not None and fitted is not None and np.array_equal(classes, fitted)
    factors = class_factors(class_weight if same else None, classes, labels, weights)
    return as_repetitions(weigh(factors, labels, weights))


def _balanced(totals: FloatArray) -> FloatArray:
    """Return factors that make the totals of all classes equal and leave their sum; 1 for absent classes."""
    present = totals > 0
    factors = np.ones(len(totals))
    factors[present] = totals.sum() / (np.count_nonzero(present) * totals[present])
    return factors


def _named(class_weight: Any, classes: list[Any]) -> FloatArray:
    """Return the factor of each class."""
    unknown = [label for label in class_weight if label not in classes]
    forgotten = [label for label in classes if label not in class_weight]
    # As in scikit-learn: more classes than there are do no harm, but beside one that is forgotten they are a slip.
    if unknown and forgotten:
        raise ValueError(
            f"class_weight names {unknown[:5]}, but the classes are {classes[:20]}, of which {forgotten[:5]} have no "
            "weight. Name classes as y holds them; those that are left out count as 1."
        )
    return np.array([class_weight.get(label, 1.0) for label in classes], dtype=np.float64)
