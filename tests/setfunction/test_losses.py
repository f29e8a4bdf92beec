import numpy as np
import pytest
import torch
from sklearn import metrics

from clearset.setfunction import CLASSIFICATION_LOSSES, REGRESSION_LOSSES, Loss

rng = np.random.default_rng(0)
OUTPUTS = rng.normal(size=50)
NUMBERS = rng.exponential(size=50)
CLASSES = rng.integers(0, 2, size=50)
MANY = rng.normal(size=(50, 4))
OF_MANY = rng.integers(0, 4, size=50)


def mean(loss, outputs, targets):
    return Loss(loss, 0.8)(torch.from_numpy(outputs), torch.from_numpy(targets.astype(float))).mean().item()


@pytest.mark.parametrize(
    ("loss", "reference"),
    [
        ("squared_error", metrics.mean_squared_error(NUMBERS, OUTPUTS)),
        ("absolute_error", metrics.mean_absolute_error(NUMBERS, OUTPUTS)),
        ("quantile", metrics.mean_pinball_loss(NUMBERS, OUTPUTS, alpha=0.8)),
    ],
)
def test_regression_losses_equal_scikit_learns(loss, reference):
    assert mean(loss, OUTPUTS[:, None], NUMBERS) == pytest.approx(reference)


def test_poisson_equals_half_the_deviance():
    deviance = metrics.mean_poisson_deviance(NUMBERS, np.exp(OUTPUTS))
    assert mean("poisson", OUTPUTS[:, None], NUMBERS) == pytest.approx(deviance / 2)


def test_classification_losses_equal_scikit_learns():
    probabilities = 1 / (1 + np.exp(-OUTPUTS))
    assert mean("log_loss", OUTPUTS[:, None], CLASSES) == pytest.approx(
        metrics.log_loss(CLASSES, probabilities)
    )
    assert mean("hinge", OUTPUTS[:, None], CLASSES) == pytest.approx(metrics.hinge_loss(CLASSES, OUTPUTS))
    softmax = np.exp(MANY) / np.exp(MANY).sum(axis=1, keepdims=True)
    assert mean("log_loss", MANY, OF_MANY) == pytest.approx(metrics.log_loss(OF_MANY, softmax))
    one_against_rest = sum(metrics.hinge_loss(np.equal(OF_MANY, c), MANY[:, c]) for c in range(4))
    assert mean("hinge", MANY, OF_MANY) == pytest.approx(one_against_rest)


@pytest.mark.parametrize("name", [*REGRESSION_LOSSES, *CLASSIFICATION_LOSSES])
def test_scaled_labels_and_losses_come_back_in_their_own_unit(name):
    loss = Loss(name, 0.3)
    labels = CLASSES.astype(float) if name in CLASSIFICATION_LOSSES else 40.0 * NUMBERS
    centre, scale = loss.scaling(labels, np.ones(50))
    own = loss(torch.from_numpy(centre + scale * OUTPUTS[:, None]), torch.from_numpy(labels)).mean().item()
    scaled = torch.from_numpy(loss.scaled(labels, centre, scale))
    inner = loss(torch.from_numpy(OUTPUTS[:, None].copy()), scaled).mean().item()
    assert loss.in_units(inner, centre, scale) == pytest.approx(own)


def test_labels_without_spread_have_a_scale():
    assert Loss("squared_error").scaling(np.full(3, 5.0), np.ones(3)) == (5.0, 1.0)
