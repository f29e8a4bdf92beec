"""What a joint model learns from: labelled rows of a frame, and what engines make of their columns."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from clearset.estimators.semantic._engine import SemanticFeatureEngine
from clearset.estimators.semantic._sources import count_examples, hold_out, read_groups, take_examples
from clearset.estimators.semantic._trial import Trial
from clearset.frozen import estimates

Column = str | tuple[str, ...]
FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class JointExamples:
    """Labelled rows of a frame, those to train on first."""

    frame: nw.DataFrame[Any]
    y: npt.NDArray[Any]
    labels: FloatArray
    weights: FloatArray
    groups: npt.NDArray[Any] | None
    n_training: int

    @property
    def has_validation(self) -> bool:
        """Whether there are examples for validation."""
        return self.n_training < len(self.y)

    @property
    def training(self) -> npt.NDArray[np.int64]:
        """Numbers of the examples to train on."""
        return np.arange(self.n_training)

    @property
    def validation(self) -> npt.NDArray[np.int64]:
        """Numbers of the examples for validation."""
        return np.arange(self.n_training, len(self.y))


def split_examples(
    frame: nw.DataFrame[Any],
    y: Any,
    labels: FloatArray,
    weights: FloatArray,
    groups: Any,
    fraction: float | None,
    rng: np.random.Generator,
    *,
    stratify: bool,
) -> JointExamples:
    """Hold some rows out for validation, and leave those without weight.

    Parameters
    ----------
    frame
        All rows.
    y, labels, weights, groups
        Their labels as given and as numbers, their weights, and what belongs together.
    fraction
        Share to validate on.
    rng
        Says which.
    stratify
        Whether labels are classes.
    """
    kept = np.flatnonzero(weights)
    grouped = read_groups(groups, len(frame), kept)
    training, validation = hold_out(labels[kept], grouped, fraction, rng, stratify=stratify)
    if stratify:
        # A class that nothing is known of yet cannot be validated on.
        known = np.isin(labels[kept][validation], labels[kept][training])
        training, validation = np.append(training, validation[~known]), validation[known]
    order = kept[np.concatenate([training, validation])]
    return JointExamples(
        nw.from_native(take_examples(frame.to_native(), order), eager_only=True),
        np.asarray(y)[order],
        labels[order],
        weights[order],
        None if groups is None else np.asarray(groups)[order],
        len(training),
    )


def fit_engine(
    engine: SemanticFeatureEngine, column: Column, examples: JointExamples
) -> tuple[Trial, FloatArray]:
    """Fit an engine, and give its estimates of all examples, each from what is known without it."""
    part, n = part_of(examples.frame, column), examples.n_training
    groups = None if examples.groups is None else examples.groups[:n]
    training = take_examples(part, examples.training)
    if not examples.has_validation:
        trial, order, _ = engine._fit(training, examples.y, examples.weights, groups)
        known = np.empty((n, trial.rows.values.shape[1]))
        known[order] = estimates(trial.outputs_out_of_fold(1), engine.loss_)
        return trial, known
    validation = (take_examples(part, examples.validation), examples.y[n:])
    trial, *_ = engine._fit(
        training, examples.y[:n], examples.weights[:n], groups, validation_data=validation
    )
    # The table stays without the examples for validation: what follows learns to read its values as they are, and
    # would read those of a refreshed one worse.
    return trial, estimates(trial.outputs_out_of_fold(1), engine.loss_)


def read_frame(X: Any, engines: Mapping[Column, Any]) -> nw.DataFrame[Any]:
    """Read a frame that has the columns of all engines."""
    frame = nw.from_native(X, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        raise TypeError(f"X must be a frame (pandas, polars, Arrow); received {type(X).__name__}.")
    count_examples(frame)  # refuses none
    missing = [name for column in engines for name in columns_of(column) if name not in frame.columns]
    if missing:
        raise ValueError(f"engines names the columns {missing}, but X has {frame.columns}.")
    return frame


def columns_of(column: Column) -> tuple[str, ...]:
    """Give the names of an engine's columns."""
    return (column,) if isinstance(column, str) else tuple(column)


def part_of(frame: nw.DataFrame[Any], column: Column) -> Any:
    """Give an engine its column, or its columns as a frame."""
    return frame[column].to_native() if isinstance(column, str) else frame.select(*column).to_native()


def names_of(column: Column, engine: SemanticFeatureEngine) -> list[str]:
    """Name the estimates of an engine."""
    return [str(name) for name in engine.get_feature_names_out(["_".join(columns_of(column))])]
