"""Sets whose label is a classic aggregation of their tokens."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from clearset.datasets._arguments import Seed, check_count, make_generator
from clearset.datasets._list_columns import Floats, Ints, list_column
from clearset.sets import offsets_from_sizes


@dataclass(frozen=True, eq=False)
class AggregationData:
    """Sets and the aggregation of each, as `make_aggregation` returns them.

    Attributes
    ----------
    frame : pyarrow.Table
        One row a set: the list column ``x`` and, for the weighted means, the list column ``w``.
    target : ndarray of shape (n_sets,)
        The aggregation of each set.

    Examples
    --------
    >>> from clearset.datasets import make_aggregation
    >>> data = make_aggregation("max", 100)
    >>> float(data.target[0]) == max(data.frame["x"][0].as_py())
    True
    """

    frame: pa.Table = field(repr=False)
    target: Floats = field(repr=False)


def _sum(values: Floats, offsets: Ints) -> Floats:
    sums: Floats = np.add.reduceat(values, offsets[:-1])
    return sums


def _mean(values: Floats, offsets: Ints) -> Floats:
    return _sum(values, offsets) / np.diff(offsets)


_PLAIN: dict[str, Callable[[Floats, Ints], Floats]] = {
    "mean": _mean,
    "geometric_mean": lambda x, offsets: np.exp(_mean(np.log(x), offsets)),
    "l2_norm": lambda x, offsets: np.sqrt(_sum(x**2, offsets)),
    "min": lambda x, offsets: np.minimum.reduceat(x, offsets[:-1]),
    "max": lambda x, offsets: np.maximum.reduceat(x, offsets[:-1]),
}
_WEIGHTED: dict[str, Callable[[Floats, Floats, Ints], Floats]] = {
    "weighted_mean_unnormalised": lambda x, w, offsets: _mean(w * x, offsets),
    "weighted_mean": lambda x, w, offsets: _sum(w * x, offsets) / _sum(w, offsets),
}


def make_aggregation(kind: str, n_sets: int = 5000, *, max_tokens: int = 8, random_state: Seed = 0) -> AggregationData:
    """Make sets of numbers with a classic aggregation as their label.

    Parameters
    ----------
    kind : str
        ``"mean"``, ``"geometric_mean"``, ``"l2_norm"`` (the root of the sum of squares, so the size of the
        set matters), ``"min"``, ``"max"``, ``"weighted_mean_unnormalised"`` (the mean of w x) or
        ``"weighted_mean"`` (the sum of w x over the sum of w).
    n_sets : int, default=5000
        The number of sets.
    max_tokens : int, default=8
        The largest size of a set; sizes from 1 are equally frequent.
    random_state : int, Generator or None, default=0
        The seed; None gives other data at every call.

    Returns
    -------
    AggregationData
        Frame and target; x and w are uniform on (0, 1].

    Examples
    --------
    >>> from clearset.datasets import make_aggregation
    >>> data = make_aggregation("max", 3, random_state=1)
    >>> [max(row) for row in data.frame["x"].to_pylist()] == data.target.tolist()
    True
    """
    if kind not in (kinds := [*_PLAIN, *_WEIGHTED]):
        raise ValueError(f"kind must be one of {', '.join(kinds)}; got {kind!r}.")
    check_count("n_sets", n_sets)
    check_count("max_tokens", max_tokens)
    rng = make_generator(random_state)
    offsets = offsets_from_sizes(rng.integers(1, max_tokens, n_sets, endpoint=True))
    x = 1 - rng.random(offsets[-1])
    columns = {"x": list_column(x, offsets)}
    if kind in _PLAIN:
        target = _PLAIN[kind](x, offsets)
    else:
        w = 1 - rng.random(offsets[-1])
        columns["w"] = list_column(w, offsets)
        target = _WEIGHTED[kind](x, w, offsets)
    return AggregationData(pa.table(columns), target)
