"""What a joint model learns from: labelled rows of a frame, and what engines make of their columns."""

from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from clearset.estimators._feature_engine import SemanticFeatureEngine
from clearset.models import part_of
from clearset.sets import take_examples
from clearset.training import Trial, hold_out, read_groups

Column = str | tuple[str, ...]
FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class JointExamples:
    """Labelled rows of a frame, those to train on first."""

    frame: nw.DataFrame[Any]
    y: npt.NDArray[Any]
    labels: FloatArray
    weights: FloatArray
    groups: Any
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
    rows: JointExamples, fraction: float | None, rng: np.random.Generator, *, stratify: bool
) -> JointExamples:
    """Hold a share of the rows out for validation, and leave out those without weight."""
    frame, y, labels, weights, groups = rows.frame, rows.y, rows.labels, rows.weights, rows.groups
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
        y[order],
        labels[order],
        weights[order],
        None if groups is None else np.asarray(groups)[order],
        len(training),
    )


def fit_engine(engine: SemanticFeatureEngine, column: Column, examples: JointExamples) -> tuple[Trial, FloatArray]:
    """Fit an engine, and return its estimates of all examples, each from what is known without it."""
    part, n = part_of(examples.frame, column), examples.n_training
    groups = None if examples.groups is None else examples.groups[:n]
    training = take_examples(part, examples.training)
    if not examples.has_validation:
        trial, order, _ = engine._fit(training, examples.y, examples.weights, groups)
        trial = _in_full(engine, trial)
        known = np.empty((n, engine.as_model().link.n_outputs))
        known[order] = engine.as_model().link.estimates(trial.outputs_out_of_fold(1))
        return trial, known
    validation = (take_examples(part, examples.validation), examples.y[n:])
    trial, *_ = engine._fit(training, examples.y[:n], examples.weights[:n], groups, validation_data=validation)
    trial = _in_full(engine, trial)
    # The table stays without the examples for validation: what follows learns to read its values as they are, and
    # would read those of a refreshed one worse.
    return trial, engine.as_model().link.estimates(trial.outputs_out_of_fold(1))


def _in_full(engine: SemanticFeatureEngine, trial: Trial) -> Trial:
    """Let small sets count in full, as joint training sees them; the follow-on model learns how far to trust them."""
    model, fitted = engine.as_model(), trial.fitted
    support = replace(model.support, tokens=1, alone=None)
    engine.model_ = replace(model, function=replace(model.function, support=support))
    return replace(trial, fitted=replace(fitted, function=replace(fitted.function, support=support)))
