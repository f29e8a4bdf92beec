"""The set function as plain data: five tables of numbers and the layout of phi's lattices."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from clearset.functions._layout import Layout
from clearset.runtime import Support


@dataclass(frozen=True, eq=False)
class Rho:
    """Layers 4 to 6 of C set functions of width K, without phi.

    Parameters
    ----------
    calibrators : ndarray of shape (C * K, V)
        Calibrated values; keypoints are uniform on [-1, 1].
    vertices : ndarray of shape (C, 2 ** K)
        Lattices, in C order.
    output : ndarray of shape (C, V)
        Output calibrators; keypoints are uniform on [-1, 1].
    """

    calibrators: npt.NDArray[Any]
    vertices: npt.NDArray[Any]
    output: npt.NDArray[Any]

    @property
    def outputs(self) -> int:
        """Number of functions, C."""
        return len(self.output)

    @property
    def width(self) -> int:
        """Means that each function fuses, K."""
        return len(self.calibrators) // len(self.output)

    @property
    def nbytes(self) -> int:
        """Bytes of the tables."""
        return int(self.calibrators.nbytes + self.vertices.nbytes + self.output.nbytes)


@dataclass(frozen=True, eq=False, repr=False)
class SetFunction:
    """C functions f(x) = rho(mean over the tokens of phi(token)), each of width K.

    There is one function for a number, for two classes, and for tokens crossed with classes; otherwise one for each
    class. All tables have one row for each of the C functions, or for each of its K scores.

    Parameters
    ----------
    layout : Layout
        The lattices of phi.
    calibration : ndarray of shape (C * K, S)
        Calibrators of phi: the calibrated value of every slot.
    vertices : ndarray of shape (C * K, P)
        Lattices of phi: the value of every vertex, in the order of `layout`.
    rho_calibrators : ndarray of shape (C * K, V)
        Calibrators of rho: the calibrated value of every keypoint; keypoints are uniform on [-1, 1].
    rho_vertices : ndarray of shape (C, 2 ** K)
        Lattices of rho: the value of every vertex, in C order.
    rho_output : ndarray of shape (C, V)
        Output calibrators: the output at every keypoint, uniform on [-1, 1].
    corrections : ndarray of shape (M, classes), optional
        What is added to the values of M tokens, for each class; see `CrossedPositions.corrected`.
    support : Support, optional
        What training has shown; without it, sets of any size count in full.

    Examples
    --------
    >>> import numpy as np
    >>> from clearset.functions import Layout, SetFunction
    >>> line = np.array([[0.0, 1.0]])
    >>> function = SetFunction(Layout.full((2,)), line, 2 * line - 1, line, 2 * line - 1, 2 * line - 1)
    >>> function.width, function.outputs, function.rho_keypoints
    (1, 1, 2)
    >>> function.rescaled(10.0, 2.0).rho_output
    array([[ 8., 12.]])
    """

    layout: Layout
    calibration: npt.NDArray[Any]
    vertices: npt.NDArray[Any]
    rho_calibrators: npt.NDArray[Any]
    rho_vertices: npt.NDArray[Any]
    rho_output: npt.NDArray[Any]
    corrections: npt.NDArray[Any] | None = None
    support: Support | None = None

    def __repr__(self) -> str:
        lattices = f"{len(self.layout.subsets)} lattice{'s' * (len(self.layout.subsets) > 1)}"
        return f"SetFunction({self.layout.n_features} features, width {self.width}, {lattices})"

    @property
    def outputs(self) -> int:
        """Number of functions, C."""
        return len(self.rho_output)

    @property
    def width(self) -> int:
        """Scores of each token, K."""
        return len(self.calibration) // len(self.rho_output)

    @property
    def rho_keypoints(self) -> int:
        """Keypoints of rho's calibrators."""
        return int(self.rho_output.shape[1])

    @property
    def rho(self) -> Rho:
        """What follows the mean over each set's tokens."""
        return Rho(self.rho_calibrators, self.rho_vertices, self.rho_output)

    @property
    def tables(self) -> dict[str, npt.NDArray[Any]]:
        """The five tables by name, in the order of the layers."""
        return {
            "phi.calibration": self.calibration,
            "phi.vertices": self.vertices,
            "rho.calibrators": self.rho_calibrators,
            "rho.vertices": self.rho_vertices,
            "rho.output": self.rho_output,
        }

    def with_tables(self, tables: dict[str, npt.NDArray[Any]]) -> "SetFunction":
        """Return the function with other tables, named as those of `tables`."""
        calibration, vertices, rho_calibrators, rho_vertices, rho_output = (tables[name] for name in self.tables)
        return replace(
            self,
            calibration=calibration,
            vertices=vertices,
            rho_calibrators=rho_calibrators,
            rho_vertices=rho_vertices,
            rho_output=rho_output,
        )

    def astype(self, dtype: npt.DTypeLike) -> "SetFunction":
        """Return the function with tables and corrections of another data type."""
        tables = {name: table.astype(dtype) for name, table in self.tables.items()}
        corrections = None if self.corrections is None else self.corrections.astype(dtype)
        return replace(self.with_tables(tables), corrections=corrections)

    def copy(self) -> "SetFunction":
        """Return a copy in float64 that shares no table."""
        corrections = None if self.corrections is None else self.corrections.astype(np.float64)
        copied = self.with_tables({name: table.astype(np.float64) for name, table in self.tables.items()})
        return replace(copied, corrections=corrections)

    def rescaled(self, centre: float, scale: float) -> "SetFunction":
        """Return the function with its outputs multiplied by a positive scale, then shifted by a centre."""
        return replace(self, rho_output=self.rho_output * scale + centre)
