"""``clearset table``: build, update, merge and show token tables."""

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    import pyarrow as pa

    from clearset.tokens import TokenTable

tables = typer.Typer(help="Build, update, merge and show token tables.")

_CSV_SEPARATOR = ";"


class Task(StrEnum):
    """What the label is."""

    auto = "auto"
    classes = "classes"
    number = "number"


Data = Annotated[Path, typer.Argument(metavar="DATA", help="CSV or Parquet, one row an example.")]
Table = Annotated[Path, typer.Argument(metavar="TABLE", help="A table that was built before.")]
Column = Annotated[list[str], typer.Option(help="Column of items; for cross and difference give it twice.")]
Label = Annotated[str, typer.Option(help="Column of labels.")]
Weight = Annotated[str | None, typer.Option(help="Column with the weight of each example.")]
Separator = Annotated[
    str | None, typer.Option(help="What stands between the items of a text; ';' by default in CSV.")
]
Examples = Annotated[
    bool, typer.Option(help="Keep the examples in a file beside the table, so that it can be updated.")
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print errors only.")]


@tables.command()
def build(
    data: Data,
    column: Column,
    label: Label,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to save the table.")],
    tokens: Annotated[
        str, typer.Option(help="items, subsets, subsets:3, ngrams:3, cross or difference:1.")
    ] = "subsets:3",
    min_count: Annotated[int, typer.Option(help="The least number of examples of a token.")] = 1,
    max_interval: Annotated[
        float | None, typer.Option(help="The greatest width of the mean label's 95% interval.")
    ] = None,
    task: Annotated[Task, typer.Option(help="What the label is.")] = Task.auto,
    weight: Weight = None,
    separator: Separator = None,
    examples: Examples = True,
    quiet: Quiet = False,
) -> None:
    """Count the tokens of a table of examples."""
    import clearset as cs
    from clearset.artifact import check_target

    check_target(output)
    tokeniser = _tokeniser(tokens, column)
    filters: list[Any] = [cs.MinCount(min_count)]
    if max_interval is not None:
        filters.append(cs.MaxInterval(max_interval))
    X, y, weights = _read(data, column, label, weight, separator, tokeniser)
    with _busy("Counting tokens", quiet):
        table = cs.TokenTable.build(X, y, tokeniser, filters, task=task.value, sample_weight=weights)
    _save(table, output, examples, quiet)


@tables.command()
def update(
    table: Table,
    data: Data,
    column: Column,
    label: Label,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where to save it; by default over TABLE.")
    ] = None,
    weight: Weight = None,
    separator: Separator = None,
    quiet: Quiet = False,
) -> None:
    """Add further examples to a table, as if all had come at once."""
    import clearset as cs
    from clearset.artifact import check_target

    check_target(output or table)
    old = cs.TokenTable.load(table)
    X, y, weights = _read(data, column, label, weight, separator, old.tokeniser)
    with _busy("Counting tokens", quiet):
        new = old.update(X, y, weights)
    _save(new, output or table, True, quiet)


@tables.command()
def merge(
    parts: Annotated[list[Path], typer.Argument(metavar="TABLES...", help="Tables that were built alike.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to save the table.")],
    quiet: Quiet = False,
) -> None:
    """Put tables together, as if their examples had come at once."""
    import clearset as cs
    from clearset.artifact import check_target

    check_target(output)
    with _busy("Merging tables", quiet):
        first, *others = [cs.TokenTable.load(path) for path in parts]
        merged = sum(others, start=first)
    _save(merged, output, True, quiet)


@tables.command()
def show(
    table: Table,
    token: Annotated[str | None, typer.Option(help="One token, its items separated: 'salt;lime'.")] = None,
    search: Annotated[str | None, typer.Option(help="Only tokens with this text in an item.")] = None,
    top: Annotated[int, typer.Option(help="How many tokens to show.", min=1)] = 20,
    by: Annotated[
        str, typer.Option(help="count, weight, size, mean or variance: the greatest first.")
    ] = "count",
    separator: Annotated[str, typer.Option(help="What separates items in --token.")] = _CSV_SEPARATOR,
) -> None:
    """Show tokens, their counts and mean labels."""
    import clearset as cs

    known = cs.TokenTable.load(table)
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
    for line in _lines(known, rows):
        print(line)


