"""Interactions: the parts of a lattice that depend on two inputs or more."""

from dataclasses import dataclass
from math import prod

import numpy as np
import numpy.typing as npt
from scipy import sparse

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Interactions:
    r"""A penalty on the squared interactions of a lattice, which is 0 where the inputs' effects add up.

    A lattice is a sum of parts, one for each subset of its inputs, that are 0 on average along each of these inputs.
    With A_d for the average along input d,

    .. math:: N = \sum_d (1 - A_d)

    multiplies a part of k inputs by k. So N (N - 1) / 2 counts the pairs of its inputs, N (N - 1) (N - 2) / 6 their
    triples, and the penalty is

    .. math:: \mathrm{pairs} \cdot v^T \binom{N}{2} v + \mathrm{triples} \cdot v^T \binom{N}{3} v.

    Parameters
    ----------
    first : int
        The column of the table at which the lattice begins.
    sizes : tuple of int
        The number of vertices along each input.
    pairs, triples : float
        The weight of a squared part for each pair and each triple of its inputs.

    Examples
    --------
    >>> added, multiplied = [0.0, 1.0, 2.0, 3.0], [1.0, 0.0, 0.0, 1.0]
    >>> Interactions(0, (2, 2), pairs=1.0, triples=0.0).gradient(np.array([added, multiplied]))
    array([[ 0. ,  0. ,  0. ,  0. ],
           [ 0.5, -0.5, -0.5,  0.5]])
    """

    first: int
    sizes: tuple[int, ...]
    pairs: float
    triples: float

    @property
    def columns(self) -> slice:
        """The columns of the table that hold the lattice."""
        return slice(self.first, self.first + prod(self.sizes))

    def gradient(self, vertices: FloatArray) -> FloatArray:
        """Return half the gradient of the penalty of each lattice in ``(rows, vertices)``."""
        of_one = self._counted(vertices)
        of_two = self._counted(of_one) - of_one
        of_three = self._counted(of_two) - 2.0 * of_two
        return self.pairs / 2.0 * of_two + self.triples / 6.0 * of_three

    def _counted(self, vertices: FloatArray) -> FloatArray:
        cube = vertices.reshape(-1, *self.sizes)
        counted = sum((cube - cube.mean(axis=axis, keepdims=True) for axis in range(1, cube.ndim)), np.zeros(()))
        return np.asarray(np.broadcast_to(counted, cube.shape).reshape(vertices.shape))

    def matrix(self) -> sparse.csr_array:
        """Return the matrix Q of the penalty ``v @ Q @ v``."""
        counted = sparse.csr_array((prod(self.sizes), prod(self.sizes)))
        for d, size in enumerate(self.sizes):
            others = prod(self.sizes[:d]), prod(self.sizes[d + 1 :])
            along = sparse.csr_array(np.eye(size) - 1.0 / size)
            counted += sparse.kron(sparse.kron(sparse.eye_array(others[0]), along), sparse.eye_array(others[1]))
        of_two = counted @ counted - counted
        return sparse.csr_array(self.pairs / 2.0 * of_two + self.triples / 6.0 * (counted @ of_two - 2.0 * of_two))
