"""Labelled sets, made ready for training: placed between keypoints, and packed where they are many."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from clearset.engines import TrainingSets
from clearset.sets import Binning, Positions, SetData, SetPacker, SetSource, offsets_from_sizes
from clearset.training._fitting import Unit

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

# Below this many values (tokens x features) training is in double precision: it costs nothing there.
DOUBLE_PRECISION_VALUES = 1_000_000
# Of the memory allowed, packed sets may take this share. What is known of every set takes about 100 bytes of the rest
# while sets are put in order.
PACKED_SHARE, SET_BYTES = 0.5, 100


@dataclass(frozen=True, eq=False)
class LabelledSets:
    """Some of the sets, with a number (a label or the index of a class) and a weight each."""

    sets: SetSource
    labels: FloatArray
    weights: FloatArray
    chosen: IntArray | None = None  # which of the sets they are; None: all

    def __getitem__(self, some: IntArray) -> "LabelledSets":
        return LabelledSets(self.sets, self.labels[some], self.weights[some], self.which[some])

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def which(self) -> IntArray:
        """Which of the sets they are."""
        return np.arange(len(self.sets)) if self.chosen is None else self.chosen

    @property
    def sizes(self) -> IntArray:
        """Number of tokens of each of these sets."""
        return self.sets.sizes if self.chosen is None else self.sets.sizes[self.chosen]

    @property
    def all_weights(self) -> FloatArray:
        """One weight for each set, zero for those that are not among them."""
        if self.chosen is None:
            return self.weights
        weights = np.zeros(len(self.sets))
        weights[self.chosen] = self.weights
        return weights


def prepare(
    binning: Binning,
    unit: Unit,
    data: LabelledSets,
    validation: LabelledSets | None,
    rng: np.random.Generator,
    max_memory: float = float("inf"),
) -> tuple[TrainingSets, TrainingSets | None]:
    """Return what to train on and what to validate on, in the unit of training.

    A few sets in memory stay as they are, in double precision. Others are packed in one pass over the data: those to
    train on in random order, so that training can go through them from one end to the other. What would take more than
    its share of the memory allowed goes to a scratch file.
    """
    n_values = int(data.sizes.sum()) * len(binning.features)
    if n_values < DOUBLE_PRECISION_VALUES:
        return _placed(binning, unit, data, validation)
    order = rng.permutation(len(data))
    training, n_sets = data[order], len(data.sets)
    room = max(PACKED_SHARE * max_memory - SET_BYTES * n_sets, 0.0)
    packers = [_packer(binning, training, room)]
    held_out = validation is not None and validation.sets is data.sets
    if validation is not None and held_out:
        packers.append(_packer(binning, validation, room / 8))
    _pack(binning, data.sets, packers)
    if validation is not None and not held_out:
        packers.append(_packer(binning, validation, room / 8))
        _pack(binning, validation.sets, packers[1:])
    stores = [packer.packed() for packer in packers]
    return (
        unit.labelled(stores[0], training.labels, training.weights),
        None if validation is None else unit.labelled(stores[1], validation.labels, validation.weights),
    )


def _placed(
    binning: Binning, unit: Unit, data: LabelledSets, validation: LabelledSets | None
) -> tuple[TrainingSets, TrainingSets | None]:
    def placed(labelled: LabelledSets, positions: Positions) -> TrainingSets:
        return unit.labelled(positions, labelled.labels, labelled.weights, labelled.chosen)

    positions = _joined(binning, data.sets)
    if validation is None:
        return placed(data, positions), None
    others = positions if validation.sets is data.sets else _joined(binning, validation.sets)
    return placed(data, positions), placed(validation, others)


def _joined(binning: Binning, sets: SetSource) -> Positions:
    if isinstance(sets, SetData):
        return binning.positions(sets, np.float64)
    pieces = [binning.positions(piece, np.float64) for piece in sets.pieces()]
    slots, fractions = (
        np.concatenate([getattr(piece, name) for piece in pieces], axis=1) for name in ("slots", "fractions")
    )
    return Positions(slots, fractions, offsets_from_sizes(np.maximum(sets.sizes, 1)))


def _packer(binning: Binning, labelled: LabelledSets, room: float) -> SetPacker:
    sizes = np.maximum(labelled.sets.sizes, 1)
    return SetPacker(binning, sizes, labelled.which, int(min(room, np.iinfo(np.int64).max)))


def _pack(binning: Binning, sets: SetSource, packers: list[SetPacker]) -> None:
    first = 0
    for piece in sets.pieces():
        positions = binning.positions(piece, np.float32)
        for packer in packers:
            packer.add(first, positions)
        first += len(piece)
