"""One clear message for everything that cannot work, before the work starts."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import clearset as cs
from clearset.training import Fitting

from .items import classifier, engine, labels, regressor, sets

X = sets(100)
Y = labels(X)
TRUST = cs.Trust("mean_label", by="count")


@pytest.fixture(autouse=True)
def no_work(monkeypatch: Any) -> None:
    """Whatever is wrong is found before training."""

    def train(*_: Any, **__: Any) -> None:
        raise AssertionError("training has begun")

    monkeypatch.setattr(Fitting, "train", train)


PARAMETERS: list[tuple[str, Any, type[Exception], str]] = [
    ("tokens", 3, TypeError, "tokens is 3; give a tokenizer"),
    ("tokens", "items", TypeError, "tokens is 'items'"),
    ("tokens", cs.Items, TypeError, "tokens is "),
    ("filters", 3, TypeError, "A filter is 3"),
    ("filters", ["five"], TypeError, "A filter is 'five'"),
    ("cross_fit", 1, ValueError, "from 2 to 31, or None"),
    ("cross_fit", 32, ValueError, "from 2 to 31, or None"),
    ("cross_fit", True, ValueError, "received True"),
    ("cross_fit", "five", ValueError, "received 'five'"),
    ("width", 0, ValueError, "width must be a whole number from 1 to 12"),
    ("width", 1.5, ValueError, "received 1.5"),
    ("cover", "all", ValueError, "cover must be True or False, or 'auto' to have it chosen by"),
    ("refine", "yes", ValueError, "refine must be True or False, or a whole number from 0 to 100, or 'auto'"),
    ("refine", -1, ValueError, "received -1"),
    ("refine", 0.5, ValueError, "received 0.5"),
    ("features", "mean_label", TypeError, "Write it in brackets"),
    ("features", cs.Feature("mean_label"), TypeError, "Write it in brackets"),
    ("features", 5, TypeError, "must be a list of names"),
    ("features", [], ValueError, "must hold one of mean_label and log_odds"),
    ("features", ["count", "size"], ValueError, "must hold one of mean_label and log_odds"),
    ("features", ["mean_label", "log_odds"], ValueError, "must hold one of"),
    ("features", ["mean_label", "colour"], ValueError, "'colour' is not known of tokens; choose among mean_label"),
    ("features", ["mean_label", "count", "count"], ValueError, "twice"),
    ("features", ["mean_label", 3], TypeError, "received 3"),
    ("features", [cs.Feature("mean_label", monotonic="decreasing")], ValueError, "always increasing"),
    ("features", ["mean_label", cs.Feature("count", kind="categorical")], ValueError, "must be numeric"),
    ("features", ["mean_label", cs.Feature("count", lattice_size=3)], ValueError, "lattice of size 2"),
    ("details", "pay", TypeError, "list of column names"),
    ("details", None, TypeError, "list of column names"),
    ("details", [3], TypeError, "list of column names"),
    ("details", ["count"], ValueError, "Rename the columns"),
    ("details", ["pay"], TypeError, "must be a frame"),
    ("trusts", None, TypeError, "list of Trust"),
    ("trusts", TRUST, TypeError, "list of Trust"),
    ("trusts", ["count"], TypeError, "list of Trust"),
    ("trusts", [TRUST], ValueError, "name these too"),
    ("shrinkage", -1, ValueError, "shrinkage must be"),
    ("shrinkage", "many", ValueError, "shrinkage must be"),
    ("shrinkage", float("nan"), ValueError, "received nan"),
    ("shrinkage", True, ValueError, "received True"),
    ("keypoints", 1, ValueError, "from 2 to 1000"),
    ("rho_keypoints", "many", ValueError, "from 2 to 1000"),
    ("loss", "hinge", ValueError, "loss must be one of 'log_loss'"),
    ("loss", 3, ValueError, "received 3"),
    ("optimizer", "sgd", ValueError, "optimizer must be one of"),
    ("constraints", "none", ValueError, "constraints must be one of"),
    ("smoothness", -0.1, ValueError, "smoothness must be"),
    ("learning_rate", 0, ValueError, "learning_rate must be"),
    ("epochs", 0, ValueError, "epochs must be"),
    ("epochs", 2.5, ValueError, "epochs must be"),
    ("batch_size", 0, ValueError, "at least 1, or 'auto'"),
    ("validation_fraction", 0.0, ValueError, "validation_fraction must be"),
    ("validation_fraction", 1, ValueError, "validation_fraction must be"),
    ("early_stopping", "yes", ValueError, "early_stopping must be True or False"),
    ("patience", 0, ValueError, "patience must be"),
    ("random_state", "seed", ValueError, "random_state must be None, a whole number"),
    ("n_jobs", 0, ValueError, "n_jobs must be"),
    ("n_jobs", 1.5, ValueError, "n_jobs must be"),
    ("device", "gpu", ValueError, "device must be"),
    ("max_memory", "much", ValueError, "max_memory must be"),
    ("max_memory", 10, ValueError, "at least 64 MB"),
    ("verbose", -1, ValueError, "verbose must be"),
]


@pytest.mark.parametrize(("name", "value", "error", "message"), PARAMETERS)
def test_bad_parameters(name: str, value: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        engine(**{name: value}).fit(X, Y)


def test_every_parameter_is_checked() -> None:
    assert {name for name, *_ in PARAMETERS} == set(cs.SemanticFeatureEngine().get_params())


def test_trusts_of_features_that_are_not_there() -> None:
    with pytest.raises(ValueError, match="count"):
        engine(features=["mean_label", "size"], trusts=[TRUST]).fit(X, Y)


@pytest.mark.parametrize("make", [engine, classifier])
@pytest.mark.parametrize(
    ("rows", "error", "message"),
    [
        (np.random.default_rng(0).normal(size=(100, 3)), ValueError, r"array of shape \(100, 3\)"),
        (np.random.default_rng(0).normal(size=100), TypeError, "numbers with fractions.*SetClassifier"),
        ([[0.5, 1.5]] * 100, TypeError, "numbers with fractions"),
        (None, TypeError, "received NoneType"),
        (5, TypeError, "received int"),
        ("a text" * 20, TypeError, "received str"),
        ({"a": 1}, TypeError, "received dict"),
        ({"a", "b"}, TypeError, "received set"),
        ((row for row in X), TypeError, "received generator"),
        ([], ValueError, "no examples"),
        ([["a", 1], *X[1:]], TypeError, "Row 0"),
        ([["a"], "b", *X[2:]], TypeError, "Row 1"),
        ([[["a"]]] * 100, TypeError, "lists in lists"),
        ([{"a": 1}] * 100, TypeError, "X holds values of type struct"),
        (pd.DataFrame({"a": X, "b": X}), ValueError, "X has 2 columns"),
        (pl.DataFrame({"a": X, "b": X}), ValueError, "X has 2 columns"),
        (pl.LazyFrame({"a": X}), TypeError, "LazyFrame|lazy"),
        ([b"bytes"] * 100, TypeError, "binary"),
    ],
    ids=lambda value: str(value)[:20] if isinstance(value, str) else type(value).__name__,
)
def test_bad_examples(make: Any, rows: Any, error: type[Exception], message: str) -> None:
    y = [] if isinstance(rows, list) and not rows else Y
    with pytest.raises(error, match=message):
        make().fit(rows, y)


@pytest.mark.parametrize(
    ("make", "y", "error", "message"),
    [
        (engine, None, ValueError, "requires y to be passed"),
        (engine, Y[:50], ValueError, "100 examples but y has 50"),
        (engine, np.zeros((100, 2)), ValueError, r"shape \(100, 2\)"),
        (engine, [1] * 100, ValueError, "at least two classes; y holds one class only, 1"),
        (classifier, ["a"] * 100, ValueError, "one class only, 'a'"),
        (classifier, [None, *["a", "b"] * 50][:100], ValueError, "missing in row 0"),
        (engine, [*[0.5, 1.5] * 49, 1.0, np.nan], ValueError, "missing in row 99"),
        (regressor, np.r_[np.inf, np.arange(99)], ValueError, "y is inf in row 0"),
        (regressor, ["a", "b"] * 50, TypeError, "first: 'a'"),
        (classifier, ["a", 1] * 50, TypeError, "values of one type"),
        (classifier, np.linspace(0, 1, 100), ValueError, "Unknown label type: continuous.*SemanticRegressor"),
    ],
    ids=lambda value: str(value)[:25] if isinstance(value, str) else getattr(value, "__name__", None),
)
def test_bad_labels(make: Any, y: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        make().fit(X, y)


def test_losses_that_do_not_fit() -> None:
    number = np.linspace(-1, 1, 100)
    with pytest.raises(ValueError, match="does not fit labels that are numbers"):
        regressor(loss="log_loss").fit(X, number)
    with pytest.raises(ValueError, match="does not fit labels that are classes"):
        classifier(loss="poisson").fit(X, Y)
    for y in (number, np.zeros(100)):
        with pytest.raises(ValueError, match="'poisson' needs labels of at least 0, not all of them 0"):
            regressor(loss="poisson").fit(X, y)
    with pytest.raises(ValueError, match="'poisson' needs labels"):
        regressor(loss="poisson").fit(X, number + 1, validation_data=(X, number))


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(50), r"shape \(50,\)"),
        (np.ones((100, 2)), "shape"),
        (-np.ones(100), "negative"),
        (np.full(100, np.nan), "NaN"),
        (np.zeros(100), "every weight is 0"),
        (["heavy"] * 100, "numbers of at least 0"),
    ],
)
def test_bad_weights(weights: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        engine().fit(X, Y, sample_weight=weights)


@pytest.mark.parametrize(
    ("groups", "error", "message"),
    [
        (np.arange(50), ValueError, "100 examples; give one group for each"),
        (np.zeros((100, 1)), ValueError, r"shape \(100, 1\)"),
        (np.arange(100) % 4, ValueError, "4 distinct values, but cross_fit=5"),
        (np.zeros(100), ValueError, "1 distinct values"),
        ([None, *"ab"] * 33 + ["a"], ValueError, "missing"),
        (np.where(np.arange(100) < 3, np.nan, np.arange(100)), ValueError, "missing"),
        (pd.Series([pd.NA, *range(99)]), ValueError, "missing"),
        (np.array(["a", 1] * 50, dtype=object), TypeError, "several types"),
    ],
)
def test_bad_groups(groups: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        engine().fit(X, Y, groups=groups)


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        (X, TypeError, r"pair \(X, y\)"),
        ((X, Y, Y), TypeError, r"pair \(X, y\)"),
        ((X, None), ValueError, "y is None"),
        ((X, Y[:9]), ValueError, "100 examples but y has 9"),
        (([], []), ValueError, "no examples"),
        ((X[:2], [0, 2]), ValueError, r"Labels \[2\] are not among the classes fitted, \[0, 1\]"),
        ((X[:2], ["a", "b"]), ValueError, r"Labels \['a', 'b'\]"),
        ((np.zeros((2, 2)), [0, 1]), ValueError, "array of shape"),
    ],
)
def test_bad_validation_data(data: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        engine().fit(X, Y, validation_data=data)


def test_bad_examples_for_the_table() -> None:
    for token_X, token_y in ((X, None), (None, Y)):
        with pytest.raises(ValueError, match="belong together"):
            engine().fit(X, Y, token_X=token_X, token_y=token_y)
    with pytest.raises(ValueError, match="100 examples but y has 5"):
        engine().fit(X, Y, token_X=X, token_y=Y[:5])


class NoStrings:
    """A tokenizer that gives what is no token."""

    def tokens(self, example: list[str]) -> list[Any]:
        """Give numbers."""
        return [len(example)]


def test_a_bad_tokenizer_of_ones_own() -> None:
    with pytest.raises(ValueError, match=r"NoStrings.tokens gave \d for example 0"):
        engine(tokens=NoStrings()).fit(X, Y)


def test_two_columns_for_tokenizers_of_one_and_of_two() -> None:
    with pytest.raises(ValueError, match="two-column tokenizer"):
        engine(tokens=cs.Cross()).fit(X[:5] + [["lonely"]] * 95, Y)
    with pytest.raises(ValueError, match="'left'"):
        engine(tokens=cs.Cross("left", "right")).fit(pd.DataFrame({"a": X, "b": X}), Y)
    with pytest.raises(TypeError, match="has no names"):
        engine(tokens=cs.Cross("left", "right")).fit([(row, row) for row in X], Y)


def test_a_filter_of_ones_own_that_gives_no_booleans() -> None:
    with pytest.raises((TypeError, ValueError), match="boolean"):
        engine(filters=[lambda statistics: statistics.counts]).fit(X, Y)


@pytest.fixture(scope="module")
def model() -> Any:
    return classifier(epochs=1).fit(X, labels(X, "many"))


class TestFitted:
    """Bad input of fitted models."""

    @pytest.mark.parametrize("method", ["predict", "predict_proba", "decision_function", "predict_top"])
    @pytest.mark.parametrize("rows", [None, np.zeros((5, 2)), [[0.5]], "text", 5, [["a", 1]]])
    def test_bad_examples(self, model: Any, method: str, rows: Any) -> None:
        with pytest.raises((TypeError, ValueError), match="X"):
            getattr(model, method)(rows)

    @pytest.mark.parametrize("k", [0, 4, -1, 1.5, "all"])
    def test_bad_k(self, model: Any, k: Any) -> None:
        with pytest.raises(ValueError, match="give 1 to 3"):
            model.predict_top(X, k)

    def test_bad_labels_for_a_new_table(self, model: Any) -> None:
        table = model.token_table_
        for y, message in ((["huge"] * 100, "not among"), (Y[:5], "100 examples but y has 5")):
            with pytest.raises(ValueError, match=message):
                model.refresh_table(X, y)
        assert model.token_table_ is table

    def test_bad_labels_for_a_new_set_function(self, model: Any) -> None:
        function = model.set_function_
        with pytest.raises(ValueError, match="not among"):
            model.refit_set_function(X, ["huge"] * 100)
        assert model.set_function_ is function
