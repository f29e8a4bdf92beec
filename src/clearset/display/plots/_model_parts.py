"""What plots read off fitted models of all kinds."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from clearset.display._protocols import FloatArray, ShownExplanation, ShownModel
from clearset.display._short_text import shown, what_is_predicted


def named_scores(model: ShownModel, label: Any) -> dict[int, str]:
    """Name the scores of one class, or (None) of all classes that have their own, by their rows in phi's tables."""
    function, classes = model.function, model.link.classes
    chosen = list(range(function.outputs)) if label is None else [output_of(model, label)]
    names = {}
    for output in chosen:
        for score in range(function.width):
            parts = [f"class {shown(classes[output])}"] if classes is not None and len(chosen) > 1 else []
            parts += [f"score {score + 1}"] if function.width > 1 else []
            names[output * function.width + score] = ", ".join(parts) or "score"
    return names


def output_of(model: ShownModel, label: Any) -> int:
    """Return the place of the set function of a class; that of the first class for None."""
    if model.function.outputs == 1 or label is None or model.link.classes is None:
        return 0
    classes = model.link.classes.tolist()
    if label not in classes:
        raise ValueError(f"label is {label!r}; the classes are {classes[:20]}.")
    return int(classes.index(label))


def chosen_class(model: ShownModel, label: Any) -> Any:
    """Return the class to draw: the first by default, where each has an output of its own."""
    classes = model.link.classes
    return classes[0] if label is None and classes is not None and model.link.n_outputs > 1 else label


def predictions_of_means(model: ShownModel, means: FloatArray, output: int) -> FloatArray:
    """Return what one set function predicts for ``(n, K)`` mean scores; its output where others are needed too."""
    function = model.function
    rows = np.zeros((len(means), function.outputs, function.width))
    rows[:, output] = means
    return model.link.of_one_output(np.asarray(model.rho_outputs(rows)[:, output]))


def base_of(model: ShownModel, label: Any) -> FloatArray:
    """Return the mean scores ``(K,)`` of the base rate of a class; of None, those of the first."""
    classes, base = model.link.classes, model.support.base
    place = 0 if label is None or classes is None or len(base) == 1 else classes.tolist().index(label)
    return np.asarray(base[place])


def effect_shift(model: ShownModel, label: Any) -> FloatArray:
    """Return what effects ``(K,)`` of a class lack where classes share one set function: they tell of the mean base."""
    base = model.support.base
    if label is None or len(base) == model.function.outputs:
        return np.zeros(1)
    return np.asarray(base.mean(axis=0) - base_of(model, label))


def unit_of_one(model: ShownModel, label: Any) -> str:
    """Return what the predictions of one output are, for an axis."""
    classes, name = model.link.classes, model.link.name
    if classes is not None and len(classes) == 2:
        label = classes[1]
    # A probability by softmax needs the other outputs too.
    return what_is_predicted(None if classes is None else label, probability=name in ("sigmoid", "shares"))


def columns_of(model: ShownModel, explanation: ShownExplanation) -> dict[str, pa.ChunkedArray]:
    """Return the values of all tokens by feature, null where missing."""
    names = (feature.name for feature in model.binning.features)
    return {name: explanation.tokens[column] for name, column in zip(names, explanation.features, strict=True)}


def numbers_in(column: pa.ChunkedArray) -> FloatArray:
    """Return a numeric column, NaN where null."""
    return np.asarray(column.cast(pa.float64()).to_numpy())


def counts_in(column: pa.ChunkedArray, categories: tuple[Any, ...]) -> npt.NDArray[np.int64]:
    """Count the categories of a column, and last what is missing or unknown."""
    known = {str(category): place for place, category in enumerate(categories)}
    counts = np.zeros(len(categories) + 1, dtype=np.int64)
    for entry in pc.value_counts(column).to_pylist():
        counts[known.get(str(entry["values"]), len(categories))] += entry["counts"]
    return counts
