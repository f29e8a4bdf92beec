"""Initial values of a score whose features bend and go together as least squares say they do."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import numpy.typing as npt
from scipy.special import chdtri

from clearset.engines import TrainingSets
from clearset.functions import Layout, SetFunction
from clearset.sets import Binning
from clearset.training._first_look import FirstLook
from clearset.training._initial import AMPLITUDE, FLATTEST, RIDGE

FloatArray = npt.NDArray[np.float64]

# How often chance alone may bend one of the features, or bring one of the pairs together.
BY_CHANCE = 0.001
# A factor of a product: a feature, and whether it is its bend.
Factor = tuple[int, bool]


def with_first_shapes(
    function: SetFunction,
    look: FirstLook,
    free: npt.NDArray[np.bool_],
    binning: Binning,
    sets: TrainingSets,
    targets: FloatArray,
    n_sets: float,
) -> SetFunction:
    """Return initial values whose first score of each output has the bends and the pairs that the labels show.

    Parameters
    ----------
    function : SetFunction
        Initial values with straight calibrators and lattices in which effects add up.
    look : FirstLook
        What least squares say.
    free : ndarray of shape (D,)
        The numbers of which nothing is declared; other features stay straight and alone, and keep their direction.
    binning : Binning
        Keypoints of the features.
    sets : TrainingSets
        Labelled sets.
    targets : ndarray of shape (n, outputs)
        What each output is to go with, centred and weighted.
    n_sets : float
        How many sets the weighted ones stand for.
    """
    layout, width = function.layout, function.width
    calibration, vertices = function.calibration.copy(), function.vertices.copy()
    # Along a third vertex the lattice bends, and two keypoints are a line.
    n_keypoints = np.array([0 if keypoints is None else len(keypoints) for keypoints in binning.keypoints])
    can_bend = (np.array(layout.sizes) == 2) & (n_keypoints > 2)
    for output in range(len(look.alone)):
        row = output * width
        bent = _bent(look, output, free & can_bend)
        for d in np.flatnonzero(bent):
            slots = binning.slots_of(binning.features[d].name)
            calibration[row, slots] = _shape(look, output, int(d), slots.stop - slots.start)
        terms = _terms(look, output, free, layout)
        if not bent.any() and len(terms) == layout.n_features:
            continue
        slopes = _slopes(calibration[row], terms, sets, targets[:, output], n_sets)
        # Others keep their direction, and are steep enough to learn by: calibrators of categories begin flat.
        ways, alone = _directions(function.vertices[row], layout), slopes[: layout.n_features]
        slopes[: layout.n_features] = np.where(free, alone, ways * np.maximum(ways * alone, FLATTEST))
        kept = _lattices(layout, terms, slopes)
        vertices[row] = AMPLITUDE * kept / max(np.abs(kept).max(), np.finfo(float).tiny)
    return replace(function, calibration=calibration, vertices=vertices)


def _bent(look: FirstLook, output: int, free: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Return which features bend by more than chance, alone and in products together."""
    n_features = len(free)
    evidence = (look.shapes[output, :, :, 1] ** 2).sum(axis=1)
    return np.asarray(free & (evidence > chdtri(n_features, BY_CHANCE / n_features)))


def _shape(look: FirstLook, output: int, d: int, n_keypoints: int) -> FloatArray:
    """Return the one shape, from 0 to 1 over the keypoints, that is nearest to those alone and in products."""
    errors = look.alone[output, d] / np.where(look.sure_alone[output, d] == 0, 1.0, look.sure_alone[output, d])
    shares = np.linalg.svd(look.shapes[output, d], full_matrices=False)[2][0] * np.abs(errors)
    # Of the two signs one is as good as the other.
    line, bend = shares / shares[np.abs(shares).argmax()]
    places = np.linspace(-1.0, 1.0, n_keypoints)
    values = line * places + bend * np.abs(places)
    # Training makes much of the last bits.
    return np.asarray(np.round((values - values.min()) / np.ptp(values), 6))


