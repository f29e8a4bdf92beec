"""Initial values: a set function that can get going from its first step."""

import numpy as np
import torch

from clearset.kernels import Layout
from clearset.setfunction._module import Phi, Rho, SetFunction
from clearset.sets import Binning, Feature

# The sum of a lattice's slopes at the start: large enough for rho's keypoints to tell sets apart, far enough from the
# bounds -1 and 1 to grow. Lattices at exactly 0 would leave every calibrator without a gradient.
AMPLITUDE = 0.5


def initial_set_function(
    binning: Binning,
    layout: Layout,
    *,
    width: int,
    outputs: int,
    rho_keypoints: int,
    rng: np.random.Generator,
) -> SetFunction:
    """Make a set function of straight calibrators and slightly sloping, mutually different lattices.

    Parameters
    ----------
    binning
        Keypoints and categories.
    layout
        The lattices of phi.
    width, outputs
        K and C.
    rho_keypoints
        Keypoints of rho's calibrators.
    rng
        Where the differences between the lattices come from.
    """
    rows = outputs * width
    calibration = np.tile(_straight_calibrators(binning), (rows, 1))
    slopes = _slopes(binning.features, width, outputs, rng)
    vertices = np.concatenate(
        [_sloping_lattice(slopes, subset, layout.sizes) for subset in layout.subsets], axis=1
    )
    phi = Phi(layout, torch.from_numpy(calibration), torch.from_numpy(vertices))
    return SetFunction(phi, Rho(width, outputs, rho_keypoints)).double()


def _straight_calibrators(binning: Binning) -> np.ndarray:
    """Start numeric calibrators as straight lines from 0 to 1; categories and missing values in the middle."""
    calibration = np.full(binning.n_slots, 0.5)
    for feature, keypoints in zip(binning.features, binning.keypoints, strict=True):
        if keypoints is not None:
            calibration[binning.slots_of(feature.name)] = _straight(keypoints)
    return calibration


def _straight(keypoints: np.ndarray) -> np.ndarray:
    halves = keypoints / 2  # the distance between the ends may exceed the largest float
    return np.asarray((halves - halves[0]) / (halves[-1] - halves[0]))


def _slopes(features: tuple[Feature, ...], width: int, outputs: int, rng: np.random.Generator) -> np.ndarray:
    """Draw each lattice's slopes ``(outputs * width, D)``.

    A declared feature has the sign it asks for. The sign of any other alternates over the lattices of an output:
    lattices that start on the same side of such a feature tend to stay there, and a weighted mean needs one on each.
    """
    shape = (outputs, width, len(features))
    sizes = rng.uniform(0.2, 1.0, size=shape)
    signs = rng.choice([-1.0, 1.0], size=(outputs, 1, len(features))) * (-1.0) ** np.arange(width)[:, None]
    for d, feature in enumerate(features):
        if feature.direction:
            signs[:, :, d] = feature.direction
    slopes = AMPLITUDE * signs * sizes / sizes.sum(axis=2, keepdims=True)
    return np.asarray(slopes.reshape(outputs * width, -1))


def _sloping_lattice(slopes: np.ndarray, subset: tuple[int, ...], sizes: tuple[int, ...]) -> np.ndarray:
    axes = [np.linspace(-1.0, 1.0, sizes[d]) for d in subset]
    grid = np.stack(np.meshgrid(*axes, indexing="ij")).reshape(len(subset), -1)
    return np.asarray(slopes[:, list(subset)] @ grid)
