import numpy as np
import pytest
import torch

from clearset.engines.torch import SetFunctionModule, token_positions

from ...functions.example import Example
from ..brute_force import brute_force, brute_force_rho


@pytest.mark.parametrize(("width", "outputs", "lattice_size"), [(1, 1, 2), (2, 1, 3), (3, 2, 2)])
def test_equals_the_six_layers_by_hand(width, outputs, lattice_size):
    example = Example(width=width, outputs=outputs, lattice_size=lattice_size)
    function, positions = example.scrambled(), example.positions
    ours = SetFunctionModule(function)(token_positions(positions)).detach().numpy()
    means, _, _ = brute_force(
        positions.slots,
        positions.fractions,
        positions.offsets,
        function.calibration,
        function.vertices,
        example.layout.sizes,
        example.layout.subsets,
        np.zeros((len(positions), outputs * width)),
    )
    expected = brute_force_rho(means, function.rho_calibrators, function.rho_vertices, function.rho_output)
    np.testing.assert_allclose(ours, expected, atol=1e-10)


def test_gradients_reach_all_tables():
    example = Example(width=2, outputs=2)
    function = example.initial()
    function.calibration[:] = 0.1 + 0.8 * function.calibration  # away from the clamps at 0 and 1
    module = SetFunctionModule(function)
    positions = token_positions(example.positions.take(np.arange(6)))

    def outputs(*tables):
        parameters = dict(zip([name for name, _ in module.named_parameters()], tables, strict=True))
        return torch.func.functional_call(module, parameters, (positions,))

    tables = [parameter.detach().clone().requires_grad_() for parameter in module.parameters()]
    assert len(tables) == 5
    assert torch.autograd.gradcheck(outputs, tables)


def test_the_module_has_tables_of_its_own():
    function = Example().scrambled()
    module = SetFunctionModule(function)
    with torch.no_grad():
        module.phi.vertices.zero_()
    assert function.vertices.any()
    back = module.function()
    assert not back.vertices.any()
    np.testing.assert_array_equal(back.calibration, function.calibration)
    module.arrays()["rho.output"][:] = 3.0
    assert (module.rho.output == 3.0).all()
    assert not (back.rho_output == 3.0).any()


def test_single_precision_comes_back_in_double():
    function = Example().scrambled()
    back = SetFunctionModule(function, np.float32).function()
    for name, table in back.tables.items():
        assert table.dtype == np.float64
        np.testing.assert_array_equal(table, function.tables[name].astype(np.float32))
