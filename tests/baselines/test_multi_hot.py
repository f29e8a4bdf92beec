"""Sets of strings by their categories."""

from typing import Any

import numpy as np
import pytest
from sklearn.preprocessing import MultiLabelBinarizer

import clearset as cs
from clearset.baselines import MultiHotDNNClassifier, MultiHotDNNRegressor, MultiHotEncoder


def rows(n: int = 300, seed: int = 0) -> list[list[str]]:
    rng = np.random.default_rng(seed)
    return [rng.choice(list("abcdefgh"), rng.integers(0, 5)).tolist() for _ in range(n)]


def test_the_encoder_against_scikit_learns_binarizer() -> None:
    X = rows()
    encoder, expected = MultiHotEncoder().fit(X), MultiLabelBinarizer().fit(X)
    assert encoder.get_feature_names_out().tolist() == expected.classes_.tolist()
    found = encoder.transform(X)
    assert found.format == "csr"
    assert found.has_sorted_indices
    np.testing.assert_array_equal(found.toarray(), expected.transform(X))


def test_texts_and_larger_tokens() -> None:
    texts = ["Red wine, red fruit", "white wine", "dry white"]
    assert MultiHotEncoder().fit(texts).get_feature_names_out().tolist() == ["dry", "fruit", "red", "white", "wine"]
    pairs = MultiHotEncoder(cs.NGrams(2), min_count=2).fit([*texts, "red wine"])
    assert pairs.get_feature_names_out().tolist() == ["red", "red wine", "white", "wine"]
    assert pairs.transform(["wine red", "dry"]).toarray().tolist() == [[1, 0, 0, 1], [0, 0, 0, 0]]
    subsets = MultiHotEncoder(cs.Subsets(2)).fit([["b", "a"], ["c"]])
    assert subsets.get_feature_names_out().tolist() == ["a", "a, b", "b", "c"]
    assert subsets.transform([["a", "c", "b"]]).toarray().tolist() == [[1, 1, 1, 1]]


def label(X: list[list[str]]) -> np.ndarray:
    return np.array([3.0 * ("a" in row) - 2.0 * ("b" in row) + 5.0 * ("c" in row and "d" in row) for row in X])


def test_the_network_learns_numbers_and_classes() -> None:
    X, fresh = rows(1500), rows(300, seed=1)
    shared: dict[str, Any] = {"random_state": 0, "learning_rate": 0.01}
    assert MultiHotDNNRegressor(**shared).fit(X, label(X)).score(fresh, label(fresh)) > 0.9
    names = np.array(["low", "middle", "high"])
    model = MultiHotDNNClassifier(**shared).fit(X, names[np.digitize(label(X), [0, 2])])
    assert model.score(fresh, names[np.digitize(label(fresh), [0, 2])]) > 0.9
    assert model.predict_proba(fresh).shape == (300, 3)


def test_unknown_categories_are_ignored_and_nothing_is_a_set_as_well() -> None:
    X = rows()
    model = MultiHotDNNRegressor(epochs=3, random_state=0).fit(X, label(X))
    found = model.predict([["a", "b"], ["b", "unheard of", "a", "a"], [], ["unheard of"]])
    assert found[0] == found[1]
    assert found[2] == found[3]
    assert found[0] != found[2]


@pytest.mark.parametrize("combiner", ["sum", "mean"])
def test_an_example_by_hand(combiner: str) -> None:
    X = rows()
    model = MultiHotDNNRegressor(
        embedding=3, combiner=combiner, width=4, hidden_layers=1, epochs=2, random_state=0
    ).fit(X, label(X))
    state = {name: value.numpy() for name, value in model.network_.state_dict().items()}
    combined = getattr(state["embedding"][[0, 7]], combiner)(axis=0)  # of a and h
    hidden = np.maximum(state["dense.hidden.layers.0.weight"] @ combined + state["dense.hidden.layers.0.bias"], 0)
    expected = state["dense.output.weight"] @ hidden + state["dense.output.bias"]
    assert model.predict([["h", "a"]])[0] == pytest.approx(expected[0])


@pytest.mark.parametrize("make", [MultiHotEncoder, MultiHotDNNRegressor])
def test_bad_input(make: Any) -> None:
    y = [1.0, 2.0]
    with pytest.raises(TypeError, match="numbers with fractions"):
        make().fit([[0.5], [1.5]], y)
    with pytest.raises(ValueError, match="no examples"):
        make().fit([], [])
    with pytest.raises(TypeError, match="give a tokenizer"):
        make(tokens="words").fit([["a"], ["b"]], y)
    with pytest.raises(ValueError, match="min_count must be a whole number at least 1; received 0"):
        make(min_count=0).fit([["a"], ["b"]], y)


def test_nothing_to_learn_from() -> None:
    with pytest.raises(ValueError, match="No category is held by min_count=2"):
        MultiHotDNNRegressor(min_count=2).fit([["a"], ["b"]], [1.0, 2.0])
