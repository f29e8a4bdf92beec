"""How steep the output calibrator starts."""

import numpy as np
import torch

from clearset.engines._problem import FLATTEST, STEEPEST, TrainingSets
from clearset.engines.torch._losses import loss_of
from clearset.engines.torch._module import SetFunctionModule
from clearset.engines.torch._sets import LabelledTensors
from clearset.engines.torch._threads import one_torch_thread
from clearset.functions import Loss, SetFunction


@one_torch_thread()
def output_line(
    function: SetFunction, data: TrainingSets, sets: np.ndarray, loss: Loss, threads: int
) -> tuple[float, float]:
    """Return slope and shift of the outputs of some of the labelled sets with the least loss."""
    labelled = LabelledTensors(data)
    model = SetFunctionModule(function, data.dtype)
    with torch.no_grad():
        outputs = labelled.outputs(model, sets, threads).double()
    targets, weights = torch.from_numpy(data.targets[sets]), torch.from_numpy(data.weights[sets])
    line = torch.zeros(2, dtype=torch.float64, requires_grad=True)  # log of the slope, and the shift
    optimizer = torch.optim.LBFGS([line], max_iter=50, line_search_fn="strong_wolfe")

    def objective() -> torch.Tensor:
        optimizer.zero_grad()
        losses = loss_of(loss, line[0].exp() * outputs + line[1], targets)
        value = (losses * weights).mean() + 1e-3 * line.square().sum()
        value.backward()  # type: ignore[no-untyped-call]
        return value

    optimizer.step(objective)  # type: ignore[no-untyped-call]
    if not bool(torch.isfinite(line).all()):
        return 1.0, 0.0
    return float(line[0].detach().clamp(FLATTEST, STEEPEST).exp()), float(line[1].detach())
