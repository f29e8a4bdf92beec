"""Light Touch: cheap penalties on sampled constraints, chosen where violations are learned to be."""

import numpy as np
import torch
from torch import Tensor

from clearset.engines.torch._module import SetFunctionModule
from clearset.functions import ShapeConstraints


class LightTouch:
    """A penalty on the constraints that are most often violated.

    Each step samples a few of the constraints from a learned distribution, adds their mean violation to the
    objective, and moves the distribution towards those that were violated (exponentiated gradient). Feasibility is
    reached as training converges, not kept on the way: a last exact projection makes it complete.

    Parameters
    ----------
    shape : ShapeConstraints
        All constraints.
    model : SetFunctionModule
        The set function to watch.
    rng : numpy.random.Generator
        Samples the constraints.
    samples : int, default=128
        Constraints looked at in a step.
    strength : float, default=20.0
        Of the penalty, in units of the loss per unit of violation.
    rate : float, default=10.0
        How fast the distribution learns.
    """

    def __init__(
        self,
        shape: ShapeConstraints,
        model: SetFunctionModule,
        rng: np.random.Generator,
        *,
        samples: int = 128,
        strength: float = 20.0,
        rate: float = 10.0,
    ) -> None:
        indices, coefficients = shape.flat_rows(model.arrays())
        self._indices = torch.from_numpy(indices)
        self._coefficients = torch.from_numpy(coefficients)
        self._log_weights = torch.zeros(len(indices), dtype=torch.float64)
        self._generator = torch.Generator().manual_seed(int(rng.integers(2**62)))
        self._samples = samples
        self._strength = strength
        self._rate = rate

    def __call__(self, model: SetFunctionModule) -> Tensor:
        """Return the penalty of one step."""
        values = torch.cat([table.reshape(-1) for table in model.tables.values()])
        if len(self._indices) == 0:
            return values.new_zeros(())
        chosen = self._sample()
        coefficients = self._coefficients[chosen].to(values.dtype)
        violations = -(values[self._indices[chosen]] * coefficients).sum(dim=1).clamp(max=0.0)
        self._learn(chosen, violations.detach().double())
        return self._strength * violations.mean()

    def _sample(self) -> Tensor:
        # Half of the chance is spread evenly, so that no constraint is forgotten.
        learned = torch.softmax(self._log_weights, dim=0)
        chance = 0.5 * learned + 0.5 / len(learned)
        return torch.multinomial(chance, self._samples, replacement=True, generator=self._generator)

    def _learn(self, chosen: Tensor, violations: Tensor) -> None:
        self._log_weights.index_add_(0, chosen, self._rate * violations / self._samples)
