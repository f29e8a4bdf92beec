import itertools

import numpy as np
import pytest

from clearset.functions import CLASSIFICATION_LOSSES, REGRESSION_LOSSES, Interactions, Layout, Loss, Penalty, Smoothness

from .example import Example


def differences(cube, axes):
    """Differences of all lattices' neighbours along several axes at once."""
    for axis in axes:
        cube = np.diff(cube, axis=axis)
    return cube


def off_the_line(values, keypoints):
    """How far twice each inner value is from the line between its neighbours, over the roots of distances."""
    found = []
    for i in range(1, len(keypoints) - 1):
        before, after = np.sqrt(keypoints[i] - keypoints[i - 1]), np.sqrt(keypoints[i + 1] - keypoints[i])
        on_the_line = values[:, i - 1] + (values[:, i + 1] - values[:, i - 1]) * before / (before + after)
        found.append(2 * (on_the_line - values[:, i]))
    return np.array(found)


def penalty(tables, binning):
    """Squared bends, feature by feature, and squared differences of two and of three inputs of a lattice.

    Four features share what ten of them, twenty pairs and thirty triples may say.
    """
    total = sum((np.diff(tables[name], n=2, axis=1) ** 2).sum() for name in ("rho.calibrators", "rho.output"))
    for feature, keypoints in zip(binning.features, binning.keypoints, strict=True):
        if keypoints is not None:
            values = tables["phi.calibration"][:, binning.slots_of(feature.name)]
            total += 4 / 10 * (off_the_line(values, keypoints) ** 2).sum()
    for name, shares in (("phi.vertices", {2: 6 / 20, 3: 4 / 30}), ("rho.vertices", {2: 1.0})):
        n_inputs = tables[name].shape[1].bit_length() - 1
        cube = tables[name].reshape(-1, *[2] * n_inputs)
        for count, share in shares.items():
            for axes in itertools.combinations(range(1, n_inputs + 1), count):
                total += share * (differences(cube, axes) ** 2).sum() / 2 ** (n_inputs - count)
    return total


def test_gradients_are_those_of_the_squared_bends_and_twists():
    example = Example()
    function = example.scrambled()
    tables = function.tables
    factor, gradients = example.smoothness(20.0, 100.0).gradients(tables, loss=0.5)
    rng = np.random.default_rng(1)
    ways = {name: rng.normal(size=table.shape) for name, table in tables.items()}
    for name, way in ways.items():
        # The penalty is quadratic, so that a central difference is exact.
        ends = [penalty({**tables, name: tables[name] + sign * way}, example.binning) for sign in (1.0, -1.0)]
        expected = 20.0 / 100.0 * 0.5 * (ends[0] - ends[1]) / 2
        ours = factor * (gradients[name] * way).sum() if name in gradients else 0.0
        assert ours == pytest.approx(expected), name


def test_matrices_are_those_of_the_gradients():
    for example in (Example(), Example(lattice_size=3, width=3)):
        tables, smoothness = example.scrambled().tables, example.smoothness(1.0)
        _, gradients = smoothness.gradients(tables, loss=0.5)
        for name, table in tables.items():
            matrix = smoothness.matrix(name)
            assert (matrix is None) == (name not in gradients)
            if matrix is not None:
                np.testing.assert_allclose((matrix @ table.T).T, gradients[name], atol=1e-10)


def test_lattices_of_any_size_are_penalised_for_what_does_not_add_up():
    rng = np.random.default_rng(0)
    sizes = (3, 2, 4)
    lattice = Interactions(0, sizes, pairs=1.0, triples=1.0)
    axes = [rng.normal(size=size) for size in sizes]
    added = axes[0][:, None, None] + axes[1][:, None] + axes[2]
    of_two = np.multiply.outer(axes[0] - axes[0].mean(), axes[1] - axes[1].mean())[..., None] + 0 * added
    of_three = of_two * (axes[2] - axes[2].mean())
    for part, times in ((added, 0.0), (of_two, 1.0), (of_three, 4.0)):
        # A part of three inputs has three pairs and a triple.
        np.testing.assert_allclose(lattice.gradient(part.reshape(1, -1))[0], times * part.ravel(), atol=1e-12)


