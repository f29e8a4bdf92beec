import itertools

import numpy as np
import pytest
import torch

from clearset.setfunction import token_positions


def by_hand(model, positions, width):
    """The six layers for one set after the other, in plain numpy, corner by corner."""
    calibration, vertices, rho_calibrators, rho_vertices, output = (
        table.detach().numpy() for table in model.tables.values()
    )
    sizes, keypoints = model.phi.layout.sizes, np.linspace(-1, 1, output.shape[1])

    def lattice(values, inputs, shape):
        values, total = values.reshape(shape), 0.0
        places = [min(max(c, 0.0), 1.0) * (size - 1) for c, size in zip(inputs, shape, strict=True)]
        cells = [min(int(place), size - 2) for place, size in zip(places, shape, strict=True)]
        for corner in itertools.product((0, 1), repeat=len(shape)):
            weight = 1.0
            for bit, place, cell in zip(corner, places, cells, strict=True):
                weight *= place - cell if bit else 1 - (place - cell)
            total += weight * values[tuple(np.add(cells, corner))]
        return total

    results = []
    for start, stop in itertools.pairwise(positions.offsets):
        row = []
        for c in range(len(output)):
            fused = []
            for k in range(c * width, (c + 1) * width):
                table = np.append(calibration[k], 0.0)
                scores = []
                for t in range(start, stop):
                    slots, fractions = positions.slots[:, t], positions.fractions[:, t]
                    calibrated = table[slots] + fractions * (table[slots + 1] - table[slots])
                    scores.append(lattice(vertices[k], calibrated, sizes))
                fused.append(np.interp(np.mean(scores), keypoints, rho_calibrators[k]))
            row.append(np.interp(lattice(rho_vertices[c], fused, (2,) * width), keypoints, output[c]))
        results.append(row)
    return np.array(results)


@pytest.mark.parametrize(("width", "outputs", "lattice_size"), [(1, 1, 2), (2, 1, 3), (3, 2, 2)])
def test_equals_the_six_layers_by_hand(make_example, width, outputs, lattice_size):
    example = make_example(width=width, outputs=outputs, lattice_size=lattice_size)
    model = example.scrambled()
    ours = model(token_positions(example.positions)).detach().numpy()
    np.testing.assert_allclose(ours, by_hand(model, example.positions, width), atol=1e-10)


def test_gradients_reach_all_tables(make_example):
    example = make_example(width=2, outputs=2)
    model = example.initial()
    positions = token_positions(example.positions.take(np.arange(6)))

    def outputs(*tables):
        parameters = dict(zip([name for name, _ in model.named_parameters()], tables, strict=True))
        return torch.func.functional_call(model, parameters, (positions,))

    with torch.no_grad():  # away from the borders 0 and 1, where a numerical gradient sees the clamp
        model.phi.calibration.mul_(0.8).add_(0.1)
    tables = [parameter.detach().clone().requires_grad_() for parameter in model.parameters()]
    assert torch.autograd.gradcheck(outputs, tables)


def test_rescaling_moves_outputs_and_nothing_else(example):
    model = example.initial()
    positions = token_positions(example.positions)
    torch.testing.assert_close(model.rescaled(5.0, 3.0)(positions), 5.0 + 3.0 * model(positions))
    assert model.width == 2
    assert model.outputs == 1
