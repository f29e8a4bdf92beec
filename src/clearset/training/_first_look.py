"""What least squares say of features alone and in pairs, before anything is trained."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from clearset.engines import TrainingSets
from clearset.sets import Binning
from clearset.training._looks import PAIR_BY_CHANCE, Looks, count_tokens, some_sets

FloatArray = npt.NDArray[np.float64]

# Sets that are looked at, at most, and fewer where products of their tokens' values would be more than so many; how
# many there have to be for each column of least squares.
MOST_SETS, MOST_PRODUCTS, SETS_OF_A_COLUMN = 20_000, 30_000_000, 2.0
# Columns at most: those of 31 features. Their time grows with the square of their number.
MOST_COLUMNS = 1500
# Places that differ by less are the same.
SAME = 1e-9
# What is added to the squares of columns of variance 1, in sets.
RIDGE = 1.0


@dataclass(frozen=True, eq=False)
class FirstLook:
    """The slopes of least squares of the labels, in lines and bends of features and in products of pairs.

    The line of a feature is a token's place among its keypoints, from -1 to 1; the bend is the distance from the middle
    one, from -0.5 to 0.5; both count from their means. Of products at least one factor is a line.
    """

    alone: FloatArray  # (C, D, 2) slopes of each feature's line and bend
    together: FloatArray  # (C, D, D, 2, 2) slopes of products: line or bend of the first and of the second feature
    sure_alone: FloatArray  # the same, divided by their standard errors
    sure_together: FloatArray

    @classmethod
    def at(
        cls, binning: Binning, sample: TrainingSets, targets: FloatArray, repetitions: float = 1.0
    ) -> "FirstLook | None":
        """Look at labelled sets; None where they are too few for so many features, or features are one or too many.

        Parameters
        ----------
        binning : Binning
            Keypoints of the features.
        sample : TrainingSets
            Labelled sets.
        targets : ndarray of shape (n, outputs)
            What each output is to go with, centred and weighted.
        repetitions : float, default=1.0
            How many sets a weight of 1 stands for.
        """
        n_features = len(binning.features)
        pairs = list(combinations(range(n_features), 2))
        n_columns, products = 2 * n_features + 3 * len(pairs), 3 * len(pairs) * count_tokens(sample)
        most = MOST_SETS if products <= MOST_PRODUCTS else len(sample) * MOST_PRODUCTS // products
        chosen = some_sets(len(sample), min(most, MOST_SETS))
        some = sample.take(chosen)
        weights = some.weights * repetitions
        if not pairs or n_columns > MOST_COLUMNS or weights.sum() < SETS_OF_A_COLUMN * n_columns:
            return None
        looks = Looks.at(binning, some)
        lines, bends = _told_apart(looks, looks.places, weights), _told_apart(looks, looks.distances, weights)
        columns = np.empty((n_columns, len(some)))
        columns[:n_features], columns[n_features : 2 * n_features] = looks.means(lines), looks.means(bends)
        for row, of_pair in zip(range(2 * n_features, n_columns, 3), looks.products(lines, bends), strict=True):
            columns[row : row + 3] = of_pair
        columns -= np.average(columns, axis=1, weights=weights)[:, None]
        spread = np.sqrt(np.average(columns**2, axis=1, weights=weights))[:, None]
        told = spread > 1e-9
        columns = np.divide(columns, spread, out=np.zeros_like(columns), where=told) * np.sqrt(weights)
        squares = columns @ columns.T
        squares[np.diag_indices_from(squares)] += RIDGE + ~told[:, 0]
        inverse = np.linalg.inv(squares)
        labels = targets[chosen] * np.sqrt(repetitions / some.weights)[:, None]
        slopes = (inverse @ (columns @ labels)).T
        rest = labels.T - slopes @ columns
        noise = (rest**2).sum(axis=1, keepdims=True) / max(weights.sum() - len(columns), 1.0)
        errors = np.sqrt(np.maximum(noise, np.finfo(float).tiny) * np.diag(inverse))
        own = slopes * np.where(told, 1.0 / np.where(told, spread, 1.0), 0.0)[:, 0]
        return cls(*_parts(own, pairs, n_features), *_parts(slopes / errors, pairs, n_features))

    @property
    def pair_strengths(self) -> FloatArray:
        """``(D, D)`` how strongly the labels go with pairs of features; 0 where chance may have done it."""
        return np.asarray(np.maximum(0.0, (self.sure_together**2).sum(axis=(3, 4)).max(axis=0) - PAIR_BY_CHANCE))

    @property
    def shapes(self) -> FloatArray:
        """``(C, D, D, 2)`` for each feature a matrix: its line and bend, alone and in products with others' lines."""
        found = self.sure_together[..., :, 0].copy()
        diagonal = np.arange(found.shape[1])
        found[:, diagonal, diagonal] = self.sure_alone
        return found

    @property
    def second_shapes(self) -> FloatArray:
        """``(D,)`` how strongly the labels speak for a second shape of each feature, in squared standard errors.

        Along two vertices of a lattice a feature has one shape, that of its calibrator: alone as together with others,
        but for a factor. One shape leaves the matrix of `shapes` with one singular value beyond chance; the square of
        the other is a chi-square by chance, of as many degrees of freedom as there are other features.
        """
        return np.asarray((np.linalg.svd(self.shapes, compute_uv=False)[..., 1] ** 2).max(axis=0))


def _told_apart(looks: Looks, values: FloatArray, weights: FloatArray) -> FloatArray:
    """Return lines or bends with mean 0; those that are constant, or the same as those of an earlier feature, are 0.

    Otherwise products with them would say the same as lines and bends of other features, or as products of these.
    """
    centred = values - np.average(looks.means(values), axis=1, weights=weights)[:, None]
    for d in range(1, len(centred)):
        if np.abs(values[:d] - values[d]).max(axis=1).min() < SAME:
            centred[d] = 0.0
    centred[np.ptp(values, axis=1) < SAME] = 0.0
    return centred


def _parts(slopes: FloatArray, pairs: list[tuple[int, int]], n_features: int) -> tuple[FloatArray, FloatArray]:
    """Return slopes by feature, and by pair of features, each pair in both orders."""
    alone = slopes[:, : 2 * n_features].reshape(-1, 2, n_features).transpose(0, 2, 1)
    together = np.zeros((len(slopes), n_features, n_features, 2, 2))
    first, second = np.array(pairs).T
    lines, other_bent, bent = np.moveaxis(slopes[:, 2 * n_features :].reshape(len(slopes), -1, 3), 2, 0)
    for one, other, own, others in ((first, second, bent, other_bent), (second, first, other_bent, bent)):
        together[:, one, other, 0, 0] = lines
        together[:, one, other, 1, 0] = own
        together[:, one, other, 0, 1] = others
    return np.ascontiguousarray(alone), together
