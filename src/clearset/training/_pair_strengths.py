"""How strongly the labels go with pairs of features, beyond what they say of each one."""

from itertools import combinations, islice

import numpy as np
import numpy.typing as npt

from clearset.engines import TrainingSets
from clearset.sets import Binning
from clearset.training._looks import PAIR_BY_CHANCE, Looks, count_tokens, some_sets

FloatArray = npt.NDArray[np.float64]

# Products of tokens' values that are looked at, at most.
MOST_PRODUCTS = 30_000_000
# Pairs that are looked at together: their products stand in memory at once.
AT_ONCE = 50


def pair_strengths(binning: Binning, sample: TrainingSets, targets: FloatArray, repetitions: float = 1.0) -> FloatArray:
    """Return how much better products of two features explain the labels than chance.

    A feature is looked at as its place among its keypoints and as the distance from the middle one. A set has their
    means over its tokens, and those of their products for each pair. What the former explain by least squares is taken
    out of labels and products alike; what is left of a product tells of the pair as its squared correlation with the
    labels' rest, times the number of sets. So it is found before anything is trained, by one pass.

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

    Returns
    -------
    ndarray of shape (D, D)
        Symmetric; 0 where the products say no more than they do by chance.
    """
    n_features = len(binning.features)
    strengths = np.zeros((n_features, n_features))
    pairs = list(combinations(range(n_features), 2))
    tokens = count_tokens(sample)
    step = max(1, -(-tokens * len(pairs) * 3 // MOST_PRODUCTS))
    chosen = some_sets(len(sample), -(-len(sample) // step))
    some = sample.take(chosen)
    n_sets = float(some.weights.sum()) * repetitions
    if not pairs or n_sets <= 4 * n_features:
        return strengths
    roots = np.sqrt(some.weights)
    looks = Looks.at(binning, some)
    alone = np.vstack([roots, roots * looks.means(looks.places), roots * looks.means(looks.distances)])
    basis = np.linalg.qr(alone.T)[0]

    def rest(columns: FloatArray) -> FloatArray:
        left = columns - basis @ (basis.T @ columns)
        lengths = np.linalg.norm(left, axis=0)
        told = lengths > 1e-6 * np.linalg.norm(columns, axis=0)
        return np.asarray(np.divide(left, lengths, out=np.zeros_like(left), where=told))

    labels = rest(targets[chosen] / roots[:, None])
    found, all_products = [], looks.products(looks.places, looks.distances)
    while at_once := list(islice(all_products, AT_ONCE)):
        told = (labels.T @ rest((roots * np.concatenate(at_once)).T)).reshape(labels.shape[1], len(at_once), -1)
        found.append(n_sets * (told**2).sum(axis=2).max(axis=0))
    one, other = np.array(pairs).T
    strengths[one, other] = strengths[other, one] = np.maximum(0.0, np.concatenate(found) - PAIR_BY_CHANCE)
    return strengths
