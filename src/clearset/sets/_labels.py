"""Labels and weights in the forms in which users pass them."""

from typing import Any, Literal, NamedTuple

import narwhals as nw
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from ._arrow_columns import decode
from ._offsets import FloatArray, IntArray

Task = Literal["classes", "number"]
TASKS = ("auto", "classes", "number")

# Squares of labels, and sums of many of them, have to stay within the range of floats.
LARGEST_LABEL = 1e100
# From here on floats are all whole, and sums of small ones are inexact: such weights can be no repetitions.
LARGEST_COUNT = 2.0**53
# Weights of less than this share of the largest count as 0.
LEAST_SHARE = 2.0**-60

_TOO_LARGE = "{} holds a whole number that is too large for a float (1.8e308). Divide by a constant."
_MOST_CLASSES = 100  # distinct numbers beyond which a label is taken for a measurement


class Labels(NamedTuple):
    """One label for each example: codes of sorted classes, or numbers.

    Parameters
    ----------
    values : ndarray of shape (n,)
        Codes, int32, or numbers, float64.
    classes : ndarray or None
        The classes, sorted; None for numbers.
    declared : bool, default=False
        Whether classes stay even if no example has them.
    """

    values: npt.NDArray[Any]
    classes: npt.NDArray[Any] | None
    declared: bool = False

    @property
    def task(self) -> Task:
        """Whether labels are classes or a number."""
        return "number" if self.classes is None else "classes"


def read_labels(y: Any, n_examples: int, task: str = "auto") -> Labels:
    """Read labels.

    Parameters
    ----------
    y : series, array or list, or Labels
        One label for each example, none of them missing.
    n_examples : int
        The number of examples.
    task : {"auto", "classes", "number"}, default="auto"
        With ``"auto"``, numbers with fractions and more than 100 distinct numbers are a number, all else is classes.

    Returns
    -------
    Labels
        The labels.

    Examples
    --------
    >>> from clearset.sets import read_labels
    >>> read_labels(["thai", "greek", "thai"], 3)
    Labels(values=array([1, 0, 1], dtype=int32), classes=array(['greek', 'thai'], dtype='<U5'), declared=False)
    """
    if task not in TASKS:
        raise ValueError(f"task is {task!r}; choose 'auto', 'classes' or 'number'.")
    if isinstance(y, Labels):
        return y
    column = one_column(y, "y", n_examples)
    absent = pc.is_null(column, nan_is_null=True).to_numpy()
    if absent.any():
        row = int(np.argmax(absent))
        raise ValueError(f"y is missing in row {row} (counted from 0). Remove examples without a label.")
    if not _is_number(column.type):
        if task == "number":
            raise TypeError(f"task is 'number' but y holds {column.type} (first: {column[0].as_py()!r}).")
        if types.is_boolean(column.type):
            return _as_classes(np.asarray(column.to_numpy(), np.bool_))
        if types.is_nested(column.type):
            raise TypeError(f"y holds {column.type} (first: {column[0].as_py()!r}). Give one label an example.")
        return _names(column)
    numbers = column.to_numpy()
    finite = np.isfinite(numbers)
    if not finite.all():
        row = int(np.argmin(finite))
        raise ValueError(f"y is {numbers[row]} in row {row} (counted from 0). Labels must be finite.")
    if task == "number" or (task == "auto" and _measured(numbers)):
        return Labels(numbers.astype(np.float64) + 0.0, None)  # + 0.0: there is only one zero
    return _as_classes(numbers + 0)


def read_weights(sample_weight: Any, n_examples: int) -> FloatArray | None:
    """Return one weight for each example; None stands for ones."""
    if sample_weight is None:
        return None
    column = one_column(sample_weight, "sample_weight", n_examples)
    if not _is_number(column.type):
        raise TypeError(f"sample_weight holds {column.type}; give one number an example.")
    weights: FloatArray = column.to_numpy().astype(np.float64) + 0.0
    wrong = ~(np.isfinite(weights) & (weights >= 0))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(f"sample_weight is {weights[row]} in row {row} (counted from 0); weights are 0 or more.")
    with np.errstate(over="ignore"):
        total = weights.sum()
    if not np.isfinite(total):
        raise ValueError("The sum of sample_weight is infinite. Divide all weights by a constant.")
    return weights


