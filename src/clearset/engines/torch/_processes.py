"""Processes that exchange numbers by torch.distributed."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
import torch.distributed as dist


class TorchProcesses:
    """Processes of a group of torch.distributed, on CPUs.

    Parameters
    ----------
    group : ProcessGroup
        The group, whose backend is gloo.
    """

    def __init__(self, group: Any) -> None:
        self._group = group
        self.rank, self.count = dist.get_rank(group), dist.get_world_size(group)

    @classmethod
    @contextmanager
    def joined(cls) -> "Iterator[TorchProcesses]":
        """Join the other processes; those of a group that exists already, if there is one."""
        begins = not dist.is_initialized()
        if begins:
            try:
                dist.init_process_group("gloo")
            except ValueError as error:
                raise RuntimeError(
                    f"This process cannot find the others ({error}). Start the script by torchrun --nproc-per-node N."
                ) from None
        try:
            yield cls(dist.group.WORLD if begins else dist.new_group(backend="gloo"))
        finally:
            if begins:
                dist.destroy_process_group()

    def add_up(self, numbers: npt.NDArray[np.float64]) -> None:
        """Replace numbers by their sums over all processes."""
        tensor = torch.from_numpy(numbers)
        self._together(lambda: dist.all_reduce(tensor, group=self._group))

    def gather(self, array: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
        """Return the one-dimensional arrays of all processes, which may differ in length."""
        data = np.ascontiguousarray(array).view(np.uint8)
        sizes = [torch.zeros(1, dtype=torch.int64) for _ in range(self.count)]
        self._together(lambda: dist.all_gather(sizes, torch.tensor([len(data)]), group=self._group))
        most = max(int(size) for size in sizes)
        padded = torch.zeros(most, dtype=torch.uint8)
        padded[: len(data)] = torch.from_numpy(data.copy())
        parts = [torch.zeros(most, dtype=torch.uint8) for _ in range(self.count)]
        self._together(lambda: dist.all_gather(parts, padded, group=self._group))
        return [part[: int(size)].numpy().copy().view(array.dtype) for part, size in zip(parts, sizes, strict=True)]

    def _together(self, exchange: Callable[[], Any]) -> None:
        try:
            exchange()
        except RuntimeError as error:
            raise ConnectionError(
                f"Another process of this training has ended or cannot be reached ({str(error).splitlines()[0]}). Its "
                "own message says why."
            ) from None
