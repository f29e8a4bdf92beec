"""Set functions applied one after the other and trained together."""

import copy
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from clearset.engines._joint_problem import JOINT_WARM_UP, JointProblem
from clearset.engines._problem import Schedule
from clearset.engines._state import State, copy_state, put_back
from clearset.engines.torch._losses import loss_of
from clearset.engines.torch._module import SetFunctionModule
from clearset.engines.torch._threads import torch_threads
from clearset.engines.torch._tokens import TokenPositions, as_tensors
from clearset.engines.torch._trainer import (
    add_gradients,
    live_parameters,
    move_average,
    optimizer_state,
    resume_optimizer,
)
from clearset.functions import SetFunction
from clearset.sets import Binning


class JointTrainer:
    """The iterate, its running average, and the state of the optimiser."""

    def __init__(self, problem: JointProblem, schedule: Schedule, rng: np.random.Generator) -> None:
        self._problem, self._schedule, self._rng = problem, schedule, rng
        self._targets, self._weights = torch.from_numpy(problem.targets), torch.from_numpy(problem.weights)
        self._iterate = [SetFunctionModule(part.function) for part in problem.parts]
        self._average = copy.deepcopy(self._iterate)
        parameters = [parameter for model in self._iterate for parameter in model.parameters()]
        self._optimizer = torch.optim.Adam(parameters, lr=schedule.learning_rate)
        self._n_steps = schedule.steps(len(problem.training))
        self._step = 0

    @property
    def validates(self) -> bool:
        """Whether there are validation data."""
        return True

    @torch_threads(1)
    def epoch(self) -> float:
        """Go through the training data once, in random order, and return the mean loss on the way."""
        order, total = self._rng.permutation(self._problem.training), 0.0
        for start in range(0, len(order), self._schedule.batch_size):
            sets = order[start : start + self._schedule.batch_size]
            total += len(sets) * self._train_on(sets)
        return total / len(order)

    def validation_loss(self) -> float:
        """Return the loss of the running average on validation data."""
        return self._validated(self._average)

    def loss_of(self, functions: Sequence[SetFunction]) -> float:
        """Return the loss of other set functions, in the unit of training, on validation data."""
        return self._validated([SetFunctionModule(function) for function in functions])

    def kept(self) -> list[SetFunction]:
        """Return a copy of the running average."""
        return [model.function() for model in self._average]

    def state(self) -> State:
        """Return a copy of what steps have changed."""
        return copy_state(self._live()) | optimizer_state(self._optimizer)

    def resume(self, state: State) -> None:
        """Go on from a state of the same problem."""
        rest = resume_optimizer(self._optimizer, state)
        put_back(live := self._live(), rest)
        self._step = int(live["step"][0])

    def _live(self) -> State:
        live: State = {"step": np.array([self._step])}
        for number, (part, model, average) in enumerate(
            zip(self._problem.parts, self._iterate, self._average, strict=True)
        ):
            named = {
                "level": part.smoothness.level,
                **live_parameters("iterate", model),
                **live_parameters("average", average),
                **part.shape.multipliers(model.arrays()),
            }
            live |= {f"{number}.{name}": array for name, array in named.items()}
        return live

    @torch_threads(1)
    def _validated(self, models: Sequence[SetFunctionModule]) -> float:
        with torch.no_grad():
            return float(self._mean_loss(models, self._problem.validation).item())

    def _train_on(self, sets: npt.NDArray[np.int64]) -> float:
        models, optimizer, parts = self._iterate, self._optimizer, self._problem.parts
        progress = self._step / self._n_steps
        rate = min(1.0, progress / JOINT_WARM_UP) * (1.0 + float(np.cos(np.pi * progress))) / 2.0
        optimizer.param_groups[0]["lr"] = self._schedule.learning_rate * rate
        optimizer.zero_grad()
        loss = self._mean_loss(models, sets)
        loss.backward()  # type: ignore[no-untyped-call]
        value = float(loss.item())
        for model, part in zip(models, parts, strict=True):
            add_gradients(model, *part.smoothness.gradients(model.arrays(), value))
        optimizer.step()
        for model, part in zip(models, parts, strict=True):
            part.shape.project(model.arrays())
        self._step += 1
        for average, model in zip(self._average, models, strict=True):
            move_average(average, model, self._step)
        return value

    def _mean_loss(self, models: Sequence[SetFunctionModule], sets: npt.NDArray[np.int64]) -> Tensor:
        outputs, weights = self._outputs(models, sets), self._weights[sets]
        losses = loss_of(self._problem.loss, outputs, self._targets[sets])
        return (losses * weights).sum() / weights.sum()

    def _outputs(self, models: Sequence[SetFunctionModule], sets: npt.NDArray[np.int64]) -> Tensor:
        """Return the follow-on function's ``(b, C)`` outputs for some of the sets."""
        problem, (follow_on, *others) = self._problem, models
        positions = problem.positions.take(sets)
        slots, fractions = torch.from_numpy(positions.slots), torch.from_numpy(positions.fractions)
        of_token = torch.repeat_interleave(torch.from_numpy(np.diff(positions.offsets)))
        for model, part, estimate in zip(others, problem.parts[1:], problem.estimates, strict=True):
            outputs = model(as_tensors(estimate.positions.take(sets))) * part.scale + part.centre
            columns = _estimates(outputs, estimate.link.name).T
            for column, d in zip(columns, estimate.features, strict=True):
                slot, fraction = _place(problem.binning, d, column)
                slots[d], fractions[d] = slot[of_token], fraction[of_token]
        result: Tensor = follow_on(TokenPositions(slots, fractions, torch.from_numpy(positions.offsets)))
        return result


def _place(binning: Binning, d: int, values: Tensor) -> tuple[Tensor, Tensor]:
    """Find slots and fractions of a feature's values; fractions have a gradient in the values."""
    keypoints = torch.from_numpy(np.asarray(binning.keypoints[d]))
    inside = values.clamp(keypoints[0], keypoints[-1])
    segments = torch.searchsorted(keypoints[1:-1].contiguous(), inside.detach().contiguous(), right=True)
    fractions = (inside - keypoints[segments]) / keypoints.diff()[segments]
    return (segments + int(binning.slot_offsets[d])).to(torch.int32), fractions


def _estimates(outputs: Tensor, link: str) -> Tensor:
    """Return the expected label as `clearset.functions.Link.estimates` does, with a gradient."""
    if link == "exp":
        return outputs.exp()
    if link == "sigmoid":
        return outputs.sigmoid()
    if link == "softmax":
        return outputs.softmax(dim=1)
    if link == "shares":
        shares = outputs.sigmoid()
        return shares / shares.sum(dim=1, keepdim=True)
    return outputs
