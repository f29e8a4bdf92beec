"""Losses of labelled sets, as differentiable functions of outputs."""

import torch
from torch import Tensor
from torch.nn import functional

from clearset.engines._problem import FLATTEST, STEEPEST, TrainingSets
from clearset.engines.torch._module import SetFunctionModule
from clearset.engines.torch._threads import torch_threads
from clearset.engines.torch._tokens import as_tensors
from clearset.functions import Loss, SetFunction


def loss_of(loss: Loss, outputs: Tensor, targets: Tensor) -> Tensor:
    """Return the loss of each of B sets.

    Parameters
    ----------
    loss : Loss
        The loss.
    outputs : Tensor of shape (B, C)
        The outputs of a set function.
    targets : Tensor of shape (B,)
        The scaled labels, or the numbers of classes.

    Returns
    -------
    Tensor of shape (B,)
        The losses.

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


def mean_loss(loss: Loss, outputs: Tensor, data: TrainingSets) -> Tensor:
    """Return the weighted mean loss of the ``(B, C)`` outputs of all of the labelled sets."""
    targets = torch.from_numpy(data.targets).to(outputs.dtype)
    weights = torch.from_numpy(data.weights).to(outputs.dtype)
    return (loss_of(loss, outputs, targets) * weights).mean()


@torch_threads(1)
def output_line(function: SetFunction, data: TrainingSets, loss: Loss) -> tuple[float, float]:
    """Return slope and shift of the outputs of all of the labelled sets with the least loss."""
    model = SetFunctionModule(function, data.dtype)
    with torch.no_grad():
        outputs = model(as_tensors(data.placed)).double()
    line = torch.zeros(2, dtype=torch.float64, requires_grad=True)  # log of the slope, and the shift
    optimizer = torch.optim.LBFGS([line], max_iter=50, line_search_fn="strong_wolfe")

    def objective() -> Tensor:
        optimizer.zero_grad()
        value = mean_loss(loss, line[0].exp() * outputs + line[1], data) + 1e-3 * line.square().sum()
        value.backward()  # type: ignore[no-untyped-call]
        return value

    optimizer.step(objective)  # type: ignore[no-untyped-call]
    if not bool(torch.isfinite(line).all()):
        return 1.0, 0.0
    return float(line[0].detach().clamp(FLATTEST, STEEPEST).exp()), float(line[1].detach())
