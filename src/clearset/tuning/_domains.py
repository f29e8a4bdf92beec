"""What may be searched: ranges of numbers, and choices of anything."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from clearset.sets import unknown_name


@dataclass(frozen=True)
class Range:
    """Numbers from `low` to `high`, both included; whole ones if both are.

    The search works on plain JSON values; here these are the numbers themselves.
    """

    low: float
    high: float
    log: bool = False

    @property
    def whole(self) -> bool:
        """Whether the numbers are whole."""
        return isinstance(self.low, int) and isinstance(self.high, int)

    @property
    def size(self) -> int | None:
        """How many numbers there are; None where too many to count."""
        return int(self.high - self.low) + 1 if self.whole else None

    def at(self, place: int) -> float:
        """Return the plain value at a place, of whole numbers."""
        return self.low + place

    def place(self, plain: float) -> int:
        """Return the place of a plain value, of whole numbers."""
        return int(plain - self.low)

    def plain(self, value: Any) -> float | None:
        """Return the plain value that stands for `value`; None where it is outside."""
        if not is_number(value) or not self.low <= value <= self.high:
            return None
        if self.whole:
            return int(value) if value == int(value) else None
        return float(value)

    def value(self, plain: float) -> float:
        """Return the value that a plain one stands for."""
        return plain


@dataclass(frozen=True)
class Choices:
    """One of some values, no two the same; the plain value is its place, since values may be any objects."""

    values: tuple[Any, ...]

    @property
    def size(self) -> int:
        """How many values there are."""
        return len(self.values)

    def at(self, place: int) -> int:
        """Return the plain value at a place."""
        return place

    def place(self, plain: float) -> int:
        """Return the place of a plain value."""
        return int(plain)

    def plain(self, value: Any) -> int | None:
        """Return the place of `value`; None where it is no choice."""
        for place, choice in enumerate(self.values):
            if _same(choice, value):
                return place
        return None

    def value(self, plain: int) -> Any:
        """Return the value at a place."""
        return self.values[plain]


Domain = Range | Choices


def read_space(space: Mapping[str, Any], estimator: Any) -> dict[str, Domain]:
    """Check a space as users write it, and return the domain of each parameter."""
    if not isinstance(space, Mapping):
        raise TypeError(f"space must be a mapping from names of parameters to choices or ranges; received {space!r}.")
    if not space:
        raise ValueError("space is empty, so that there is nothing to search. Name at least one parameter.")
    known = estimator.get_params(deep=True)
    for name in space:
        if name not in known:
            raise ValueError(unknown_name(f"Parameter of {type(estimator).__name__}", name, sorted(known)))
    return {name: _domain(name, given) for name, given in space.items()}


def is_number(value: object) -> bool:
    """Tell whether a value is a number; True and False are none."""
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def _domain(name: str, given: Any) -> Domain:
    if isinstance(given, tuple):
        return _range(name, given)
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise TypeError(
            f"space[{name!r}] is {given!r}; give a list of choices, or a range (low, high) or (low, high, 'log')."
        )
    choices: list[Any] = []
    numbers: set[Any] = set()  # of which there may be many
    for value in given.tolist() if hasattr(given, "tolist") else given:
        known = value in numbers if is_number(value) else any(_same(choice, value) for choice in choices)
        if not known:
            choices.append(value)
            numbers.update([value] if is_number(value) else [])
    if not choices:
        raise ValueError(f"space[{name!r}] has no choices. Give at least one.")
    return Choices(tuple(choices))


def _same(one: Any, other: Any) -> bool:
    """Tell whether two values are the same setting; objects without a comparison are compared by their texts."""
    if is_number(one) and is_number(other):
        return bool(one == other)
    if type(one) is not type(other):
        return False
    try:
        equal = one == other
    except ValueError:  # arrays within lists
        equal = False
    return equal is True or repr(one) == repr(other)


def _range(name: str, given: tuple[Any, ...]) -> Range:
    limits, scale = given[:2], given[2:]
    if len(limits) != 2 or not all(map(is_number, limits)) or scale not in ((), ("log",)):
        raise ValueError(
            f"space[{name!r}] is {given!r}; a tuple is a range of numbers, (low, high) or (low, high, 'log'). "
            "Write choices as a list."
        )
    whole = all(isinstance(limit, int | np.integer) for limit in limits)
    low, high = (int(limit) if whole else float(limit) for limit in limits)
    if not -float("inf") < low < high < float("inf"):
        raise ValueError(f"space[{name!r}] is {given!r}; low must be below high, and both finite.")
    if scale and low <= 0:
        raise ValueError(f"space[{name!r}] is {given!r}; on a logarithmic scale low must be above 0.")
    return Range(low, high, bool(scale))
