import numpy as np
import torch

from clearset.setfunction._light_touch import LightTouch


def test_no_penalty_where_nothing_is_violated(example):
    penalty = LightTouch(example.shape, example.initial(), np.random.default_rng(0))
    assert penalty(example.initial()).item() == 0.0


def test_steps_against_the_penalty_lead_to_feasibility(example):
    model = example.scrambled()
    penalty = LightTouch(example.shape, model, np.random.default_rng(0))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)

    def total():
        return sum(
            v for name, _, v in example.shape.violations(model) if name != "values within their ranges"
        )

    before = total()
    for _ in range(600):
        optimizer.zero_grad()
        penalty(model).backward()
        optimizer.step()
    assert total() < 0.1 * before


def test_learns_where_violations_are(example):
    model = example.initial()
    penalty = LightTouch(example.shape, model, np.random.default_rng(0))
    with torch.no_grad():
        table = model.tables["rho.output"]
        table[0, :2] = torch.tensor([0.5, -0.5])  # the only violated constraint
    indices, _ = example.shape.flat_rows(model)
    start = sum(t.numel() for t in list(model.tables.values())[:-1])
    violated = int(np.flatnonzero((np.sort(indices[:, :2], axis=1) == [start, start + 1]).all(axis=1))[0])
    for _ in range(300):
        penalty(model)
    chance = torch.softmax(penalty._log_weights, dim=0)
    assert int(chance.argmax()) == violated
    assert float(chance[violated]) > 0.5