def test_ensembles_are_as_smooth_as_what_they_say_together():
    example = Example()
    twisted = np.tile([1.0, -1.0, -1.0, 1.0], 2)
    alone = Smoothness(example.binning, Layout((2,) * 4, ((0, 1),)), Penalty(1.0), 1.0, **example.sizes)
    both = Smoothness(example.binning, Layout((2,) * 4, ((0, 1), (2, 3))), Penalty(1.0), 1.0, **example.sizes)
    tables = {"phi.vertices": twisted[None, :4]}
    of_one = (alone.matrix("phi.vertices") @ tables["phi.vertices"].T).T
    of_both = (both.matrix("phi.vertices") @ twisted[None].T).T
    np.testing.assert_allclose(of_both[:, :4], of_one / 4)


def test_strength_rises_in_the_first_half():
    example = Example()
    shares = []
    for progress in (0.0, 0.25, 0.5, 1.0):
        smoothness = Smoothness(example.binning, example.layout, Penalty(1.0, at_first=0.01), 1.0, **example.sizes)
        shares.append(smoothness.gradients(example.initial().tables, 1.0, progress)[0] / 2.0)
    assert shares == pytest.approx([0.01, 0.1, 1.0, 1.0])


def test_linear_functions_have_no_penalty():
    example = Example()
    function = example.initial()
    slots = example.binning.slots_of("words")  # keypoints of calibrators are not evenly spaced
    ways = np.append(0.0, np.sqrt(np.diff(example.binning.keypoints[1])).cumsum())
    function.calibration[:] = 0.5
    function.calibration[:, slots] = ways / ways[-1]
    factor, gradients = example.smoothness(1.0).gradients(function.tables, loss=1.0)
    assert factor > 0
    assert all(np.abs(gradient).max() < 1e-6 for gradient in gradients.values())


def test_follows_the_loss_slowly():
    example = Example()
    tables, smoothness = example.scrambled().tables, example.smoothness(1.0)
    factors = [smoothness.gradients(tables, loss)[0] for loss in (1.0, 0.0, 0.0)]
    assert factors[1] / factors[0] == pytest.approx(0.95)
    assert factors[2] / factors[0] == pytest.approx(0.95**2)


def test_fades_with_the_loss_as_far_as_labels_scatter():
    example = Example()
    tables = example.initial().tables
    smoothness = Smoothness(example.binning, example.layout, Penalty(1.0, least_scatter=0.07), 1.0, **example.sizes)
    factors = [smoothness.gradients(tables, loss)[0] / 2.0 for loss in [0.08, *[0.0] * 10]]
    assert factors == pytest.approx([0.08, 0.08 * 0.95, 0.08 * 0.95**2, *[0.07] * 8])


def test_slopes_are_penalised_whatever_the_strength():
    example = Example()
    table = example.scrambled().calibration
    words = example.binning.slots_of("words")  # the one number without a direction
    slopes = table[:, words.stop - 1] - table[:, words.start]
    penalties = []
    for strength in (1.0, 50.0):
        with_slopes, without = (
            Smoothness(example.binning, example.layout, Penalty(strength, slopes=weight), 1.0, **example.sizes)
            for weight in (3.0, 0.0)
        )
        difference = with_slopes.squares["phi.calibration"] - without.squares["phi.calibration"]
        penalties.append(strength * np.einsum("ri,ri->r", table, (difference @ table.T).T))
    for penalty in penalties:
        np.testing.assert_allclose(penalty, 3.0 * np.square(slopes))
    none = Smoothness(example.binning, example.layout, Penalty(0.0, slopes=3.0), 1.0, **example.sizes)
    assert none.gradients(example.scrambled().tables, 1.0)[0] == 0.0


def test_the_height_of_the_output_is_penalised_whatever_the_strength():
    example = Example()
    table = example.scrambled().rho_output
    penalties = []
    for strength in (1.0, 50.0):
        with_height, without = (
            Smoothness(example.binning, example.layout, Penalty(strength, height=weight), 1.0, **example.sizes)
            for weight in (0.7, 0.0)
        )
        difference = with_height.squares["rho.output"] - without.squares["rho.output"]
        penalties.append(strength * np.einsum("ri,ri->r", table, (difference @ table.T).T))
    for penalty in penalties:
        np.testing.assert_allclose(penalty, 0.7 * np.square(table[:, -1] - table[:, 0]))
    none = Smoothness(example.binning, example.layout, Penalty(0.0, height=0.7), 1.0, **example.sizes)
    assert none.gradients(example.scrambled().tables, 1.0)[0] == 0.0


def test_classes_scatter_where_numbers_need_not():
    assert {name: Loss(name).least_scatter > 0 for name in (*REGRESSION_LOSSES, *CLASSIFICATION_LOSSES)} == {
        **dict.fromkeys(REGRESSION_LOSSES, False),
        **dict.fromkeys(CLASSIFICATION_LOSSES, True),
    }
