"""What training data show: where they lie, how large their sets are, and what is predicted of them on average."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from clearset.engines import TrainingSets, engine, processes
from clearset.functions import REGRESSION_LOSSES, Link, Loss, SetFunction, Support
from clearset.sets import Binning, CrossedBlocks, CrossedPositions, Feature, Trust

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

# Tokens, drawn at even distances, by which values are counted.
SAMPLE = 200_000
# Of small sets so many are enough to say whether they should be shrunk.
MOST_SMALL = 10_000
# The base is found to within 2 ** -this.
HALVINGS = 60


def find_support(
    function: SetFunction,
    binning: Binning,
    loss: Loss,
    data: TrainingSets,
    sample: TrainingSets,
    tokens: int,
    threads: int,
) -> Support:
    """Return what the sets of positive weight show.

    Parameters
    ----------
    function : SetFunction
        The trained function, in the labels' own unit.
    binning : Binning
        Its features.
    loss : Loss
        What it was trained for.
    data : TrainingSets
        What it was trained on, by which the base is found.
    sample : TrainingSets
        All of these, or some at random, by which values are counted.
    tokens : int
        The smallest supported number of tokens.
    threads : int
        Threads of the engine.

    Returns
    -------
    Support
        The base, that number, and the counts of values.
    """
    phi = _phi_as(function, data.dtype)

    def means_and_weights() -> Iterator[tuple[FloatArray, FloatArray]]:
        for piece in data.pieces():
            means = engine().means(phi, piece.placed, threads)
            counted = piece.weights > 0
            yield means[piece.which[counted]].astype(np.float64), piece.weights[counted]

    base = base_means(function, _link(function, loss, data), means_and_weights())
    return Support(base, tokens, _counts(function, binning, sample) * (data.total / len(sample)))


def _link(function: SetFunction, loss: Loss, data: TrainingSets) -> Link:
    n_classes = function.outputs
    if isinstance(data.positions, CrossedPositions | CrossedBlocks):
        n_classes = data.positions.n_classes
    return Link(loss.name, None if loss.name in REGRESSION_LOSSES else np.arange(max(n_classes, 2)))


def _phi_as(function: SetFunction, dtype: npt.DTypeLike) -> SetFunction:
    """Return the function with phi in another data type; outputs may be too large for it, and are not needed."""
    corrections = None if function.corrections is None else function.corrections.astype(dtype)
    calibration, vertices = function.calibration.astype(dtype), function.vertices.astype(dtype)
    return replace(function, calibration=calibration, vertices=vertices, corrections=corrections)


def is_promised(features: Sequence[Feature], trusts: Sequence[Trust], counters: Sequence[str]) -> bool:
    """Return whether something is declared of features that count tokens, by their names.

    Then no set is too small: to shrink small sets to the base rate would break the promise.
    """
    declared = any(feature.monotonic is not None for feature in features if feature.name in counters)
    return declared or any(trust.by in counters or trust.feature in counters for trust in trusts)


def smallest_supported(sizes: npt.NDArray[np.integer], needed: float) -> int:
    """Return the smallest number of tokens that enough sets have, these and smaller ones together; at least 1.

    Parameters
    ----------
    sizes : ndarray of shape (n,)
        The number of tokens of each set.
    needed : float
        How many sets are enough.

    Returns
    -------
    int
        The number.
    """
    if not len(sizes):
        return 1
    place = max(int(np.ceil(needed)) - 1, 0)
    return max(int(np.partition(sizes, place)[place]), 1)


def supported_size(
    function: SetFunction,
    loss: Loss,
    data: TrainingSets,
    sizes: IntArray,
    sample: TrainingSets,
    candidates: Sequence[int],
    threads: int,
) -> int:
    """Return the number of tokens from which on mean scores should count in full, by what labels of smaller sets say.

    Parameters
    ----------
    function : SetFunction
        A function of tokens crossed with classes, in the unit of training. It should have learned nothing of single
        tokens, so that what it says of the training sets is as far from their labels as of others.
    loss : Loss
        What it was trained for.
    data : TrainingSets
        The training sets.
    sizes : ndarray of shape (n,)
        The number of tokens of each; those without any say nothing.
    sample : TrainingSets
        All of these, or some at random, by which the base is found.
    candidates : sequence of int
        Numbers to choose from, falling. The first is taken unless a later one lowers the loss of the sets that are
        smaller than the first, by more than the standard error of what it gains.
    threads : int
        Threads of the engine.

    Returns
    -------
    int
        One of the candidates.
    """
    best = candidates[0]
    small = np.flatnonzero((sizes > 0) & (sizes < best) & (data.weights > 0))[:MOST_SMALL]
    if len(small) < 2 or candidates[-1] == best:
        return best
    phi = _phi_as(function, data.dtype)

    def means_of(sets: TrainingSets) -> FloatArray:
        taken = sets.take(np.arange(len(sets))) if sets.chosen is not None else sets
        return engine().means(phi, taken.placed, threads).astype(np.float64)

    base = base_means(function, _link(function, loss, data), [(means_of(sample), sample.weights)])
    means = np.concatenate([means_of(piece) for piece in _pieces_of(data, small)])
    counts, weights = np.zeros(0), data.weights[small] / data.weights[small].mean()

    def losses(tokens: int) -> FloatArray:
        shrunk = Support(base, tokens, counts).shrunk(means, sizes[small])
        return engine().losses(loss, engine().rho(function.rho, shrunk), data.targets[small])

    least = losses(best)
    for tokens in candidates[1:]:
        reached = losses(tokens)
        gains = weights * (least - reached)
        if gains.mean() > gains.std(ddof=1) / np.sqrt(len(gains)):
            best, least = tokens, reached
    return best


def _pieces_of(data: TrainingSets, sets: IntArray) -> Iterator[TrainingSets]:
    """Yield some of the labelled sets, which rise, piece by piece."""
    first = 0
    for piece in data.pieces():
        chosen = sets[(sets >= first) & (sets < first + len(piece))] - first
        if len(chosen):
            yield piece.take(chosen)
        first += len(piece)
        if first > sets[-1]:
            return


def base_means(function: SetFunction, link: Link, sets: Iterable[tuple[FloatArray, FloatArray]]) -> FloatArray:
    """Return the mean scores, ``(C, K)``, at which the average prediction for some sets is predicted.

    They are the average ``(C, K)`` of the sets' mean scores ``(B, C, K)``, all scores of an output moved by the same
    amount. Rho rises, so that the amount is found by halving. The sets come in pieces, each as mean scores and weights.
    """

    def outputs_at(mean: FloatArray) -> FloatArray:
        return np.asarray(engine().rho(function.rho, mean[None])[0])

    total, centre, average = 0.0, np.zeros(1), np.zeros(1)
    for means, weights in sets:
        estimates = link.estimates(engine().rho(function.rho, means))
        average = average + (estimates * weights[:, None]).sum(axis=0)
        centre = centre + (means * weights[:, None, None]).sum(axis=0)
        total += weights.sum()
    sums = np.concatenate([[total], np.ravel(average), np.ravel(centre)])
    processes().add_up(sums)
    total, average, centre = sums[0], sums[1 : 1 + average.size], sums[1 + average.size :].reshape(centre.shape)
    wanted, centre = link.outputs_of(average / total), centre / total
    if link.name == "softmax":
        # Outputs that all move by the same amount say the same.
        wanted = wanted + np.average(outputs_at(centre) - wanted, weights=np.exp(wanted))
    low, high = np.full(len(centre), -2.0), np.full(len(centre), 2.0)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        below = outputs_at(np.clip(centre + middle[:, None], -1.0, 1.0)) < wanted
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.asarray(np.clip(centre + high[:, None], -1.0, 1.0))


def _counts(function: SetFunction, binning: Binning, data: TrainingSets) -> FloatArray:
    """Count the sets at every slot, by a sample of their tokens; each set counts once."""
    positions = data.placed
    sizes, trained = np.diff(positions.offsets), np.zeros(len(positions), dtype=bool)
    trained[data.which[data.weights > 0]] = True
    tokens = np.flatnonzero(np.repeat(trained, sizes))
    every = max(1, -(-len(tokens) // SAMPLE))
    tokens = tokens[::every]
    weights = every / np.repeat(sizes, sizes)[tokens]
    counts = np.zeros(binning.n_slots + 1)

    def count(slots: npt.NDArray[Any], fractions: npt.NDArray[Any], weights: FloatArray) -> None:
        nonlocal counts
        counts += np.bincount(slots, weights * (1.0 - fractions), minlength=len(counts))
        counts += np.bincount(slots + 1, weights * fractions, minlength=len(counts))

    if isinstance(positions, CrossedPositions):
        known = np.flatnonzero(positions.rows[tokens] >= 0)
        known = known[:: max(1, -(-len(known) * positions.n_classes // SAMPLE))]  # each has a value for every class
        places = _value_places(function, positions, tokens[known])
        for column in places.T:
            count(column.astype(np.int64), column % 1, weights[known] / len(places.T))
    for slots, fractions in zip(positions.slots, positions.fractions, strict=True):
        count(slots[tokens], fractions[tokens], weights)
    return counts[:-1]


def _value_places(function: SetFunction, crossed: CrossedPositions, known: IntArray) -> FloatArray:
    """Return where the values of some tokens stand between keypoints, ``(n, C)``."""
    values = crossed.values[crossed.rows[known]].astype(np.float64)
    if function.corrections is not None:
        corrected = crossed.corrected[known]
        values[corrected >= 0] += function.corrections[corrected[corrected >= 0]]
    keypoints = crossed.keypoints.astype(np.float64)
    return np.interp(values, keypoints, np.arange(len(keypoints), dtype=np.float64))
