"""What the commands that train have in common: their options, and the estimator and data that follow from these."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clearset.cli._item_columns import (
    COLUMN_HELP,
    MAX_INTERVAL_HELP,
    MIN_COUNT_HELP,
    TOKENS_HELP,
    ItemColumns,
    filters_of,
    tokenizer_of,
)

if TYPE_CHECKING:
    import pyarrow as pa

_PANEL = "Sets of strings, and texts"


class Task(StrEnum):
    """What the label is."""

    regression = "regression"
    classification = "classification"


Data = Annotated[
    Path, typer.Argument(metavar="DATA", help="CSV or Parquet: one row a set, or with --by one row a token.")
]
Label = Annotated[str, typer.Option(help="Column to predict.")]
FeaturesFile = Annotated[Path | None, typer.Option(help="YAML or TOML with features, trusts and model.")]
By = Annotated[str | None, typer.Option(help="Key column: which set a row belongs to.")]
SetColumns = Annotated[str, typer.Option(help="Columns of whole sets in a long table: a,b.")]
TaskOption = Annotated[Task | None, typer.Option(help="By default what the label looks like.")]
Output = Annotated[Path, typer.Option("--output", "-o", help="Where to save the model.")]
Validation = Annotated[Path | None, typer.Option(help="Table to validate on, of the form of DATA.")]
Weight = Annotated[str | None, typer.Option(help="Column with the weight of each set.")]
Width = Annotated[int | None, typer.Option(help="Number of scores of a token.")]
LossOption = Annotated[str | None, typer.Option(help="What training minimises.")]
Epochs = Annotated[int | None, typer.Option(help="Largest number of passes over the data.")]
LearningRate = Annotated[float | None, typer.Option(help="Step size of the optimizer.")]
BatchSize = Annotated[int | None, typer.Option(help="Sets in a step.")]
Seed = Annotated[int | None, typer.Option(help="Seed; the same seed gives the same model.")]
Jobs = Annotated[int | None, typer.Option(help="Number of threads.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print errors only.")]
Column = Annotated[list[str] | None, typer.Option(help=COLUMN_HELP, rich_help_panel=_PANEL)]
Tokens = Annotated[str | None, typer.Option(help=f"{TOKENS_HELP} By default chosen.", rich_help_panel=_PANEL)]
MinCount = Annotated[int | None, typer.Option(help=MIN_COUNT_HELP, rich_help_panel=_PANEL)]
MaxInterval = Annotated[float | None, typer.Option(help=MAX_INTERVAL_HELP, rich_help_panel=_PANEL)]
Cover = Annotated[
    bool | None,
    typer.Option("--cover/--all", help="Whether larger tokens shadow smaller ones.", rich_help_panel=_PANEL),
]
Refine = Annotated[
    bool | None, typer.Option(help="Whether to learn corrections of items.", rich_help_panel=_PANEL)
]


@dataclass(frozen=True, eq=False)
class Training:
    """An estimator, and the data to fit it on.

    Attributes
    ----------
    model : estimator
        The estimator, not fitted.
    named : frozenset of str
        The parameters that options or the features file name.
    X : pyarrow.Table
        The sets.
    y : ndarray
        Their labels.
    weights : ndarray, or None
        Their weights.
    held_out : tuple, or None
        ``(X, y)`` to validate on, if a table is named for it.
    title : str
        A line that describes the task and the data.
    """

    model: Any
    named: frozenset[str]
    X: "pa.Table"
    y: Any
    weights: Any
    held_out: tuple[Any, Any] | None
    title: str


def read_training(
    data: Path,
    label: str,
    *,
    features: Path | None,
    by: str | None,
    set_columns: str,
    task: Task | None,
    validation: Path | None,
    weight: str | None,
    column: list[str] | None,
    tokens: str | None,
    min_count: int | None,
    max_interval: float | None,
    cover: bool | None,
    refine: bool | None,
    separator: str | None,
    parameters: dict[str, Any],
) -> Training:
    """Check options, read the tables and return them with the estimator; `parameters` that are None are not set."""
    from clearset.cli._features_file import Declarations, check_keys, read_declarations
    from clearset.cli._table_files import count_tokens, names_in

    of_items = {
        "tokens": tokens, "min-count": min_count, "max-interval": max_interval, "cover": cover, "refine": refine,
        "separator": separator,
    }  # fmt: skip
    if not column and (given := [name for name, value in of_items.items() if value is not None]):
        raise ValueError(f"--{given[0]} is for a column of items or texts. Name it with --column.")
    declared = read_declarations(features) if features else Declarations()
    if column and len(column) > 1 and tokens is None:
        raise ValueError(f"{len(column)} columns were given; two need --tokens cross or --tokens difference.")
    tokenizer = tokenizer_of(tokens, column) if column and tokens else None
    items = ItemColumns(column, tokenizer, separator) if column else None
    reader = _Reader(label, weight, by, names_in(set_columns), items)
    X, y, weights = reader.read(data)
    held_out = reader.read(validation)[:2] if validation else None

    reason = "" if task else f", because {_look(y)}"
    task = task or _guess(y)
    estimator = _estimator(task, items is not None)
    typed = {
        **parameters,
        "tokens": tokenizer,
        "filters": filters_of(min_count, max_interval) or None,
        "cover": cover,
        "refine": refine,
    }
    known = [
        name for name in estimator().get_params() if name not in ("features", "trusts", "tokens", "filters")
    ]
    check_keys(declared.model, known, f"'{features}': model")
    named = {**declared.model, **{name: value for name, value in typed.items() if value is not None}}
    size = f"{len(y):,} examples" if items else f"{len(y):,} sets, {count_tokens(X):,} tokens"
    return Training(
        model=estimator(features=declared.features, trusts=declared.trusts, **{"verbose": 1, **named}),
        named=frozenset(named),
        X=X,
        y=y,
        weights=weights,
        held_out=held_out,
        title=f"{task.capitalize()} of '{label}'{reason}: {size}.",
    )


def _estimator(task: Task, of_items: bool) -> Any:
    import clearset as cs

    if of_items:
        return cs.SemanticClassifier if task is Task.classification else cs.SemanticRegressor
    return cs.SetClassifier if task is Task.classification else cs.SetRegressor


class _Reader:
    """Reads tables and separates labels and weights from the sets."""

    def __init__(
        self,
        label: str,
        weight: str | None,
        by: str | None,
        set_columns: list[str],
        items: ItemColumns | None,
    ) -> None:
        self.by = by
        self.label = label
        self.weight = weight
        self.set_columns = set_columns
        self.items = items

    def read(self, path: Path) -> tuple["pa.Table", Any, Any]:
        """Return sets, labels and weights (or None)."""
        from clearset.cli._table_files import check_column, read_sets

        taken = [self.label] if self.weight is None else [self.label, self.weight]
        # As columns of whole sets, label and weight are checked to be constant within each set.
        of_sets = list(dict.fromkeys([*self.set_columns, *taken])) if self.by else self.set_columns
        table = read_sets(path, self.by, of_sets, self.items.names if self.items else ())
        for name in taken:
            check_column(table, name, path)
        weights = None if self.weight is None else plain_column(table, self.weight, path)
        dropped = [name for name in (*taken, self.by) if name]
        X = table.drop_columns(dropped) if self.items is None else self.items.take(table, path)
        return X, plain_column(table, self.label, path), weights


def plain_column(table: "pa.Table", name: str, path: Path) -> Any:
    """Return a column of single, present values as a numpy array."""
    import pyarrow as pa

    from clearset.cli._table_files import list_columns

    if name in list_columns(table):
        raise ValueError(f"Column {name!r} of '{path}' holds lists; a label or weight is one value a set.")
    column = table[name]
    if missing := column.null_count:
        raise ValueError(f"Column {name!r} of '{path}' has {missing} missing values. Remove these sets.")
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    values = column.to_numpy()
    return values.astype(str) if values.dtype.kind == "O" else values


def _guess(y: Any) -> Task:
    import numpy as np

    return Task.classification if y.dtype.kind in "bU" or len(np.unique(y)) == 2 else Task.regression


def _look(y: Any) -> str:
    if y.dtype.kind in "bU":
        return "the label is no number"
    return "the label has two values" if _guess(y) is Task.classification else "the label is a number"
