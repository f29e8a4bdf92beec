"""Initial values: a set function that can get going from its first step."""

import numpy as np

from clearset.functions import Layout, SetFunction, lattice_direction
from clearset.sets import Binning, CrossedPositions, Feature, Positions

# The sum of a lattice's slopes at the start: large enough for rho's keypoints to tell sets apart, far enough from the
# bounds -1 and 1 to grow. Lattices at exactly 0 would leave every calibrator without a gradient.
AMPLITUDE = 0.5
# The flattest slope at the start, as a share of the steepest: effects that bend both ways have no slope to begin with.
FLATTEST = 0.1
# What least squares of the first slopes add to the squares of each feature, in sets.
RIDGE = 1.0


def initial_set_function(
    binning: Binning,
    layout: Layout,
    leanings: np.ndarray,
    *,
    width: int,
    rho_keypoints: int,
    rng: np.random.Generator,
    least_share: float = 1.0,
) -> SetFunction:
    """Make a set function of straight calibrators and slightly sloping lattices.

    The first score of each output has the slopes of its leanings, times shares from `least_share` to 1 that are drawn;
    the slopes of further scores are drawn.
    """
    calibration = np.tile(_straight_calibrators(binning), (len(leanings) * width, 1))
    slopes = _slopes(binning.features, leanings, width, least_share, rng)
    vertices = np.concatenate([_sloping_lattice(slopes, subset, layout.sizes) for subset in layout.subsets], axis=1)
    # The mean of lattices over a few features each would differ too little between sets for rho's keypoints.
    vertices *= AMPLITUDE / np.abs(vertices).max(axis=1, keepdims=True)
    return SetFunction(layout, calibration, vertices, *_rho(width, len(leanings), rho_keypoints))


def initial_crossed_set_function(
    binning: Binning, layout: Layout, *, width: int, rho_keypoints: int, rng: np.random.Generator
) -> SetFunction:
    """Make a set function for tokens crossed with classes: it rises with the value, and hardly moves with the rest.

    The parameters are those of `initial_set_function`; the value is the first feature.
    """
    calibration = np.tile(_straight_calibrators(binning), (width, 1))
    slopes = AMPLITUDE * rng.uniform(-0.1, 0.1, size=(width, len(binning.features)))
    slopes[:, 0] = AMPLITUDE * rng.uniform(0.6, 1.0, size=width)
    vertices = _sloping_lattice(slopes, layout.subsets[0], layout.sizes)
    return SetFunction(layout, calibration, vertices, *_rho(width, 1, rho_keypoints))


def leanings(
    binning: Binning, positions: Positions | CrossedPositions, targets: np.ndarray, weights: np.ndarray, n_sets: float
) -> np.ndarray:
    """Return how each output goes with each feature, where the others stay as they are.

    Rho can only rise. Where a lattice starts with the wrong slope rho learns to be flat, and no gradient is left
    for the lattice to turn by; so lattices start with the slopes that the labels support.

    Parameters
    ----------
    binning : Binning
        Keypoints of the features.
    positions : Positions or CrossedPositions
        The tokens of n sets.
    targets : ndarray of shape (n, C)
        What each output is to go with, centred and weighted.
    weights : ndarray of shape (n,)
        The weights of the sets.
    n_sets : float
        How many sets the weighted ones stand for.

    Returns
    -------
    ndarray of shape (C, D)
        The slopes of least squares in the means over a set's tokens, divided by the steepest; 0 where the labels do
        not say.
    """
    table = np.append(_straight_calibrators(binning), 0.0)
    slots = positions.slots
    calibrated = table[slots] + positions.fractions * (table[slots + 1] - table[slots])
    means = np.add.reduceat(calibrated, positions.offsets[:-1], axis=1) / np.diff(positions.offsets)
    means -= np.average(means, axis=1, weights=weights)[:, None]
    squares = (weights * means) @ means.T
    mean_square = max(np.trace(squares) / len(squares), np.finfo(float).tiny)
    squares[np.diag_indices_from(squares)] += RIDGE / n_sets * mean_square
    slopes = np.linalg.solve(squares, means @ targets).T
    steepest = np.abs(slopes).max(axis=1, keepdims=True)
    shares = np.divide(slopes, steepest, out=np.zeros_like(slopes), where=steepest > 0)
    # Training makes much of the last bits, which are not the same for weights as for repetitions.
    return np.asarray(np.round(shares, 6))


def _rho(width: int, outputs: int, keypoints: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return calibrators, lattices and output calibrators of rho that pass on the mean of their inputs."""
    # In single precision and from both ends, as set functions have always started: the same seed gives the same model.
    count, step = np.arange(keypoints), float(np.float32(2.0) / np.float32(keypoints - 1))
    left = count < keypoints // 2
    places = np.where(left, step * count - 1.0, 1.0 - step * count[::-1]).astype(np.float32)
    corners = np.stack(np.meshgrid(*[[0.0, 1.0]] * width, indexing="ij")).astype(np.float32)
    mean = 2 * corners.mean(axis=0) - 1
    tables = ((places + 1) / 2, outputs * width), (mean.reshape(-1), outputs), (places, outputs)
    calibrators, vertices, output = (np.tile(row, (rows, 1)).astype(np.float64) for row, rows in tables)
    return calibrators, vertices, output


def _straight_calibrators(binning: Binning) -> np.ndarray:
    """Start numeric calibrators as straight lines from 0 to 1; categories and missing values in the middle."""
    calibration = np.full(binning.n_slots, 0.5)
    for feature, keypoints in zip(binning.features, binning.keypoints, strict=True):
        if keypoints is not None:
            calibration[binning.slots_of(feature.name)] = straight_line(keypoints)
    return calibration


def straight_line(keypoints: np.ndarray) -> np.ndarray:
    """Return values of a line from 0 to 1 over some keypoints."""
    halves = keypoints / 2  # the distance between the ends may exceed the largest float
    return np.asarray((halves - halves[0]) / (halves[-1] - halves[0]))


def _slopes(
    features: tuple[Feature, ...], leanings: np.ndarray, width: int, least_share: float, rng: np.random.Generator
) -> np.ndarray:
    """Draw each lattice's slopes ``(C * K, D)``."""
    # A declared feature has the sign it asks for. An undeclared one has the sign of its leaning in the first lattice of
    # an output, and the signs of the others alternate: a weighted mean needs a lattice on each side.
    n_outputs, n_features = leanings.shape
    declared = np.array([lattice_direction(feature) for feature in features])
    leanings = np.where(leanings * declared < 0.0, 0.0, leanings)
    sizes = rng.uniform(FLATTEST, 1.0, size=(n_outputs, width, n_features))
    sizes[:, 0] = np.maximum(np.abs(leanings), FLATTEST) * rng.uniform(least_share, 1.0, size=leanings.shape)
    first = np.where(leanings == 0.0, rng.choice([-1.0, 1.0], size=leanings.shape), np.sign(leanings))
    signs = first[:, None, :] * (-1.0) ** np.arange(width)[:, None]
    signs = np.where(declared == 0, signs, declared)
    slopes = AMPLITUDE * signs * sizes / sizes.sum(axis=2, keepdims=True)
    return np.asarray(slopes.reshape(n_outputs * width, n_features))


def _sloping_lattice(slopes: np.ndarray, subset: tuple[int, ...], sizes: tuple[int, ...]) -> np.ndarray:
    axes = [np.linspace(-1.0, 1.0, sizes[d]) for d in subset]
    grid = np.stack(np.meshgrid(*axes, indexing="ij")).reshape(len(subset), -1)
    return np.asarray(slopes[:, list(subset)] @ grid)
