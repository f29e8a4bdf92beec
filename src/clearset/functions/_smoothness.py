"""Smoothness: a penalty on bends and interactions that few sets speak for."""

from dataclasses import dataclass
from math import comb, prod

import numpy as np
from scipy import sparse

from clearset.functions._interactions import Interactions
from clearset.functions._layout import Layout
from clearset.functions._shape_constraints import Tables
from clearset.sets import Binning

# Bends of all calibrators together, and interactions of all pairs and of all triples of features together, may say as
# much as those of so many features, pairs and triples of which each has a penalty of 1.
SHARED_BY = (10, 20, 30)
# With no more strength there is no penalty on slopes either.
LEAST_STRENGTH = 1e-100


@dataclass(frozen=True)
class Penalty:
    """What smoothness is asked for.

    Parameters
    ----------
    strength : float
        The weight of bends and interactions; 0 for no penalty at all.
    slopes : float, default=0.0
        The weight of slopes.
    height : float, default=0.0
        The weight of the output's height.
    at_first : float, default=1.0
        The share of the strength with which training begins.
    least_scatter : float, default=0.0
        What labels scatter by at least.

    Examples
    --------
    >>> from clearset.functions import Penalty
    >>> Penalty(100.0, at_first=0.25)
    Penalty(strength=100.0, slopes=0.0, height=0.0, at_first=0.25, least_scatter=0.0)
    """

    strength: float
    slopes: float = 0.0
    height: float = 0.0
    at_first: float = 1.0
    least_scatter: float = 0.0


class Smoothness:
    """The squared bends of calibrators and interactions in lattices, weighed against the loss as a prior would be.

    A bend is how far neighbouring values of a calibrator are from a line: with keypoints at equal distances the second
    difference v[i - 1] - 2 v[i] + v[i + 1]. Distances between keypoints count by their roots. So a line is between one
    in the values of a feature and one in their ranks, at whose quantiles keypoints stand: where values are skewed an
    effect is as likely to follow either. A twist is the second difference across two inputs of a lattice, v[1, 1] -
    v[0, 1] - v[1, 0] + v[0, 0], a third difference that across three of them. All are 0 for functions in which effects
    are straight and add up. If labels scatter around the function by a mean loss of s, and what is penalised around 0,
    then the likeliest function minimises the mean loss over n sets plus ``strength * s / n`` times the sum of squares.
    So the penalty fades with more sets, and with numbers that the function explains without a remainder; with classes
    only down to a least s, since any steep function tells a few sets apart. The more features there are, the less is
    expected of each one, of each pair and of each triple, so that a function of many features is as smooth as one of
    few.

    A slope is how far a calibrator of phi rises from its first keypoint to its last. Its square has a weight of its
    own, whatever the strength, and counts when bends do: where few sets are trained on, the slopes of features that say
    little stay small. Who declares a direction expects a slope, which costs nothing then. The height of the output is
    how far its calibrator rises from end to end, and has a weight of its own too: few sets do not speak for predictions
    far from their mean.

    A strong penalty would keep training that starts from nothing from finding interactions that reduce the loss only
    once they are large: the loss, and with it the penalty, would stay high. So the strength may rise from a share of it
    to the whole in the first half of the steps.

    Parameters
    ----------
    binning : Binning
        The calibrators of phi.
    layout : Layout
        The lattices of phi.
    penalty : Penalty
        What is asked for.
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
    at_first : float
        The share of the strength with which training begins.
    least_scatter : float
        What labels scatter by at least.
    squares : dict of str to sparse array
        For every table of calibrators the matrix Q of its rows' penalty ``v @ Q @ v``.
    interactions : dict of str to tuple of Interactions
        For every table of lattices that has a penalty that of each lattice.
    level : ndarray of shape (1,)
        The running average of the loss, NaN before the first step.
    """

    def __init__(
        self, binning: Binning, layout: Layout, penalty: Penalty, n_sets: float, *, width: int, rho_keypoints: int
    ) -> None:
        self.strength = penalty.strength / n_sets
        self.at_first, self.least_scatter = penalty.at_first, penalty.least_scatter
        self.level = np.full(1, np.nan)
        line = _bends([np.arange(rho_keypoints)], [0], rho_keypoints)
        shares = [comb(layout.n_features, count) / most for count, most in enumerate(SHARED_BY, 1)]
        bends = np.sqrt(shares[0]) * _bends(*_numeric(binning), binning.n_slots)
        rows = {"phi.calibration": [bends], "rho.calibrators": [line], "rho.output": [line]}
        # Slopes stand among bends, which no number so small can be divided by.
        if penalty.slopes and penalty.strength > LEAST_STRENGTH:
            slopes = _slopes(*_numeric(binning, declared=False), binning.n_slots)
            rows["phi.calibration"].append(np.sqrt(penalty.slopes / penalty.strength) * slopes)
        if penalty.height and penalty.strength > LEAST_STRENGTH:
            height = _slopes([np.arange(rho_keypoints)], [0], rho_keypoints)
            rows["rho.output"].append(np.sqrt(penalty.height / penalty.strength) * height)
        matrices = {name: sparse.vstack(parts) for name, parts in rows.items()}
        self.squares = {name: (matrix.T @ matrix).tocsr() for name, matrix in matrices.items() if matrix.shape[0]}
        # Phi is the mean of its lattices, each of which may say so much more.
        scale = len(layout.subsets) ** 2
        lattices = [
            _interactions(first, tuple(layout.sizes[d] for d in subset), shares[1] / scale, shares[2] / scale)
            for first, subset in zip(layout.vertex_offsets, layout.subsets, strict=False)
        ]
        of_tables = {"phi.vertices": lattices, "rho.vertices": [_interactions(0, (2,) * width, 1.0, 0.0)]}
        self.interactions = {
            name: tuple(lattices)
            for name, lattices in of_tables.items()
            if any(len(lattice.sizes) > 1 for lattice in lattices)
        }

    def gradients(self, tables: Tables, loss: float, progress: float = 1.0) -> tuple[float, dict[str, np.ndarray]]:
        """Return the penalty's gradient by each table that has one, and a factor that all of them have in common.

        Parameters
        ----------
        tables : dict of str to ndarray
            The tables of a set function.
        loss : float
            The mean loss of the step; its running average is the scatter of labels.
        progress : float, default=1.0
            The share of the steps that are done.
        """
        level = float(self.level[0])
        self.level[0] = level = loss if np.isnan(level) else level + 0.05 * (loss - level)
        gradients = {name: (squares @ tables[name].T).T for name, squares in self.squares.items()}
        for name, lattices in self.interactions.items():
            gradients[name] = np.zeros_like(tables[name])
            for lattice in lattices:
                gradients[name][:, lattice.columns] = lattice.gradient(tables[name][:, lattice.columns])
        share = self.at_first ** max(0.0, 1.0 - 2.0 * progress)
        return 2.0 * self.strength * share * max(level, self.least_scatter), gradients

    def matrix(self, name: str) -> sparse.csr_array | None:
        """Return the matrix Q of the penalty ``v @ Q @ v`` of a table's rows; None where there is none."""
        if name in self.squares:
            return self.squares[name]
        lattices = self.interactions.get(name)
        if lattices is None:
            return None
        return sparse.csr_array(sparse.block_diag([lattice.matrix() for lattice in lattices], format="csr"))


