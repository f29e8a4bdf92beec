import numpy as np
import pytest

from clearset.functions import CLASSIFICATION_LOSSES, CROSSED_LOSSES, REGRESSION_LOSSES, Loss

LABELS = np.array([1.0, 2.0, 6.0])
WEIGHTS = np.array([2.0, 1.0, 1.0])


@pytest.mark.parametrize("name", [name for name in REGRESSION_LOSSES if name != "poisson"])
def test_numbers_are_centred_and_divided_by_their_deviation(name):
    repeated = np.array([1.0, 1.0, 2.0, 6.0])
    assert Loss(name).scaling(LABELS, WEIGHTS) == pytest.approx((repeated.mean(), repeated.std()))


def test_counts_are_divided_by_their_mean():
    loss = Loss("poisson")
    centre, scale = loss.scaling(LABELS, WEIGHTS)
    assert np.average(loss.scaled(LABELS, centre, scale), weights=WEIGHTS) == pytest.approx(1.0)
    assert scale == 1.0


@pytest.mark.parametrize("name", [*CLASSIFICATION_LOSSES, *CROSSED_LOSSES])
def test_classes_stay_as_they_are(name):
    loss = Loss(name)
    assert loss.scaling(LABELS, WEIGHTS) == (0.0, 1.0)
    assert loss.scaled(LABELS, 0.0, 1.0) is LABELS


def test_labels_without_spread_have_a_scale():
    assert Loss("squared_error").scaling(np.full(3, 5.0), np.ones(3)) == (5.0, 1.0)


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_labels_of_any_size_have_a_scale(size):
    centre, scale = Loss("squared_error").scaling(size * LABELS, np.ones(3))
    assert (centre / size, scale / size) == pytest.approx((LABELS.mean(), LABELS.std()))
