import numpy as np
import pytest

from clearset.engines import engine
from clearset.functions import Loss
from clearset.training import Unit, choose_batch_size, count_sets

from ..functions.example import Example

LABELS = np.array([10.0, 14.0, 30.0])


def test_whole_weights_are_repetitions_and_others_are_relative():
    assert count_sets(np.array([2.0, 1.0, 0.0])) == 3.0
    assert count_sets(np.array([0.5, 0.25])) == 2.0


@pytest.mark.parametrize(("n_sets", "size"), [(100, 32), (1600, 100), (10**6, 1024)])
def test_batches_are_a_share_of_all_sets(n_sets, size):
    assert choose_batch_size("auto", n_sets, share=16, largest=1024) == size
    assert choose_batch_size(7, n_sets, share=16, largest=1024) == 7


def test_labels_and_functions_enter_and_leave_the_unit_of_training():
    example, unit = Example(), Unit.of(Loss("squared_error"), LABELS, np.ones(3))
    function = example.initial().rescaled(18.0, 5.0)
    outputs = engine().outputs(function, example.positions)
    inner = engine().outputs(unit.entered(function), example.positions)
    np.testing.assert_allclose(inner, (outputs - LABELS.mean()) / LABELS.std())
    back = engine().outputs(unit.left(unit.entered(function)), example.positions)
    np.testing.assert_allclose(back, outputs)


def test_labelled_sets_are_in_the_unit_of_training_with_weights_of_mean_one():
    unit = Unit.of(Loss("squared_error"), LABELS, np.ones(3))
    positions = Example().positions.take(np.arange(3))
    data = unit.labelled(positions, LABELS, np.array([1.0, 2.0, 3.0]))
    assert data.targets.mean() == pytest.approx(0.0)
    assert data.targets.std() == pytest.approx(1.0)
    assert data.weights.tolist() == [0.5, 1.0, 1.5]
    assert len(data) == 3
    assert data.dtype == np.float64


def test_losses_are_reported_in_the_labels_own_unit():
    unit = Unit.of(Loss("squared_error"), LABELS, np.ones(3))
    entry = unit.reported({"epoch": 4.0, "loss": 0.5, "validation_loss": 2.0})
    variance = LABELS.var()
    assert entry == pytest.approx({"epoch": 4.0, "loss": 0.5 * variance, "validation_loss": 2.0 * variance})