def _tokeniser(text: str, columns: list[str]) -> Any:
    """Make the tokeniser that ``kind`` or ``kind:number`` describes."""
    import clearset as cs

    kind, _, number = text.partition(":")
    needed = 2 if kind in ("cross", "difference") else 1
    takes_number = kind in ("subsets", "ngrams", "difference")
    if kind not in ("items", "subsets", "ngrams", "cross", "difference") or (number and not takes_number):
        raise ValueError(
            f"--tokens is {text!r}; choose items, subsets, subsets:3, ngrams:3, cross or difference:1."
        )
    if number and not number.isdecimal():
        raise ValueError(f"--tokens is {text!r}; after the colon comes a whole number, such as {kind}:3.")
    if len(columns) != needed:
        raise ValueError(f"--tokens {kind} needs {needed} --column, but {len(columns)} were given.")
    sizes = [int(number)] if number else []
    if kind == "cross":
        return cs.Cross(columns[0], columns[1])
    if kind == "difference":
        return cs.Difference(columns[0], columns[1], *sizes)
    return {"items": cs.Items, "subsets": cs.Subsets, "ngrams": cs.NGrams}[kind](*sizes)


def _read(
    path: Path, columns: list[str], label: str, weight: str | None, separator: str | None, tokeniser: Any
) -> tuple["pa.Table", Any, Any]:
    """Return the columns of items, the labels, and the weights or None."""
    import pyarrow as pa

    from clearset.cli._tables import check_column, read_table

    table = read_table(path)
    for name in (*columns, label, *([weight] if weight else [])):
        check_column(table, name, path)
    if separator is None and path.suffix.lower() == ".csv":
        separator = _CSV_SEPARATOR
    items = {name: table[name] for name in columns}
    if separator and not tokeniser.in_order:
        items = {name: _split(column, separator) for name, column in items.items()}
    return pa.table(items), table[label], table[weight] if weight else None


def _split(column: "pa.ChunkedArray", separator: str) -> "pa.ChunkedArray":
    """Split texts into lists of items; lists stay as they are, and an empty text has no items."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return column
    lists = pc.split_pattern(column.combine_chunks(), separator)
    items = pc.utf8_trim_whitespace(lists.values)
    items = pc.if_else(pc.equal(items, ""), None, items)  # nulls in lists are left out when they are read
    return pa.chunked_array([pa.ListArray.from_arrays(lists.offsets, items)])


@contextmanager
def _busy(what: str, quiet: bool) -> Iterator[None]:
    from rich.console import Console

    with Console(stderr=True, quiet=quiet).status(f"{what} ..."):
        yield


def _save(table: "TokenTable", output: Path, examples: bool, quiet: bool) -> None:
    table.save(output, examples)
    if not quiet:
        print(f"{table}\nSaved to {output}. Next: clearset table show {output}")


def _with_text(rows: "pa.Table", text: str) -> "pa.Table":
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    lists = rows["token"].combine_chunks()
    hits = pc.match_substring(lists.flatten(), text, ignore_case=True)
    return rows.take(pa.array(np.unique(pc.list_parent_indices(lists).filter(hits).to_numpy())))


def _lines(table: "TokenTable", rows: "pa.Table") -> Iterator[str]:
    """Give rows as text; of several classes only the most frequent is shown."""
    import numpy as np

    several = table.means.ndim == 2
    yield f"{'count':>10}  {'mean' if not several else 'class':>12}  {'95% interval':>18}  token"
    for row in rows.to_pylist():
        mean, low, high = row["mean"], row["low"], row["high"]
        name = ""
        if several and table.classes is not None:
            best = int(np.argmax(mean))
            mean, low, high = mean[best], low[best], high[best]
            name = f"{table.classes[best]} "
        items = ", ".join(" ".join(item.split()) for item in row["token"])
        yield f"{row['count']:>10,}  {f'{name}{mean:.4g}':>12}  {f'{low:.4g} to {high:.4g}':>18}  {items}"
