import numpy as np
import torch

from clearset.engines.torch import SetFunctionModule
from clearset.engines.torch._light_touch import LightTouch

from ...functions.example import Example

N_SAMPLES = 128


def watched(function):
    example, module = Example(), SetFunctionModule(function)
    return example.shape, module, LightTouch(example.shape, module)


def draws(seed):
    return np.random.default_rng(seed).random(N_SAMPLES)


def test_no_penalty_where_nothing_is_violated():
    _, module, penalty = watched(Example().initial())
    assert penalty(module, draws(0)).item() == 0.0


def test_steps_against_the_penalty_lead_to_feasibility():
    shape, module, penalty = watched(Example().scrambled())
    optimizer = torch.optim.Adam(module.parameters(), lr=0.02)

    def total():
        found = shape.violations(module.arrays())
        return sum(v for name, _, v in found if name != "values within their ranges")

    before = total()
    for step in range(600):
        optimizer.zero_grad()
        penalty(module, draws(step)).backward()
        optimizer.step()
    assert total() < 0.1 * before


def test_learns_where_violations_are():
    function = Example().initial()
    function.rho_output[0, :2] = 0.5, -0.5  # the only violated constraint
    shape, module, penalty = watched(function)
    indices, _ = shape.flat_rows(module.arrays())
    start = sum(table.size for table in list(module.arrays().values())[:-1])
    violated = int(np.flatnonzero((np.sort(indices[:, :2], axis=1) == [start, start + 1]).all(axis=1))[0])
    for step in range(300):
        penalty(module, draws(step))
    chance = torch.softmax(penalty.log_weights, dim=0)
    assert int(chance.argmax()) == violated
    assert float(chance[violated]) > 0.5
