"""Filters: which tokens are worth keeping."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from clearset.sets import Task
from clearset.tokens._intervals import least_n_of_wilson
from clearset.tokens._statistics import BoolArray, Statistics

Filter = Callable[[Statistics], Any]
"""Takes statistics of T tokens and returns a boolean array of shape (T,): True to keep the token."""


class _BuiltIn:
    """Filters that can be joined by & and |, and know the least count they ask for."""

    def __call__(self, statistics: Statistics) -> BoolArray:
        raise NotImplementedError

    def least_count(self, task: Task) -> int:
        """Return a count that every token that passes has; rarer ones need not be looked at."""
        raise NotImplementedError

    def to_json(self) -> dict[str, Any]:
        """Return the filter as JSON values."""
        raise NotImplementedError

    def __and__(self, other: Filter) -> "AllOf":
        return AllOf(self, other)

    def __rand__(self, other: Filter) -> "AllOf":
        return AllOf(other, self)

    def __or__(self, other: Filter) -> "AnyOf":
        return AnyOf(self, other)

    def __ror__(self, other: Filter) -> "AnyOf":
        return AnyOf(other, self)


@dataclass(frozen=True)
class MinCount(_BuiltIn):
    """Keep tokens that are in at least `count` examples.

    Parameters
    ----------
    count : int
        The least number of examples.

    Examples
    --------
    >>> import clearset as cs
    >>> cs.MinCount(5) | cs.MaxInterval(0.2)
    AnyOf(MinCount(count=5), MaxInterval(width=0.2, level=0.95))
    """

    count: int

    def __post_init__(self) -> None:
        if isinstance(self.count, bool) or not isinstance(self.count, int | np.integer) or self.count < 1:
            raise ValueError(f"MinCount is {self.count!r}; give a whole number from 1 on.")

    def __call__(self, statistics: Statistics) -> BoolArray:
        return np.asarray(statistics.counts >= self.count)

    def least_count(self, task: Task) -> int:  # noqa: ARG002
        """Return the count itself."""
        return int(self.count)

    def to_json(self) -> dict[str, Any]:
        """Return the count."""
        return {"kind": "min_count", "count": int(self.count)}


@dataclass(frozen=True)
class MaxInterval(_BuiltIn):
    """Keep tokens whose mean label is known well; rare tokens are kept only if their labels agree.

    Parameters
    ----------
    width : float
        The greatest width of the confidence interval of the mean label; of several classes, of the widest.
    level : float, default=0.95
        The level of the interval.

    Examples
    --------
    >>> import clearset as cs
    >>> cs.MaxInterval(0.2).least_count("classes")
    16
    """

    width: float
    level: float = 0.95

    def __post_init__(self) -> None:
        if (
            isinstance(self.width, bool)
            or not isinstance(self.width, int | float | np.number)
            or not self.width > 0
        ):
            raise ValueError(f"The width of MaxInterval is {self.width!r}; give a number above 0.")
        if not (isinstance(self.level, float | np.floating) and 0 < self.level < 1):
            raise ValueError(f"The level of MaxInterval is {self.level!r}; give a number between 0 and 1.")

    def __call__(self, statistics: Statistics) -> BoolArray:
        return np.asarray(statistics.interval_widths(self.level) <= self.width)

    def least_count(self, task: Task) -> int:
        """Return the count from which on the interval can be narrow enough."""
        if task == "number":
            return 2 if np.isfinite(self.width) else 1
        return least_n_of_wilson(self.width, self.level)

    def to_json(self) -> dict[str, Any]:
        """Return width and level."""
        return {"kind": "max_interval", "width": float(self.width), "level": float(self.level)}


@dataclass(frozen=True)
class MaxSize(_BuiltIn):
    """Keep tokens of at most `size` items; useful together with other filters.

    Parameters
    ----------
    size : int
        The most items.

    Examples
    --------
    >>> import clearset as cs
    >>> cs.MinCount(5) | (cs.MinCount(2) & cs.MaxSize(1))
    AnyOf(MinCount(count=5), AllOf(MinCount(count=2), MaxSize(size=1)))
    """

    size: int

    def __post_init__(self) -> None:
        if isinstance(self.size, bool) or not isinstance(self.size, int | np.integer) or self.size < 1:
            raise ValueError(f"MaxSize is {self.size!r}; give a whole number from 1 on.")

    def __call__(self, statistics: Statistics) -> BoolArray:
        return np.asarray(statistics.sizes <= self.size)

    def least_count(self, task: Task) -> int:  # noqa: ARG002
        """Return 1: rare tokens may be small."""
        return 1

    def to_json(self) -> dict[str, Any]:
        """Return the size."""
        return {"kind": "max_size", "size": int(self.size)}


class _Several(_BuiltIn):
    def __init__(self, *filters: Filter) -> None:
        self.filters = check_filters(filters)
        if not filters:
            raise ValueError(f"{type(self).__name__} needs at least one filter.")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and isinstance(other, _Several) and self.filters == other.filters

    def __hash__(self) -> int:
        return hash((type(self), self.filters))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self.filters))})"

    def to_json(self) -> dict[str, Any]:
        """Return the filters."""
        kind = "all_of" if isinstance(self, AllOf) else "any_of"
        return {"kind": kind, "filters": [filter_to_json(part) for part in self.filters]}


class AllOf(_Several):
    """Keep tokens that pass all of some filters; also written ``a & b``.

    Parameters
    ----------
    *filters : filters
        The filters.

    Examples
    --------
    >>> import clearset as cs
    >>> cs.AllOf(cs.MinCount(5), cs.MaxInterval(0.2)).least_count("classes")
    16
    """

    def __call__(self, statistics: Statistics) -> BoolArray:
        return np.asarray(np.all([apply_filter(part, statistics) for part in self.filters], axis=0))

    def least_count(self, task: Task) -> int:
        """Return the greatest count that any of the filters asks for."""
        return max(least_count(part, task) for part in self.filters)


class AnyOf(_Several):
    """Keep tokens that pass at least one of some filters; also written ``a | b``.

    Parameters
    ----------
    *filters : filters
        The filters.

    Examples
    --------
    >>> import clearset as cs
    >>> cs.AnyOf(cs.MinCount(5), cs.MaxInterval(0.2)).least_count("classes")
    5
    """

    def __call__(self, statistics: Statistics) -> BoolArray:
        return np.asarray(np.any([apply_filter(part, statistics) for part in self.filters], axis=0))

    def least_count(self, task: Task) -> int:
        """Return the least count that any of the filters asks for."""
        return min(least_count(part, task) for part in self.filters)


def check_filters(filters: Any) -> tuple[Filter, ...]:
    """Return filters as a tuple; one alone stands for a list of it, None for no filters."""
    if filters is None:
        return ()
    found = tuple(filters) if isinstance(filters, Sequence) else (filters,)
    for part in found:
        if not callable(part) or isinstance(part, type):
            raise TypeError(
                f"A filter is {part!r}; give filters such as MinCount(5), or functions that take the statistics of "
                "tokens and return a boolean array."
            )
    return found


def apply_filters(filters: tuple[Filter, ...], statistics: Statistics) -> BoolArray:
    """Return which tokens occur and pass all filters."""
    passes = np.asarray(statistics.counts > 0)
    for part in filters:
        passes = passes & apply_filter(part, statistics)
    return passes


def apply_filter(part: Filter, statistics: Statistics) -> BoolArray:
    """Return which tokens pass; the result of a user's filter is checked."""
    passes = np.asarray(part(statistics))
    if passes.dtype != np.bool_ or passes.shape != (len(statistics),):
        raise ValueError(
            f"The filter {part!r} returned {passes.dtype} of shape {passes.shape}; a filter returns a boolean for each "
            f"of the {len(statistics)} tokens."
        )
    return passes


