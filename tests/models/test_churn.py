from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import clearset as cs

X = np.zeros((8, 1))


class Fixed:
    """A model that predicts what it is told."""

    def __init__(self, predictions: Any, classes: Any = None, probabilities: Any = None) -> None:
        self.predictions = np.asarray(predictions)
        if classes is not None:
            self.classes_ = np.asarray(classes)
        if probabilities is not None:
            self.predict_proba = lambda _: np.asarray(probabilities)

    def predict(self, _: Any) -> Any:
        return self.predictions


def test_classes_by_hand() -> None:
    y = ["n", "n", "n", "n", "y", "y", "y", "m"]
    a = Fixed(["n", "n", "y", "y", "y", "y", "n", "n"], ["m", "n", "y"])  # right: 0, 1, 4, 5
    b = Fixed(["n", "y", "n", "n", "y", "n", "y", "y"], ["m", "n", "y"])  # right: 0, 2, 3, 4, 6
    churn = cs.churn(a, b, X, y)
    assert churn.changed == float(churn) == 6 / 8
    assert churn.rows.tolist() == [1, 2, 3, 5, 6, 7]
    assert churn.accuracies == (4 / 8, 5 / 8)
    assert churn.wins == 3 / 8
    assert churn.losses == 2 / 8
    # One change was enough for the better accuracy.
    assert churn.unnecessary == 5 / 8
    assert churn.probability_difference is churn.errors is churn.mean_difference is churn.tolerance is None
    assert repr(churn) == (
        "Churn(changed=0.75 (6 of 8), accuracies=(0.5, 0.625), wins=0.375, losses=0.25, unnecessary=0.625)"
    )


def test_probabilities_by_hand_and_in_another_order() -> None:
    a = Fixed([0, 0, 1], [0, 1, 2], [[0.5, 0.3, 0.2], [0.8, 0.1, 0.1], [0.2, 0.6, 0.2]])
    b = Fixed([1, 0, 2], [2, 0, 1], [[0.2, 0.3, 0.5], [0.1, 0.8, 0.1], [0.9, 0.1, 0.0]])
    churn = cs.churn(a, b, X[:3])
    # By class, b is (0.3, 0.5, 0.2), (0.8, 0.1, 0.1), (0.1, 0.0, 0.9): half the sums are 0.2, 0 and 0.7.
    assert churn.probability_difference == pytest.approx(0.9 / 3)
    assert churn.rows.tolist() == [2, 0]
    assert churn.changed == pytest.approx(2 / 3)
    assert churn.wins is churn.losses is churn.unnecessary is churn.accuracies is None


def test_numbers_by_hand() -> None:
    a = Fixed([0.0, 10.0, 0.0, 10.0])  # standard deviation 5
    b = Fixed([0.5, 7.0, -4.0, 10.6])
    churn = cs.churn(a, b, X[:4], [1.0, 9.0, -3.0, 10.0])
    assert churn.tolerance == pytest.approx(0.5)
    assert churn.rows.tolist() == [2, 1, 3]
    assert churn.changed == 3 / 4
    assert churn.mean_difference == pytest.approx(8.1 / 4)
    assert churn.rms_difference == pytest.approx(np.sqrt((0.25 + 9 + 16 + 0.36) / 4))
    assert churn.relative_difference == pytest.approx(churn.rms_difference / 5)
    assert churn.errors == pytest.approx(((1 + 1 + 3 + 0) / 4, (0.5 + 2 + 1 + 0.6) / 4))
    # The first is nearer in b too, but hardly changed.
    assert (churn.wins, churn.losses, churn.unnecessary) == (1 / 4, 2 / 4, 2 / 4)
    assert churn.accuracies is churn.probability_difference is None
    assert cs.churn(a, b, X[:4], tolerance=3.0).rows.tolist() == [2]
    assert cs.churn(a, b, X[:4], tolerance=0).changed == 1.0


def test_numbers_that_are_constant() -> None:
    one, other = Fixed([1, 1]), Fixed([1, 2])
    assert cs.churn(one, one, X[:2]).relative_difference == 0.0
    assert cs.churn(one, one, X[:2]).changed == 0.0
    assert cs.churn(one, other, X[:2]).relative_difference == np.inf
    assert cs.churn(one, other, X[:2]).changed == 0.5


def test_rounding_is_no_change() -> None:
    one, other = Fixed([0.1] * 8), Fixed([0.1 + 1e-16] * 8)
    churn = cs.churn(one, other, X)
    assert (churn.changed, churn.relative_difference) == (0.0, 0.0)
    assert 0 < churn.tolerance < 1e-9
    assert cs.churn(one, other, X, tolerance=0.0).changed == 1.0
    far = cs.churn(one, Fixed([0.2] * 8), X)
    assert (far.changed, far.relative_difference) == (1.0, np.inf)
    # Steps that are small beside the numbers are changes still.
    assert cs.churn(Fixed([1e6, 1e6 + 1e-3]), Fixed([1e6, 1e6]), X[:2]).changed == 0.5


@pytest.mark.parametrize("tolerance", ["x", True, [1.0]])
def test_a_tolerance_that_is_no_number(tolerance: Any) -> None:
    with pytest.raises(TypeError, match="tolerance must be a finite number of at least 0; received"):
        cs.churn(Fixed([1, 2]), Fixed([1, 2]), X[:2], tolerance=tolerance)


