import numpy as np
import pytest

from clearset.functions import Layout, ShapeConstraints
from clearset.sets import Binning, Feature, SetData, Trust
from clearset.training import initial_set_function

from .example import Example, largest_violation

TRAPEZOID = (Trust("stars", by="words", shape="trapezoid"),)


@pytest.mark.parametrize("trusts", [(), (Trust("stars", by="words"),), TRAPEZOID])
@pytest.mark.parametrize("lattice_size", [2, 3])
def test_noise_is_projected_to_feasible_tables(trusts, lattice_size):
    example = Example(width=3, lattice_size=lattice_size, trusts=trusts)
    function, shape = example.scrambled(), example.shape
    assert largest_violation(shape, function) > 0.1
    shape.project(function.tables)
    assert largest_violation(shape, function) < 1e-5
    shape.project_exactly(function.tables)
    assert largest_violation(shape, function) == 0.0


def test_projection_leaves_feasible_tables_alone():
    example = Example()
    function, before = example.initial(), example.initial()
    example.shape.project(function.tables)
    example.shape.project_exactly(function.tables)
    for name, table in function.tables.items():
        np.testing.assert_array_equal(table, before.tables[name])


def test_single_precision_is_projected_in_place():
    example = Example()
    function = example.scrambled()
    tables = {name: table.astype(np.float32) for name, table in function.tables.items()}
    places = {name: table.ctypes.data for name, table in tables.items()}
    example.shape.project(tables)
    assert {name: table.ctypes.data for name, table in tables.items()} == places
    assert largest_violation(example.shape, function.with_tables(tables)) < 1e-6


def test_bounds_alone_clip():
    example = Example()
    function, wanted = example.scrambled(), example.scrambled()
    example.shape.project_bounds(function.tables)
    limits = {"phi.calibration": (0, 1), "phi.vertices": (-1, 1), "rho.calibrators": (0, 1), "rho.vertices": (-1, 1)}
    for name, table in function.tables.items():
        low, high = limits.get(name, (-np.inf, np.inf))
        np.testing.assert_array_equal(table, np.clip(wanted.tables[name], low, high))


def test_flat_rows_are_the_constraints():
    example = Example()
    function, shape = example.scrambled(), example.shape
    indices, coefficients = shape.flat_rows(function.tables)

    def residuals():
        flat = np.concatenate([table.ravel() for table in function.tables.values()])
        return (flat[indices] * coefficients).sum(axis=1)

    groups = [v for name, _, v in shape.violations(function.tables) if name != "values within their ranges"]
    assert max(0.0, -residuals().min()) == pytest.approx(max(groups))
    shape.project_exactly(function.tables)
    assert residuals().min() >= 0.0


def test_violations_name_constraint_and_layer():
    example = Example(width=1)
    function = example.initial()
    function.vertices[0] = function.vertices[0].reshape(2, 8)[::-1].ravel()  # falls along stars
    found = {(name, layer) for name, layer, v in example.shape.violations(function.tables) if v > 0}
    assert found == {("stars increasing", "lattices of phi")}


def test_a_calibrator_without_a_direction_to_carry_is_free():
    example = Example()
    function = example.initial()
    slots, hill = example.binning.slots_of("words"), np.array([0.0, 0.5, 1.0, 0.5, 0.0])
    function.calibration[:, slots] = hill
    example.shape.project_exactly(function.tables)
    np.testing.assert_array_equal(function.calibration[0, slots], hill)


def test_trapezoid_trust_pins_the_ends_of_the_trusted_calibrator():
    example = Example(trusts=TRAPEZOID)
    calibration = example.feasible().calibration[:, example.binning.slots_of("stars")]
    assert (calibration[:, 0] == 0.0).all()
    assert (calibration[:, -1] == 1.0).all()
    assert (np.diff(calibration, axis=1) >= 0).all()


def test_pinned_ends_do_not_pull_on_the_values_between():
    example = Example(trusts=TRAPEZOID)
    function = example.initial()
    slots = example.binning.slots_of("stars")
    function.calibration[:, slots] = [0.9, 0.1, 0.3, 0.2, 0.4]
    example.shape.project(function.tables)
    np.testing.assert_allclose(function.calibration[0, slots], [0.0, 0.1, 0.25, 0.25, 1.0], atol=1e-12)


@pytest.mark.parametrize("shape", ["convex", "concave"])
@pytest.mark.parametrize("monotonic", ["increasing", "decreasing"])
def test_curvature_in_the_features_own_unit(shape, monotonic):
    data = SetData(np.geomspace(1, 1000, 60), np.arange(61), ["x"])
    binning = Binning.fit(data, [Feature("x", shape=shape, monotonic=monotonic)], keypoints=8)
    layout, sizes = Layout.full((2,)), {"width": 1, "rho_keypoints": 4}
    rng = np.random.default_rng(3)
    function = initial_set_function(binning, layout, np.zeros((1, 1)), **sizes, rng=rng)
    function.calibration[:] += rng.normal(0.0, 0.2, function.calibration.shape)
    ShapeConstraints(binning, (), layout, **sizes).project_exactly(function.tables)
    values = function.calibration[0, binning.slots_of("x")]
    low, high = function.vertices[0]
    # The score of a token with x alone: the lattice, a line here, over the calibrated value.
    scores = low + (high - low) * values
    assert np.ptp(scores) > 0
    sign = 1 if monotonic == "increasing" else -1
    assert (sign * np.diff(scores) >= 0).all()
    bends = np.diff(np.diff(scores) / np.diff(binning.keypoints[0]))
    assert ((1 if shape == "convex" else -1) * bends >= -1e-12).all()


def test_divergence_is_said():
    example = Example()
    function = example.initial()
    function.vertices[0, 0] = np.nan
    with pytest.raises(FloatingPointError, match="smaller learning_rate"):
        example.shape.project(function.tables)
    found = example.shape.violations(function.tables)
    assert any(name == "values are finite" and np.isnan(violation) for name, _, violation in found)
