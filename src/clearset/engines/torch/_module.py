"""The six layers as one torch module: phi, the mean over each set, rho."""

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from clearset.engines.torch._inputs import TokenPositions
from clearset.engines.torch._phi import phi_mean
from clearset.engines.torch._rho import rho
from clearset.functions import Layout, SetFunction


class Phi(nn.Module):
    """Layers 1 and 2: calibrators and lattices of one token, K outputs for each of C set functions.

    Parameters
    ----------
    layout : Layout
        The lattices' sizes and features.
    calibration : Tensor of shape (C * K, S)
        Initial outputs of the calibrators, one column per slot.
    vertices : Tensor of shape (C * K, P)
        Initial values of the lattices.
    """

    def __init__(self, layout: Layout, calibration: Tensor, vertices: Tensor) -> None:
        super().__init__()
        self.layout = layout
        self.calibration = nn.Parameter(calibration)
        self.vertices = nn.Parameter(vertices)

    def forward(self, positions: TokenPositions, threads: int = 1) -> Tensor:
        """Average the scores of each set's tokens (layer 3): ``(B, C * K)``."""
        return phi_mean(positions, self.calibration, self.vertices, self.layout, threads=threads)


class Rho(nn.Module):
    """Layers 4 to 6: calibrators, one lattice and one output calibrator for each of C set functions.

    Parameters
    ----------
    calibrators : Tensor of shape (C * K, V)
        Initial values of the calibrators, keypoints uniform on [-1, 1].
    vertices : Tensor of shape (C, 2 ** K)
        Initial values of the lattices.
    output : Tensor of shape (C, V)
        Initial values of the output calibrators, keypoints uniform on [-1, 1].
    """

    def __init__(self, calibrators: Tensor, vertices: Tensor, output: Tensor) -> None:
        super().__init__()
        self.calibrators = nn.Parameter(calibrators)
        self.vertices = nn.Parameter(vertices)
        self.output = nn.Parameter(output)

    def forward(self, means: Tensor) -> Tensor:
        """Map the ``(B, C * K)`` means of the token scores to ``(B, C)`` outputs."""
        return rho(means, self.calibrators, self.vertices, self.output)


class SetFunctionModule(nn.Module):
    """f(x) = rho(mean over the tokens of phi(token)) as a torch module.

    Parameters
    ----------
    function : SetFunction
        Initial values, which are copied.
    dtype : data type, default=numpy.float64
        What to calculate in: float32 or float64.

    Examples
    --------
    >>> import numpy as np
    >>> import torch
    >>> from clearset.engines.torch import SetFunctionModule, TokenPositions
    >>> from clearset.functions import Layout, SetFunction
    >>> line = np.array([[0.0, 1.0]])
    >>> function = SetFunction(Layout.full((2,)), line, 2 * line - 1, line, 2 * line - 1, 2 * line - 1)
    >>> module = SetFunctionModule(function)
    >>> slots, fractions = torch.tensor([[0, 0]], dtype=torch.int32), torch.tensor([[0.25, 0.75]]).double()
    >>> module(TokenPositions(slots, fractions, torch.tensor([0, 1, 2]))).tolist()
    [[-0.5], [0.5]]
    """

    def __init__(self, function: SetFunction, dtype: npt.DTypeLike = np.float64) -> None:
        super().__init__()

        def tensor(table: np.ndarray) -> Tensor:
            return torch.from_numpy(np.array(table, dtype))

        self.phi = Phi(function.layout, tensor(function.calibration), tensor(function.vertices))
        self.rho = Rho(*map(tensor, (function.rho_calibrators, function.rho_vertices, function.rho_output)))
        self.corrections: nn.Parameter | None = None
        if function.corrections is not None:
            self.corrections = nn.Parameter(tensor(function.corrections))

    @property
    def width(self) -> int:
        """K."""
        return len(self.rho.calibrators) // len(self.rho.output)

    @property
    def tables(self) -> dict[str, nn.Parameter]:
        """The parameters by name, in the order of the layers, without corrections."""
        phi, rho = self.phi, self.rho
        return {
            "phi.calibration": phi.calibration,
            "phi.vertices": phi.vertices,
            "rho.calibrators": rho.calibrators,
            "rho.vertices": rho.vertices,
            "rho.output": rho.output,
        }

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the tables as arrays that share their memory with the parameters."""
        return {name: table.detach().numpy() for name, table in self.tables.items()}

    def function(self) -> SetFunction:
        """Return the set function as data, in float64; nothing is shared."""
        corrections = None if self.corrections is None else self.corrections.detach().numpy()
        calibration, vertices, rho_calibrators, rho_vertices, rho_output = self.arrays().values()
        return SetFunction(
            self.phi.layout, calibration, vertices, rho_calibrators, rho_vertices, rho_output, corrections
        ).copy()

    def forward(self, positions: TokenPositions, threads: int = 1) -> Tensor:
        """Map B sets to ``(B, C)`` outputs."""
        outputs: Tensor = self.rho(self.phi(positions, threads))
        return outputs
