"""The joint model and the data of ``clearset fit`` on columns of several kinds."""

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

import clearset as cs
from clearset.cli._column_uses import ColumnUses
from clearset.cli._column_warnings import keys_as_features
from clearset.cli._features_file import Declarations, check_keys
from clearset.cli._item_columns import ItemColumns, filters_of
from clearset.cli._options import CSV_SEPARATOR, Task, TrainingOptions
from clearset.cli._table_files import check_column, is_parquet, names_in, plain_column
from clearset.cli._training_data import TrainingData, read_training_table
from clearset.models import columns_of
from clearset.sets import is_string

# Of a CSV file, texts with a separator in so many of them are lists of items.
_SEPARATED = 0.1


def read_joint_data(options: TrainingOptions) -> TrainingData:
    """Read the table to train on; what its columns are used for is not known yet."""
    path = options.data
    if path.is_dir():
        raise ValueError(f"A joint model is fitted on one file, but '{path}' is a folder. Give a CSV or Parquet file.")
    table, y = _read(path, options)
    weights = None if options.weight is None else plain_column(table, options.weight, path)
    uses = ColumnUses({"label": [options.label], "weight": [options.weight] if options.weight else []}, {})
    return TrainingData(_columns(table, path, options), y, weights, None, uses, [])


def read_joint_held_out(path: Path, options: TrainingOptions, data: TrainingData) -> tuple[pa.Table, Any]:
    """Return the rows of the table to validate on, with the columns of those to train on, and their labels."""
    assert isinstance(data.X, pa.Table)  # noqa: S101
    names, (table, y) = data.X.column_names, _read(path, options)
    for name in names:
        check_column(table, name, path)
    return _columns(table, path, options).select(names), y


def _read(path: Path, options: TrainingOptions) -> tuple[pa.Table, Any]:
    table = read_training_table(path, options, options.column or ())
    for name in (options.label, *names_in(options.ignore)):
        check_column(table, name, path)
    return table, plain_column(table, options.label, path)


def _columns(table: pa.Table, path: Path, options: TrainingOptions) -> pa.Table:
    """Return the columns to learn from; texts that list items become lists."""
    others = [options.label, options.weight, options.by, *names_in(options.ignore)]
    columns = {name: table[name] for name in table.column_names if name not in others}
    listed = options.column or [name for name, column in columns.items() if _lists_items(column, path, options)]
    for name in listed:
        columns |= dict.fromkeys([name], ItemColumns([name], None, options.separator).take(table, path)[name])
    return pa.table(columns)


def _lists_items(column: pa.ChunkedArray, path: Path, options: TrainingOptions) -> bool:
    """Return whether a column of texts has separators in it."""
    separator = options.separator or (None if is_parquet(path) else CSV_SEPARATOR)
    if separator is None or not is_string(column.type):
        return False
    share: float | None = pc.mean(pc.match_substring(column.cast(pa.large_string()), separator).cast("double")).as_py()
    return (share or 0.0) >= _SEPARATED


def joint_model(
    options: TrainingOptions, declared: Declarations, task: Task, data: TrainingData
) -> tuple[Any, frozenset[str], ColumnUses, list[str]]:
    """Return the model, not fitted, with its parts, the parameters that are named, the columns' uses, and warnings."""
    X = data.X
    assert isinstance(X, pa.Table)  # noqa: S101
    kind = cs.SetClassifier if task is Task.classification else cs.SetRegressor
    known = [name for name in kind().get_params() if name not in ("features", "trusts")]
    check_keys(declared.model, known, f"'{options.features}': model")
    typed = {
        "width": options.width,
        "loss": options.loss,
        "epochs": options.epochs,
        "learning_rate": options.learning_rate,
        "batch_size": options.batch_size,
        "device": options.device,
        "n_jobs": options.jobs,
    }
    given = {**declared.model, **_given(typed)}
    follow_on = kind(features=declared.features, trusts=declared.trusts, **given)
    filters = filters_of(options.min_count, options.max_interval) or None
    of_engines = _given({"filters": filters, "cover": options.cover, "n_jobs": options.jobs})
    engines: Any = "auto"
    if options.column:
        engines = {name: cs.SemanticFeatureEngine(**of_engines) for name in options.column}
    quiet = 0 if options.quiet else 1
    model = cs.JointModel(engines, follow_on, random_state=options.seed, verbose=quiet)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        model = model.declared(X, data.y)
    for engine in model.engines.values():
        engine.set_params(**of_engines)
    read = [name for column in model.engines for name in columns_of(column)]
    features = [getattr(feature, "name", feature) for feature in model.follow_on.features]
    ignored = dict.fromkeys(names_in(options.ignore), "named by --ignore")
    left = [name for name in X.column_names if name not in (*read, *features)]
    why = "no numbers, categories, lists of items or texts" if not options.column else "not named by --column"
    uses = ColumnUses(
        {"items or texts": read, "features": features, **data.uses.uses}, {**ignored, **dict.fromkeys(left, why)}
    )
    said = [str(warning.message) for warning in warned]
    warned_of = [*said, *keys_as_features(X, features)]
    return model, frozenset(f"follow_on__{name}" for name in given), uses, warned_of


def _given(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}
