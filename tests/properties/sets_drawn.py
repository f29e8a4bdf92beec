"""Sets as plain arrays: drawn, changed in one place, put in another order, and handed over as frames of any library."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

import clearset as cs

CATEGORIES = ("corner", "mall", "market", "online")
UNSEEN = "never seen"
LIBRARIES = ("arrow", "pandas", "polars", "SetData")
NUMBERS = {
    "normal": lambda rng, n: rng.normal(size=n),
    "few": lambda rng, n: rng.integers(0, 3, n) / 4,
    "constant": lambda rng, n: np.full(n, 7.25),
    "huge": lambda rng, n: rng.uniform(-1, 1, n) * 1e300,
    "tiny": lambda rng, n: rng.uniform(-1, 1, n) * 1e-300,
    "all magnitudes": lambda rng, n: rng.choice([-1.0, 1.0], n) * 10.0 ** rng.uniform(-300, 300, n),
    "far from zero": lambda rng, n: 1e9 + rng.uniform(size=n),
    "int": lambda rng, n: rng.integers(-5, 20, n).astype(float),
    "bool": lambda rng, n: rng.integers(0, 2, n).astype(float),
}
TYPES = {"int": pa.int64(), "bool": pa.bool_(), "few": pa.float32()}


@dataclass(frozen=True)
class Column:
    """How the values of a feature are drawn."""

    name: str
    of_sets: bool
    draw: str  # one of NUMBERS, or "text" or "dictionary" for a categorical feature
    missing: float

    @property
    def categorical(self) -> bool:
        """Whether values are codes of CATEGORIES, after which UNSEEN comes."""
        return self.draw in ("text", "dictionary")

    def values(self, rng: np.random.Generator, n: int, *, later: bool = False) -> np.ndarray:
        """Draw values; those that come later than training go beyond the ones of training."""
        if self.categorical:
            found = rng.integers(0, len(CATEGORIES) + later, n).astype(float)
        else:
            found = NUMBERS[self.draw](rng, n)
            if later and self.draw not in TYPES:
                found = found * rng.choice([1.0, 1.0, 3.0], n)
        found[rng.uniform(size=n) < self.missing] = np.nan
        return found

    def arrow(self, values: np.ndarray) -> pa.Array:
        """Return values as Arrow holds them."""
        absent = np.isnan(values)
        known = np.where(absent, 0, values)
        if not self.categorical:
            kind = TYPES.get(self.draw, pa.float64())
            return pa.array(known.astype(kind.to_pandas_dtype()), mask=absent)
        names = pa.array([*CATEGORIES, UNSEEN])
        coded = pa.DictionaryArray.from_arrays(pa.array(known.astype(np.int8), mask=absent), names)
        return coded if self.draw == "dictionary" else coded.cast(pa.string())


@dataclass(frozen=True)
class Sets:
    """Sets of tokens, column by column."""

    columns: Sequence[Column]
    sizes: np.ndarray
    values: Mapping[str, np.ndarray]  # of each column: one value for each token, or for each set

    @classmethod
    def drawn(cls, columns: Sequence[Column], sizes: np.ndarray, rng: np.random.Generator, *, later: bool) -> "Sets":
        """Draw the values of sets of these sizes."""
        n = int(sizes.sum())
        values = {c.name: c.values(rng, len(sizes) if c.of_sets else n, later=later) for c in columns}
        return cls(columns, sizes, values)

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def offsets(self) -> np.ndarray:
        """Where the tokens of each set begin."""
        return np.concatenate([[0], np.cumsum(self.sizes)])

    def arranged(self, tokens: np.ndarray, rows: np.ndarray, sizes: np.ndarray) -> "Sets":
        """Return chosen sets, whose chosen tokens stand one set after the other."""
        chosen = {c.name: self.values[c.name][rows if c.of_sets else tokens] for c in self.columns}
        return replace(self, sizes=sizes, values=chosen)

    def take(self, rows: np.ndarray) -> "Sets":
        """Return some sets, in any order."""
        offsets = self.offsets
        tokens = [np.arange(offsets[row], offsets[row + 1]) for row in rows]
        return self.arranged(np.concatenate([[], *tokens]).astype(int), rows, self.sizes[rows])

    def shuffled(self, rng: np.random.Generator) -> "Sets":
        """Return the same sets, each with its tokens in another order."""
        n = int(self.sizes.sum())
        tokens = np.lexsort([rng.uniform(size=n), np.repeat(np.arange(len(self)), self.sizes)])
        return self.arranged(tokens, np.arange(len(self)), self.sizes)

    def doubled(self) -> "Sets":
        """Return the same sets, each with all of its tokens twice."""
        parts = np.split(np.arange(self.sizes.sum()), self.offsets[1:-1])
        tokens = np.concatenate([np.tile(part, 2) for part in parts])
        return self.arranged(tokens, np.arange(len(self)), 2 * self.sizes)

    def with_values(self, name: str, places: np.ndarray, values: np.ndarray) -> "Sets":
        """Return the sets with other values of one column at some places."""
        changed = self.values[name].copy()
        changed[places] = values
        return replace(self, values={**self.values, name: changed})

    def table(self) -> pa.Table:
        """Return an Arrow table with one row for each set."""
        offsets = pa.array(self.offsets)
        found = {}
        for column in self.columns:
            values = column.arrow(self.values[column.name])
            found[column.name] = values if column.of_sets else pa.LargeListArray.from_arrays(offsets, values)
        return pa.table(found)

    def frame(self, library: str) -> Any:
        """Return the sets as users of a library hold them."""
        if library == "pandas":
            # Lists stay Arrow's, as pandas has no type of its own for them.
            return self.table().to_pandas(types_mapper=pd.ArrowDtype)
        if library == "polars":
            return pl.from_arrow(self.table())
        return self.flat() if library == "SetData" else self.table()

    def flat(self) -> cs.SetData:
        """Return the sets in clearset's own form."""
        of_tokens = [c for c in self.columns if not c.of_sets]
        of_sets = [c for c in self.columns if c.of_sets]
        names = {c.name: (*CATEGORIES, UNSEEN) for c in self.columns if c.categorical}

        def matrix(columns: Sequence[Column], n: int) -> np.ndarray:
            return np.stack([self.values[c.name] for c in columns], axis=1) if columns else np.empty((n, 0))

        return cs.SetData(
            matrix(of_tokens, int(self.sizes.sum())),
            self.offsets,
            [c.name for c in of_tokens],
            set_values=matrix(of_sets, len(self)) if of_sets else None,
            set_feature_names=[c.name for c in of_sets] if of_sets else (),
            categories=names,
        )
