"""Set functions applied to sets that are given as arrays."""

import numpy as np
import torch
from torch import Tensor

from clearset.engines._checked_contents import tokens_of_sets
from clearset.engines._problem import TrainingSets
from clearset.engines.torch._crossed import crossed_mean, crossed_scores
from clearset.engines.torch._inputs import CrossedInputs, CrossedTokens, TokenPositions
from clearset.engines.torch._losses import loss_of
from clearset.engines.torch._module import SetFunctionModule
from clearset.functions import Loss
from clearset.sets import CrossedPositions, Positions


def token_positions(positions: Positions) -> TokenPositions:
    """Show positions to torch, without copying them."""
    return TokenPositions(*map(torch.from_numpy, (positions.slots, positions.fractions, positions.offsets)))


class CrossedTensors:
    """Tokens crossed with classes, shown to torch without copying them."""

    def __init__(self, crossed: CrossedPositions) -> None:
        arrays = (crossed.slots, crossed.fractions, crossed.offsets, crossed.rows, crossed.corrected)
        self._tokens = CrossedTokens(*map(torch.from_numpy, arrays))
        self._values = torch.from_numpy(crossed.values)
        self._keypoints = torch.from_numpy(crossed.keypoints)

    def means(
        self, model: SetFunctionModule, sets: np.ndarray, threads: int, kernel: str | None = None
    ) -> Tensor:
        """Return the ``(b, C, K)`` mean scores of some of the sets."""
        return crossed_mean(self._inputs(model, sets), threads=threads, kernel=kernel)

    def scores(
        self, model: SetFunctionModule, sets: np.ndarray, threads: int, kernel: str | None = None
    ) -> Tensor:
        """Return the ``(N, C, K)`` scores of the tokens of some of the sets."""
        return crossed_scores(self._inputs(model, sets), threads=threads, kernel=kernel)

    def outputs(self, model: SetFunctionModule, sets: np.ndarray, threads: int) -> Tensor:
        """Return the ``(b, C)`` outputs of some of the sets."""
        means = self.means(model, sets, threads)
        outputs: Tensor = model.rho(means.reshape(-1, model.width))
        return outputs.reshape(means.shape[:2])

    def _inputs(self, model: SetFunctionModule, sets: np.ndarray) -> CrossedInputs:
        return CrossedInputs(
            self._tokens,
            torch.from_numpy(sets),
            self._values,
            model.corrections,
            self._keypoints,
            model.phi.calibration,
            model.phi.vertices,
            model.phi.layout,
        )


class LabelledTensors:
    """Labelled sets that know how a set function is applied to them."""

    def __init__(self, data: TrainingSets) -> None:
        self.data = data
        self._crossed: CrossedTensors | None = None
        if isinstance(data.positions, CrossedPositions):
            self._crossed = CrossedTensors(data.positions)

    def outputs(self, model: SetFunctionModule, sets: np.ndarray | None, threads: int) -> Tensor:
        """Return the ``(b, C)`` outputs of some of the labelled sets, or of all."""
        data, chosen = self.data, sets
        if data.chosen is not None:
            chosen = data.chosen if sets is None else data.chosen[sets]
        if self._crossed is not None:
            everything = np.arange(len(data.positions)) if chosen is None else chosen
            return self._crossed.outputs(model, everything, threads)
        assert isinstance(data.positions, Positions)  # noqa: S101
        positions = data.positions if chosen is None else data.positions.take(chosen)
        outputs: Tensor = model(token_positions(positions), threads)
        return outputs

    def corrected(self, sets: np.ndarray) -> Tensor:
        """Return the corrections that some of the labelled sets have, each once."""
        positions = self.data.positions
        if not isinstance(positions, CrossedPositions):
            return torch.empty(0, dtype=torch.int64)
        chosen = sets if self.data.chosen is None else self.data.chosen[sets]
        numbers = np.unique(positions.corrected[tokens_of_sets(positions, chosen)[0]]).astype(np.int64)
        return torch.from_numpy(numbers[numbers >= 0])

    def mean_loss(
        self, model: SetFunctionModule, loss: Loss, threads: int, sets: np.ndarray | None = None
    ) -> Tensor:
        """Return the weighted mean loss over some of the labelled sets, or all."""
        outputs = self.outputs(model, sets, threads)
        chosen = slice(None) if sets is None else sets
        targets = torch.from_numpy(self.data.targets[chosen]).to(outputs.dtype)
        weights = torch.from_numpy(self.data.weights[chosen]).to(outputs.dtype)
        return (loss_of(loss, outputs, targets) * weights).mean()