def _interactions(first: int, sizes: tuple[int, ...], twists: float, thirds: float) -> Interactions:
    """Return the penalty of a lattice: weights of the mean squared twist and third difference of lattices of size 2."""
    # Between -1 and 1, a product of two inputs has twists of 4, and one of three third differences of 8.
    n_vertices = prod(sizes)
    return Interactions(first, sizes, 16.0 * twists / n_vertices, 64.0 * thirds / n_vertices)


def _numeric(binning: Binning, *, declared: bool = True) -> tuple[list[np.ndarray], list[int]]:
    """Return the keypoints of each numeric feature, and its first slot; of all, or of those without a direction."""
    features = [
        (keypoints, binning.slots_of(feature.name).start)
        for feature, keypoints in zip(binning.features, binning.keypoints, strict=True)
        if keypoints is not None and (declared or not feature.direction)
    ]
    return [keypoints for keypoints, _ in features], [first for _, first in features]


def _bends(lines: list[np.ndarray], firsts: list[int], size: int) -> sparse.csr_array:
    """Return a row for each bend of the lines over some keypoints, whose values begin at some of ``size`` columns."""
    before, after = np.empty(0), np.empty(0)
    middles = np.empty(0, dtype=np.int64)
    for keypoints, first in zip(lines, firsts, strict=True):
        steps = np.sqrt(np.diff(keypoints / 2))  # the distance between the ends may exceed the largest float
        before, after = np.append(before, steps[:-1]), np.append(after, steps[1:])
        middles = np.append(middles, np.arange(first + 1, first + len(steps)))
    rows = np.arange(len(middles))
    columns = np.concatenate([middles - 1, middles, middles + 1])
    share = after / (before + after)
    values = np.concatenate([2.0 * share, np.full(len(middles), -2.0), 2.0 * (1.0 - share)])
    return sparse.csr_array((values, (np.tile(rows, 3), columns)), shape=(len(middles), size))


def _slopes(lines: list[np.ndarray], firsts: list[int], size: int) -> sparse.csr_array:
    """Return a row for the slope of each of the lines whose values begin at some of ``size`` columns."""
    rows, first = np.arange(len(lines)), np.array(firsts, dtype=np.int64)
    last = first + np.array([len(keypoints) - 1 for keypoints in lines], dtype=np.int64)
    values = np.repeat([-1.0, 1.0], len(lines))
    return sparse.csr_array((values, (np.tile(rows, 2), np.append(first, last))), shape=(len(lines), size))
