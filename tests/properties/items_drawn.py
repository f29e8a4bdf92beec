"""Sets of strings as plain lists: drawn, put in another order, repeated, and handed over in any form."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

ITEMS = ("a", "b", "c", "d", "e", "ü", "", "long item")
UNKNOWN = "never seen"
FORMS = ("lists", "arrow", "pandas", "polars")


@dataclass(frozen=True)
class ItemSets:
    """Examples with one or two columns of items, and maybe a number beside each item."""

    columns: dict[str, list[list[Any]]]

    @classmethod
    def drawn(
        cls, rng: np.random.Generator, n: int, columns: Sequence[str], largest: int, *, later: bool
    ) -> "ItemSets":
        """Draw examples: "pay" holds numbers for the items of the first column, all others hold items."""
        known = [*ITEMS, *([UNKNOWN] * later)]
        drawn = {
            name: [rng.choice(known, rng.integers(0, largest + 1)).tolist() for _ in range(n)]
            for name in columns
            if name != "pay"
        }
        if "pay" in columns:
            first = drawn[columns[0]]
            drawn["pay"] = [[None if rng.random() < 0.2 else rng.gamma(2.0) for _ in row] for row in first]
        return cls(drawn)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    @property
    def linked(self) -> list[list[str]]:
        """The columns whose lists belong together, element by element."""
        names = list(self.columns)
        return [names] if "pay" in names else [[name] for name in names]

    def take(self, rows: Sequence[int]) -> "ItemSets":
        """Return some examples, in any order."""
        return ItemSets({name: [lists[row] for row in rows] for name, lists in self.columns.items()})

    def shuffled(self, rng: np.random.Generator) -> "ItemSets":
        """Return the same examples with their items in another order."""
        changed = dict(self.columns)
        for names in self.linked:
            orders = [rng.permutation(len(row)) for row in self.columns[names[0]]]
            for name in names:
                changed[name] = [[row[k] for k in order] for row, order in zip(self.columns[name], orders, strict=True)]
        return ItemSets(changed)

    def doubled(self) -> "ItemSets":
        """Return the same examples with all items twice."""
        return ItemSets({name: [row * 2 for row in lists] for name, lists in self.columns.items()})

    def with_pay(self, pay: list[list[Any]]) -> "ItemSets":
        """Return the same items with other numbers beside them."""
        return replace(self, columns={**self.columns, "pay": pay})

    def frame(self, form: str) -> Any:
        """Return the examples as users hold them; lists of lists where there is one column, else tuples."""
        if form == "lists" and "pay" not in self.columns:
            lists = list(self.columns.values())
            return lists[0] if len(lists) == 1 else list(zip(*lists, strict=True))
        kinds = {name: pa.float64() if name == "pay" else pa.string() for name in self.columns}
        table = pa.table({name: pa.array(lists, pa.list_(kinds[name])) for name, lists in self.columns.items()})
        if form == "polars":
            return pl.from_arrow(table)
        return table.to_pandas(types_mapper=pd.ArrowDtype) if form == "pandas" else table
