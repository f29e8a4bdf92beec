"""Fits on data that need not fit into memory: sets and labels are columns of the same files."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from clearset.engines import MOST_LANES, processes
from clearset.estimators._input import forget_columns, read_trusts
from clearset.sets import (
    Feature,
    SetStream,
    Stream,
    Trust,
    check_trusts,
    feature_columns,
    memory_limit,
    resolve_features,
)
from clearset.training import SET_BYTES

# Of fewer sets several processes would not gain anything.
LEAST_SETS = 1500
# The share of the memory allowed that what is known of every set may take.
MOST_OF_SETS = 0.8


def read_training_stream(
    estimator: Any, stream: Stream, left_out: Sequence[Any], features: Any, trusts: Any
) -> tuple[SetStream, tuple[Feature, ...], tuple[Trust, ...]]:
    """Settle which features the sets of a stream have, before any of them is read.

    Parameters
    ----------
    estimator : object
        The estimator, whose ``n_features_in_`` and ``feature_names_in_`` are set.
    stream : Stream
        The rows.
    left_out : sequence
        What names columns that are no features: those of labels and weights.
    features : sequence of str or Feature, or None
        The declared features; None takes every other column of numbers or of a category dtype.
    trusts : sequence of Trust
        The declared trusts.

    Returns
    -------
    sets : SetStream
        The sets.
    features : tuple of Feature
        The features in full.
    trusts : tuple of Trust
        The trusts.
    """
    forget_columns(estimator)
    if not stream.n_rows:
        raise ValueError("X holds 0 sample(s), that is, no sets, while a minimum of 1 is required.")
    taken = [name for name in left_out if isinstance(name, str)]
    stream.check_columns(taken)
    for feature in features or ():
        if (name := feature.name if isinstance(feature, Feature) else feature) in taken:
            raise ValueError(f"Column {name!r} is a declared feature, but holds the labels or weights as well.")
    empty = stream.schema.empty_table().drop_columns(list(dict.fromkeys(taken)))
    resolved, declared = resolve_features(empty, features), read_trusts(trusts)
    check_trusts(declared, resolved)
    names = feature_columns(resolved)
    estimator.n_features_in_, estimator.feature_names_in_ = len(names), np.array(names, dtype=object)
    return sets_of(stream, resolved, estimator.max_memory), resolved, declared


def sets_of(
    stream: Stream, features: Sequence[Feature], max_memory: int | str | None, *, least: int = LEAST_SETS
) -> SetStream:
    """Return the sets of a stream, of which each of several processes reads its share."""
    group, n = processes(), stream.n_rows
    if group.count > MOST_LANES:
        raise ValueError(f"There are {group.count} processes; a fit takes {MOST_LANES} at most. Start fewer of them.")
    if n < least and group.count > 1:
        raise ValueError(
            f"There are {n:,} sets for {group.count} processes; at least {LEAST_SETS:,} are needed. Use one."
        )
    limit = memory_limit(max_memory)
    if SET_BYTES * n > MOST_OF_SETS * limit:
        raise ValueError(
            f"What is known of each of {n:,} sets (label, weight, size, place) takes about "
            f"{SET_BYTES * n / 1e6:,.0f} MB of memory in every process, and max_memory is {limit / 1e6:,.0f} MB. Allow "
            f"{SET_BYTES * n / MOST_OF_SETS / 1e6:,.0f} MB, or fit on a part of the sets."
        )
    # Whole lanes (see `clearset.engines.Lanes`), of which each has the same share of the rows.
    first, last = (rank * MOST_LANES // group.count for rank in (group.rank, group.rank + 1))
    rows = (-(-first * n // MOST_LANES), -(-last * n // MOST_LANES))
    return SetStream(stream, features, limit, rows, group.gather)


def check_alone(estimator: Any, reason: str) -> None:
    """Raise an error if this is one of several processes, which would each fit a model of its own."""
    if (count := processes().count) > 1:
        raise ValueError(
            f"{type(estimator).__name__}.fit was called in {count} processes, but {reason}. Several processes fit a "
            "SetRegressor or SetClassifier on data in files."
        )


def shared_random_state(random_state: Any) -> Any:
    """Return a seed that all processes have in common, where none is given."""
    if random_state is not None or processes().count == 1:
        return random_state
    drawn = np.random.default_rng().integers(2**31 - 1, size=1)
    return int(processes().gather(drawn)[0][0])
