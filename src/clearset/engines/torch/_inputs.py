"""What every kernel takes, and the checks that come before any work."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from clearset.functions import Layout
from clearset.sets import CrossedPositions, Positions


class TokenPositions(NamedTuple):
    """Where every token stands in the calibrators, as tensors.

    Parameters
    ----------
    slots : Tensor of shape (D, T), int32
        The slot at or below the token, counted over the slots of all features.
    fractions : Tensor of shape (D, T), float32 or float64
        How far the token is on the way from its slot to the next one, in [0, 1].
    offsets : Tensor of shape (B + 1,), int64
        Set b holds the tokens from ``offsets[b]`` up to ``offsets[b + 1]``, at least one.

    Examples
    --------
    One feature with the slots 0, 1, 2 and two sets, of two tokens and of one:

    >>> import torch
    >>> positions = TokenPositions(
    ...     slots=torch.tensor([[0, 1, 2]], dtype=torch.int32),
    ...     fractions=torch.tensor([[0.5, 0.0, 0.0]]),
    ...     offsets=torch.tensor([0, 2, 3]),
    ... )
    >>> positions.n_tokens, positions.n_sets
    (3, 2)
    """

    slots: Tensor
    fractions: Tensor
    offsets: Tensor

    @property
    def n_tokens(self) -> int:
        """Number of tokens of all sets, T."""
        return self.slots.shape[1]

    @property
    def n_sets(self) -> int:
        """Number of sets, B."""
        return self.offsets.shape[0] - 1


class CrossedTokens(NamedTuple):
    """The tokens of a whole data set, whose first feature has a value per class.

    They are held once and never gathered: `crossed_mean` is told which sets to read.

    Parameters
    ----------
    slots : Tensor of shape (D - 1, T), int32
        The slot at or below the token for the plain features, counted over the slots of all features.
    fractions : Tensor of shape (D - 1, T), float32 or float64
        How far the token is on the way from its slot to the next one, in [0, 1].
    offsets : Tensor of shape (B + 1,), int64
        Set b holds the tokens from ``offsets[b]`` up to ``offsets[b + 1]``, at least one.
    rows : Tensor of shape (T,), int32
        The token's row in the table of values; -1 if its value is missing, for every class.
    corrected : Tensor of shape (T,), int32
        The token's row in the table of corrections; -1 if it has none.

    Examples
    --------
    One plain feature and two sets, of two tokens and of one, whose value is missing:

    >>> import torch
    >>> tokens = CrossedTokens(
    ...     slots=torch.tensor([[3, 4, 3]], dtype=torch.int32),
    ...     fractions=torch.tensor([[0.5, 0.0, 0.0]]),
    ...     offsets=torch.tensor([0, 2, 3]),
    ...     rows=torch.tensor([1, 0, -1], dtype=torch.int32),
    ...     corrected=torch.tensor([-1, 0, -1], dtype=torch.int32),
    ... )
    >>> tokens.n_tokens, tokens.n_sets
    (3, 2)
    """

    slots: Tensor
    fractions: Tensor
    offsets: Tensor
    rows: Tensor
    corrected: Tensor

    @property
    def n_tokens(self) -> int:
        """Number of tokens of all sets, T."""
        return self.rows.shape[0]

    @property
    def n_sets(self) -> int:
        """Number of sets, B."""
        return self.offsets.shape[0] - 1


class CrossedInputs(NamedTuple):
    """What crossed phi reads.

    Parameters
    ----------
    tokens : CrossedTokens
        The tokens of the whole data set.
    sets : Tensor of shape (b,), int64
        Which sets, in any order; a set may come more than once.
    values : Tensor of shape (R, C)
        The table of values that ``tokens.rows`` point into.
    corrections : Tensor of shape (M, C), optional
        The table that ``tokens.corrected`` point into. A token's value for class c is
        ``values[row, c] + corrections[corrected, c]``, moved into the range of the keypoints.
    keypoints : Tensor of shape (V,)
        Increasing, at least 2: the keypoints of feature 0.
    calibration : Tensor of shape (K, S)
        Calibrated value of every slot, for each of the K outputs. Columns 0 to V - 1 are the keypoints of feature 0,
        column V is its "missing". Outside [0, 1] values are clamped.
    vertices : Tensor of shape (K, 2 ** D)
        Lattice values in the order of `layout`.
    layout : Layout
        The full lattice of all D features, of size 2 in each.
    """

    tokens: CrossedTokens
    sets: Tensor
    values: Tensor
    corrections: Tensor | None
    keypoints: Tensor
    calibration: Tensor
    vertices: Tensor
    layout: Layout


def plain_positions(positions: TokenPositions) -> Positions:
    """Return positions as arrays; those of tensors on the CPU are not copied."""
    return Positions(*(tensor.detach().cpu().numpy() for tensor in positions))


def crossed_positions(inputs: CrossedInputs) -> CrossedPositions:
    """Return the tokens and values of crossed phi as arrays; those of tensors on the CPU are not copied."""
    tensors = (*inputs.tokens, inputs.values, inputs.keypoints)
    return CrossedPositions(*(tensor.detach().cpu().numpy() for tensor in tensors))


def check_inputs(
    positions: TokenPositions, calibration: Tensor, vertices: Tensor, layout: Layout, threads: int
) -> None:
    """Raise the error that says what does not fit, if something does not.

    What the positions hold is not looked at here: a kernel finds that out while it reads them.
    """
    slots, fractions, offsets = positions
    if threads < 1:
        raise ValueError(f"threads is {threads}; it must be at least 1.")
    _check_dtypes(positions, calibration, vertices)
    device = slots.device
    if not (device == fractions.device == offsets.device == calibration.device == vertices.device):
        devices = {str(tensor.device) for tensor in (*positions, calibration, vertices)}
        raise ValueError(f"Tensors are on {sorted(devices)}; move positions and parameters to one device.")
    n_features = layout.n_features
    if slots.ndim != 2 or slots.shape[0] != n_features or fractions.shape != slots.shape:
        raise ValueError(
            f"slots and fractions have the shapes {tuple(slots.shape)} and {tuple(fractions.shape)}; "
            f"with the layout's {n_features} features both must be ({n_features}, tokens)."
        )
    if offsets.ndim != 1 or offsets.shape[0] == 0:
        raise ValueError(f"offsets have the shape {tuple(offsets.shape)}; it must be (sets + 1,).")
    if calibration.ndim != 2 or calibration.shape[1] == 0:
        raise ValueError(
            f"calibration has the shape {tuple(calibration.shape)}; it must be (outputs, slots)."
        )
    if vertices.shape != (calibration.shape[0], layout.n_vertices):
        raise ValueError(
            f"vertices have the shape {tuple(vertices.shape)}; with calibration {tuple(calibration.shape)} "
            f"and the layout's {layout.n_vertices} vertices it must be "
            f"{(calibration.shape[0], layout.n_vertices)}."
        )


def _check_dtypes(positions: TokenPositions, calibration: Tensor, vertices: Tensor) -> None:
    if positions.slots.dtype != torch.int32 or positions.offsets.dtype != torch.int64:
        raise TypeError(
            f"slots and offsets are {positions.slots.dtype} and {positions.offsets.dtype}; "
            "they must be torch.int32 and torch.int64."
        )
    dtypes = (positions.fractions.dtype, calibration.dtype, vertices.dtype)
    if len(set(dtypes)) > 1 or calibration.dtype not in (torch.float32, torch.float64):
        raise TypeError(
            f"fractions, calibration and vertices are {', '.join(map(str, dtypes))}; "
            "all three must be torch.float32 or all three torch.float64. Convert with .to(dtype)."
        )
