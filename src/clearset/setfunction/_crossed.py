"""Sets whose tokens are crossed with classes: one set function serves all of them."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from clearset.kernels import CrossedTokens, crossed_mean, crossed_scores
from clearset.setfunction._module import RefinedSetFunction, SetFunction

# Sets are scored in pieces of about this many tokens, so that memory stays bounded.
PIECE_TOKENS = 1_000_000


@dataclass(frozen=True, eq=False)
class CrossedSets:
    """Sets of tokens whose first feature has a value for each of C classes.

    Attributes
    ----------
    tokens
        Of all sets, the other features placed between keypoints.
    values
        ``(R, C)``: what the tokens' rows point into.
    keypoints
        ``(V,)``: of the first feature.
    """

    tokens: CrossedTokens
    values: Tensor
    keypoints: Tensor

    def __len__(self) -> int:
        return len(self.tokens.offsets) - 1

    @property
    def n_classes(self) -> int:
        """C."""
        return int(self.values.shape[1])

    def outputs(self, model: SetFunction, sets: np.ndarray | None, threads: int) -> Tensor:
        """Give the ``(b, C)`` outputs of some of the sets, or of all."""
        if sets is not None:
            return self._outputs(model, torch.from_numpy(sets), threads)
        return torch.cat([self._outputs(model, piece, threads) for piece in self._pieces()])

    def _outputs(self, model: SetFunction, sets: Tensor, threads: int) -> Tensor:
        means = crossed_mean(*self._arguments(model, sets), threads=threads)
        outputs: Tensor = model.rho(means.reshape(-1, model.width))
        return outputs.reshape(len(sets), self.n_classes)

    def means(self, model: SetFunction, threads: int) -> Tensor:
        """Give the ``(B, C, K)`` mean scores of all sets."""
        return torch.cat(
            [crossed_mean(*self._arguments(model, piece), threads=threads) for piece in self._pieces()]
        )

    def scores(self, model: SetFunction, threads: int) -> Tensor:
        """Give the ``(T, C, K)`` scores of all tokens."""
        return torch.cat(
            [crossed_scores(*self._arguments(model, piece), threads=threads) for piece in self._pieces()]
        )

    def _arguments(self, model: SetFunction, sets: Tensor) -> tuple:  # type: ignore[type-arg]
        corrections = model.corrections if isinstance(model, RefinedSetFunction) else None
        phi = model.phi
        return (
            self.tokens, sets, self.values, corrections, self.keypoints, phi.calibration, phi.vertices, phi.layout
        )  # fmt: skip

    def _pieces(self) -> Iterator[Tensor]:
        offsets, start = self.tokens.offsets.numpy(), 0
        while start < len(self):
            stop = int(np.searchsorted(offsets, offsets[start] + PIECE_TOKENS, side="right")) - 1
            stop = min(max(stop, start + 1), len(self))
            yield torch.arange(start, stop)
            start = stop
        if not len(self):
            yield torch.arange(0)


@dataclass(frozen=True, eq=False)
class CrossedTrainingSets:
    """Labelled sets of crossed tokens: some of the sets, targets in the loss's scaled unit, weights of mean 1."""

    crossed: CrossedSets
    sets: np.ndarray
    targets: np.ndarray
    weights: np.ndarray

    @property
    def dtype(self) -> torch.dtype:
        """What to calculate in."""
        return self.crossed.values.dtype

    def outputs(self, model: SetFunction, sets: np.ndarray | None, threads: int) -> Tensor:
        """Give the ``(b, C)`` outputs of some of the sets, or of all."""
        return self.crossed.outputs(model, self.sets if sets is None else self.sets[sets], threads)
