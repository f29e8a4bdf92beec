"""Calibrators: one-dimensional functions that bring an input to the range the next layer expects."""

import torch
from torch import Tensor, nn

from clearset.lattice._interpolate import interpolate_line


class PiecewiseLinear(nn.Module):
    """N piecewise-linear functions over the same keypoints.

    Inputs beyond the ends are moved to the ends. NaN gives the learned ``missing`` value.

    Parameters
    ----------
    keypoints
        ``(V,)`` increasing inputs, at least two; fixed in training.
    values
        ``(N, V)`` initial outputs at the keypoints.
    missing
        ``(N,)`` initial outputs for NaN; None where inputs are never missing.

    Examples
    --------
    >>> square = PiecewiseLinear(torch.tensor([0.0, 1.0, 2.0]), torch.tensor([[0.0, 1.0, 4.0]]))
    >>> square(torch.tensor([[1.5], [9.0]])).detach()
    tensor([[2.5000],
            [4.0000]])
    """

    keypoints: Tensor

    def __init__(self, keypoints: Tensor, values: Tensor, missing: Tensor | None = None) -> None:
        super().__init__()
        if keypoints.ndim != 1 or len(keypoints) < 2 or not bool((keypoints.diff() > 0).all()):
            raise ValueError(
                f"keypoints must be at least two increasing numbers; received {keypoints.tolist()}."
            )
        if values.ndim != 2 or values.shape[1] != len(keypoints):
            raise ValueError(
                f"values must have one column for each of the {len(keypoints)} keypoints; received shape "
                f"{tuple(values.shape)}."
            )
        self.register_buffer("keypoints", keypoints)
        steps = keypoints.diff()
        # Evenly spaced keypoints are found by a division, without a search.
        self._even = bool(torch.allclose(steps, steps.mean(), rtol=1e-5, atol=0.0))
        self._ends = float(keypoints[0]), float(keypoints[-1])
        self.values = nn.Parameter(values)
        self.missing = None if missing is None else nn.Parameter(missing)

    def forward(self, inputs: Tensor) -> Tensor:
        """Map ``(B, N)`` inputs to ``(B, N)`` outputs."""
        first, last = self._ends
        known = inputs if self.missing is None else inputs.nan_to_num(nan=first)
        outputs = interpolate_line(self.values, *self._place(known.clamp(first, last)))
        return outputs if self.missing is None else torch.where(inputs.isnan(), self.missing, outputs)

    def _place(self, inputs: Tensor) -> tuple[Tensor, Tensor]:
        """Find the segment and the fraction of each input."""
        keypoints, (first, last) = self.keypoints, self._ends
        n_segments = len(keypoints) - 1
        if self._even:
            place = (inputs - first) * (n_segments / (last - first))
            segment = place.detach().to(torch.int64).clamp_(0, n_segments - 1)
            return segment, place - segment
        segment = (torch.bucketize(inputs.detach(), keypoints, right=True) - 1).clamp_(0, n_segments - 1)
        left = keypoints[segment]
        return segment, (inputs - left) / (keypoints[segment + 1] - left)

    def extra_repr(self) -> str:
        """Describe the layer in a model's print-out."""
        return f"{self.values.shape[0]} functions, {len(self.keypoints)} keypoints"


class CategoricalCalibrator(nn.Module):
    """N functions of a category: one learned value each, and one for "missing" (code -1).

    Parameters
    ----------
    values
        ``(N, C + 1)`` initial outputs; the last column is for missing.

    Examples
    --------
    >>> shops = CategoricalCalibrator(torch.tensor([[0.1, 0.9, 0.5]]))
    >>> shops(torch.tensor([[1], [-1]])).detach()
    tensor([[0.9000],
            [0.5000]])
    """

    def __init__(self, values: Tensor) -> None:
        super().__init__()
        self.values = nn.Parameter(values)

    def forward(self, codes: Tensor) -> Tensor:
        """Map ``(B, N)`` integer codes to ``(B, N)`` outputs."""
        n_categories = self.values.shape[1] - 1
        columns = torch.where(codes < 0, n_categories, codes)
        return self.values.gather(1, columns.T).T

    def extra_repr(self) -> str:
        """Describe the layer in a model's print-out."""
        return f"{self.values.shape[0]} functions, {self.values.shape[1] - 1} categories"
