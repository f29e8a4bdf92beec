"""How many threads torch uses."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def torch_threads(count: int) -> Iterator[None]:
    """Let torch use a number of threads, and restore the number that it had afterwards.

    The engine lets it use one: its operations are small, and torch's parallel sums depend on the number.

    Parameters
    ----------
    count : int
        The number of threads.

    Yields
    ------
    None
        Nothing; the number applies inside of the ``with`` block.

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
