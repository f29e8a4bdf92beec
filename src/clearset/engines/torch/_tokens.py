"""Sets of tokens as tensors: where every token stands in the calibrators of a set function."""

from typing import NamedTuple

import torch
from torch import Tensor

from clearset.engines._checked_contents import check_crossed_contents, check_slots
from clearset.engines._inputs import check_sets
from clearset.functions import SetFunction
from clearset.sets import CrossedPositions, Positions


class TokenPositions(NamedTuple):
    """What `clearset.sets.Positions` holds, as tensors on one device.

    Parameters
    ----------
    slots : Tensor of shape (D, T), int32
        The slot at or below the token, counted over the slots of all features.
    fractions : Tensor of shape (D, T), float32 or float64
        How far the token is on the way from its slot to the next one, in [0, 1]. Set functions have gradients in them.
    offsets : Tensor of shape (B + 1,), int64
        Set b holds the tokens from ``offsets[b]`` up to ``offsets[b + 1]``, at least one.
    """

    slots: Tensor
    fractions: Tensor
    offsets: Tensor


class CrossedTokens(NamedTuple):
    """What `clearset.sets.CrossedPositions` holds, as tensors on one device: the first feature has a value per class.

    Parameters
    ----------
    slots, fractions : Tensor of shape (D - 1, T)
        As in `TokenPositions`, for all features but the first.
    offsets : Tensor of shape (B + 1,), int64
        As in `TokenPositions`.
    rows : Tensor of shape (T,), int32
        The token's row in the table of values; -1 if its value is missing, for every class.
    corrected : Tensor of shape (T,), int32
        The token's row in the table of corrections; -1 if it has none.
    values : Tensor of shape (R, C)
        The first feature for each class.
    keypoints : Tensor of shape (V,)
        Of the first feature: increasing, at least 2.
    """

    slots: Tensor
    fractions: Tensor
    offsets: Tensor
    rows: Tensor
    corrected: Tensor
    values: Tensor
    keypoints: Tensor


def as_tensors(
    sets: Positions | CrossedPositions, device: torch.device | str = "cpu"
) -> TokenPositions | CrossedTokens:
    """Return sets as tensors. On the CPU nothing is copied.

    Parameters
    ----------
    sets : Positions or CrossedPositions
        The sets.
    device : torch.device or str, default="cpu"
        Where to put the tensors.

    Returns
    -------
    TokenPositions or CrossedTokens
        The same sets.

    Examples
    --------
    >>> import numpy as np
    >>> sets = Positions(np.array([[0, 1]], np.int32), np.array([[0.5, 0.0]]), np.array([0, 1, 2]))
    >>> as_tensors(sets).slots
    tensor([[0, 1]], dtype=torch.int32)
    """
    tokens = TokenPositions if isinstance(sets, Positions) else CrossedTokens
    return tokens(*(torch.from_numpy(getattr(sets, name)).to(device) for name in tokens._fields))


def check_tokens(function: SetFunction, tokens: TokenPositions | CrossedTokens, device: torch.device) -> None:
    """Raise the error that says what does not fit to a set function on a device, if something does not."""
    devices = {str(tensor.device) for tensor in tokens} | {str(device)}
    if len(devices) > 1:
        raise ValueError(f"Tensors are on {sorted(devices)}; move tokens and parameters to one device.")
    arrays = (tensor.detach().cpu().numpy() for tensor in tokens)
    n_slots = function.calibration.shape[1]
    if isinstance(tokens, TokenPositions):
        sets = Positions(*arrays)
        check_sets(function, sets, threads=1)
        check_slots(sets.slots, n_slots)
    else:
        crossed = CrossedPositions(*arrays)
        check_sets(function, crossed, threads=1)
        check_crossed_contents(crossed, function.corrections, n_slots)
