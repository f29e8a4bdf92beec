"""Light Touch: cheap penalties on sampled constraints, chosen where violations are learned to be."""

import numpy as np
import torch
from torch import Tensor

from clearset.engines.torch._module import SetFunctionModule
from clearset.functions import ShapeConstraints


class LightTouch:
    """A penalty on the constraints that are most often violated.

    Each step samples a few of the constraints from a learned distribution, adds their mean violation times `strength`
    to the objective, and moves the distribution towards those that were violated, at a `rate` (exponentiated gradient).
    Feasibility is reached as training converges, not kept on the way: a last exact projection makes it complete.
    """

    def __init__(
        self, shape: ShapeConstraints, model: SetFunctionModule, *, strength: float = 20.0, rate: float = 10.0
    ) -> None:
        indices, coefficients = shape.flat_rows(model.arrays())
        self._indices = torch.from_numpy(indices)
        self._coefficients = torch.from_numpy(coefficients)
        self.log_weights = torch.zeros(len(indices), dtype=torch.float64)
        self._strength = strength
        self._rate = rate

    def __call__(self, model: SetFunctionModule, draws: np.ndarray) -> Tensor:
        """Return the penalty of one step, which looks at as many constraints as there are draws from [0, 1)."""
        values = torch.cat([table.reshape(-1) for table in model.tables.values()])
        if len(self._indices) == 0:
            return values.new_zeros(())
        chosen = self._sample(torch.from_numpy(draws))
        coefficients = self._coefficients[chosen].to(values.dtype)
        violations = torch.relu(-(values[self._indices[chosen]] * coefficients).sum(dim=1))
        self._learn(chosen, violations.detach().double())
        return self._strength * violations.mean()

    def _sample(self, draws: Tensor) -> Tensor:
        # Half of the chance is spread evenly, so that no constraint is forgotten.
        learned = torch.softmax(self.log_weights, dim=0)
        sums = (0.5 * learned + 0.5 / len(learned)).cumsum(dim=0)
        return torch.searchsorted(sums[:-1], draws * sums[-1], right=True)

    def _learn(self, chosen: Tensor, violations: Tensor) -> None:
        self.log_weights.index_add_(0, chosen, self._rate * violations / len(chosen))
