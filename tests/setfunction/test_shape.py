import numpy as np
import pytest
import torch

from clearset.kernels import Layout
from clearset.setfunction import ShapeConstraints
from clearset.sets import Binning, Feature, SetData, Trust


def largest(shape, model):
    return max(violation for _, _, violation in shape.violations(model))


@pytest.mark.parametrize(
    "trusts", [(), (Trust("stars", by="words"),), (Trust("stars", by="words", shape="trapezoid"),)]
)
@pytest.mark.parametrize("lattice_size", [2, 3])
def test_noise_is_projected_to_feasible_tables(make_example, trusts, lattice_size):
    example = make_example(width=3, outputs=1, lattice_size=lattice_size, trusts=trusts)
    model = example.scrambled()
    assert largest(example.shape, model) > 0.1
    example.shape.project(model)
    assert largest(example.shape, model) < 1e-5
    example.shape.project_exactly(model)
    assert largest(example.shape, model) == 0.0


def test_projection_leaves_feasible_tables_alone(example):
    model = example.initial()
    before = {name: table.detach().clone() for name, table in model.tables.items()}
    example.shape.project(model)
    example.shape.project_exactly(model)
    for name, table in model.tables.items():
        assert torch.equal(table, before[name])


def test_bounds_alone_clip(example):
    model = example.scrambled()
    wanted = {name: table.detach().clone() for name, table in model.tables.items()}
    example.shape.project_bounds(model)
    limits = {
        "phi.calibration": (0, 1),
        "phi.vertices": (-1, 1),
        "rho.calibrators": (0, 1),
        "rho.vertices": (-1, 1),
    }
    for name, table in model.tables.items():
        low, high = limits.get(name, (-np.inf, np.inf))
        torch.testing.assert_close(table.detach(), wanted[name].clamp(low, high))


def test_flat_rows_are_the_constraints(example):
    model = example.scrambled()
    indices, coefficients = example.shape.flat_rows(model)
    flat = np.concatenate([table.detach().numpy().ravel() for table in model.tables.values()])
    residuals = (flat[indices] * coefficients).sum(axis=1)
    ours = max(0.0, -residuals.min())
    groups = [v for name, _, v in example.shape.violations(model) if name != "values within their ranges"]
    assert ours == pytest.approx(max(groups))
    example.shape.project_exactly(model)
    flat = np.concatenate([table.detach().numpy().ravel() for table in model.tables.values()])
    assert (flat[indices] * coefficients).sum(axis=1).min() >= 0.0


def test_a_calibrator_without_a_direction_to_carry_is_free(example):
    model = example.initial()
    slots = example.binning.slots_of("words")
    hill = torch.tensor([0.0, 0.5, 1.0, 0.5, 0.0], dtype=torch.float64)
    with torch.no_grad():
        model.phi.calibration[:, slots] = hill
    example.shape.project_exactly(model)
    torch.testing.assert_close(model.phi.calibration[0, slots].detach(), hill)


def test_trapezoid_trust_pins_the_ends_of_the_trusted_calibrator(make_example):
    example = make_example(trusts=(Trust("stars", by="words", shape="trapezoid"),))
    model = example.scrambled()
    example.shape.project_exactly(model)
    calibration = model.phi.calibration.detach().numpy()[:, example.binning.slots_of("stars")]
    assert (calibration[:, 0] == 0.0).all()
    assert (calibration[:, -1] == 1.0).all()
    assert (np.diff(calibration, axis=1) >= 0).all()


def test_pinned_ends_do_not_pull_on_the_values_between(make_example):
    example = make_example(trusts=(Trust("stars", by="words", shape="trapezoid"),))
    model = example.initial()
    slots = example.binning.slots_of("stars")
    with torch.no_grad():
        model.phi.calibration[:, slots] = torch.tensor([0.9, 0.1, 0.3, 0.2, 0.4], dtype=torch.float64)
    example.shape.project(model)
    torch.testing.assert_close(
        model.phi.calibration[0, slots].detach(),
        torch.tensor([0.0, 0.1, 0.25, 0.25, 1.0], dtype=torch.float64),
    )


@pytest.mark.parametrize("shape", ["convex", "concave"])
def test_curvature_in_the_features_own_unit(make_example, shape):
    data = SetData(np.geomspace(1, 1000, 60), np.arange(61), ["x"])
    binning = Binning.fit(data, [Feature("x", shape=shape, monotonic="increasing")], keypoints=8)
    constraints = ShapeConstraints(binning, (), Layout.full((2,)), width=1, rho_keypoints=4)
    from clearset.setfunction import initial_set_function

    model = initial_set_function(
        binning, Layout.full((2,)), np.zeros((1, 1)), width=1, rho_keypoints=4, rng=np.random.default_rng(0)
    )
    with torch.no_grad():
        model.phi.calibration.uniform_(generator=torch.Generator().manual_seed(3))
    constraints.project_exactly(model)
    values = model.phi.calibration.detach().numpy()[0, binning.slots_of("x")]
    slopes = np.diff(values) / np.diff(binning.keypoints[0])
    sign = 1 if shape == "convex" else -1
    assert (sign * np.diff(slopes) >= -1e-12).all()
    assert (np.diff(values) >= 0).all()


def test_divergence_is_said(example):
    model = example.initial()
    with torch.no_grad():
        model.phi.vertices[0, 0] = float("nan")
    with pytest.raises(FloatingPointError, match="smaller learning_rate"):
        example.shape.project(model)
