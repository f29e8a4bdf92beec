"""What a joint model learns from: labelled rows of a frame, and what engines make of their columns."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from clearset.estimators._feature_engine import SemanticFeatureEngine
from clearset.estimators._joint_parts import Column
from clearset.estimators._model_estimator import check_pair
from clearset.models import part_of, read_frame
from clearset.sets import as_stream, memory_limit, take_examples
from clearset.training import Trial, hold_out, read_groups

FloatArray = npt.NDArray[np.float64]

# What a fit takes in memory, in bytes of its columns.
_COPIES = 10


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


def read_joint_rows(X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> tuple[Any, Any, Any, Any]:
    """Return the rows as a frame, with labels, weights and groups; of data in files, these may be names of columns."""
    if (stream := as_stream(X)) is None:
        return read_frame(X, {}), y, sample_weight, groups
    if not stream.n_rows:
        raise ValueError("X holds no rows: 0 samples, while at least 1 is required.")
    first = next(stream.tables(stream.schema.names, rows=(0, 1000)))
    needed, allowed = _COPIES * first.nbytes * stream.n_rows // len(first), memory_limit(None)
    if needed > allowed:
        raise ValueError(
            f"These {stream.n_rows:,} rows would take about {needed / 1e9:,.1f} GB of memory, and half of what is "
            f"available are {allowed / 1e9:,.1f} GB: joint models are fitted in memory. Fit on a part of the rows; "
            "predict reads them all, piece by piece."
        )
    table = pa.concat_tables(stream.tables(stream.schema.names))
    given = (y, sample_weight, groups)
    named = [name for name in given if isinstance(name, str)]
    stream.check_columns(named)
    found = [table[each].to_numpy() if isinstance(each, str) else each for each in given]
    return read_frame(table.drop_columns(list(dict.fromkeys(named))), {}), *found


def held_after(
    rows: JointExamples, validation_data: Any, read_labels: Callable[[Any, int], FloatArray]
) -> JointExamples:
    """Return the rows that have weight, and after them those to validate on, which are given."""
    held, y, *_ = read_joint_rows(*check_pair(validation_data))
    if missing := [name for name in rows.frame.columns if name not in held.columns]:
        raise ValueError(f"X of validation_data lacks the columns {missing[:10]}, which X has.")
    labels, kept = read_labels(y, len(held)), np.flatnonzero(rows.weights)
    tables = [nw.from_native(take_examples(rows.frame.to_native(), kept), eager_only=True).to_arrow()]
    tables.append(held.select(*rows.frame.columns).to_arrow())
    try:
        frame = pa.concat_tables(tables, promote_options="permissive")
    except pa.ArrowException as error:
        raise ValueError(f"The columns of validation_data are of other types than those of X: {error}.") from error
    return JointExamples(
        nw.from_native(frame, eager_only=True),
        np.concatenate([rows.y[kept], np.asarray(y)]),
        np.concatenate([rows.labels[kept], labels]),
        np.concatenate([rows.weights[kept], np.ones(len(labels))]),
        None if rows.groups is None else np.asarray(rows.groups)[kept],  # those to validate on are held already
        len(kept),
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
