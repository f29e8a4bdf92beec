"""Set functions trained together: the outputs that joint training sees, and their gradients."""

import numpy as np
import polars as pl
import pytest
import torch

import clearset as cs
from clearset.engines import available_engines, engine

RNG = np.random.default_rng(0)
ITEMS = np.array([f"i{k}" for k in range(20)])
WORTH = RNG.normal(size=20)
SETS = [RNG.choice(20, RNG.integers(1, 6), replace=False) for _ in range(400)]
FRAME = pl.DataFrame(
    {
        "items": [ITEMS[row].tolist() for row in SETS],
        "more": [ITEMS[row].tolist() for row in SETS[::-1]],
        "shift": RNG.normal(size=400),
    }
)
NUMBERS = np.array([WORTH[row].max() for row in SETS]) + FRAME["shift"].to_numpy()


@pytest.fixture(scope="module")
def trainer():
    """Catch what is to be trained jointly, and let torch begin it."""
    used, caught = type(engine()), []
    make = used.joint_trainer

    def watched(self, *arguments):
        caught.append(arguments)
        return make(self, *arguments)

    options = {"epochs": 8, "n_jobs": 1}
    engines = {
        "items": cs.SemanticFeatureEngine(tokens=cs.Items(), width=2, **options),
        ("items", "more"): cs.SemanticFeatureEngine(tokens=cs.Cross("items", "more"), **options),
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(used, "joint_trainer", watched)
        follow_on = cs.SetRegressor(lattice_size=3, **options)
        cs.JointModel(engines, follow_on, epochs=1, random_state=0).fit(FRAME, NUMBERS)
    return engine("torch").joint_trainer(*caught[0])


def outputs_of(trainer, models, sets):
    return trainer._outputs(models, sets)[:, 0]


def test_outputs_are_those_of_the_follow_on_function_on_estimates(trainer):
    problem, models = trainer._problem, trainer._iterate
    for model, part in zip(models, problem.parts, strict=True):
        for name, table in model.tables.items():
            table.data = torch.from_numpy(part.function.tables[name].copy())
    sets = np.arange(len(problem.targets))
    outputs = outputs_of(trainer, models, sets).detach().numpy()
    # The positions are those of the estimates that the follow-on function was fitted on.
    expected = engine("torch").outputs(problem.parts[0].function, problem.positions)[:, 0]
    np.testing.assert_allclose(outputs, expected, atol=1e-9)


@pytest.mark.parametrize("part", [0, 1, 2])
def test_gradients_are_those_of_finite_differences(trainer, part):
    models = trainer._iterate
    # Calibrators are moved off 0 and 1: clamping makes kinks there, which have no gradient.
    for model in models:
        model.zero_grad()
        for name, table in model.tables.items():
            table.data.mul_(0.9).add_(0.05 if name in ("phi.calibration", "rho.calibrators") else 0.0)
    sets = np.arange(40)
    weights = torch.linspace(-1, 1, 40, dtype=torch.float64)

    def value():
        return (outputs_of(trainer, models, sets) * weights).sum()

    value().backward()
    rng = np.random.default_rng(0)
    step = 1e-7  # an estimate may stand that near to a keypoint
    moved = 0
    for table in models[part].tables.values():
        gradient, flat = table.grad.reshape(-1), table.data.reshape(-1)
        for place in rng.permutation(len(flat))[:6]:
            kept = flat[place].item()
            with torch.no_grad():
                flat[place] = kept + step
                above = value().item()
                flat[place] = kept - step
                below = value().item()
                flat[place] = kept
            slope = (above - below) / (2 * step)
            assert slope == pytest.approx(gradient[place].item(), rel=1e-4, abs=1e-6)
            moved += slope != 0
    assert moved > 5


@pytest.mark.skipif("native" not in available_engines(), reason="clearset._native is not built")
def test_native_gradients_are_those_of_autograd(trainer):
    from clearset.engines._native_joint import _Pass

    models, problem, sets = trainer._iterate, trainer._problem, np.arange(50)
    rng = np.random.default_rng(1)
    for model in models:
        model.zero_grad()
        for table in model.tables.values():
            table.data.add_(torch.from_numpy(0.01 * rng.random(table.shape)))
    loss = trainer._mean_loss(models, sets)
    loss.backward()
    applied = _Pass(problem, [model.function() for model in models], sets, 1)
    assert applied.loss == pytest.approx(loss.item(), rel=1e-12)
    for model, gradients in zip(models, applied.gradients(), strict=True):
        assert any(gradient.any() for gradient in gradients.values())
        for name, gradient in gradients.items():
            np.testing.assert_allclose(gradient, model.tables[name].grad, rtol=1e-9, atol=1e-12)