def _terms(look: FirstLook, output: int, free: npt.NDArray[np.bool_], layout: Layout) -> list[tuple[Factor, ...]]:
    """Return what a score begins with: each feature alone, bends along third vertices, and pairs beyond chance."""
    n_features = layout.n_features
    bends = [d for d in range(n_features) if layout.sizes[d] > 2 and free[d]]
    terms: list[tuple[Factor, ...]] = [((d, False),) for d in range(n_features)]
    terms += [((d, True),) for d in bends]
    evidence = (look.sure_together[output] ** 2).sum(axis=(2, 3))
    least = chdtri(3, BY_CHANCE / max(len(evidence) * (len(evidence) - 1) // 2, 1))
    for one, other in combinations(range(n_features), 2):
        together = any({one, other} <= set(subset) for subset in layout.subsets)
        if evidence[one, other] > least and free[one] and free[other] and together:
            terms.append(((one, False), (other, False)))
            terms += [((d, True), (e, False)) for d, e in ((one, other), (other, one)) if d in bends]
    return terms


def _slopes(
    calibration: FloatArray, terms: list[tuple[Factor, ...]], sets: TrainingSets, targets: FloatArray, n_sets: float
) -> FloatArray:
    """Return the slopes of least squares in the means of the terms over each set's tokens."""
    positions, table = sets.placed, np.append(2.0 * calibration - 1.0, 0.0)
    slots = positions.slots
    lines = table[slots] + positions.fractions * (table[slots + 1] - table[slots])
    starts, sizes = positions.offsets[:-1], np.diff(positions.offsets)
    columns = np.empty((len(terms), len(sizes)))
    for place, term in enumerate(terms):
        values = np.ones(lines.shape[1])
        for d, bend in term:
            values = values * (np.abs(lines[d]) - 0.5 if bend else lines[d])
        columns[place] = np.add.reduceat(values, starts) / sizes
    columns -= np.average(columns, axis=1, weights=sets.weights)[:, None]
    squares = (sets.weights * columns) @ columns.T
    squares[np.diag_indices_from(squares)] += (
        RIDGE / n_sets * max(np.trace(squares) / len(squares), np.finfo(float).tiny)
    )
    # Training makes much of the last bits, which are not the same for weights as for repetitions.
    slopes = np.linalg.solve(squares, columns @ targets)
    return np.asarray(np.round(slopes / max(np.abs(slopes).max(), np.finfo(float).tiny), 6))


def _directions(vertices: FloatArray, layout: Layout) -> FloatArray:
    """Return along which features the lattices of a score rise, 1, or fall, -1."""
    rises = np.zeros(layout.n_features)
    for first, subset in zip(layout.vertex_offsets, layout.subsets, strict=False):
        sizes = [layout.sizes[d] for d in subset]
        lattice = vertices[first : first + np.prod(sizes)].reshape(sizes)
        for axis, d in enumerate(subset):
            rises[d] += (np.take(lattice, -1, axis) - np.take(lattice, 0, axis)).mean()
    return np.where(rises < 0, -1.0, 1.0)


def _lattices(layout: Layout, terms: list[tuple[Factor, ...]], slopes: FloatArray) -> FloatArray:
    """Return vertices of lattices whose mean has the slopes."""
    of_lattices = []
    holds = [sum({d for d, _ in term} <= set(subset) for subset in layout.subsets) for term in terms]
    for subset in layout.subsets:
        sizes = [layout.sizes[d] for d in subset]
        grid = np.stack(np.meshgrid(*[np.linspace(-1.0, 1.0, size) for size in sizes], indexing="ij"))
        grid = grid.reshape(len(subset), -1)
        values = np.zeros(grid.shape[1])
        for term, slope, count in zip(terms, slopes, holds, strict=True):
            if {d for d, _ in term} <= set(subset):
                factors = [(grid[subset.index(d)], bend) for d, bend in term]
                values += slope / count * np.prod([np.abs(at) - 0.5 if bend else at for at, bend in factors], axis=0)
        of_lattices.append(values)
    return np.concatenate(of_lattices)