labels = st.lists(st.tuples(*[st.sampled_from("abc")] * 3), min_size=1, max_size=30)


@given(labels)
def test_shares_agree_with_each_other(rows: list[tuple[str, str, str]]) -> None:
    first, second, y = (list(column) for column in zip(*rows, strict=True))
    if not {*first, *second} & {*y}:
        return
    there = cs.churn(Fixed(first), Fixed(second), X[:1].repeat(len(y), 0), y)
    back = cs.churn(Fixed(second), Fixed(first), X[:1].repeat(len(y), 0), y)
    assert there.changed == back.changed == sum(a != b for a, b in zip(first, second, strict=True)) / len(y)
    assert (there.wins, there.losses) == (back.losses, back.wins)
    assert there.wins - there.losses == pytest.approx(there.accuracies[1] - there.accuracies[0])
    assert -1e-12 <= there.unnecessary <= there.changed


def test_models_of_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(200, 3))
    y = np.where(values.sum(axis=1) + rng.normal(size=200) > 0, "yes", "no")
    a = make_pipeline(StandardScaler(), LogisticRegression()).fit(values[:100], y[:100])
    b = LogisticRegression(C=0.01).fit(values[100:], y[100:])
    churn = cs.churn(a, b, values, y)
    assert churn.changed == np.mean(a.predict(values) != b.predict(values)) > 0
    gap = np.abs(a.predict_proba(values) - b.predict_proba(values))[:, 1]
    assert churn.probability_difference == pytest.approx(gap.mean())
    assert (np.diff(gap[churn.rows]) <= 0).all()
    assert churn.accuracies == (a.score(values, y), b.score(values, y))
    numbers = LinearRegression().fit(values, values[:, 0])
    assert cs.churn(numbers, numbers, values, values[:, 0]).mean_difference == 0.0


def test_models_of_this_package() -> None:
    rng = np.random.default_rng(0)
    sets = [[str(item) for item in rng.choice(6, 3, replace=False)] for _ in range(200)]
    y = np.array([("0" in items) ^ bool(rng.random() < 0.1) for items in sets]).astype(int)
    options: dict[str, Any] = {"tokens": cs.Items(), "epochs": 2, "refine": False}
    a = cs.SemanticClassifier(**options, random_state=0).fit(sets[:100], y[:100])
    b = cs.SemanticClassifier(**options, random_state=1).fit(sets[100:], y[100:])
    churn = cs.churn(a, b, pa.array(sets), y)
    assert churn.accuracies == (a.score(sets, y), b.score(sets, y))
    assert churn.changed == np.mean(a.predict(sets) != b.predict(sets))
    assert 0 < churn.probability_difference < 1


def test_frozen_models_tell_their_classes() -> None:
    sets = [["a"], ["b"], ["a", "b"], ["c"]] * 20
    y = [1, 0, 1, 0] * 20
    model = cs.SemanticClassifier(
        tokens=cs.Items(), features=["log_odds", "count"], epochs=2, refine=False, random_state=0
    ).fit(sets, y)
    churn = cs.churn(model, model.freeze(), sets, y)
    assert churn.changed == 0.0
    assert churn.probability_difference == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize(
    ("a", "b", "options", "message"),
    [
        (Fixed([1, 2]), Fixed([1, 2], [1, 2]), {}, "a .Fixed. predicts numbers but b .Fixed. predicts classes"),
        (Fixed(["x", "y"]), Fixed([1, 2]), {}, "predicts classes but b .Fixed. predicts numbers"),
        (Fixed([1, 2], [1, 2]), Fixed([1, 2], [1, 2, 3]), {}, r"only one of them knows \['3'\]"),
        (Fixed([1, 2, 3]), Fixed([1, 2]), {}, r"a should predict .* 2 rows, but gave an array of shape \(3,\)"),
        (Fixed([[1, 2]] * 2), Fixed([1, 2]), {}, r"shape \(2, 2\)"),
        (Fixed([1, 2]), Fixed([np.inf, 2]), {}, "b predicts inf for row 0"),
        (Fixed([1, 2]), Fixed([1, 2]), {"y": [1]}, "y has 1 labels but X has 2 rows"),
        (Fixed([1, 2]), Fixed([1, 2]), {"y": ["one", "two"]}, "y of a regression must hold numbers; received 'one'"),
        (Fixed([1, 2]), Fixed([1, 2]), {"tolerance": -1}, "tolerance must be a finite number of at least 0"),
        (Fixed(["a", "b"]), Fixed(["a", "a"]), {"tolerance": 1}, "tolerance is for models of numbers"),
        (Fixed([1, 2], [1, 2]), Fixed([1, 2], [1, 2]), {"y": ["1", "2"]}, "y holds none of the classes: it has '1'"),
    ],
)
def test_errors(a: Any, b: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        cs.churn(a, b, X[:2], **options)


def test_what_cannot_be_compared() -> None:
    with pytest.raises(ValueError, match="X has no rows"):
        cs.churn(Fixed([]), Fixed([]), X[:0])
    with pytest.raises(ValueError, match="X has no rows"):
        cs.churn(Fixed([]), Fixed([]), [])
    with pytest.raises(TypeError, match="b must be a fitted model with predict; received StandardScaler"):
        cs.churn(Fixed([]), StandardScaler(), X)
