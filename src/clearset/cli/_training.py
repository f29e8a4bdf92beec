"""The estimator and the data that follow from the options of training."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import typer

import clearset as cs
from clearset.artifact import check_target
from clearset.cli._features_file import Declarations, check_keys, read_declarations
from clearset.cli._item_columns import ItemColumns, filters_of, tokenizer_of
from clearset.cli._joint_training import joint_model, read_joint_data, read_joint_held_out
from clearset.cli._options import Task, TrainingOptions
from clearset.cli._table_files import count_tokens
from clearset.cli._training_data import read_held_out, read_training_data, training_stream
from clearset.sets import Stream

if TYPE_CHECKING:
    from rich.console import Console

_OF_ITEMS = ("tokens", "min_count", "max_interval", "cover", "refine", "separator")


@dataclass(frozen=True, eq=False)
class Training:
    """An estimator, not fitted yet, and the data to fit it on."""

    model: Any
    named: frozenset[str]  # the parameters that options or the features file name
    X: pa.Table | Stream
    y: Any
    weights: Any  # or None
    columns: tuple[str, str | None] | None  # of labels and weights, where the fit reads them from files itself
    held_out: tuple[Any, Any] | None  # the (X, y) of the table to validate on, if one is named
    title: list[str]  # lines that describe the task, the data, and what each column is used for
    warnings: list[str]  # lines on what looks wrong with the columns

    def announce(self, console: "Console") -> None:
        """Print what is trained on, and warnings to standard error, unless the console is quiet."""
        for line in self.title:
            console.print(line, markup=False)
        for line in [] if console.quiet else self.warnings:
            typer.echo(f"clearset: warning: {line}", err=True)


def read_training(options: TrainingOptions, max_memory: str | None = None) -> Training:
    """Check options, read the tables and return them with the estimator.

    A folder, or with `max_memory` a file, is not read but left to the estimator.
    """
    check_target(options.output, options.data, options.validation, options.features)
    column, tokens, features = options.column, options.tokens, options.features
    if options.joint or (column and len(column) > 1 and tokens is None):
        return _read_joint(options, max_memory)
    if not column and (given := [name for name in _OF_ITEMS if getattr(options, name) is not None]):
        name = given[0].replace("_", "-")
        raise ValueError(f"--{name} is for a column of items or texts. Name it with --column.")
    declared = read_declarations(features) if features else Declarations()
    tokenizer = tokenizer_of(tokens, column) if column and tokens else None
    items = ItemColumns(column, tokenizer, options.separator) if column else None
    if options.ignore and (column or declared.features):
        raise ValueError("--ignore is for fits on every numeric column, but --column or --features names some.")
    data = read_training_data(options, items, declared, training_stream(options, max_memory))
    X, y = data.X, data.y
    held_out = read_held_out(options.validation, options, items, data) if options.validation else None

    reason = "" if options.task else f", because {_look(y)}"
    task = options.task or _guess(y)
    estimator = _estimator(task, items is not None)
    typed = {
        "width": options.width,
        "loss": options.loss,
        "epochs": options.epochs,
        "learning_rate": options.learning_rate,
        "batch_size": options.batch_size,
        "random_state": options.seed,
        "n_jobs": options.jobs,
        "device": options.device,
        "max_memory": max_memory,
        "verbose": 0 if options.quiet else None,
        "tokens": tokenizer,
        "filters": filters_of(options.min_count, options.max_interval) or None,
        "cover": options.cover,
        "refine": options.refine,
    }
    known = [name for name in estimator().get_params() if name not in ("features", "trusts", "tokens", "filters")]
    check_keys(declared.model, known, f"'{features}': model")
    named = {**declared.model, **{name: value for name, value in typed.items() if value is not None}}
    size = f"{len(y):,} {'examples' if items else 'sets'}"
    columns = (options.label, options.weight) if items is not None and isinstance(X, Stream) else None
    if columns is not None and task is Task.classification:
        y = np.unique(y, return_inverse=True)[1].astype(np.int32)  # names would take memory that the fit needs
    if items is None and not isinstance(X, Stream):
        size += f", {count_tokens(X):,} tokens"
    return Training(
        model=estimator(features=data.features, trusts=declared.trusts, **{"verbose": 1, **named}),
        named=frozenset(named),
        X=X,
        y=y,
        weights=data.weights,
        columns=columns,
        held_out=held_out,
        title=[f"{task.capitalize()} of '{options.label}'{reason}: {size}.", *data.uses.lines()],
        warnings=data.warnings,
    )


def _read_joint(options: TrainingOptions, max_memory: str | None) -> Training:
    """Read the table for a model of several columns at once."""
    if max_memory is not None:
        raise ValueError("--max-memory is for fits in files, but a joint model is fitted in memory. Leave it out.")
    if given := [name for name in ("tokens", "refine") if getattr(options, name) is not None]:
        raise ValueError(
            f"--{given[0]} is for a model of one column; the engines of a joint model choose their tokens and are not "
            "refined. Leave it out, or declare a JointModel in Python."
        )
    declared = read_declarations(options.features) if options.features else Declarations()
    data = read_joint_data(options)
    task = options.task or _guess(data.y)
    model, named, uses, warned = joint_model(options, declared, task, data)
    held = read_joint_held_out(options.validation, options, data) if options.validation else None
    reason = "" if options.task else f", because {_look(data.y)}"
    return Training(
        model=model,
        named=named,
        X=data.X,
        y=data.y,
        weights=data.weights,
        columns=None,
        held_out=held,
        title=[f"{task.capitalize()} of '{options.label}'{reason}: {len(data.y):,} rows.", *uses.lines()],
        warnings=warned,
    )


def _estimator(task: Task, of_items: bool) -> Any:
    if of_items:
        return cs.SemanticClassifier if task is Task.classification else cs.SemanticRegressor
    return cs.SetClassifier if task is Task.classification else cs.SetRegressor


def _guess(y: Any) -> Task:
    return Task.classification if y.dtype.kind in "bU" or len(np.unique(y)) == 2 else Task.regression


def _look(y: Any) -> str:
    if y.dtype.kind in "bU":
        return "the label is no number"
    return "the label has two values" if _guess(y) is Task.classification else "the label is a number"
