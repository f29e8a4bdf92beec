"""The set function as a torch module, to be built into other networks."""

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from clearset.engines.torch._interpolate import interpolate_lattice, interpolate_lines
from clearset.engines.torch._phi import crossed_scores, phi_scores, set_means
from clearset.engines.torch._tokens import CrossedTokens, TokenPositions, check_tokens
from clearset.functions import Layout, SetFunction


class Phi(nn.Module):
    """Layers 1 and 2: calibrators and lattices of a token, K scores for each of C set functions.

    They start at ``calibration (C * K, S)``, a column for each slot, and ``vertices (C * K, P)``.
    """

    def __init__(self, layout: Layout, calibration: Tensor, vertices: Tensor) -> None:
        super().__init__()
        self.layout = layout
        self.calibration = nn.Parameter(calibration)
        self.vertices = nn.Parameter(vertices)

    def forward(self, tokens: TokenPositions | CrossedTokens, corrections: Tensor | None = None) -> Tensor:
        """Return the scores of every token, ``(T, C * K)``; of crossed tokens for every class, ``(T, classes, K)``."""
        if isinstance(tokens, CrossedTokens):
            return crossed_scores(tokens, self.calibration, self.vertices, corrections)
        return phi_scores(tokens, self.calibration, self.vertices, self.layout)


class Rho(nn.Module):
    """Layers 4 to 6: calibrators, one lattice and one output calibrator for each of C set functions.

    They start at ``calibrators (C * K, V)``, ``vertices (C, 2 ** K)`` and ``output (C, V)``; keypoints are uniform on
    [-1, 1].
    """

    def __init__(self, calibrators: Tensor, vertices: Tensor, output: Tensor) -> None:
        super().__init__()
        self.calibrators = nn.Parameter(calibrators)
        self.vertices = nn.Parameter(vertices)
        self.output = nn.Parameter(output)

    def forward(self, means: Tensor) -> Tensor:
        """Map ``(N, C * K)`` means of token scores to ``(N, C)`` outputs."""
        n_functions, width = len(self.output), len(self.calibrators) // len(self.output)
        calibrated = interpolate_lines(means, self.calibrators).reshape(len(means), n_functions, width)
        return interpolate_lines(interpolate_lattice(calibrated, self.vertices, (2,) * width), self.output)


class SetFunctionModule(nn.Module):
    """f(x) = rho(mean over the tokens of phi(token)) in ordinary torch operations, on any device.

    Outputs have gradients in all tables, in corrections, and in the fractions of `TokenPositions`, so that features may
    come out of another network. Nothing keeps the tables to constraints while they are trained.

    Parameters
    ----------
    function : SetFunction
        Initial values, which are copied.
    dtype : data type, default=numpy.float64
        What to calculate in: float32 or float64.

    Examples
    --------
    A set function of one feature, with a layer of one's own behind it:

    >>> import numpy as np
    >>> import torch
    >>> from clearset.engines.torch import SetFunctionModule, TokenPositions
    >>> from clearset.functions import Layout, SetFunction
    >>> line = np.array([[0.0, 1.0]])
    >>> function = SetFunction(Layout.full((2,)), line, 2 * line - 1, line, 2 * line - 1, 2 * line - 1)
    >>> module = SetFunctionModule(function)
    >>> slots, fractions = torch.tensor([[0, 0]], dtype=torch.int32), torch.tensor([[0.25, 0.75]]).double()
    >>> sets = TokenPositions(slots, fractions, torch.tensor([0, 1, 2]))
    >>> module(sets).tolist()
    [[-0.5], [0.5]]
    >>> network = torch.nn.Sequential(module, torch.nn.Linear(1, 3, dtype=torch.float64))
    >>> network(sets).square().sum().backward()
    >>> module.phi.vertices.grad.shape
    torch.Size([1, 2])
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

    def forward(self, sets: TokenPositions | CrossedTokens) -> Tensor:
        """Map B sets to ``(B, C)`` outputs; crossed with C classes, one function serves all of them."""
        means = self.means(sets)
        outputs: Tensor = self.rho(means.reshape(-1, len(self.rho.calibrators)))
        return outputs.reshape(means.shape[:2])

    def means(self, sets: TokenPositions | CrossedTokens) -> Tensor:
        """Return the mean over each set's tokens of phi (layer 3), ``(B, C, K)``."""
        return set_means(self.scores(sets), sets.offsets)

    def scores(self, sets: TokenPositions | CrossedTokens) -> Tensor:
        """Return phi of every token, ``(T, C, K)``."""
        function = self._shared()
        check_tokens(function, sets, self.phi.calibration.device)
        scores: Tensor = self.phi(sets, self.corrections)
        return scores if scores.ndim == 3 else scores.reshape(-1, function.outputs, function.width)

    @property
    def tables(self) -> dict[str, nn.Parameter]:
        """The parameters by name, in the order of the layers, without corrections."""
        return {name: table for name, table in self.named_parameters() if name != "corrections"}

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the tables as arrays; those of parameters on the CPU share their memory."""
        return {name: table.detach().cpu().numpy() for name, table in self.tables.items()}

    def function(self) -> SetFunction:
        """Return the set function as data, in float64; nothing is shared."""
        return self._shared().copy()

    def _shared(self) -> SetFunction:
        corrections = None if self.corrections is None else self.corrections.detach().cpu().numpy()
        calibration, vertices, *rho = self.arrays().values()
        return SetFunction(self.phi.layout, calibration, vertices, rho[0], rho[1], rho[2], corrections)
