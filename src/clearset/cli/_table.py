"""``clearset table``: build, update, merge and show token tables."""

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clearset.cli._keys import key_in, warn_of_lost_signatures
from clearset.cli._options import (
    COLUMN_HELP,
    CSV_SEPARATOR,
    MAX_INTERVAL_HELP,
    MIN_COUNT_HELP,
    TOKENS_HELP,
    CsvFormat,
    KeyFile,
    MaxMemory,
    Quiet,
    Separator,
    spelled_out,
)

if TYPE_CHECKING:
    import pyarrow as pa

    from clearset.cli._item_columns import ItemColumns
    from clearset.files import Key
    from clearset.tokens import TokenTable

tables = typer.Typer(help="Build, update, merge and show token tables.")


class Task(StrEnum):
    """What the label is."""

    auto = "auto"
    classes = "classes"
    number = "number"


Data = Annotated[Path, typer.Argument(metavar="DATA", help="CSV or Parquet, one row an example.")]
Table = Annotated[Path, typer.Argument(metavar="TABLE", help="A table that was built before.")]
Column = Annotated[list[str], typer.Option(help=COLUMN_HELP)]
Label = Annotated[str, typer.Option(help="Column of labels.")]
Weight = Annotated[str | None, typer.Option(help="Column with the weight of each example.")]
Examples = Annotated[
    bool, typer.Option(help="Keep the examples in a file beside the table, so that it can be updated.")
]


@tables.command()
@spelled_out
def build(
    data: Annotated[
        Path, typer.Argument(metavar="DATA", help="CSV, Parquet or a folder of Parquet files, one row an example.")
    ],
    column: Column,
    label: Label,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to save the table.")],
    form: CsvFormat,
    tokens: Annotated[str, typer.Option(help=TOKENS_HELP)] = "subsets:3",
    min_count: Annotated[int, typer.Option(help=MIN_COUNT_HELP)] = 1,
    max_interval: Annotated[float | None, typer.Option(help=MAX_INTERVAL_HELP)] = None,
    task: Annotated[Task, typer.Option(help="What the label is.")] = Task.auto,
    weight: Weight = None,
    separator: Separator = None,
    examples: Examples = True,
    max_memory: MaxMemory = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(help="Folder to keep finished passes over files in: after a crash the same command goes on."),
    ] = None,
    key_file: KeyFile = None,
    quiet: Quiet = False,
) -> None:
    """Count the tokens of a table of examples."""
    import clearset as cs
    from clearset.artifact import check_target
    from clearset.cli._batches import in_batches
    from clearset.cli._item_columns import ItemColumns, filters_of, tokenizer_of

    check_target(output)
    key = key_in(key_file, to_sign=True)
    _check_not_data(output, data)
    tokenizer = tokenizer_of(tokens, column)
    filters = filters_of(min_count, max_interval)
    items = ItemColumns(column, tokenizer, separator)
    if in_batches(data, max_memory):
        table = _build_in_batches(data, form, items, label, weight, filters, task, max_memory, checkpoint, quiet)
        _save(table, output, False, key, quiet)
        return
    if checkpoint is not None:
        raise ValueError("--checkpoint is for data read in batches: a folder of Parquet files, or --max-memory.")
    X, y, weights = _read(data, form, items, label, weight)
    with _busy("Counting tokens", quiet):
        table = cs.TokenTable.build(X, y, tokenizer, filters, task=task.value, sample_weight=weights)
    _save(table, output, examples, key, quiet)


def _build_in_batches(
    data: Path,
    form: CsvFormat,
    items: "ItemColumns",
    label: str,
    weight: str | None,
    filters: list[Any],
    task: Task,
    max_memory: str | None,
    checkpoint: Path | None,
    quiet: bool,
) -> "TokenTable":
    import clearset as cs
    from clearset.cli._batches import reported
    from clearset.cli._table_files import check_column, check_no_format

    check_no_format(form, data)

    with reported(data, "Counting tokens", quiet, passes=2) as stream:
        others = [label] if weight is None else [label, weight]
        for name in (*items.names, *others):
            check_column(stream.schema.empty_table(), name, data)
        return cs.TokenTable.build(
            items.of_stream(stream, data, others),
            label,
            items.tokenizer,
            filters,
            task=task.value,
            sample_weight=weight,
            column=items.names,
            max_memory=max_memory,
            checkpoint=checkpoint,
        )


