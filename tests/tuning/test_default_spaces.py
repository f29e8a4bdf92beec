import numpy as np
import pyarrow as pa
import pytest
from sklearn.base import BaseEstimator

import clearset as cs
from clearset import baselines
from clearset.datasets import make_reviews
from clearset.tuning import default_space
from clearset.tuning._default_spaces import SPACES
from clearset.tuning._domains import read_space

BASKETS = [["bread", "milk"], ["beer", "crisps", "milk"], ["milk"], ["beer"]] * 50
TEXTS = [f"a glass of {' and '.join(basket)} number {place}" for place, basket in enumerate(BASKETS)]
LABELS = ["a", "b", "a", "b"] * 50


@pytest.mark.parametrize(
    ("X", "tokens", "expected"),
    [
        (BASKETS, "auto", [cs.Items(), cs.Subsets(2), cs.Subsets(3)]),
        (BASKETS, None, [cs.Items(), cs.Subsets(2), cs.Subsets(3)]),
        (BASKETS, cs.Subsets(5), [cs.Items(), cs.Subsets(2), cs.Subsets(3)]),
        (TEXTS, "auto", [cs.NGrams(1), cs.NGrams(2), cs.NGrams(3)]),
        (TEXTS, cs.NGrams(1, split=str.split), [cs.NGrams(n, split=str.split) for n in (1, 2, 3)]),
        (pa.table({"a": BASKETS, "b": BASKETS}), cs.Cross("a", "b"), None),
    ],
)
def test_tokens_follow_the_examples(X, tokens, expected):
    space = default_space(cs.SemanticClassifier(tokens=tokens), X, LABELS)
    assert space.get("tokens") == expected
    read_space(space, cs.SemanticClassifier())


def test_intervals_are_in_the_unit_of_the_label():
    def widths(estimator, y):
        filters = [choice[0] for choice in default_space(estimator, BASKETS, y)["filters"]]
        return [part.width for part in filters if isinstance(part, cs.MaxInterval)]

    assert widths(cs.SemanticClassifier(), LABELS) == [0.1, 0.2, 0.4]
    assert widths(cs.SemanticFeatureEngine(), LABELS) == [0.1, 0.2, 0.4]
    points = np.random.default_rng(0).permutation(np.repeat([80.5, 100.5], 100))  # of deviation 10
    assert widths(cs.SemanticRegressor(), points) == [2.0, 4.0, 8.0]
    assert widths(cs.SemanticRegressor(), np.ones(200)) == []


def test_classes_derived_from_those_of_the_package():
    class Narrow(baselines.DeepSetsRegressor):
        def __init__(self, learning_rate=0.1):
            super().__init__(learning_rate=learning_rate)

    assert set(default_space(Narrow(), None, None)) == {"learning_rate"}
    other = type("DeepSetsRegressor", (BaseEstimator,), {"__module__": "elsewhere"})
    with pytest.raises(ValueError, match="There is no default space for DeepSetsRegressor"):
        default_space(other(), None, None)


@pytest.mark.parametrize("kind", [cs.SetRegressor, cs.SetClassifier])
def test_every_name_of_the_table_is_a_parameter(kind):
    assert set(SPACES["Set"]) <= set(kind().get_params())
    for estimator in (cs.SemanticClassifier, cs.SemanticRegressor, cs.SemanticFeatureEngine):
        assert set(SPACES["Semantic"]) == set(SPACES["SemanticFeatureEngine"]) <= set(estimator().get_params())


def test_the_ends_of_every_range_can_be_fitted():
    reviews = make_reviews(60)
    X, y = reviews.frame.select(["star_rating", "price"]), reviews.sales
    space = default_space(cs.SetRegressor(), X, y)
    del space["epochs"]
    for end in (0, 1):
        cs.SetRegressor(epochs=2, n_jobs=1, **{name: domain[end] for name, domain in space.items()}).fit(X, y)


def test_a_search_of_items_and_one_of_sets():
    fast = {"epochs": 3, "n_jobs": 1}
    items = cs.SemanticClassifier(tokens=cs.Items(), refine=False, **fast)
    space = default_space(items, BASKETS, LABELS)
    del space["epochs"]
    tuning = cs.tune(items, BASKETS, LABELS, budget=4, space=space, random_state=0, verbose=0)
    assert [trial["state"] for trial in tuning.trials] == ["complete"] * 4
    assert tuning.best_estimator_.predict([["beer"]]).tolist() == ["b"]
    reviews = make_reviews(80)
    tuning = cs.tune(
        cs.SetRegressor(["star_rating", "price"], **fast), reviews.frame, reviews.sales, budget=3, verbose=0,
        random_state=0,
    )  # fmt: skip
    assert set(tuning.best_params_) == set(SPACES["Set"])
