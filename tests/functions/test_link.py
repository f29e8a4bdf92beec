from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit, softmax

from clearset.functions import Link

CLASSES = np.array(["apple", "pear", "plum"])
TWO = np.array([3, 7])
OUTPUTS = np.array([[0.5, -1.0, 2.0], [1.0, 1.5, -3.0]])
ONE = np.array([[0.5], [-2.0], [0.0]])


@pytest.mark.parametrize(
    ("link", "name", "n_outputs"),
    [
        (Link("squared_error"), "identity", 1),
        (Link("poisson"), "exp", 1),
        (Link("log_loss", TWO), "sigmoid", 1),
        (Link("binary_log_loss", TWO), "sigmoid", 1),
        (Link("log_loss", CLASSES), "softmax", 3),
        (Link("binary_log_loss", CLASSES), "shares", 3),
        (Link("hinge", CLASSES), "margin", 3),
    ],
)
def test_the_loss_and_the_classes_say_which_link(link, name, n_outputs):
    assert link.name == name
    assert link.n_outputs == n_outputs
    assert link.has_probabilities == (name in ("sigmoid", "softmax", "shares"))


def test_numbers():
    np.testing.assert_array_equal(Link("absolute_error").predictions(ONE), ONE[:, 0])
    np.testing.assert_allclose(Link("poisson").predictions(ONE), np.exp(ONE[:, 0]))


def test_two_classes_share_one_output():
    link = Link("log_loss", TWO)
    np.testing.assert_allclose(link.estimates(ONE), expit(ONE))
    np.testing.assert_allclose(link.probabilities(ONE), np.hstack([1 - expit(ONE), expit(ONE)]))
    assert link.predictions(ONE).tolist() == [7, 3, 3]
    assert link.top(ONE, 2).tolist() == [[7, 3], [3, 7], [3, 7]]


def test_improbable_classes_of_two_keep_their_digits():
    assert Link("log_loss", TWO).probabilities(np.array([[50.0]]))[0, 0] == pytest.approx(np.exp(-50.0))


def test_several_classes():
    np.testing.assert_allclose(Link("log_loss", CLASSES).probabilities(OUTPUTS), softmax(OUTPUTS, axis=1))
    shares = expit(OUTPUTS)
    expected = shares / shares.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(Link("binary_log_loss", CLASSES).probabilities(OUTPUTS), expected)
    for loss in ("log_loss", "binary_log_loss", "hinge"):
        assert Link(loss, CLASSES).predictions(OUTPUTS).tolist() == ["plum", "pear"]
    assert Link("hinge", CLASSES).top(OUTPUTS, 2).tolist() == [["plum", "apple"], ["pear", "apple"]]
    np.testing.assert_array_equal(Link("hinge", CLASSES).estimates(OUTPUTS), OUTPUTS)


@pytest.mark.parametrize("loss", ["log_loss", "binary_log_loss"])
def test_what_is_said_of_nothing_replaces_outputs_of_several_classes(loss):
    link, shares = Link(loss, CLASSES), np.array([0.2, 0.3, 0.5])
    link = replace(link, nothing=link.outputs_of(shares))
    outputs = link.with_nothing(OUTPUTS.copy(), np.array([True, False]))
    np.testing.assert_allclose(link.probabilities(outputs)[0], shares)
    np.testing.assert_array_equal(outputs[1], OUTPUTS[1])


@pytest.mark.parametrize(
    ("link", "estimate"),
    [(Link("log_loss", TWO), 0.2), (Link("squared_error"), -3.0), (Link("poisson"), 7.0), (Link("quantile"), 1.5)],
)
def test_what_is_said_of_nothing_replaces_a_single_output(link, estimate):
    link = replace(link, nothing=link.outputs_of([estimate]))
    outputs = link.with_nothing(ONE.copy(), np.array([True, False, False]))
    assert link.estimates(outputs)[0, 0] == pytest.approx(estimate)
    np.testing.assert_array_equal(outputs[1:], ONE[1:])


def test_without_it_the_set_function_speaks():
    outputs = Link("log_loss", TWO).with_nothing(ONE.copy(), np.array([True, True, True]))
    np.testing.assert_array_equal(outputs, ONE)


@pytest.mark.parametrize("link", [Link("log_loss", CLASSES), Link("binary_log_loss", CLASSES)])
def test_a_class_that_never_occurs_has_a_finite_output(link):
    assert np.isfinite(link.outputs_of([0.0, 0.0, 1.0])).all()
    assert np.isfinite(Link("poisson").outputs_of([0.0])).all()


def test_columns_of_outputs_and_their_classes():
    link = Link("log_loss", CLASSES)
    assert link.columns(OUTPUTS, None).tolist() == [2, 1]
    assert link.columns(OUTPUTS, "pear").tolist() == [1, 1]
    assert link.labels(link.columns(OUTPUTS, None)).tolist() == ["plum", "pear"]
    two = Link("log_loss", TWO)
    assert two.columns(ONE, 7).tolist() == [0, 0, 0]
    assert two.labels(two.columns(ONE, None)).tolist() == [7, 7, 7]
    assert Link("squared_error").labels(np.zeros(3, np.int64)) is None


@pytest.mark.parametrize(
    ("link", "outputs", "label", "message"),
    [
        (Link("squared_error"), ONE, 7, "the labels are numbers. Leave it out"),
        (Link("log_loss", CLASSES), OUTPUTS, "fig", r"'fig' .*\['apple', 'pear', 'plum'\]"),
        (Link("log_loss", TWO), ONE, 3, "first of two classes; scores speak for the second, 7"),
    ],
)
def test_labels_without_a_column_are_refused(link, outputs, label, message):
    with pytest.raises(ValueError, match=message):
        link.columns(outputs, label)


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        (Link("squared_error"), ONE),
        (Link("poisson"), np.exp(ONE)),
        (Link("log_loss", TWO), expit(ONE)),
        (Link("binary_log_loss", CLASSES), expit(ONE)),
        (Link("log_loss", CLASSES), ONE),
        (Link("hinge", CLASSES), ONE),
    ],
)
def test_what_one_output_stands_for_by_itself(link, expected):
    np.testing.assert_allclose(link.of_one_output(ONE), expected)
