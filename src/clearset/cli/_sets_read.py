"""What is said of sets that a model has read: how many there are, and of how many it knows little or nothing."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import typer

from clearset.display import counted
from clearset.models import JointReading, Model, Reading
from clearset.sets import BUILT_IN, SetData


def tell_sets(model: Model, reading: Reading) -> None:
    """Print a line to standard error about the sets that a model has read."""
    notes = list(_of_items(reading) if model.semantic else _of_sets(model, reading))
    if isinstance(reading, JointReading):
        notes += [f"{note} ({name})" for name, part in reading.of_engines.items() for note in _of_items(part)]
    typer.echo(f"Read {counted(len(reading), 'set')}{': ' if notes else ''}{'; '.join(notes)}.", err=True)


def _of_items(reading: Any) -> Iterator[str]:
    known, items = reading.found.counts > 0, reading.found.n_items > 0
    if n := np.count_nonzero(~items):
        yield f"{n:,} without items"
    if n := np.count_nonzero(items & ~known):
        yield f"{n:,} without a known token, for which the prediction is the usual one"


def _of_sets(model: Model, reading: Any) -> Iterator[str]:
    sets: SetData = reading.sets
    if n := np.count_nonzero(sets.sizes == 0):
        yield f"{n:,} without tokens"
    missing: dict[str, npt.NDArray[np.bool_]] = {}
    unknown: dict[str, npt.NDArray[np.bool_]] = {}
    for feature, categories in zip(model.binning.features, model.binning.categories, strict=True):
        if feature.name in BUILT_IN:
            continue
        values, per_set = sets.column(feature.name)
        missing[feature.name] = _any_of_set(sets, np.isnan(values), per_set)
        if categories is not None:
            new = np.array([each not in categories for each in sets.categories[feature.name]] + [False])
            codes = np.where(np.isnan(values), -1, values).astype(np.int64)
            unknown[feature.name] = _any_of_set(sets, new[codes], per_set)
    for what, found in (("missing values", missing), ("categories that training had not", unknown)):
        if names := [name for name, of_set in found.items() if of_set.any()]:
            n = np.count_nonzero(np.logical_or.reduce([found[name] for name in names]))
            yield f"{n:,} with {what} ({', '.join(names)})"


def _any_of_set(sets: SetData, flags: npt.NDArray[np.bool_], per_set: bool) -> npt.NDArray[np.bool_]:
    """Return for each set whether a flag is true, its own or one of its tokens'."""
    if per_set:
        return flags
    total = np.append(0, np.cumsum(flags))
    result: npt.NDArray[np.bool_] = total[sets.offsets[1:]] > total[sets.offsets[:-1]]
    return result
