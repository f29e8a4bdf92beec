"""Filters: which tokens are worth keeping."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from clearset.sets import Task, short_repr
from clearset.tokens._codes import BoolArray
from clearset.tokens._confidence_intervals import least_n_of_wilson
from clearset.tokens._statistics import Statistics

Filter = Callable[[Statistics], Any]
"""Takes statistics of T tokens and returns a boolean array of shape (T,): True to keep the token."""


class _BuiltIn:
    """Filters that can be joined by & and |, and know the least count they ask for."""

    kind: ClassVar[str]  # its name in files

    __repr__ = short_repr

    def __call__(self, statistics: Statistics) -> BoolArray:
        raise NotImplementedError

    def least_count(self, task: Task, kind: str | None = None) -> int:  # noqa: ARG002
        """Return a count that every token, of a kind, has that passes; rarer ones need not be looked at."""
        return 1

    def to_json(self) -> dict[str, Any]:
        """Return the filter as JSON values."""
        return {"kind": self.kind, **vars(self)}

    def __and__(self, other: Filter) -> "AllOf":
        return AllOf(self, other)

    def __rand__(self, other: Filter) -> "AllOf":
        return AllOf(other, self)

    def __or__(self, other: Filter) -> "AnyOf":
        return AnyOf(self, other)

    def __ror__(self, other: Filter) -> "AnyOf":
        return AnyOf(other, self)

    def _keep_whole(self, name: str) -> None:
        """Check a whole number, and keep it as a plain one, which JSON can hold."""
        value = getattr(self, name)
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
            raise ValueError(f"{type(self).__name__} is {value!r}; give a whole number from 1 on.")
        object.__setattr__(self, name, int(value))


@dataclass(frozen=True, repr=False)
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
    MinCount(5) | MaxInterval(0.2)
    """

    kind = "min_count"
    count: int

    def __post_init__(self) -> None:
        self._keep_whole("count")

    def __call__(self, statistics: Statistics) -> BoolArray:
        return np.asarray(statistics.counts >= self.count)

    def least_count(self, task: Task, kind: str | None = None) -> int:  # noqa: ARG002
        """Return the count itself."""
        return self.count


@dataclass(frozen=True, repr=False)
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

    kind = "max_interval"
    width: float
    level: float = 0.95

    def __post_init__(self) -> None:
        number = isinstance(self.width, int | float | np.number) and not isinstance(self.width, bool)
        if not (number and self.width > 0):
            raise ValueError(f"The width of MaxInterval is {self.width!r}; give a number above 0.")
        if not (isinstance(self.level, float | np.floating) and 0 < self.level < 1):
            raise ValueError(f"The level of MaxInterval is {self.level!r}; give a number between 0 and 1.")

    def __call__(self, statistics: Statistics) -> BoolArray:
        return np.asarray(statistics.interval_widths(self.level) <= self.width)

    def least_count(self, task: Task, kind: str | None = None) -> int:  # noqa: ARG002
        """Return the count from which on the interval can be narrow enough."""
        if task == "number":
            return 2 if np.isfinite(self.width) else 1
        return least_n_of_wilson(self.width, self.level)

    def to_json(self) -> dict[str, Any]:
        """Return width and level as plain numbers."""
        return {"kind": self.kind, "width": float(self.width), "level": float(self.level)}


