"""How many threads of torch baselines use."""

from contextlib import AbstractContextManager

from clearset.engines.torch import torch_threads
from clearset.sets import count_threads


def network_threads(n_jobs: int | None) -> AbstractContextManager[None]:
    """Let torch use one thread unless more are asked for.

    Steps are short. Shared by threads they gain little on idle cores, and on busy ones, where threads wait for each
    other at every operation, they take many times as long.
    """
    return torch_threads(1 if n_jobs is None else count_threads(n_jobs))
