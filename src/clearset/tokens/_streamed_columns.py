"""The columns of a stream that hold examples, labels and weights."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from clearset.sets import Stream, as_stream, is_list, is_string
from clearset.tokens._tokenizers import Tokenizer

# Arrow's threads keep much more memory than they need. It is given back now and then, for that takes time.
_RELEASED_AFTER = 4


class Batch(NamedTuple):
    """Some rows of a stream."""

    first_row: int
    items: pa.Table
    labels: pa.ChunkedArray
    weights: pa.ChunkedArray | None


class StreamedColumns(NamedTuple):
    """Which columns of a stream are read, and as what."""

    stream: Stream
    items: tuple[str, ...]
    label: str
    weight: str | None

    @classmethod
    def of(
        cls, stream: Stream, column: str | Sequence[str] | None, tokenizer: Tokenizer, label: Any, weight: Any
    ) -> "StreamedColumns":
        """Find the columns; raise an error where one is not there, or where there are several to choose from."""
        for name, value in (("y", label), ("sample_weight", weight)):
            if not isinstance(value, str) and (value is not None or name == "y"):
                raise TypeError(
                    f"{name} is a {type(value).__name__}; where X is a Parquet file, a folder of them or an Arrow data "
                    f"set, {name} is the name of one of its columns."
                )
        others = [name for name in (label, weight) if name is not None]
        stream.check_columns(others)
        items = columns_read(stream, column, tokenizer, others)
        if stream.n_rows == 0:
            raise ValueError("X holds 0 sample(s), that is, no examples, while a minimum of 1 is required.")
        return cls(stream, items, label, weight)

    def described(self) -> dict[str, str]:
        """Return what tells the examples from others, as texts."""
        read = {"column": str(self.items), "y": self.label, "sample_weight": str(self.weight)}
        return {**read, **self.stream.described()}

    def batches(self, bytes_at_once: int) -> Iterator[Batch]:
        """Read the rows in batches."""
        names = list(dict.fromkeys([*self.items, self.label, *([self.weight] if self.weight else [])]))
        first_row = 0
        for number, table in enumerate(self.stream.tables(names, bytes_at_once)):
            weights = table[self.weight] if self.weight else None
            yield Batch(first_row, table.select(list(self.items)), table[self.label], weights)
            first_row += len(table)
            if number % _RELEASED_AFTER == 0:
                pa.default_memory_pool().release_unused()


def streamed_columns(
    X: Any, y: Any, sample_weight: Any, tokenizer: Tokenizer, column: str | Sequence[str] | None, max_memory: Any
) -> StreamedColumns | None:
    """Return the columns of a Parquet file, a folder or a data set; None for examples in memory."""
    if (stream := as_stream(X)) is not None:
        return StreamedColumns.of(stream, column, tokenizer, y, sample_weight)
    for name, value in (("column", column), ("max_memory", max_memory)):
        if value is not None:
            raise ValueError(
                f"{name} is {value!r}, but X is a {type(X).__name__}, which is in memory. Leave it out, or give a "
                "Parquet file, a folder of them or an Arrow data set."
            )
    return None


def columns_read(
    stream: Stream, column: str | Sequence[str] | None, tokenizer: Tokenizer | None, others: Sequence[str]
) -> tuple[str, ...]:
    """Return the columns of items: those that are named, else those that `item_columns` finds beside others.

    Parameters
    ----------
    stream : Stream
        The rows.
    column : str, sequence of str or None
        The names, if they are given.
    tokenizer : tokenizer or None
        What takes the items apart; None if it is not chosen yet.
    others : sequence of str
        Columns of labels and such.
    """
    if column is None:
        return item_columns(stream.schema, tokenizer, others)
    items = (column,) if isinstance(column, str) else tuple(column)
    stream.check_columns(items)
    if len(items) != n_columns(tokenizer):
        raise ValueError(
            f"column names {len(items)} column(s), {list(items)}, but {n_columns(tokenizer)} are read: two by `Cross` "
            "and `Difference`, one by all others."
        )
    return items


def item_columns(schema: pa.Schema, tokenizer: Tokenizer | None, others: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the names of the columns that a tokenizer reads, where there is no choice.

    Parameters
    ----------
    schema : Arrow schema
        Names and types of all columns.
    tokenizer : tokenizer or None
        What takes their rows apart; None if it is not chosen yet.
    others : sequence of str, default=()
        Columns of labels and such.

    Examples
    --------
    >>> import pyarrow as pa
    >>> item_columns(pa.schema([("id", pa.int64()), ("text", pa.string()), ("label", pa.string())]), None, ["label"])
    ('text',)
    """
    named = () if tokenizer is None else tuple(side for side in tokenizer.sides if isinstance(side, str))
    if len(named) == 2:
        return named
    found = tuple(field.name for field in schema if field.name not in others and _holds_items(field.type))
    if len(found) != n_columns(tokenizer):
        beside = f" beside {', '.join(map(repr, others))}" if others else ""
        raise ValueError(
            f"{n_columns(tokenizer)} column(s) of lists or strings are read, but X has {len(found)}{beside}: "
            f"{list(found)}. Name what to read (column= of fit and TokenTable.build), or leave the others out."
        )
    return found


def n_columns(tokenizer: Tokenizer | None) -> int:
    """Return how many columns a tokenizer reads."""
    return 1 if tokenizer is None else len(tokenizer.sides) or 1


def _holds_items(type_: pa.DataType) -> bool:
    plain = type_.value_type if pa.types.is_dictionary(type_) else type_
    return is_list(plain) or is_string(plain)