def least_count(part: Filter, task: Task) -> int:
    """Return the least count of a filter; of a user's own, which may keep any token, 1."""
    return part.least_count(task) if isinstance(part, _BuiltIn) else 1


def filter_to_json(part: Filter) -> dict[str, Any]:
    """Return a filter as JSON values; a user's own is only named, for files hold no code."""
    if isinstance(part, _BuiltIn):
        return part.to_json()
    if isinstance(part, UnknownFilter):
        return {"kind": "own", "name": part.name}
    return {"kind": "own", "name": getattr(part, "__qualname__", type(part).__qualname__)}


def filter_from_json(document: dict[str, Any]) -> Filter:
    """Return the filter that `filter_to_json` described."""
    kind = document.get("kind")
    if kind == "min_count":
        return MinCount(document["count"])
    if kind == "max_size":
        return MaxSize(document["size"])
    if kind == "max_interval":
        return MaxInterval(document["width"], document["level"])
    if kind in ("all_of", "any_of"):
        parts = [filter_from_json(part) for part in document["filters"]]
        return AllOf(*parts) if kind == "all_of" else AnyOf(*parts)
    if kind == "own":
        return UnknownFilter(document["name"])
    raise ValueError(f"The filter kind {kind!r} is unknown. Was the file written by a newer version?")


@dataclass(frozen=True)
class UnknownFilter:
    """A placeholder for a user's own filter in a table that was read from a file.

    Parameters
    ----------
    name : str
        The name of the filter.
    """

    name: str

    def __call__(self, statistics: Statistics) -> BoolArray:  # noqa: ARG002
        raise ValueError(
            f"The table was filtered by the user's own function {self.name!r}, and files hold no code. To update or "
            "merge it, pass the filters again: load(path, filters=[...])."
        )
