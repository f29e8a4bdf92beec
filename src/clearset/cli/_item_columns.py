"""Columns of items: how options name them, and how their texts become lists."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

import clearset as cs
from clearset.cli._changed_stream import ChangedStream
from clearset.cli._options import CSV_SEPARATOR, TOKENS_HELP
from clearset.cli._table_files import check_column, is_parquet
from clearset.sets import Stream, combined, decode, is_string, unnest
from clearset.tokens import read_column


@dataclass(frozen=True)
class ItemColumns:
    """Columns of a table that hold items or texts."""

    names: list[str]
    tokenizer: Any  # what splits their rows into tokens; None if it is not chosen yet
    separator: str | None  # of the items of a text; None is ';' in CSV files and no separator in others

    def take(self, table: pa.Table, path: Path) -> pa.Table:
        """Return these columns of a table that was read from a file; texts that list items become lists."""
        for name in self.names:
            check_column(table, name, path)
            try:
                read_column(table[name].slice(0, 1))  # raises an error for a wrong type, before any work
            except TypeError as error:
                raise TypeError(f"Column {name!r} of '{path}': {error}") from None
        columns = {name: decode(table[name]) for name in self.names}
        separator = self.separator or (None if is_parquet(path) else CSV_SEPARATOR)
        by_words = self.tokenizer is not None and self.tokenizer.in_order
        if self.separator is not None:
            if by_words:
                raise ValueError(
                    f"--separator divides texts into items, but {self.tokenizer} reads words. Leave it out."
                )
            if not any(is_string(unnest(column)[0].type) for column in columns.values()):
                held = ", ".join(f"{name!r} holds {column.type}" for name, column in columns.items())
                raise ValueError(f"--separator divides texts into items, but in '{path}' {held}. Leave it out.")
        if separator is None or by_words:
            return pa.table(columns)
        # While no tokenizer is chosen, prose is split into lists only if a separator was named.
        keep_texts = self.tokenizer is None and self.separator is None
        return pa.table(
            {
                name: column if keep_texts and _is_text(column, separator) else _split(column, separator)
                for name, column in columns.items()
            }
        )

    def of_stream(self, stream: Stream, path: Path, others: Sequence[str]) -> Stream:
        """Return the rows of Parquet files with these columns and some others; texts become lists as by `take`."""
        chosen = stream.select([*self.names, *others])
        if self.separator is None:
            return chosen

        def change(table: pa.Table) -> pa.Table:
            for name in set(self.names) & set(table.column_names):
                items = replace(self, names=[name]).take(table, path)
                table = table.set_column(table.column_names.index(name), name, items[name])
            return table

        return ChangedStream.of(chosen, change, told=self.separator)


_KINDS = {
    "items": cs.Items, "words": cs.Words, "subsets": cs.Subsets, "ngrams": cs.NGrams, "cross": cs.Cross,
    "difference": cs.Difference,
}  # fmt: skip


def tokenizer_of(text: str, columns: list[str]) -> Any:
    """Return the tokenizer that ``kind`` or ``kind:number`` describes, or the union of several joined by ``+``."""
    members = [_one_tokenizer(text, each, columns) for each in text.split("+")]
    return members[0] if len(members) == 1 else cs.Union(*members)


def _one_tokenizer(text: str, described: str, columns: list[str]) -> Any:
    kind, _, number = described.partition(":")
    if kind not in _KINDS or (number and kind in ("items", "words", "cross")):
        raise ValueError(f"--tokens is {text!r}; choose {TOKENS_HELP}")
    if number and not number.isdecimal():
        raise ValueError(f"--tokens is {text!r}; after the colon comes a whole number, such as {kind}:3.")
    needed = 2 if kind in ("cross", "difference") else 1
    if len(columns) != needed:
        raise ValueError(f"--tokens {kind} needs {needed} --column, but {len(columns)} were given.")
    named = columns if needed == 2 else []
    return _KINDS[kind](*named, *([int(number)] if number else []))


def filters_of(min_count: int | None, max_interval: float | None) -> list[Any]:
    """Return the filters for the values of two options."""
    filters: list[Any] = [] if min_count is None else [cs.MinCount(min_count)]
    return filters if max_interval is None else [*filters, cs.MaxInterval(max_interval)]


def _is_text(column: pa.ChunkedArray, separator: str) -> bool:
    """Return whether a column holds prose, which rarely contains the separator, and not lists of items."""
    from clearset.training import smallest_tokens  # needs more than saved models do

    if not isinstance(smallest_tokens(column), cs.NGrams):
        return False
    separated: float = pc.mean(pc.match_substring(column, separator).cast("double")).as_py()
    return separated < 0.5


def _split(column: pa.ChunkedArray, separator: str) -> pa.ChunkedArray:
    """Split texts into lists of items; an empty text has no items, and a list of texts has those of all its texts."""
    texts, rows = unnest(column)
    if not is_string(texts.type):
        return column
    lists = pc.split_pattern(combined(texts.cast(pa.large_string())), separator)
    items = pc.utf8_trim_whitespace(lists.values)
    items = pc.if_else(pc.equal(items, ""), None, items)  # nulls in lists are left out when they are read
    offsets = lists.offsets.cast(pa.int64())
    if rows is not None:  # the rows of a long table, grouped
        offsets = offsets.take(pa.array(rows))
    return pa.chunked_array([pa.LargeListArray.from_arrays(offsets, items)])
