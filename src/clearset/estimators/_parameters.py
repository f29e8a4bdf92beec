"""What parameters may be: rules that stand beside the classes, checked before any work."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from clearset.sets import check_threads


class Rule(ABC):
    """A rule of what a parameter may be."""

    @property
    @abstractmethod
    def allowed(self) -> str:
        """What is allowed, in words that follow "must be"."""

    @abstractmethod
    def allows(self, value: Any) -> bool:
        """Tell whether a value is allowed."""

    def check(self, name: str, value: Any) -> None:
        """Raise an error unless a parameter is what it may be."""
        if not self.allows(value):
            raise ValueError(f"{name} must be {self.allowed}; received {value!r}.")


@dataclass(frozen=True)
class OneOf(Rule):
    """A rule that allows one of several names.

    Parameters
    ----------
    names : tuple of str
        The names.

    Examples
    --------
    >>> from clearset.estimators import OneOf
    >>> OneOf(("adam", "adagrad")).check("optimizer", "sgd")
    Traceback (most recent call last):
    ValueError: optimizer must be one of 'adam', 'adagrad'; received 'sgd'.
    """

    names: tuple[str, ...]

    @property
    def allowed(self) -> str:
        """What is allowed, in words that follow "must be"."""
        names = ", ".join(map(repr, self.names))
        return names if len(self.names) == 1 else f"one of {names}"

    def allows(self, value: Any) -> bool:
        """Tell whether a value is allowed."""
        return isinstance(value, str) and value in self.names


@dataclass(frozen=True)
class Whole(Rule):
    """A rule that allows whole numbers within limits, both included.

    Parameters
    ----------
    low : int
        The least number.
    high : int, optional
        The largest number; by default there is none.
    """

    low: int
    high: int | None = None

    @property
    def allowed(self) -> str:
        """What is allowed, in words that follow "must be"."""
        limits = f"at least {self.low}" if self.high is None else f"from {self.low} to {self.high}"
        return f"a whole number {limits}"

    def allows(self, value: Any) -> bool:
        """Tell whether a value is allowed."""
        whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
        return whole and self.low <= value and (self.high is None or value <= self.high)


@dataclass(frozen=True)
class Number(Rule):
    """A rule that allows numbers strictly between limits.

    Parameters
    ----------
    low : float, default=0.0
        The lower limit.
    high : float, default=inf
        The upper limit.
    or_low : bool, default=False
        Whether the lower limit itself is allowed.
    """

    low: float = 0.0
    high: float = float("inf")
    or_low: bool = False

    @property
    def allowed(self) -> str:
        """What is allowed, in words that follow "must be"."""
        start = f"of at least {self.low:g}" if self.or_low else f"above {self.low:g}"
        return f"a number {start} and below {self.high:g}"

    def allows(self, value: Any) -> bool:
        """Tell whether a value is allowed."""
        number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
        return number and (self.low < value < self.high or (self.or_low and value == self.low))


@dataclass(frozen=True)
class Flag(Rule):
    """A rule that allows True and False."""

    allowed = "True or False"

    def allows(self, value: Any) -> bool:
        """Tell whether a value is allowed."""
        return isinstance(value, bool | np.bool_)


@dataclass(frozen=True)
class Auto(Rule):
    """A rule that allows ``"auto"``, or None as its old spelling, and what another rule allows.

    Parameters
    ----------
    rule : Rule
        The other rule.
    meaning : str, default="chosen for you"
        What ``"auto"`` stands for, in words that follow "to have it".
    """

    rule: Rule
    meaning: str = "chosen for you"

    @property
    def allowed(self) -> str:
        """What is allowed, in words that follow "must be"."""
        return f"{self.rule.allowed}, or 'auto' to have it {self.meaning}"

    def allows(self, value: Any) -> bool:
        """Tell whether a value is allowed."""
        return is_auto(value) or self.rule.allows(value)


@dataclass(frozen=True)
class OrNone(Rule):
    """A rule that allows None, or False, and what another rule allows.

    Parameters
    ----------
    rule : Rule
        The other rule.
    meaning : str
        What None stands for, in words that follow "or None for".
    """

    rule: Rule
    meaning: str

    @property
    def allowed(self) -> str:
        """What is allowed, in words that follow "must be"."""
        return f"{self.rule.allowed}, or None for {self.meaning}"

    def allows(self, value: Any) -> bool:
        """Tell whether a value is allowed."""
        return value is None or value is False or self.rule.allows(value)


@dataclass(frozen=True)
class Either(Rule):
    """A rule that allows what one of two rules allows.

    Parameters
    ----------
    first, second : Rule
        The two rules.
    """

    first: Rule
    second: Rule

    @property
    def allowed(self) -> str:
        """What is allowed, in words that follow "must be"."""
        return f"{self.first.allowed}, or {self.second.allowed}"

    def allows(self, value: Any) -> bool:
        """Tell whether a value is allowed."""
        return self.first.allows(value) or self.second.allows(value)


class Threads(Rule):
    """A rule that allows numbers of threads, as scikit-learn's ``n_jobs``."""

    allowed = "None, a positive number of threads, or -1 for all cores"

    def allows(self, value: Any) -> bool:
        """Tell whether a value is allowed."""
        try:
            check_threads(value)
        except ValueError:
            return False
        return True


def is_auto(value: Any) -> bool:
    """Tell whether a parameter is left to be chosen.

    Parameters
    ----------
    value : object
        The parameter.

    Returns
    -------
    bool
        Whether it is ``"auto"``, or None, which is the old spelling of it.
    """
    return value is None or (isinstance(value, str) and value == "auto")


def check_parameters(parameters: Mapping[str, Any], rules: Mapping[str, Rule]) -> None:
    """Raise an error unless the parameters of an estimator are allowed.

    Parameters
    ----------
    parameters : mapping of str to object
        The parameters by name.
    rules : mapping of str to Rule
        The rules by the names of parameters; those without one are not checked here.
    """
    for name, rule in rules.items():
        rule.check(name, parameters[name])


def make_rng(random_state: Any) -> np.random.Generator:
    """Make the generator that everything random of a fit comes from.

    Parameters
    ----------
    random_state : int, numpy.random.RandomState, numpy.random.Generator or None
        A generator is returned as it is; anything else makes one.

    Returns
    -------
    numpy.random.Generator
        The generator.
    """
    if isinstance(random_state, np.random.Generator):
        return random_state
    try:
        state = check_random_state(random_state)
    except ValueError:
        raise ValueError(
            f"random_state must be None, a whole number from 0 to {2**32 - 1}, or a generator; received "
            f"{random_state!r}."
        ) from None
    return np.random.default_rng(state.randint(2**31 - 1))