def join_classes(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the classes of both, sorted."""
    if (a.dtype.kind == "U") != (b.dtype.kind == "U"):
        raise TypeError(
            f"Classes are {a[0]!r} and such on one side, {b[0]!r} and such on the other. Give labels of one type."
        )
    return np.unique(np.concatenate([a, b]))


def _measured(numbers: npt.NDArray[Any]) -> bool:
    return bool((numbers != np.floor(numbers)).any()) or len(np.unique(numbers)) > _MOST_CLASSES


def _names(column: pa.ChunkedArray) -> Labels:
    """Return classes that are strings, or are written as such; each of them is looked at once."""
    coded = column.cast(pa.large_string()).dictionary_encode().combine_chunks()
    coded = coded.chunk(0) if isinstance(coded, pa.ChunkedArray) else coded
    classes, places = np.unique(
        np.asarray(coded.dictionary.to_numpy(zero_copy_only=False), np.str_), return_inverse=True
    )
    return Labels(places.astype(np.int32)[coded.indices.to_numpy()], classes)


def _as_classes(values: npt.NDArray[Any]) -> Labels:
    classes, codes = np.unique(values, return_inverse=True)
    return Labels(codes.astype(np.int32), classes)


def _is_number(type_: pa.DataType) -> bool:
    return bool(types.is_integer(type_) or types.is_floating(type_))


def one_column(values: Any, name: str, n_examples: int) -> pa.ChunkedArray:
    """Return a series, array or list of one value for each example as Arrow."""
    frame = nw.from_native(values, allow_series=True, pass_through=True)
    if isinstance(frame, nw.DataFrame) and len(frame.columns) == 1:
        frame = frame.get_column(frame.columns[0])
    if isinstance(frame, nw.Series):
        values = frame.to_arrow()
    if not isinstance(values, pa.Array | pa.ChunkedArray):
        array = values if isinstance(values, np.ndarray) else np.asarray(values, object)
        if array.ndim == 2 and array.shape[1] == 1:
            array = array[:, 0]
        if array.ndim != 1:
            raise ValueError(f"{name} has shape {array.shape}; give one value an example.")
        try:
            values = pa.array(array, from_pandas=True)
        except OverflowError:
            raise ValueError(
                f"{name} holds a whole number of more than 64 bits. Give floats, or names as strings."
            ) from None
        except (pa.ArrowException, TypeError) as error:
            raise TypeError(f"{name} cannot be read: {error}. Give values of one type.") from None
    column = values if isinstance(values, pa.ChunkedArray) else pa.chunked_array([values])
    column = decode(column)
    if types.is_decimal(column.type) or types.is_float16(column.type):
        column = column.cast(pa.float64())
    if len(column) != n_examples:
        raise ValueError(f"X has {n_examples} examples but {name} has {len(column)} values. Give one an example.")
    return column


def has_missing(labels: npt.NDArray[Any]) -> bool:
    """Return whether labels hold NaN, None or another value that is not equal to itself."""
    if labels.dtype != object:
        return bool((labels != labels).any())
    # Of pandas's NA even the comparison is missing; of NumPy's numbers it is one of NumPy's truths.
    same = (label is not None and label == label for label in labels.tolist())
    return any(not isinstance(each, bool | np.bool_) or not each for each in same)


def numbers_of_objects(labels: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return an array of objects as one of numbers or of truths, if these are all that it holds; else as it is."""
    if labels.dtype != object or not len(labels):
        return labels
    of_python = [label.item() if isinstance(label, np.generic) else label for label in labels.tolist()]
    kinds = {type(label) for label in of_python}
    try:
        dtype = {frozenset([bool]): np.bool_, frozenset([int]): np.int64}.get(frozenset(kinds), np.float64)
        return np.array(of_python, dtype) if kinds == {bool} or kinds <= {int, float} else labels
    except OverflowError:
        return labels  # whole numbers of more than 64 bits


def check_numbers(labels: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return labels of a regression as finite float64."""
    try:
        numbers = labels.astype(np.float64)
    except OverflowError:
        raise ValueError(_TOO_LARGE.format("y")) from None
    except (TypeError, ValueError) as error:
        first = next(label for label in labels.tolist() if not _is_convertible(label))
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


def check_size(numbers: npt.NDArray[Any]) -> None:
    """Raise an error if labels are so large or so small that their squares leave the range of floats."""
    largest = float(np.abs(numbers).max(initial=0.0))
    if largest > LARGEST_LABEL or 0.0 < largest < 1.0 / LARGEST_LABEL:
        raise ValueError(
            f"The largest absolute value of y is {largest:g}; a regression takes labels from {1.0 / LARGEST_LABEL:g} "
            f"to {LARGEST_LABEL:g}, for it calculates with their squares. Multiply y by a constant."
        )


def _is_convertible(label: Any) -> bool:
    try:
        float(label)
    except (TypeError, ValueError):
        return False
    return True


def check_weights(sample_weight: Any, n_sets: int) -> npt.NDArray[Any]:
    """Return one weight for each set: numbers of at least 0, not all of them 0.

    Weights too large for repetitions, or all of them tiny, are relative: they are scaled to a mean of 1, so that sums
    of them stay within the range of floats. Those of less than 2^-60 of the largest are 0: they change no sum.
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
        raise ValueError("sample_weight holds negative, NaN or infinite values; weights must be numbers of at least 0.")
    if not weights.any():
        raise ValueError("sample_weight is zero for every set: every weight is 0. At least one set must count.")
    largest = weights.max()
    if (tiny := (weights < LEAST_SHARE * largest) & (weights > 0)).any():
        weights = np.where(tiny, 0.0, weights)
    if 1.0 / LARGEST_COUNT < largest < LARGEST_COUNT:
        return weights
    # Divided by the largest first, for the sum may be infinite.
    shares = weights / largest
    return np.asarray(shares / shares.mean())


def class_places(labels: npt.NDArray[Any], classes: npt.NDArray[Any]) -> IntArray:
    """Return the places of labels among sorted classes, all of which must be known."""
    unknown = np.setdiff1d(labels, classes)
    if len(unknown):
        raise ValueError(f"Labels {unknown.tolist()[:5]} are not among the classes fitted, {classes.tolist()[:20]}.")
    return np.searchsorted(classes, labels)


def label_column(y: Any, n: int, what: str = "set") -> npt.NDArray[Any]:
    """Return labels as a column, one for each of n sets, or of what else there are n of."""
    labels = np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise ValueError(f"y has shape {labels.shape}; give one label for each {what}.")
    if len(labels) != n:
        raise ValueError(f"y has {len(labels)} labels but X has {n} {what}s; give one label for each {what}.")
    return numbers_of_objects(labels)
