"""Columns of the tables that explanations hold: what they are called, and the rows of single sets."""

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from clearset.models._arrays import FloatArray, IntArray

# Further columns of an explanation's frame, which features have to give way to.
RESERVED = (
    "set", "label", "token", "feature", "value", "estimate", "refined", "statistics", "covers", "score", "contribution",
    "share", "without",
)  # fmt: skip
CALIBRATED = " (calibrated)"


def column_names(features: Sequence[str], suffix: str) -> list[str]:
    """Name the columns of features: as the feature, with a suffix where another column is called so."""
    taken, names = set(RESERVED), []
    for feature in features:
        name = feature
        while {name, name + CALIBRATED} & taken:
            name += suffix
        taken |= {name, name + CALIBRATED}
        names.append(name)
    return names


def numbers(values: FloatArray) -> pa.Array:
    """Return numbers as an Arrow column, null where NaN."""
    return pa.array(values, mask=np.isnan(values))


def lists(values: FloatArray) -> pa.Array:
    """Return the rows of a matrix as an Arrow column of lists, or of numbers where there is one column."""
    if values.shape[1] == 1:
        return pa.array(values[:, 0])
    return pa.FixedSizeListArray.from_arrays(pa.array(values.ravel()), values.shape[1])


def rows_of_sets(table: pa.Table, places: IntArray) -> pa.Table:
    """Return the rows of the sets at some places, which are counted from 0 again; rows stand set after set."""
    numbers = table["set"].to_numpy()
    starts, stops = (np.searchsorted(numbers, places, side) for side in ("left", "right"))
    sizes = stops - starts
    # Within each run of rows the distance to the run's first one is added to where the set begins.
    firsts = np.cumsum(sizes) - sizes
    rows = np.arange(sizes.sum()) + np.repeat(starts - firsts, sizes)
    chosen = table.take(pa.array(rows))
    return chosen.set_column(0, "set", pa.array(np.repeat(np.arange(len(places)), sizes)))


def with_rows_of_sets(tokens: pa.Table, of_sets: pa.Table) -> pa.Table:
    """Return the rows of tokens, and after those of each set the rows of its features."""
    if not len(of_sets):
        return tokens
    if "label" in tokens.column_names:
        firsts = np.searchsorted(tokens["set"].to_numpy(), of_sets["set"].to_numpy())
        of_sets = of_sets.append_column("label", tokens["label"].take(pa.array(firsts)))
    both = pa.concat_tables([tokens, of_sets], promote_options="default")
    return both.take(pa.array(np.argsort(both["set"].to_numpy(), kind="stable"))).combine_chunks()


def in_library(table: pa.Table, library: str | None) -> Any:
    """Return a table as a frame of a library; None is pandas, if it is installed."""
    if library == "pandas" or (library is None and find_spec("pandas") is not None):
        return table.to_pandas()
    if library == "polars":
        return import_module("polars").from_arrow(table)  # there, for X came from it
    return table


def renumbered(table: pa.Table, shift: int) -> pa.Table:
    """Count the sets of a table from another number."""
    return table.set_column(0, "set", pc.add(table["set"], shift))