@tables.command()
@spelled_out
def update(
    table: Table,
    data: Data,
    column: Column,
    label: Label,
    form: CsvFormat,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where to save it; by default over TABLE.")
    ] = None,
    weight: Weight = None,
    separator: Separator = None,
    key_file: KeyFile = None,
    quiet: Quiet = False,
) -> None:
    """Add further examples to a table, as if all had come at once."""
    import clearset as cs
    from clearset.artifact import check_target
    from clearset.cli._item_columns import ItemColumns

    check_target(output or table)
    key = key_in(key_file, to_sign=True)
    _check_not_data(output or table, data)
    old = cs.TokenTable.load(table, key=key)
    X, y, weights = _read(data, form, ItemColumns(column, old.tokenizer, separator), label, weight)
    with _busy("Counting tokens", quiet):
        new = old.update(X, y, weights)
    if not quiet:
        warn_of_lost_signatures(key, table)
    _save(new, output or table, True, key, quiet)


@tables.command()
def merge(
    parts: Annotated[list[Path], typer.Argument(metavar="TABLES...", help="Tables that were built alike.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to save the table.")],
    key_file: KeyFile = None,
    quiet: Quiet = False,
) -> None:
    """Put tables together, as if their examples had come at once."""
    import clearset as cs
    from clearset.artifact import check_target

    check_target(output)
    key = key_in(key_file, to_sign=True)
    with _busy("Merging tables", quiet):
        first, *others = [cs.TokenTable.load(path, key=key) for path in parts]
        merged = sum(others, start=first)
    if not quiet:
        warn_of_lost_signatures(key, *parts)
    _save(merged, output, True, key, quiet)


@tables.command()
def show(
    table: Table,
    token: Annotated[str | None, typer.Option(help="One token, its items separated: 'salt;lime'.")] = None,
    search: Annotated[str | None, typer.Option(help="Only tokens with this text in an item.")] = None,
    top: Annotated[int, typer.Option(help="How many tokens to show.", min=1)] = 20,
    by: Annotated[str, typer.Option(help="count, weight, size, mean or variance: the greatest first.")] = "count",
    separator: Annotated[str, typer.Option(help="What separates items in --token.")] = CSV_SEPARATOR,
    key_file: KeyFile = None,
) -> None:
    """Show tokens, their counts and mean labels."""
    import clearset as cs
    from clearset.cli._token_lines import token_lines

    known = cs.TokenTable.load(table, key=key_in(key_file))
    if token is not None and search is not None:
        raise ValueError("Give --token or --search, not both.")
    if token is not None:
        items = [item.strip() for item in token.split(separator)]
        if known.lookup(items) is None:
            raise ValueError(f"'{table}' has no token {token!r}.")
        rows = known.lookup_many([items])
    else:
        rows = known.top(top if search is None else len(known), by)
        if search is not None:
            rows = _with_text(rows, search).slice(0, top)
        print(known)
    for line in token_lines(known, rows):
        print(line)


def _read(
    path: Path, form: CsvFormat, columns: "ItemColumns", label: str, weight: str | None
) -> tuple["pa.Table", Any, Any]:
    """Return the columns of items, the labels, and the weights or None."""
    from clearset.cli._table_files import check_column, read_table

    table = read_table(path, form, columns.names)
    for name in (label, *([weight] if weight else [])):
        check_column(table, name, path)
    return columns.take(table, path), table[label], table[weight] if weight else None


def _check_not_data(output: Path, data: Path) -> None:
    if output.resolve() == data.resolve():
        raise ValueError(f"The table would be saved over its data, '{data}'. Give another name to --output.")


@contextmanager
def _busy(what: str, quiet: bool) -> Iterator[None]:
    from rich.console import Console

    with Console(stderr=True, quiet=quiet).status(f"{what} ..."):
        yield


def _save(table: "TokenTable", output: Path, examples: bool, key: "Key | None", quiet: bool) -> None:
    table.save(output, examples, key=key)
    if not quiet:
        print(f"{table}\nSaved to {output}. Next: clearset table show {output}")


def _with_text(rows: "pa.Table", text: str) -> "pa.Table":
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    lists = rows["token"].combine_chunks()
    hits = pc.match_substring(lists.flatten(), text, ignore_case=True)
    return rows.take(pa.array(np.unique(pc.list_parent_indices(lists).filter(hits).to_numpy())))