@dataclass(frozen=True, repr=False)
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
    MinCount(5) | (MinCount(2) & MaxSize(1))
    """

    kind = "max_size"
    size: int

    def __post_init__(self) -> None:
        self._keep_whole("size")

    def __call__(self, statistics: Statistics) -> BoolArray:
        return np.asarray(statistics.sizes <= self.size)


class _Several(_BuiltIn):
    """Some filters, the results of which are joined."""

    joined: ClassVar[Callable[..., Any]]  # what the filters say of each token
    least: ClassVar[Callable[..., int]]  # the least counts of the filters
    operator: ClassVar[str]  # what joins them

    def __init__(self, *filters: Filter) -> None:
        self.filters = check_filters(filters)
        if not filters:
            raise ValueError(f"{type(self).__name__} needs at least one filter.")

    def __call__(self, statistics: Statistics) -> BoolArray:
        return np.asarray(self.joined([apply_filter(part, statistics) for part in self.filters], axis=0))

    def least_count(self, task: Task, kind: str | None = None) -> int:
        """Return the count that the filters ask for together."""
        return self.least(least_count(part, task, kind) for part in self.filters)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and isinstance(other, _Several) and self.filters == other.filters

    def __hash__(self) -> int:
        return hash((type(self), self.filters))

    def __repr__(self) -> str:
        # A single one, and a user's own functions, are not joined by an operator.
        if len(self.filters) == 1 or not all(isinstance(part, _BuiltIn) for part in self.filters):
            return f"{type(self).__name__}({', '.join(map(repr, self.filters))})"
        parts = (f"({part!r})" if isinstance(part, _Several) else repr(part) for part in self.filters)
        return f" {self.operator} ".join(parts)

    def to_json(self) -> dict[str, Any]:
        """Return the filters as JSON values."""
        return {"kind": self.kind, "filters": [filter_to_json(part) for part in self.filters]}


class AllOf(_Several):
    """Keep tokens that pass all of some filters; also written ``a & b``.

    Parameters
    ----------
    *filters : filters
        The filters, which all have to let a token pass.

    Examples
    --------
    >>> import clearset as cs
    >>> cs.AllOf(cs.MinCount(5), cs.MaxInterval(0.2)).least_count("classes")
    16
    """

    kind = "all_of"
    joined = staticmethod(np.all)
    least = staticmethod(max)
    operator = "&"


class AnyOf(_Several):
    """Keep tokens that pass at least one of some filters; also written ``a | b``.

    Parameters
    ----------
    *filters : filters
        The filters, one of which is enough.

    Examples
    --------
    >>> import clearset as cs
    >>> cs.AnyOf(cs.MinCount(5), cs.MaxInterval(0.2)).least_count("classes")
    5
    """

    kind = "any_of"
    joined = staticmethod(np.any)
    least = staticmethod(min)
    operator = "|"


@dataclass(frozen=True, init=False, repr=False)
class OfKind(_BuiltIn):
    """Keep tokens of a kind that pass some filters, and all tokens of other kinds; see `Union`.

    Parameters
    ----------
    name : str
        The kind of tokens, such as ``"words"``.
    *filters : filters
        The filters, all of which tokens of the kind have to pass.

    Examples
    --------
    >>> import clearset as cs
    >>> filters = [cs.MinCount(2), cs.OfKind("subsets", cs.MinCount(10) | cs.MaxSize(1))]
    >>> tokens = cs.Union(cs.Subsets(2), cs.Words())
    >>> estimator = cs.SemanticClassifier(tokens, filters)
    """

    kind = "of_kind"
    name: str
    filters: tuple[Filter, ...]

    def __init__(self, name: str, *filters: Filter) -> None:
        if not isinstance(name, str):
            raise TypeError(f"The kind of tokens is {name!r}; give its name, such as OfKind('words', MinCount(5)).")
        if not filters:
            raise ValueError(f"OfKind({name!r}) needs at least one filter, such as OfKind({name!r}, MinCount(5)).")
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "filters", check_filters(filters))

    def __repr__(self) -> str:
        return f"OfKind({', '.join(map(repr, (self.name, *self.filters)))})"

    def __call__(self, statistics: Statistics) -> BoolArray:
        others = ~statistics.of_kind(self.name)
        return np.asarray(others | np.all([apply_filter(part, statistics) for part in self.filters], axis=0))

    def least_count(self, task: Task, kind: str | None = None) -> int:
        """Return the count that the filters ask of tokens of the kind."""
        return least_count_of(self.filters, task, kind) if kind == self.name else 1

    def to_json(self) -> dict[str, Any]:
        """Return the kind of tokens and the filters as JSON values."""
        return {"kind": self.kind, "name": self.name, "filters": [filter_to_json(part) for part in self.filters]}


_KINDS: dict[str, type[_BuiltIn]] = {made.kind: made for made in (MinCount, MaxInterval, MaxSize, AllOf, AnyOf, OfKind)}


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


def check_kinds(filters: Sequence[Filter], kinds: Sequence[str]) -> None:
    """Raise a ValueError if a filter is of a kind that tokens do not have."""
    for part in filters:
        if isinstance(part, OfKind) and part.name not in kinds:
            known = f"tokens are of the kinds {', '.join(map(repr, kinds))}" if kinds else "tokens are of one kind"
            advice = "Name one of these" if kinds else "Leave it out, or give a Union of tokenizers as tokens"
            raise ValueError(f"The filter {part!r} is for tokens of the kind {part.name!r}, but {known}. {advice}.")
        if isinstance(part, OfKind | _Several):
            check_kinds(part.filters, kinds)


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


def least_count(part: Filter, task: Task, kind: str | None = None) -> int:
    """Return the least count of a filter for tokens of a kind; of a user's own, which may keep any token, 1."""
    return part.least_count(task, kind) if isinstance(part, _BuiltIn) else 1


def least_count_of(filters: tuple[Filter, ...], task: Task, kind: str | None = None) -> int:
    """Return a count that every token of a kind has that passes all filters."""
    return max([1, *(least_count(part, task, kind) for part in filters)])


def filter_to_json(part: Filter) -> dict[str, Any]:
    """Return a filter as JSON values; a user's own is only named, for files hold no code."""
    if isinstance(part, _BuiltIn):
        return part.to_json()
    if isinstance(part, UnknownFilter):
        return {"kind": "own", "name": part.name}
    return {"kind": "own", "name": getattr(part, "__qualname__", type(part).__qualname__)}


def filter_from_json(document: dict[str, Any]) -> Filter:
    """Return the filter that `filter_to_json` described."""
    parameters = dict(document)
    kind = parameters.pop("kind", None)
    if kind == "own":
        return UnknownFilter(**parameters)
    if kind not in _KINDS:
        raise ValueError(f"The filter kind {kind!r} is unknown. Was the file written by a newer version?")
    if issubclass(_KINDS[kind], _Several | OfKind):
        named = [parameters["name"]] if _KINDS[kind] is OfKind else []
        return _KINDS[kind](*named, *map(filter_from_json, parameters["filters"]))
    return _KINDS[kind](**parameters)


@dataclass(frozen=True)
class UnknownFilter:
    """A placeholder for a user's own filter, by its name, in a table that was read from a file."""

    name: str

    def __call__(self, statistics: Statistics) -> BoolArray:  # noqa: ARG002
        raise ValueError(
            f"The table was filtered by the user's own function {self.name!r}, and files hold no code. To update or "
            "merge it, pass the filters again: load(path, filters=[...])."
        )
