"""Tokens of labelled examples, made ready for training: placed between keypoints, at once or block by block."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from clearset.engines import CROSSED_BLOCK_TOKENS, TrainingSets
from clearset.sets import CrossedBlocks, CrossedPositions
from clearset.tokens import AnyOccurrences, Reading, TokenPlacer, TokenRows, arrange
from clearset.training._fitting import Unit

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

# Of the memory allowed, tokens may take one part in so many, and positions that are needed again one in so many.
_OF_ROWS, _OF_BLOCKS = 8, 8
# Tokens by which it is found what values are usual.
_SAMPLE = 200_000


@dataclass(frozen=True, eq=False)
class TokenExamples:
    """Labelled examples with their tokens."""

    occurrences: AnyOccurrences
    rows: TokenRows  # what is known of the tokens
    reading: Reading  # how occurrences stand for these rows
    corrected: npt.NDArray[np.int32]  # the correction of each token, -1 for none
    labels: FloatArray
    weights: FloatArray
    training: npt.NDArray[np.int64]  # which examples train
    validation: npt.NDArray[np.int64]  # which examples validate


class PlacedTokens(NamedTuple):
    """Tokens of labelled examples, ready for training."""

    data: TrainingSets
    validation: TrainingSets | None
    training: npt.NDArray[np.integer]  # which examples `data` are, in their order
    sample: TrainingSets  # all that is trained on, or some of it at random
    shown: CrossedPositions  # tokens that show what values are usual


def place_tokens(
    placer: TokenPlacer, examples: TokenExamples, unit: Unit, rng: np.random.Generator, max_memory: float
) -> PlacedTokens:
    """Return what to train on and what to validate on, in the unit of training.

    Few tokens are placed at once. Many are arranged at random, so that training can go through them from one end to
    the other, and placed a block at a time: what is kept of a token is the number of its row, four bytes in memory or
    in a scratch file. Both ways depend on the number of tokens only, not on the memory allowed.
    """
    occurrences, training, validation = examples.occurrences, examples.training, examples.validation
    n_classes = examples.rows.values.shape[1]

    def labelled(
        positions: CrossedPositions | CrossedBlocks, some: npt.NDArray[np.integer], chosen: IntArray | None
    ) -> TrainingSets:
        return unit.labelled(positions, examples.labels[some], examples.weights[some], chosen)

    if occurrences.n_tokens <= CROSSED_BLOCK_TOKENS:
        crossed = placer.place(occurrences.whole())
        data = labelled(crossed, training, training)
        held = labelled(crossed, validation, validation) if len(validation) else None
        return PlacedTokens(data, held, training, data, crossed)

    def in_blocks(some: npt.NDArray[np.integer]) -> TrainingSets:
        arranged = arrange(occurrences, examples.reading, some, max_memory / _OF_ROWS)

        def place(start: int, stop: int) -> CrossedPositions:
            return placer.place(arranged.between(start, stop))

        return labelled(CrossedBlocks(place, arranged.offsets, n_classes, max_memory / _OF_BLOCKS), some, None)

    training = training[rng.permutation(len(training))].astype(np.int32)  # with many examples, half the memory
    data = in_blocks(training)
    n_first = int(np.searchsorted(np.cumsum(np.maximum(np.diff(data.positions.offsets), 1)), _SAMPLE, side="right"))
    sample = data.between(0, max(n_first, 1))
    assert isinstance(sample.positions, CrossedPositions)  # noqa: S101
    return PlacedTokens(data, in_blocks(validation) if len(validation) else None, training, sample, sample.positions)
