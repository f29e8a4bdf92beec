"""What every kernel takes, and the checks that come before any work."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from clearset.kernels._layout import Layout


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
    refined : Tensor of shape (T,), int32
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
    ...     refined=torch.tensor([-1, 0, -1], dtype=torch.int32),
    ... )
    >>> tokens.n_tokens, tokens.n_sets
    (3, 2)
    """

    slots: Tensor
    fractions: Tensor
    offsets: Tensor
    rows: Tensor
    refined: Tensor

    @property
    def n_tokens(self) -> int:
        """Number of tokens of all sets, T."""
        return self.rows.shape[0]

    @property
    def n_sets(self) -> int:
        """Number of sets, B."""
        return self.offsets.shape[0] - 1


class CrossedInputs(NamedTuple):
    """What crossed phi reads, named and shaped as the parameters of `crossed_mean`."""

    tokens: CrossedTokens
    sets: Tensor
    values: Tensor
    corrections: Tensor | None
    keypoints: Tensor
    calibration: Tensor
    vertices: Tensor
    layout: Layout


def check_inputs(
    positions: TokenPositions, calibration: Tensor, vertices: Tensor, layout: Layout, threads: int
) -> None:
    """Raise the error that says what does not fit, if something does not.

    What the positions hold is not looked at here: a kernel may find that out while it reads them (`check_contents`).
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


def check_contents(positions: TokenPositions, n_slots: int) -> None:
    """Raise the error that says which offsets or slots cannot be, if some cannot."""
    slots, _, offsets = positions
    if offsets[0] != 0 or offsets[-1] != positions.n_tokens:
        raise ValueError(
            f"offsets must go from 0 to the number of tokens, {positions.n_tokens}; received {offsets}."
        )
    empty = offsets.diff() <= 0
    if empty.any():
        raise ValueError(
            f"Set {int(empty.nonzero()[0])} has no token; "
            "an empty set must be given as one token with all features missing."
        )
    if slots.numel() and (slots.min() < 0 or slots.max() >= n_slots):
        raise ValueError(
            f"slots hold a number outside 0 to {n_slots - 1}, but calibration has {n_slots} slots. "
            "Make the positions with the same binning as the calibration."
        )


def tokens_of_sets(tokens: CrossedTokens, sets: Tensor) -> tuple[Tensor, Tensor]:
    """Give the numbers of the tokens of the chosen sets, set after set, and the sets' sizes.

    Raises the error that says which sets or offsets cannot be, if some cannot.
    """
    if sets.numel() and (sets.min() < 0 or sets.max() >= tokens.n_sets):
        raise ValueError(
            f"sets hold a number outside 0 to {tokens.n_sets - 1}, but there are {tokens.n_sets} sets. "
            "Choose among the sets of the tokens."
        )
    starts, sizes = tokens.offsets[sets], tokens.offsets[sets + 1] - tokens.offsets[sets]
    bad = (sizes <= 0) | (starts < 0) | (starts + sizes > tokens.n_tokens)
    if bad.any():
        wrong = int(sets[bad][0])
        raise ValueError(
            f"Set {wrong} goes from token {int(tokens.offsets[wrong])} to {int(tokens.offsets[wrong + 1])} of "
            f"{tokens.n_tokens}; every set must have at least one token. "
            "An empty set must be given as one token with all features missing."
        )
    ends = sizes.cumsum(0)
    shifts = torch.repeat_interleave(starts - (ends - sizes), sizes)
    return shifts + torch.arange(len(shifts), device=shifts.device), sizes


def check_crossed_contents(
    tokens: CrossedTokens, chosen: Tensor, values: Tensor, corrections: Tensor | None, n_slots: int
) -> None:
    """Raise the error that says which slots or rows of the chosen tokens cannot be, if some cannot."""
    limits = [("slots", tokens.slots[:, chosen], 0, n_slots, "calibration")]
    limits.append(("rows", tokens.rows[chosen], -1, len(values), "values"))
    if corrections is not None:
        limits.append(("refined", tokens.refined[chosen], -1, len(corrections), "corrections"))
    for name, numbers, lowest, size, table in limits:
        if numbers.numel() and (numbers.min() < lowest or numbers.max() >= size):
            raise ValueError(
                f"{name} hold a number outside {lowest} to {size - 1}, but that is all that {table} has. "
                f"Make the tokens and {table} together."
            )
