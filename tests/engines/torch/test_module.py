import numpy as np
import pytest
import torch

from clearset.engines.torch import SetFunctionModule, as_tensors
from clearset.functions import Layout

from ...functions.example import Example
from ..brute_force import brute_force, brute_force_rho
from ..cases import crossed_case, expected_means, expected_rho, expected_scores, plain_case
from ..crossed_example import CrossedExample


@pytest.mark.parametrize(("width", "outputs", "lattice_size"), [(1, 1, 2), (2, 1, 3), (3, 2, 2)])
def test_equals_the_six_layers_by_hand(width, outputs, lattice_size):
    example = Example(width=width, outputs=outputs, lattice_size=lattice_size)
    function, positions = example.scrambled(), example.positions
    ours = SetFunctionModule(function)(as_tensors(positions)).detach().numpy()
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


@pytest.mark.parametrize("corrected", [0, 7])
def test_crossed_tokens_have_outputs_for_every_class(corrected):
    function, sets = crossed_case(0, 3, classes=4, width=2, corrected=corrected)
    module, tokens = SetFunctionModule(function), as_tensors(sets)
    for ours, expected in (
        (module.scores(tokens), expected_scores(function, sets)),
        (module.means(tokens), expected_means(function, sets)),
        (module(tokens), expected_rho(function.rho, expected_means(function, sets))),
    ):
        np.testing.assert_allclose(ours.detach().numpy(), expected, atol=1e-12)


def test_gradients_reach_all_tables():
    example = Example(width=2, outputs=2)
    function = example.initial()
    function.calibration[:] = 0.1 + 0.8 * function.calibration  # away from the clamps at 0 and 1
    module = SetFunctionModule(function)
    positions = as_tensors(example.positions.take(np.arange(6)))

    def outputs(*tables):
        parameters = dict(zip([name for name, _ in module.named_parameters()], tables, strict=True))
        return torch.func.functional_call(module, parameters, (positions,))

    tables = [parameter.detach().clone().requires_grad_() for parameter in module.parameters()]
    assert len(tables) == 5
    assert torch.autograd.gradcheck(outputs, tables)


def test_gradients_reach_corrections():
    example = CrossedExample.random(n_classes=2, n_sets=6)
    module = SetFunctionModule(example.function(example.corrections(scale=0.1)))
    with torch.no_grad():
        module.phi.calibration.mul_(0.8).add_(0.1)  # away from the clamps at 0 and 1
        module.rho.calibrators.mul_(0.8).add_(0.1)
    tokens = as_tensors(example.positions)

    def outputs(*tables):
        parameters = dict(zip([name for name, _ in module.named_parameters()], tables, strict=True))
        return torch.func.functional_call(module, parameters, (tokens,))

    tables = [parameter.detach().clone().requires_grad_() for parameter in module.parameters()]
    assert len(tables) == 6
    assert torch.autograd.gradcheck(outputs, tables)


def test_gradients_reach_a_network_that_makes_the_features():
    example = Example()
    function = example.initial()
    function.calibration[:] = 0.1 + 0.8 * function.calibration
    module, tokens = SetFunctionModule(function), as_tensors(example.positions.take(np.arange(6)))
    fractions = (0.1 + 0.8 * tokens.fractions).requires_grad_()
    assert torch.autograd.gradcheck(lambda fractions: module(tokens._replace(fractions=fractions)), (fractions,))


def test_trains_as_a_part_of_a_network():
    example = Example(outputs=2)
    torch.manual_seed(0)
    tokens, target = as_tensors(example.positions), torch.linspace(-1, 1, 80, dtype=torch.float64)
    network = torch.nn.Sequential(SetFunctionModule(example.initial()), torch.nn.Linear(2, 1, dtype=torch.float64))
    optimizer = torch.optim.Adam(network.parameters(), lr=0.05)
    losses = []
    for _ in range(60):
        optimizer.zero_grad()
        loss = (network(tokens)[:, 0] - target).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.7 * losses[0]


@pytest.mark.skipif(not torch.cuda.is_available(), reason="this machine has no GPU")
def test_other_devices_give_the_same():
    for function, sets in (plain_case(1, Layout.full((3, 2)), width=2), crossed_case(1, 3, corrected=7)):
        module = SetFunctionModule(function)
        there = SetFunctionModule(function).to("cuda")
        for one, device in ((module, "cpu"), (there, "cuda")):
            one(as_tensors(sets, device)).square().sum().backward()
        torch.testing.assert_close(there(as_tensors(sets, "cuda")).cpu(), module(as_tensors(sets)))
        for here, moved in zip(module.parameters(), there.parameters(), strict=True):
            torch.testing.assert_close(moved.grad.cpu(), here.grad)
        np.testing.assert_array_equal(there.function().calibration, function.calibration)


def test_state_is_saved_and_loaded_as_that_of_any_module():
    first, second = SetFunctionModule(Example().scrambled(0)), SetFunctionModule(Example().scrambled(1))
    second.load_state_dict(first.state_dict())
    tokens = as_tensors(Example().positions)
    assert torch.equal(first(tokens), second(tokens))
    assert set(first.state_dict()) == set(first.tables)


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
