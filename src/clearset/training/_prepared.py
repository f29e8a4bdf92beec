"""Labelled sets, made ready for training: placed between keypoints, and packed where they are many."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from clearset.engines import MOST_LANES, Lanes, Share, TrainingSets, processes
from clearset.sets import Binning, PackedSets, Positions, SetData, SetPacker, SetSource, offsets_from_sizes
from clearset.training._fitting import Unit

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

# Below this many values (tokens x features) training is in double precision: it costs nothing there.
DOUBLE_PRECISION_VALUES = 1_000_000
# Of the memory allowed, packed sets may take this share. What is known of every set takes so many bytes of the rest
# while sets are put in order.
PACKED_SHARE, SET_BYTES = 0.5, 90
# Tokens by which it is found what values are usual.
SAMPLE = 200_000


@dataclass(frozen=True, eq=False)
class LabelledSets:
    """Some of the sets, with a number (a label or the index of a class) and a weight each."""

    sets: SetSource
    labels: FloatArray
    weights: FloatArray
    chosen: npt.NDArray[np.integer] | None = None  # which of the sets they are; None: all

    def __getitem__(self, some: IntArray) -> "LabelledSets":
        which = some if self.chosen is None else self.chosen[some]
        if len(self.sets) <= np.iinfo(np.int32).max:
            which = which.astype(np.int32)  # half the memory
        return LabelledSets(self.sets, self.labels[some], self.weights[some], which)

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def which(self) -> npt.NDArray[np.integer]:
        """Which of the sets they are."""
        return np.arange(len(self.sets)) if self.chosen is None else self.chosen

    @property
    def sizes(self) -> npt.NDArray[np.integer]:
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


class Prepared(NamedTuple):
    """Labelled sets, ready for training."""

    training: TrainingSets
    validation: TrainingSets | None
    sample: TrainingSets  # all that is trained on or some of it at random, unpacked, the same in every process


def prepare(
    binning: Binning,
    unit: Unit,
    data: LabelledSets,
    validation: LabelledSets | None,
    rng: np.random.Generator,
    max_memory: float = float("inf"),
    n_lanes: int = 0,
) -> Prepared:
    """Return what to train on and what to validate on, in the unit of training.

    A few sets stay as they are, in double precision. Others are packed in one pass over the data: those to train on in
    random order, so that training can go through them from one end to the other. What would take more than its share of
    the memory allowed goes to a scratch file. Of several processes, each has the sets that it reads. With lanes,
    gradients are added up by rows that stand together in the data.
    """
    if int(data.sizes.sum()) * len(binning.features) < DOUBLE_PRECISION_VALUES:
        return _placed(binning, unit, data, validation, n_lanes)
    arranged, room = data[rng.permutation(len(data))], max(PACKED_SHARE * max_memory - SET_BYTES * len(data.sets), 0.0)
    training, checking = _Part(arranged, unit, n_lanes), None if validation is None else _Part(validation, unit)
    packers = [_packer(binning, training, room)]
    held_out = validation is not None and validation.sets is data.sets
    if checking is not None:
        packers.append(_packer(binning, checking, room / 8))
    _pack(binning, data.sets, packers if held_out else packers[:1])
    if validation is not None and not held_out:
        _pack(binning, validation.sets, packers[1:])
    ready = training.of(packers[0].packed())
    n_first = int(np.searchsorted(np.cumsum(np.maximum(arranged.sizes, 1)), SAMPLE, side="right"))
    sample = _gathered(ready, training, max(n_first, 1))
    return Prepared(ready, None if checking is None else checking.of(packers[1].packed()), sample)


class _Part:
    """Those of some labelled sets that this process reads, with targets and weights in the unit of training."""

    def __init__(self, labelled: LabelledSets, unit: Unit, n_lanes: int = 0) -> None:
        self.labelled, self.processes, self.n_lanes = labelled, processes(), n_lanes
        first, which = labelled.sets.first, labelled.which
        self.places: IntArray | slice = slice(None)  # of one process these are all
        if self.processes.count > 1:
            self.places = np.flatnonzero((which >= first) & (which < first + labelled.sets.n_read))
        self.which = which[self.places]
        self.targets, self.weights = unit.scaled(labelled.labels, labelled.weights)

    def of(self, positions: Positions | PackedSets, chosen: IntArray | None = None) -> TrainingSets:
        """Return the sets, whose tokens stand at these positions."""
        share = None
        if not isinstance(self.places, slice):
            tokens = int(np.maximum(self.labelled.sizes, 1).sum())
            share = Share(self.places, len(self.labelled), tokens, self.processes)
        lanes = None
        if self.n_lanes:
            parts = self.which.astype(np.int64) * MOST_LANES // len(self.labelled.sets)
            lanes = Lanes((parts * self.n_lanes // MOST_LANES).astype(np.uint8), self.n_lanes)
        return TrainingSets(positions, self.targets[self.places], self.weights[self.places], chosen, share, lanes)


def _gathered(data: TrainingSets, part: _Part, stop: int) -> TrainingSets:
    """Return the sets of all processes that stand before a place, unpacked."""
    n_own = stop if isinstance(part.places, slice) else int(np.searchsorted(part.places, stop))
    some = data.between(0, n_own) if isinstance(data.positions, PackedSets) else data.take(np.arange(n_own))
    own = some.placed
    if isinstance(part.places, slice):
        return TrainingSets(own, part.targets[:stop], part.weights[:stop])
    gather, n_features = part.processes.gather, len(own.slots)
    slots, fractions = (
        np.concatenate([each.reshape(n_features, -1) for each in gather(np.ravel(values))], axis=1)
        for values in (own.slots, own.fractions)
    )
    sizes, places = (np.concatenate(gather(each)) for each in (np.diff(own.offsets), part.places[:n_own]))
    whole = Positions(slots, fractions, offsets_from_sizes(sizes)).take(np.argsort(places))
    return TrainingSets(whole, part.targets[:stop], part.weights[:stop])


def _placed(
    binning: Binning, unit: Unit, data: LabelledSets, validation: LabelledSets | None, n_lanes: int
) -> Prepared:
    def placed(part: _Part, positions: Positions) -> TrainingSets:
        sets = part.labelled.sets
        alone = part.labelled.chosen is None and part.processes.count == 1
        return part.of(positions, None if alone else part.which.astype(np.int64) - sets.first)

    positions, part = _joined(binning, data.sets), _Part(data, unit, n_lanes)
    training = placed(part, positions)
    sample = training if part.processes.count == 1 else _gathered(training, part, len(data))
    if validation is None:
        return Prepared(training, None, sample)
    others = positions if validation.sets is data.sets else _joined(binning, validation.sets)
    return Prepared(training, placed(_Part(validation, unit), others), sample)


def _joined(binning: Binning, sets: SetSource) -> Positions:
    if isinstance(sets, SetData):
        return binning.positions(sets, np.float64)
    pieces = [binning.positions(piece, np.float64) for piece in sets.pieces()]
    if not pieces:
        empty = (len(binning.features), 0)
        return Positions(np.empty(empty, np.int32), np.empty(empty), np.zeros(1, np.int64))
    slots = np.concatenate([piece.slots for piece in pieces], axis=1)
    fractions = np.concatenate([piece.fractions for piece in pieces], axis=1)
    sizes = np.concatenate([np.diff(piece.offsets) for piece in pieces])
    return Positions(slots, fractions, offsets_from_sizes(sizes))


def _packer(binning: Binning, part: _Part, room: float) -> SetPacker:
    sizes = np.maximum(part.labelled.sets.sizes, 1)
    return SetPacker(binning, sizes, part.which, int(min(room, np.iinfo(np.int64).max)))


def _pack(binning: Binning, sets: SetSource, packers: list[SetPacker]) -> None:
    first = sets.first
    for piece in sets.pieces():
        positions = binning.positions(piece, np.float32)
        for packer in packers:
            packer.add(first, positions)
        first += len(piece)
