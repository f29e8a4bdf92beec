"""What plots read off fitted models of all kinds."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import torch
from sklearn.utils.validation import check_is_fitted

from clearset.explain._spelling import shown
from clearset.explain.plots._figure import FloatArray
from clearset.frozen import estimates
from clearset.setfunction import one_torch_thread


class Rows(NamedTuple):
    """Some of phi's outputs: their places, and names that tell them apart."""

    places: list[int]
    names: list[str]


def rows_of(model: Any, label: Any) -> Rows:
    """Name the scores of a fitted model, of one class or (None) of all that have their own."""
    check_is_fitted(model)
    function = model.set_function_
    width = function.width
    chosen = [0] if function.outputs == 1 else [column_of(model, label)]
    if label is None and function.outputs > 1:
        chosen = list(range(function.outputs))
    places, names = [], []
    for output in chosen:
        for score in range(width):
            places.append(output * width + score)
            parts = [f"class {shown(model.classes_[output])}"] if len(chosen) > 1 else []
            names.append(", ".join([*parts, f"score {score + 1}"] if width > 1 else parts) or "score")
    return Rows(places, names)


def column_of(model: Any, label: Any) -> int:
    """Find the set function that speaks for a class; None for the first."""
    if model.set_function_.outputs == 1 or label is None:
        return 0
    classes = model.classes_.tolist()
    if label not in classes:
        raise ValueError(f"label is {label!r}; the classes are {classes[:20]}.")
    return int(classes.index(label))


def width_of(model: Any) -> int:
    """Give K."""
    return int(model.set_function_.width)


def apply_rho(model: Any, means: FloatArray, column: int) -> FloatArray:
    """Apply one set function's rho to ``(n, K)`` means."""
    function = model.set_function_
    rows = np.zeros((len(means), function.outputs, function.width))
    rows[:, column] = means
    with torch.no_grad(), one_torch_thread():
        outputs = function.rho(torch.from_numpy(rows.reshape(len(means), -1))).numpy()
    return np.asarray(outputs[:, column])


def predicted(model: Any, outputs: FloatArray) -> FloatArray:
    """Turn outputs into what is predicted, where one output decides."""
    if not decides_alone(model):
        return outputs
    return np.asarray(estimates(outputs[:, None], model.loss_)[:, 0])


def decides_alone(model: Any) -> bool:
    """Say whether one output of the model is enough to know the prediction."""
    return len(getattr(model, "classes_", ())) <= 2 or model.loss_ == "binary_log_loss"


def what_is_predicted(model: Any, label: Any = None) -> str:
    """Name what a model predicts, for an axis."""
    if not hasattr(model, "classes_"):
        return "prediction"
    if model.loss_ == "hinge" or not decides_alone(model):
        return "output" if label is None else f"output for class {shown(label)}"
    name = model.classes_[1] if len(model.classes_) == 2 else label
    return "probability of the class" if name is None else f"probability of {shown(name)}"


def columns_of(model: Any, explanation: Any) -> dict[str, pa.ChunkedArray]:
    """Give the values of all tokens by feature, null where missing."""
    names = (feature.name for feature in model.binning_.features)
    return {
        name: explanation.tokens[column] for name, column in zip(names, explanation.features, strict=True)
    }


def numbers_in(column: pa.ChunkedArray) -> FloatArray:
    """Give a numeric column, NaN where null."""
    return np.asarray(column.cast(pa.float64()).to_numpy())


def counts_in(column: pa.ChunkedArray, categories: tuple[Any, ...]) -> npt.NDArray[np.int64]:
    """Count the categories of a column, and last what is missing or unknown."""
    known = {str(category): place for place, category in enumerate(categories)}
    counts = np.zeros(len(categories) + 1, dtype=np.int64)
    for entry in pc.value_counts(column).to_pylist():
        counts[known.get(str(entry["values"]), len(categories))] += entry["counts"]
    return counts
