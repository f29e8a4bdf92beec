"""Set functions applied one after the other: the estimates of engines are features of a follow-on model."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from clearset.kernels import TokenPositions, phi_mean
from clearset.setfunction import CROSSED_LOSSES, CrossedSets, SetFunction, ShapeConstraints, Smoothness
from clearset.sets import Binning, Positions, Trust


@dataclass(frozen=True, eq=False)
class Part:
    """A trained set function, and what it must obey.

    Attributes
    ----------
    model
        In the labels' own unit.
    binning, trusts
        What was declared.
    smoothness
        Strength of the penalty on bends and twists.
    unit
        Centre and scale of the outputs; training works with ``(output - centre) / scale``.
    """

    model: SetFunction
    binning: Binning
    trusts: Sequence[Trust]
    smoothness: float
    unit: tuple[float, float]

    def scaled(self) -> SetFunction:
        """Copy the set function into the unit of training."""
        centre, scale = self.unit
        return self.model.rescaled(-centre / scale, 1.0 / scale)

    def shape(self) -> ShapeConstraints:
        """Give the constraints."""
        return ShapeConstraints.of(self.model, self.binning, self.trusts)

    def penalty(self, n_sets: float) -> Smoothness:
        """Give the smoothness penalty."""
        model = self.model
        sizes = {"width": model.width, "rho_keypoints": model.rho_keypoints}
        return Smoothness(self.binning, model.phi.layout, self.smoothness, n_sets, **sizes)

    def finished(self, trained: SetFunction) -> SetFunction:
        """Bring a trained set function back to the labels' unit, its constraints exact."""
        model = trained.rescaled(*self.unit)
        self.shape().project_exactly(model)
        return model


class Estimate(NamedTuple):
    """Where an engine's estimates come from and go to: its sets and loss, and features of the follow-on model."""

    crossed: CrossedSets
    loss: str
    features: Sequence[int]


@dataclass(frozen=True, eq=False)
class JointSets:
    """Labelled sets of a follow-on model, with the sets of the engines that it takes estimates of.

    Attributes
    ----------
    positions
        Of the follow-on model's features; what they say of estimates is not looked at.
    estimates
        One for each engine, with the same sets.
    labels, weights
        ``(B,)``.
    training, validation
        Numbers of sets.
    """

    positions: Positions
    estimates: Sequence[Estimate]
    labels: npt.NDArray[np.float64]
    weights: npt.NDArray[np.float64]
    training: npt.NDArray[np.int64]
    validation: npt.NDArray[np.int64]


class JointFunction:
    """All set functions in the unit of training, applied one after the other."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self.models = [part.scaled() for part in parts]
        self._units = [part.unit for part in parts]
        self._binning = parts[0].binning

    def parameters(self) -> list[nn.Parameter]:
        """Give the parameters of all of them."""
        return [parameter for model in self.models for parameter in model.parameters()]

    def outputs(self, data: JointSets, sets: npt.NDArray[np.int64], threads: int) -> Tensor:
        """Give the follow-on model's ``(b, C)`` outputs for some of the sets."""
        follow_on, *engines = self.models
        positions = data.positions.take(sets)
        slots, fractions = torch.from_numpy(positions.slots), torch.from_numpy(positions.fractions)
        of_token = torch.repeat_interleave(torch.from_numpy(np.diff(positions.offsets)))
        for engine, unit, estimate in zip(engines, self._units[1:], data.estimates, strict=True):
            centre, scale = unit
            outputs = estimate.crossed.outputs(engine, sets, threads) * scale + centre
            for column, d in zip(_estimates(outputs, estimate.loss).T, estimate.features, strict=True):
                slot, fraction = self._place(d, column)
                slots[d], fractions[d] = slot[of_token], fraction[of_token]
        placed = TokenPositions(slots, fractions, torch.from_numpy(positions.offsets))
        phi = follow_on.phi
        # Only the reference kernel has a gradient in the fractions.
        means = phi_mean(placed, phi.calibration, phi.vertices, phi.layout, kernel="reference")
        result: Tensor = follow_on.rho(means)
        return result

    def _place(self, d: int, values: Tensor) -> tuple[Tensor, Tensor]:
        """Find slots and fractions of a feature's values; fractions have a gradient in the values."""
        keypoints = torch.from_numpy(np.asarray(self._binning.keypoints[d]))
        inside = values.clamp(keypoints[0], keypoints[-1])
        segments = torch.searchsorted(keypoints[1:-1].contiguous(), inside.detach().contiguous(), right=True)
        fractions = (inside - keypoints[segments]) / keypoints.diff()[segments]
        return (segments + int(self._binning.slot_offsets[d])).to(torch.int32), fractions


def _estimates(outputs: Tensor, loss: str) -> Tensor:
    """Give the expected label as `clearset.frozen.estimates` does, with a gradient."""
    if loss not in CROSSED_LOSSES:
        return outputs.exp() if loss == "poisson" else outputs
    if outputs.shape[1] == 1:
        return outputs.sigmoid()
    if loss == "log_loss":
        return outputs.softmax(dim=1)
    shares = outputs.sigmoid()
    return shares / shares.sum(dim=1, keepdim=True)
