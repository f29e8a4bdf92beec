"""The columns of a stream that hold examples, labels and weights."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from clearset.sets import Stream, is_list, is_string
from clearset.tokens._tokenizers import Cross, Difference, Tokenizer


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
        items = (column,) if isinstance(column, str) else tuple(column or ())
        items = items or _item_columns(stream.schema, tokenizer, others)
        stream.check_columns(items)
        needed = 2 if isinstance(tokenizer, Cross | Difference) else 1
        if len(items) != needed:
            raise ValueError(
                f"{tokenizer} reads {needed} column(s) of items, but {len(items)} were found or named: {list(items)}. "
                f"Name {'both: column=(left, right)' if needed == 2 else 'one: column='}."
            )
        if stream.n_rows == 0:
            raise ValueError("X holds 0 sample(s), that is, no examples, while a minimum of 1 is required.")
        return cls(stream, items, label, weight)

    def batches(self, bytes_at_once: int) -> Iterator[Batch]:
        """Read the rows in batches."""
        names = list(dict.fromkeys([*self.items, self.label, *([self.weight] if self.weight else [])]))
        first_row = 0
        for table in self.stream.tables(names, bytes_at_once):
            weights = table[self.weight] if self.weight else None
            yield Batch(first_row, table.select(list(self.items)), table[self.label], weights)
            first_row += len(table)


def _item_columns(schema: pa.Schema, tokenizer: Tokenizer, others: Sequence[str]) -> tuple[str, ...]:
    if isinstance(tokenizer, Cross | Difference) and isinstance(tokenizer.left, str) and isinstance(tokenizer.right, str):
        return tokenizer.left, tokenizer.right
    return tuple(field.name for field in schema if field.name not in others and _holds_items(field.type))


def _holds_items(type_: pa.DataType) -> bool:
    plain = type_.value_type if pa.types.is_dictionary(type_) else type_
    return is_list(plain) or is_string(plain)
