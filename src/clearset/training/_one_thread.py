"""Linear algebra on one thread while something is fitted."""

from collections.abc import Callable
from functools import cache, wraps
from threading import Lock
from typing import Any, ParamSpec, TypeVar

from threadpoolctl import ThreadpoolController

P = ParamSpec("P")
R = TypeVar("R")


class _OneThread:
    """Keeps BLAS to one thread as long as anybody is inside."""

    def __init__(self) -> None:
        self._lock, self._inside = Lock(), 0
        self._limit: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if not self._inside:
                self._limit = _controller().limit(limits=1, user_api="blas")
            self._inside += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                self._limit.restore_original_limits()


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()  # looks through all libraries of the process


_ONE_THREAD = _OneThread()


def on_one_thread(function: Callable[P, R]) -> Callable[P, R]:
    """Return a function during which BLAS has one thread.

    The matrices of a fit are small. Threads that wait for each other at each of them take twice the processor's time,
    and many times as long where another program has one of the cores. Sums do not depend on the number of cores then.

    Examples
    --------
    >>> import numpy as np
    >>> from clearset.training import on_one_thread
    >>> solve = on_one_thread(np.linalg.solve)
    >>> solve(np.diag([2.0, 4.0]), np.array([2.0, 2.0]))
    array([1. , 0.5])
    """

    @wraps(function)
    def alone(*arguments: P.args, **options: P.kwargs) -> R:
        with _ONE_THREAD:
            return function(*arguments, **options)

    return alone
