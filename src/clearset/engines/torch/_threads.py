"""How many threads torch uses."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def torch_threads(count: int) -> Iterator[None]:
    """Let torch use a number of threads, and restore the number that it had afterwards.

    Examples
    --------
    >>> with torch_threads(1):
    ...     torch.get_num_threads()
    1
    """
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def one_torch_thread() -> Iterator[None]:
    """Let torch use one thread: its operations here are small, and its parallel sums would depend on the number."""
    with torch_threads(1):
        yield
