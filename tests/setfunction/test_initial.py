import numpy as np
import torch

from clearset.setfunction import Loss, token_positions


def test_starts_feasible_and_able_to_move(make_example):
    example = make_example(width=4)
    for seed in range(20):
        model = example.initial(seed)
        assert max(violation for _, _, violation in example.shape.violations(model)) == 0.0
        labels = torch.from_numpy(np.random.default_rng(seed).normal(size=len(example.positions)))
        Loss("squared_error")(model(token_positions(example.positions)), labels).mean().backward()
        for name, table in model.tables.items():
            # Every row has a gradient: no lattice or calibrator is dead from the start.
            assert (table.grad.abs().amax(dim=1) > 1e-6).all(), name


def test_lattices_differ_from_each_other(make_example):
    model = make_example(width=3).initial()
    vertices = model.tables["phi.vertices"].detach()
    assert torch.cdist(vertices, vertices).add(torch.eye(3)).min() > 0.05


def test_numeric_calibrators_are_straight_lines(example):
    calibration = example.initial().tables["phi.calibration"].detach().numpy()
    keypoints = example.binning.keypoints[1]
    straight = (keypoints - keypoints[0]) / (keypoints[-1] - keypoints[0])
    np.testing.assert_allclose(calibration[0, example.binning.slots_of("words")], straight)
