"""Losses as differentiable functions of outputs."""

import torch
from torch import Tensor
from torch.nn import functional

from clearset.functions import Loss


def loss_of(loss: Loss, outputs: Tensor, targets: Tensor) -> Tensor:
    """Return the loss of each of B sets from ``(B, C)`` outputs and ``(B,)`` targets.

    Examples
    --------
    >>> loss_of(Loss("absolute_error"), torch.tensor([[1.0], [5.0]]), torch.tensor([2.0, 2.0]))
    tensor([1., 3.])
    """
    if loss.name == "log_loss" and outputs.shape[1] > 1:
        return functional.cross_entropy(outputs, targets.long(), reduction="none")
    if loss.name == "hinge":
        # One class against the rest: +1 for the label's own output, -1 for every other.
        if outputs.shape[1] > 1:
            signs = 2.0 * functional.one_hot(targets.long(), outputs.shape[1]).to(outputs.dtype) - 1.0
        else:
            signs = (2.0 * targets - 1.0).unsqueeze(1)
        return (1.0 - signs * outputs).clamp(min=0.0).sum(dim=1)
    if loss.name == "binary_log_loss" and outputs.shape[1] > 1:
        # Each class on its own: is it the label or not?
        mine = outputs.gather(1, targets.long().unsqueeze(1)).squeeze(1)
        return functional.softplus(outputs).sum(dim=1) - mine
    output = outputs.squeeze(1)
    if loss.name in ("log_loss", "binary_log_loss"):
        return functional.softplus(output) - targets * output
    if loss.name == "poisson":
        # Half the deviance: 0 where the output is right.
        return output.exp() - targets * output + torch.xlogy(targets, targets) - targets
    error = targets - output
    if loss.name == "squared_error":
        return error.square()
    if loss.name == "absolute_error":
        return error.abs()
    return torch.where(error > 0, loss.quantile * error, (loss.quantile - 1.0) * error)
