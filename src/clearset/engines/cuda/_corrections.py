"""Corrections to the values of tokens while they are learned, on a device."""

from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from clearset.engines._problem import Refinement
from clearset.engines.cuda._general_phi import REAL
from clearset.engines.cuda._module import Module
from clearset.engines.cuda._structs import CorrectionsStruct


class DeviceCorrections:
    """Corrections (M, C), their running average, and the state of their optimiser."""

    def __init__(
        self,
        initial: npt.NDArray[np.float64],
        refinement: Refinement,
        n_sets: int,
        dtype: np.dtype[Any],
        device: torch.device,
    ) -> None:
        self._count, self._classes = initial.shape
        self._values = torch.from_numpy(initial.astype(dtype)).to(device)
        self._average, self._squares = self._values.clone(), torch.zeros_like(self._values)
        self._sums = torch.zeros(initial.shape, dtype=torch.int64, device=device)
        counts = torch.zeros((3, self._count), dtype=torch.int32, device=device)
        self._touched, self._moved, self._averaged = counts
        tensors = (self._values, self._squares, self._average, self._sums, *counts)
        pull = 2.0 * refinement.pull / n_sets
        sizes = (self._count, self._classes, refinement.learning_rate, pull)
        self._module = Module("corrections", device, REAL=REAL[np.dtype(dtype)])
        self._struct = CorrectionsStruct(*(tensor.data_ptr() for tensor in tensors), *sizes)

    def enter(self, general: Any, averaged_at: Tensor | None = None) -> None:
        """Let a `GeneralPass` apply the corrections, or their running average, and add up their gradients."""
        if averaged_at is not None:
            self._catch_up(averaged_at)
        general.corrections = self._values if averaged_at is None else self._average
        general.correction_sums, general.touched = self._sums, self._touched

    def move(self, pace: Tensor) -> None:
        """Take a step for the corrections of the batch's tokens."""
        self._module.launch("move_corrections", -(-self._count // 128), 128, pace, self._struct)

    def kept(self, pace: Tensor) -> npt.NDArray[np.float64]:
        """Return a copy of the running average."""
        self._catch_up(pace)
        return self._average.double().cpu().numpy()

    def _catch_up(self, pace: Tensor) -> None:
        self._module.launch("average_corrections", -(-self._count // 128), 128, pace, self._struct)
