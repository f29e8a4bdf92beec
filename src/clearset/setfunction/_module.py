"""The six layers as one torch module: phi, the mean over each set, rho."""

import copy

import numpy as np
import torch
from torch import Tensor, nn

from clearset.kernels import Layout, TokenPositions, phi_mean, phi_scores, rho


class Phi(nn.Module):
    """Layers 1 and 2: calibrators and lattices of one token, K outputs for each of C set functions.

    Parameters
    ----------
    layout
        The lattices' sizes and features.
    calibration
        ``(C * K, S)`` initial outputs of the calibrators, one column per slot.
    vertices
        ``(C * K, P)`` initial values of the lattices.
    """

    def __init__(self, layout: Layout, calibration: Tensor, vertices: Tensor) -> None:
        super().__init__()
        self.layout = layout
        self.calibration = nn.Parameter(calibration)
        self.vertices = nn.Parameter(vertices)

    def forward(self, positions: TokenPositions, threads: int = 1) -> Tensor:
        """Average the scores of each set's tokens (layer 3): ``(B, C * K)``."""
        return phi_mean(positions, self.calibration, self.vertices, self.layout, threads=threads)

    def scores(self, positions: TokenPositions, threads: int = 1) -> Tensor:
        """Score every token: ``(T, C * K)``."""
        return phi_scores(positions, self.calibration, self.vertices, self.layout, threads=threads)


class Rho(nn.Module):
    """Layers 4 to 6: calibrators, one lattice and one output calibrator for each of C set functions.

    Parameters
    ----------
    width
        K, the number of phi's outputs that each set function fuses.
    outputs
        C, the number of set functions.
    keypoints
        Of the calibrators of layers 4 and 6, uniform on [-1, 1].
    """

    def __init__(self, width: int, outputs: int, keypoints: int) -> None:
        super().__init__()
        self.width = width
        places = torch.linspace(-1.0, 1.0, keypoints)
        self.calibrators = nn.Parameter(((places + 1) / 2).repeat(outputs * width, 1))
        corners = torch.from_numpy(np.stack(np.meshgrid(*[[0.0, 1.0]] * width, indexing="ij"))).float()
        mean = 2 * corners.mean(dim=0) - 1
        self.vertices = nn.Parameter(mean.reshape(1, -1).repeat(outputs, 1))
        self.output = nn.Parameter(places.repeat(outputs, 1))

    def forward(self, means: Tensor) -> Tensor:
        """Map the ``(B, C * K)`` means of the token scores to ``(B, C)`` outputs."""
        return rho(means, self.calibrators, self.vertices, self.output)


class SetFunction(nn.Module):
    """f(x) = rho(mean over the tokens of phi(token)).

    C set functions stand side by side and are trained together: one for a number or two classes, one a class for more.

    Parameters
    ----------
    phi, rho
        The two halves.
    """

    def __init__(self, phi: Phi, rho: Rho) -> None:
        super().__init__()
        self.phi = phi
        self.rho = rho

    @property
    def width(self) -> int:
        """K."""
        return self.rho.width

    @property
    def rho_keypoints(self) -> int:
        """Keypoints of rho's calibrators."""
        return self.rho.output.shape[1]

    @property
    def outputs(self) -> int:
        """C."""
        return len(self.rho.output)

    @property
    def tables(self) -> dict[str, nn.Parameter]:
        """The parameters by name, in the order of the layers; all of them are tables ``(rows, columns)``."""
        phi, rho = self.phi, self.rho
        return {
            "phi.calibration": phi.calibration,
            "phi.vertices": phi.vertices,
            "rho.calibrators": rho.calibrators,
            "rho.vertices": rho.vertices,
            "rho.output": rho.output,
        }

    def forward(self, positions: TokenPositions, threads: int = 1) -> Tensor:
        """Map B sets to ``(B, C)`` outputs."""
        outputs: Tensor = self.rho(self.phi(positions, threads))
        return outputs

    @torch.no_grad()
    def rescaled(self, centre: float, scale: float) -> "SetFunction":
        """Copy the function with its outputs multiplied by a positive scale, then shifted by a centre."""
        model = copy.deepcopy(self)
        model.rho.output.mul_(scale).add_(centre)
        return model


class RefinedSetFunction(SetFunction):
    """A set function with learned corrections to the values of some tokens.

    Parameters
    ----------
    phi, rho
        The two halves.
    corrections
        ``(S, C)``: what is added to the value of each of S tokens, for each of C classes.
    """

    def __init__(self, phi: Phi, rho: Rho, corrections: Tensor) -> None:
        super().__init__(phi, rho)
        self.corrections = nn.Parameter(corrections)
