import numpy as np
import pytest
from sklearn.metrics import accuracy_score, top_k_accuracy_score

from clearset.experiments._scores import accuracy_and_auc, mean_absolute_error, mean_squared_error, precision_at


class _Model:
    def __init__(self, answers, classes=None):
        self.answers = answers
        self.classes_ = classes

    def predict(self, X):
        return self.answers

    def predict_proba(self, X):
        return self.answers


def test_errors_of_numbers():
    model = _Model(np.array([1.0, 2.0, 5.0]))
    assert mean_absolute_error(model, None, np.array([1.0, 4.0, 4.0])) == {"MAE": 1.0}
    assert mean_squared_error(model, None, np.array([1.0, 4.0, 4.0])) == {"MSE": pytest.approx(5 / 3)}


def test_two_classes():
    shares = np.array([0.9, 0.4, 0.6, 0.2])
    scores = accuracy_and_auc(_Model(np.stack([1 - shares, shares], axis=1)), None, np.array([1, 1, 0, 0]))
    # Of the four pairs of a 1 and a 0 three are in order.
    assert scores == {"accuracy": 0.5, "AUC": 0.75}


def test_many_classes_as_scikit_learn_counts_them():
    rng = np.random.default_rng(0)
    classes = np.array(["a", "b", "c", "d", "e"])
    shares = rng.dirichlet(np.full(5, 0.3), 200)
    y = rng.choice(classes, 200)
    scores = precision_at(_Model(shares, classes), None, y)
    assert scores["prec@1"] == pytest.approx(accuracy_score(y, classes[shares.argmax(axis=1)]))
    assert scores["prec@3"] == pytest.approx(top_k_accuracy_score(y, shares, k=3, labels=classes))
    binary = np.mean([accuracy_score(y == name, shares[:, place] > 0.5) for place, name in enumerate(classes)])
    assert scores["binary accuracy"] == pytest.approx(binary)
