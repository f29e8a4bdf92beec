import numpy as np
import pytest
import torch
from sklearn import metrics

from clearset.engines.torch import loss_of
from clearset.functions import CLASSIFICATION_LOSSES, REGRESSION_LOSSES, Loss

rng = np.random.default_rng(0)
OUTPUTS = rng.normal(size=50)
NUMBERS = rng.exponential(size=50)
CLASSES = rng.integers(0, 2, size=50)
MANY = rng.normal(size=(50, 4))
OF_MANY = rng.integers(0, 4, size=50)


def mean(loss, outputs, targets):
    tensors = torch.from_numpy(outputs), torch.from_numpy(targets.astype(float))
    return loss_of(loss, *tensors).mean().item()


@pytest.mark.parametrize(
    ("loss", "reference"),
    [
        ("squared_error", metrics.mean_squared_error(NUMBERS, OUTPUTS)),
        ("absolute_error", metrics.mean_absolute_error(NUMBERS, OUTPUTS)),
        ("quantile", metrics.mean_pinball_loss(NUMBERS, OUTPUTS, alpha=0.8)),
        ("poisson", metrics.mean_poisson_deviance(NUMBERS, np.exp(OUTPUTS)) / 2),
    ],
)
def test_regression_losses_equal_scikit_learns(loss, reference):
    assert mean(Loss(loss, 0.8), OUTPUTS[:, None], NUMBERS) == pytest.approx(reference)


def test_losses_of_two_classes_equal_scikit_learns():
    log_loss = metrics.log_loss(CLASSES, 1 / (1 + np.exp(-OUTPUTS)))
    for name in ("log_loss", "binary_log_loss"):
        assert mean(Loss(name), OUTPUTS[:, None], CLASSES) == pytest.approx(log_loss)
    hinge = metrics.hinge_loss(CLASSES, OUTPUTS)
    assert mean(Loss("hinge"), OUTPUTS[:, None], CLASSES) == pytest.approx(hinge)


def test_losses_of_several_classes_equal_scikit_learns():
    softmax = np.exp(MANY) / np.exp(MANY).sum(axis=1, keepdims=True)
    assert mean(Loss("log_loss"), MANY, OF_MANY) == pytest.approx(metrics.log_loss(OF_MANY, softmax))
    against_rest = [(np.equal(OF_MANY, c), MANY[:, c]) for c in range(4)]
    hinge = sum(metrics.hinge_loss(mine, outputs) for mine, outputs in against_rest)
    assert mean(Loss("hinge"), MANY, OF_MANY) == pytest.approx(hinge)
    alone = sum(metrics.log_loss(mine, 1 / (1 + np.exp(-outputs))) for mine, outputs in against_rest)
    assert mean(Loss("binary_log_loss"), MANY, OF_MANY) == pytest.approx(alone)


@pytest.mark.parametrize("name", [*REGRESSION_LOSSES, *CLASSIFICATION_LOSSES])
def test_scaled_labels_and_losses_come_back_in_their_own_unit(name):
    loss = Loss(name, 0.3)
    labels = CLASSES.astype(float) if name in CLASSIFICATION_LOSSES else 40.0 * NUMBERS
    centre, scale = loss.scaling(labels, np.ones(50))
    own = mean(loss, centre + scale * OUTPUTS[:, None], labels)
    inner = mean(loss, OUTPUTS[:, None], loss.scaled(labels, centre, scale))
    assert loss.in_units(inner, centre, scale) == pytest.approx(own)
