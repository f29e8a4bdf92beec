"""Several processes that train one set function: each has its share of the sets, and gradients are added up."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt


class Processes(Protocol):
    """The processes that work together.

    Attributes
    ----------
    rank : int
        The number of this process, from 0 on.
    count : int
        How many there are.
    """

    rank: int
    count: int

    def add_up(self, numbers: npt.NDArray[np.float64]) -> None:
        """Replace numbers by their sums over all processes."""

    def gather(self, array: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
        """Return the one-dimensional arrays of all processes, which may differ in length."""


class OneProcess:
    """A process that works alone."""

    rank, count = 0, 1

    def add_up(self, numbers: npt.NDArray[np.float64]) -> None:
        """Leave the numbers as they are."""

    def gather(self, array: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
        """Return the only array."""
        return [array]


_current: ContextVar[Processes] = ContextVar("processes", default=OneProcess())  # noqa: B039 (it has no state)


def processes() -> Processes:
    """Return the processes that this one works with.

    Returns
    -------
    Processes
        Those of `several_processes`, or this one alone.
    """
    return _current.get()


@contextmanager
def several_processes() -> Iterator[Processes]:
    """Fit set functions together with the other processes that ``torchrun`` has started with this one.

    Every process runs the same script. Within the context, `fit` of a `SetRegressor` or `SetClassifier` on data in
    files reads a share of the rows in each process and trains on all of them; afterwards every process has the same
    model, which is that of a single process but for rounding. What is written should be written by one of them. A
    process that ends early ends the others with an error.

    Yields
    ------
    Processes
        ``rank`` is the number of this process, ``count`` how many there are.

    Examples
    --------
    A script ``train.py``, to be run by ``torchrun --nproc-per-node 4 train.py``:

    >>> import clearset as cs
    >>> with cs.several_processes() as processes:  # doctest: +SKIP
    ...     model = cs.SetRegressor(["stars"], random_state=0).fit("reviews/", "sales")
    >>> if processes.rank == 0:  # doctest: +SKIP
    ...     model.save("model.clearset")
    """
    try:
        from clearset.engines.torch import TorchProcesses
    except ImportError as error:
        raise ImportError(f"Several processes work together by torch, which is not installed ({error}).") from None
    with TorchProcesses.joined() as joined:
        token = _current.set(joined)
        try:
            yield joined
        finally:
            _current.reset(token)


def started_by_torchrun() -> bool:
    """Tell whether this process is one of several that ``torchrun`` has started.

    Returns
    -------
    bool
        Whether it is.
    """
    return "TORCHELASTIC_RUN_ID" in os.environ and int(os.environ.get("WORLD_SIZE", "1")) > 1
