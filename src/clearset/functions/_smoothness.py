"""Smoothness: a penalty on bends and interactions that few sets speak for."""

from itertools import combinations
from math import prod

import numpy as np
from scipy import sparse

from clearset.functions._layout import Layout
from clearset.functions._shape_constraints import Tables
from clearset.functions.projections import edgeworth_rows
from clearset.sets import Binning


class Smoothness:
    """The squared bends of calibrators and twists of lattices, weighed against the loss as a prior would be.

    A bend is the second difference of neighbouring values of a calibrator, v[i - 1] - 2 v[i] + v[i + 1]. A twist is the
    second difference across two inputs of a lattice, v[1, 1] - v[0, 1] - v[1, 0] + v[0, 0], on average over the other
    inputs. Both are 0 for a linear function. If labels scatter around the function by a mean loss of s, and bends and
    twists around 0, then the likeliest function minimises the mean loss over n sets plus ``strength * s / n`` times the
    sum of their squares. So the penalty fades with more sets, and with labels that the function explains without a
    remainder.

    Parameters
    ----------
    binning : Binning
        The calibrators of phi.
    layout : Layout
        The lattices of phi.
    strength : float
        The weight of the penalty; 0 for none.
    n_sets : float
        Number of training sets, or the sum of their weights.
    width : int
        Scores of each token, K.
    rho_keypoints : int
        Keypoints of rho's calibrators.

    Attributes
    ----------
    strength : float
        The weight of the penalty for each set.
    squares : dict of str to sparse array
        For every table that has a penalty the matrix Q of its rows' penalty ``v @ Q @ v``.
    level : ndarray of shape (1,)
        The running average of the loss, NaN before the first step.
    """

    def __init__(
        self, binning: Binning, layout: Layout, strength: float, n_sets: float, *, width: int, rho_keypoints: int
    ) -> None:
        self.strength = strength / n_sets
        self.level = np.full(1, np.nan)
        lattices = [_twists([layout.sizes[d] for d in subset]) for subset in layout.subsets]
        line = _bends(rho_keypoints, [slice(0, rho_keypoints)])
        rows = {
            "phi.calibration": _bends(binning.n_slots, _numeric_slots(binning)),
            "phi.vertices": sparse.block_diag(lattices, format="csr"),
            "rho.calibrators": line,
            "rho.vertices": _twists([2] * width),
            "rho.output": line,
        }
        self.squares = {name: (matrix.T @ matrix).tocsr() for name, matrix in rows.items() if matrix.shape[0]}

    def gradients(self, tables: Tables, loss: float) -> tuple[float, dict[str, np.ndarray]]:
        """Return the penalty's gradient by each table that has one, and a factor that all of them have in common."""
        # The running average of `loss`, the mean loss of each step, is the scatter of labels.
        level = float(self.level[0])
        self.level[0] = level = loss if np.isnan(level) else level + 0.05 * (loss - level)
        gradients = {name: (squares @ tables[name].T).T for name, squares in self.squares.items()}
        return 2.0 * self.strength * level, gradients


def _numeric_slots(binning: Binning) -> list[slice]:
    return [
        binning.slots_of(feature.name)
        for feature, keypoints in zip(binning.features, binning.keypoints, strict=True)
        if keypoints is not None
    ]


def _bends(size: int, lines: list[slice]) -> sparse.csr_array:
    """Return a row for each bend of the lines among ``size`` columns."""
    parts = [np.arange(line.start + 1, line.stop - 1) for line in lines]
    middles = np.concatenate([np.empty(0, dtype=np.int64), *parts])
    rows = np.arange(len(middles))
    columns = np.concatenate([middles - 1, middles, middles + 1])
    values = np.repeat([1.0, -2.0, 1.0], len(middles))
    return sparse.csr_array((values, (np.tile(rows, 3), columns)), shape=(len(middles), size))


def _twists(sizes: list[int]) -> sparse.csr_array:
    """Return a row for each twist of a lattice, scaled so that those of one pair of inputs count as one."""
    parts = []
    for one, other in combinations(range(len(sizes)), 2):
        rows = edgeworth_rows(sizes, one, other)
        places = (np.repeat(np.arange(len(rows)), rows.indices.shape[1]), rows.indices.ravel())
        values = rows.coefficients.ravel() / np.sqrt(len(rows))
        parts.append(sparse.csr_array((values, places), shape=(len(rows), prod(sizes))))
    return sparse.vstack(parts, format="csr") if parts else sparse.csr_array((0, prod(sizes)))
