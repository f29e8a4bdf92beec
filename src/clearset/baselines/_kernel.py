"""The mean of pairwise token kernels between sets, and features of sets whose products are that kernel."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from scipy.linalg import eigh

from clearset.baselines._encoding import Floats, TokenValues

Float64 = npt.NDArray[np.float64]

# Kernels of tokens are calculated in blocks of this many values.
BLOCK_VALUES = 4_000_000
# Directions in which the landmarks vary less than by this share are rounding errors.
SMALLEST_SHARE = 1e-13


def mean_kernel(left: TokenValues, right: TokenValues, gamma: float) -> Float64:
    """Return the ``(A, B)`` kernel of A sets with B sets: the mean over all pairs of tokens of exp(-gamma |s - t|^2).

    Examples
    --------
    >>> sets = TokenValues(np.array([[0.0], [1.0], [1.0]]), np.array([0, 2, 3]))
    >>> mean_kernel(sets, sets, 1.0).round(3)
    array([[0.684, 0.684],
           [0.684, 1.   ]])
    """
    sums = np.zeros((len(left.offsets) - 1, len(right.offsets) - 1))
    step = max(1, BLOCK_VALUES // len(right.values))
    for start in range(0, len(left.values), step):
        stop = min(start + step, len(left.values))
        block = _rbf(right.values, left.values[start:stop], gamma)
        means = np.add.reduceat(block, right.offsets[:-1], axis=0) / np.diff(right.offsets)[:, None]
        # A block begins and ends within sets as it happens: their sums go on in the next block.
        first = int(np.searchsorted(left.offsets, start, side="right")) - 1
        last = int(np.searchsorted(left.offsets, stop, side="left"))
        begins = np.maximum(left.offsets[first:last], start) - start
        sums[first:last] += np.add.reduceat(means, begins, axis=1).T
    sums /= np.diff(left.offsets)[:, None]
    return sums


def _rbf(left: Floats, right: Floats, gamma: float) -> Float64:
    a, b = torch.from_numpy(left), torch.from_numpy(right)
    squares = torch.addmm(a.square().sum(1, keepdim=True) + b.square().sum(1), a, b.T, alpha=-2.0)
    kernel: Float64 = squares.clamp_(min=0.0).mul_(-gamma).exp_().numpy()
    return kernel


@dataclass(frozen=True, eq=False)
class KernelFeatures:
    """Features z of sets, such that z(x) . z(y) is the kernel of x and y, as far as it is seen by landmarks.

    With landmarks l_1, ..., l_n, which are sets themselves, and their kernel matrix K,

        z(x) = (k(x, l_1), ..., k(x, l_n)) K^(-1/2).

    Where x or y is a landmark, z(x) . z(y) = k(x, y) exactly: with all training sets as landmarks a linear model of z
    is the kernel machine. Where the landmarks are single tokens, z(x) is the mean of the Nyström features of x's
    tokens, so that z(x) . z(y) is the mean pairwise kernel of their approximations, and with all tokens as landmarks
    exact again.

    Examples
    --------
    >>> sets = TokenValues(np.array([[0.0], [1.0], [1.0]]), np.array([0, 2, 3]))
    >>> features = KernelFeatures.of(sets, 1.0)(sets)
    >>> (features @ features.T).round(3)
    array([[0.684, 0.684],
           [0.684, 1.   ]])
    """

    landmarks: TokenValues
    gamma: float
    whitening: Float64

    @classmethod
    def of(cls, landmarks: TokenValues, gamma: float) -> "KernelFeatures":
        """Calculate K^(-1/2), leaving out directions in which landmarks do not differ."""
        values, vectors = eigh(mean_kernel(landmarks, landmarks, gamma))
        kept = values > SMALLEST_SHARE * len(values) * values[-1]
        return cls(landmarks, gamma, vectors[:, kept] / np.sqrt(values[kept]))

    def __call__(self, sets: TokenValues) -> Float64:
        """Return the ``(B, R)`` features of sets."""
        features: Float64 = mean_kernel(sets, self.landmarks, self.gamma) @ self.whitening
        return features
