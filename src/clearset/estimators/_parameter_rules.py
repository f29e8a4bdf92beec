"""What parameters may be: rules that stand beside the classes, checked before any work."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from clearset.sets import check_threads, memory_limit


class Rule:
    """A rule of what a parameter may be.

    Parameters
    ----------
    allowed : str
        What is allowed, in words that follow "must be".
    allows : callable
        Tells whether a value is allowed.
    """

    def __init__(self, allowed: str, allows: Callable[[Any], bool]) -> None:
        self.allowed = allowed
        self.allows = allows

    def check(self, name: str, value: Any) -> None:
        """Raise an error unless a parameter is what it may be."""
        if not self.allows(value):
            raise ValueError(f"{name} must be {self.allowed}; received {value!r}.")


class OneOf(Rule):
    """A rule that allows one of several names.

    Parameters
    ----------
    names : sequence of str
        The names.

    Examples
    --------
    >>> from clearset.estimators import OneOf
    >>> OneOf(("adam", "adagrad")).check("optimizer", "sgd")
    Traceback (most recent call last):
    ValueError: optimizer must be one of 'adam', 'adagrad'; received 'sgd'.
    """

    def __init__(self, names: Sequence[str]) -> None:
        listed = ", ".join(map(repr, names))
        allowed = listed if len(names) == 1 else f"one of {listed}"
        super().__init__(allowed, lambda value: isinstance(value, str) and value in names)


class Whole(Rule):
    """A rule that allows whole numbers within limits, both included.

    Parameters
    ----------
    low : int
        The least number.
    high : int, optional
        The largest number; by default there is none.
    """

    def __init__(self, low: int, high: int | None = None) -> None:
        def allows(value: Any) -> bool:
            whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
            return whole and low <= value and (high is None or value <= high)

        limits = f"at least {low}" if high is None else f"from {low} to {high}"
        super().__init__(f"a whole number {limits}", allows)


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

    def __init__(self, low: float = 0.0, high: float = float("inf"), or_low: bool = False) -> None:
        def allows(value: Any) -> bool:
            number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
            value = float(value) if isinstance(value, np.floating) else value  # limits may be beyond single precision
            return number and (low < value < high or (or_low and value == low))

        start = f"of at least {low:g}" if or_low else f"above {low:g}"
        super().__init__(f"a number {start} and below {high:g}", allows)


class Flag(Rule):
    """A rule that allows True and False."""

    def __init__(self) -> None:
        super().__init__("True or False", lambda value: isinstance(value, bool | np.bool_))


class Auto(Rule):
    """A rule that allows ``"auto"``, or None as its old spelling, and what another rule allows.

    Parameters
    ----------
    rule : Rule
        The other rule.
    meaning : str, default="chosen for you"
        What ``"auto"`` stands for, in words that follow "to have it".
    """

    def __init__(self, rule: Rule, meaning: str = "chosen for you") -> None:
        allowed = f"{rule.allowed}, or 'auto' to have it {meaning}"
        super().__init__(allowed, lambda value: is_auto(value) or rule.allows(value))


class OrNone(Rule):
    """A rule that allows None, or False, and what another rule allows.

    Parameters
    ----------
    rule : Rule
        The other rule.
    meaning : str
        What None stands for, in words that follow "or None for".
    """

    def __init__(self, rule: Rule, meaning: str) -> None:
        allowed = f"{rule.allowed}, or None for {meaning}"
        super().__init__(allowed, lambda value: value is None or value is False or rule.allows(value))


class Either(Rule):
    """A rule that allows what one of two rules allows.

    Parameters
    ----------
    first, second : Rule
        The two rules.
    """

    def __init__(self, first: Rule, second: Rule) -> None:
        allowed = f"{first.allowed}, or {second.allowed}"
        super().__init__(allowed, lambda value: first.allows(value) or second.allows(value))


class Threads(Rule):
    """A rule that allows numbers of threads, as scikit-learn's ``n_jobs``."""

    def __init__(self) -> None:
        def allows(value: Any) -> bool:
            try:
                check_threads(value)
            except ValueError:
                return False
            return True

        super().__init__("None, a positive number of threads, or -1 for all cores", allows)


class Memory(Rule):
    """A rule that allows amounts of memory."""

    def __init__(self) -> None:
        def allows(value: Any) -> bool:
            try:
                memory_limit(value)
            except ValueError:
                return False
            return True

        super().__init__("None, a number of bytes, or a text such as '2GB', at least 64 MB", allows)


class WeightsOfClasses(Rule):
    """A rule that allows what scikit-learn's ``class_weight`` may be, with weights above 0."""

    def __init__(self) -> None:
        def allows(value: Any) -> bool:
            if not isinstance(value, Mapping):
                return value is None or (isinstance(value, str) and value == "balanced")
            return all(Number().allows(weight) for weight in value.values())

        super().__init__("None, 'balanced', or a dict of a finite number above 0 for each class", allows)


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
