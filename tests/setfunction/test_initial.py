import numpy as np
import torch

from clearset.setfunction import Loss, initial_set_function, leanings, token_positions


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


def test_leanings_are_the_signs_of_covariances(example):
    words = np.nan_to_num(example.data.values[:, 1], nan=0.0)
    rising = np.array(
        [words[a:b].mean() for a, b in zip(example.data.offsets, example.data.offsets[1:], strict=False)]
    )
    targets = np.stack([rising, -rising, np.zeros(len(rising))], axis=1)
    signs = leanings(example.binning, example.positions, targets - targets.mean(axis=0))
    assert signs.shape == (3, 4)
    assert signs[:, 1].tolist() == [1.0, -1.0, 0.0]


def test_undeclared_features_start_as_they_lean_and_on_both_sides_of_a_wider_model(example):
    leaning = np.array([[0.0, -1.0, 0.0, 0.0]])
    for seed in range(5):
        rng = np.random.default_rng(seed)
        model = initial_set_function(
            example.binning, example.layout, leaning, width=3, rho_keypoints=7, rng=rng
        )
        lattices = model.tables["phi.vertices"].detach().reshape(3, 2, 2, 2, 2)
        slopes = (lattices[:, :, 1] - lattices[:, :, 0]).mean(dim=(1, 2, 3))
        assert torch.sign(slopes).tolist() == [-1.0, 1.0, -1.0]
