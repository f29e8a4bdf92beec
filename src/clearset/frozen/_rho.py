"""rho in plain numpy."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FrozenRho:
    """Calibrators of K means, a lattice that fuses them, and a calibrator of what it gives.

    Attributes
    ----------
    calibrators
        ``(K, V)``, keypoints uniform on [-1, 1].
    vertices
        ``(2 ** K,)``, in C order.
    output
        ``(V,)``, keypoints uniform on [-1, 1].

    Examples
    --------
    The larger of two means, doubled:

    >>> line = np.array([[0.0, 1.0], [0.0, 1.0]])
    >>> rho = FrozenRho(line, np.array([-1.0, 1.0, 1.0, 1.0]), np.array([-2.0, 2.0]))
    >>> rho(np.array([[1.0, -0.5], [-1.0, 0.5]]))
    array([2., 1.])
    """

    calibrators: FloatArray
    vertices: FloatArray
    output: FloatArray

    @property
    def nbytes(self) -> int:
        """Bytes of the parameters."""
        return self.calibrators.nbytes + self.vertices.nbytes + self.output.nbytes

    def __call__(self, means: FloatArray) -> FloatArray:
        """Map ``(B, K)`` means to ``(B,)`` outputs."""
        values: FloatArray = self.vertices[None]
        for k, curve in enumerate(self.calibrators):
            low, high = np.split(values, 2, axis=1)
            share = np.clip(_read(curve, means[:, k]), 0.0, 1.0)[:, None]
            values = low + share * (high - low)
        return _read(self.output, values[:, 0])


def _read(curve: FloatArray, inputs: FloatArray) -> FloatArray:
    n_segments = len(curve) - 1
    places = (np.clip(inputs, -1.0, 1.0) + 1.0) * (n_segments / 2)
    left = np.minimum(places.astype(np.int64), n_segments - 1)
    return np.asarray(curve[left] + (places - left) * (curve[left + 1] - curve[left]))
