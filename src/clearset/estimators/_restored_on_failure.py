"""Methods that either succeed or leave the estimator as it was."""

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

Method = TypeVar("Method", bound=Callable[..., Any])


def restored_on_failure(method: Method) -> Method:
    """Make a method of an estimator restore all attributes if it raises, be it an error or an interrupt.

    Attributes are restored, not what they hold: the method must not change an earlier fit's objects in place.

    Parameters
    ----------
    method : callable
        A method such as `fit`, which assigns attributes one after the other.

    Returns
    -------
    callable
        The method that restores.

    Examples
    --------
    >>> class Model:
    ...     @restored_on_failure
    ...     def fit(self, y):
    ...         self.classes_ = sorted(y)
    ...         self.first_ = self.classes_[0]
    >>> model = Model()
    >>> model.fit([])
    Traceback (most recent call last):
    IndexError: list index out of range
    >>> vars(model)
    {}
    """

    @functools.wraps(method)
    def wrapped(self: Any, *arguments: Any, **options: Any) -> Any:
        before = vars(self).copy()
        try:
            return method(self, *arguments, **options)
        except BaseException:
            # One assignment: a second interrupt cannot leave half of it done.
            self.__dict__ = before
            raise

    return cast("Method", wrapped)
