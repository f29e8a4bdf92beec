"""Labels and weights as users pass them."""

from typing import Any, Literal, NamedTuple

import narwhals as nw
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from clearset.sets._arrow import decode
from clearset.tokens._coded import Float64

Task = Literal["classes", "number"]
TASKS = ("auto", "classes", "number")

_MOST_CLASSES = 100  # distinct numbers beyond which a label is taken for a measurement


class Labels(NamedTuple):
    """One label an example: codes of sorted classes, or numbers.

    Declared classes count even where no example has them.
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
        One label an example, none missing.
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
    >>> from clearset.tokens._labels import read_labels
    >>> read_labels(["thai", "greek", "thai"], 3)
    Labels(values=array([1, 0, 1], dtype=int32), classes=array(['greek', 'thai'], dtype='<U5'), declared=False)
    """
    if task not in TASKS:
        raise ValueError(f"task is {task!r}; choose 'auto', 'classes' or 'number'.")
    if isinstance(y, Labels):
        return y
    column = _one_column(y, "y", n_examples)
    if column.null_count:
        row = int(np.argmax(pc.is_null(column).to_numpy()))
        raise ValueError(f"y is missing in row {row} (counted from 0). Remove examples without a label.")
    if not _is_number(column.type):
        if task == "number":
            raise TypeError(f"task is 'number' but y holds {column.type} (first: {column[0].as_py()!r}).")
        if types.is_boolean(column.type):
            return _as_classes(np.asarray(column.to_numpy(), np.bool_))
        if types.is_nested(column.type):
            raise TypeError(
                f"y holds {column.type} (first: {column[0].as_py()!r}). Give one label an example."
            )
        return _as_classes(np.asarray(column.cast(pa.large_string()).to_numpy(), np.str_))
    numbers = column.to_numpy()
    finite = np.isfinite(numbers)
    if not finite.all():
        row = int(np.argmin(finite))
        raise ValueError(f"y is {numbers[row]} in row {row} (counted from 0). Labels must be finite.")
    if task == "number" or (task == "auto" and _measured(numbers)):
        return Labels(numbers.astype(np.float64) + 0.0, None)  # + 0.0: there is only one zero
    return _as_classes(numbers + 0)


def read_weights(sample_weight: Any, n_examples: int) -> Float64 | None:
    """Read weights; None stands for ones."""
    if sample_weight is None:
        return None
    column = _one_column(sample_weight, "sample_weight", n_examples)
    if not _is_number(column.type):
        raise TypeError(f"sample_weight holds {column.type}; give one number an example.")
    weights: Float64 = column.to_numpy().astype(np.float64) + 0.0
    wrong = ~(np.isfinite(weights) & (weights >= 0))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(
            f"sample_weight is {weights[row]} in row {row} (counted from 0); weights are 0 or more."
        )
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


def _as_classes(values: npt.NDArray[Any]) -> Labels:
    classes, codes = np.unique(values, return_inverse=True)
    return Labels(codes.astype(np.int32), classes)


def _is_number(type_: pa.DataType) -> bool:
    return bool(types.is_integer(type_) or types.is_floating(type_))


def _one_column(values: Any, name: str, n_examples: int) -> pa.ChunkedArray:
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
        raise ValueError(
            f"X has {n_examples} examples but {name} has {len(column)} values. Give one an example."
        )
    return column
