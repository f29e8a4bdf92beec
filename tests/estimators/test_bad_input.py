"""Everything that cannot be fitted is refused before training, in words that help."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import NotFittedError

import clearset as cs
from clearset.training import Fitting

N = 12
RATING = cs.Feature("stars", monotonic="increasing")
TRAIN = Fitting.train


@pytest.fixture(autouse=True)
def _no_training(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a test fail whose fit gets as far as training."""

    def reached(*_: Any) -> None:
        pytest.fail("training was reached")

    monkeypatch.setattr(Fitting, "train", reached)


@contextmanager
def training_allowed() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Fitting, "train", TRAIN)
        yield


def frame(**changed: Any) -> pl.DataFrame:
    columns = {
        "stars": [[1.0, 2.0, 3.0][: 1 + i % 3] for i in range(N)],
        "shop": [["a", "b", "c"][: 1 + i % 3] for i in range(N)],
        "price": [float(i) for i in range(N)],
    }
    return pl.DataFrame(columns | changed, strict=False)


def with_token(value: Any) -> list[list[Any]]:
    return [[value, 2.0, 3.0][: 1 + i % 3] if i == 4 else [1.0, 2.0, 3.0][: 1 + i % 3] for i in range(N)]


NUMBERS = np.linspace(0.0, 1.0, N)
CLASSES = np.array(["no", "yes"] * (N // 2))
THREE = np.array(["low", "mid", "top"] * (N // 3))


def refused(error: type[Exception], *words: str) -> Any:
    """Expect an error that mentions every one of some words, in their order."""
    return pytest.raises(error, match="(?s)" + ".*".join(words))


PARAMETERS: list[tuple[str, list[Any], str]] = [
    ("width", [0, -1, 13, True, "2", 2.0, None], "whole number from 1 to 12"),
    ("keypoints", [1, 0, 2.5, "10", None, True, 10**9], "whole number from 2 to 1000"),
    ("rho_keypoints", [1, 3.0, "20"], "whole number from 2"),
    ("lattice_size", [1, 0, "2", None, 2.0], "whole number from 2"),
    ("lattices", ["many", None, 3, ["full"]], "'auto', 'full', 'ensemble'"),
    ("loss", ["mse", None, 1], "must be one of"),
    ("optimizer", ["sgd", None, "Adam"], "'adam', 'adagrad'"),
    ("constraints", ["none", None, True], "'project', 'light_touch'"),
    ("smoothness", [-1.0, float("nan"), float("inf"), "60", None, True, False], "number"),
    ("learning_rate", [0, 0.0, -0.1, float("nan"), float("inf"), "0.1", None, True], "number above 0"),
    ("epochs", [0, -5, 1.5, "10", None, True], "whole number at least 1"),
    ("batch_size", [0, -1, 1.5, "all", None, True], "whole number at least 1.*'auto'"),
    ("validation_fraction", [0, 1, 1.0, -0.1, float("nan"), "0.1", None], "above 0 and below 1"),
    ("early_stopping", ["yes", None, 1], "True or False"),
    ("patience", [0, 2.5, None], "whole number at least 1"),
    ("restarts", [0, -1, 1.0, None], "whole number at least 1"),
    ("warm_start", ["yes", None, 0], "True or False"),
    ("device", ["gpu", "cuda:0", None], "'auto', 'cpu', 'cuda'"),
    ("n_jobs", [0, 1.5, "2", True], "must be None, a positive number"),
    ("verbose", [-1, "loud", None, 0.5], "whole number at least 0"),
]


@pytest.mark.parametrize("cls", [cs.SetRegressor, cs.SetClassifier])
@pytest.mark.parametrize(
    ("name", "value", "words"), [(name, value, words) for name, values, words in PARAMETERS for value in values]
)
def test_parameters(cls: Any, name: str, value: Any, words: str) -> None:
    y = NUMBERS if cls is cs.SetRegressor else CLASSES
    with refused(ValueError, name, words) as caught:
        cls(["stars"], **{name: value}).fit(frame(), y)
    assert repr(value) in str(caught.value)


@pytest.mark.parametrize("value", [0, 1, -0.5, 1.5, None, "0.5", True])
def test_quantile(value: Any) -> None:
    with refused(ValueError, "quantile", "above 0 and below 1"):
        cs.SetRegressor(["stars"], loss="quantile", quantile=value).fit(frame(), NUMBERS)


def test_losses_of_the_other_estimator_are_unknown() -> None:
    with refused(ValueError, "loss must be one of 'squared_error'", "'log_loss'"):
        cs.SetRegressor(["stars"], loss="log_loss").fit(frame(), NUMBERS)
    with refused(ValueError, "loss must be one of 'log_loss'", "'squared_error'"):
        cs.SetClassifier(["stars"], loss="squared_error").fit(frame(), CLASSES)


@pytest.mark.parametrize("seed", [-1, 1.5, "seed"])
def test_random_state(seed: Any) -> None:
    with pytest.raises(ValueError):
        cs.SetRegressor(["stars"], random_state=seed).fit(frame(), NUMBERS)


BAD_NUMBERS = {
    "NaN": (np.where(NUMBERS > 0.5, np.nan, NUMBERS), ValueError, "y contains NaN.*Remove"),
    "infinity": (np.where(NUMBERS > 0.5, np.inf, NUMBERS), ValueError, "y contains infinity.*Remove"),
    "None": ([None, *NUMBERS[1:]], ValueError, "y contains NaN.*Remove"),
    "pandas NA": (pd.Series([pd.NA, *NUMBERS[1:]], dtype="Float64"), ValueError, "NaN"),
    "polars null": (pl.Series([None, *NUMBERS[1:]]), ValueError, "y contains NaN.*Remove"),
    "strings": (CLASSES, ValueError, "must hold numbers.*'no'.*SetClassifier"),
    "one string": ([*NUMBERS[1:].tolist(), "five"], ValueError, "must hold numbers.*'five'.*SetClassifier"),
    "too few": (NUMBERS[:-1], ValueError, "11 labels.*12 sets"),
    "too many": ([*NUMBERS, 1.0], ValueError, "13 labels.*12 sets"),
    "two columns": (np.ones((N, 2)), ValueError, "y should be a 1d array.*\\(12, 2\\)"),
    "a number": (1.0, ValueError, "y should be a 1d array"),
    "no labels": (None, ValueError, "requires y.*one label for each set"),
    "complex": (NUMBERS + 1j, ValueError, "Complex data not supported"),
}


@pytest.mark.parametrize("case", BAD_NUMBERS)
def test_labels_of_a_regression(case: str) -> None:
    labels, error, words = BAD_NUMBERS[case]
    with refused(error, words):
        cs.SetRegressor(["stars"]).fit(frame(), labels)


@pytest.mark.parametrize("labels", [[-1.0] + [2.0] * (N - 1), [0.0] * N])
def test_labels_of_poisson(labels: Any) -> None:
    with refused(ValueError, "loss='poisson' needs labels of at least 0", "Use another loss"):
        cs.SetRegressor(["stars"], loss="poisson").fit(frame(), labels)


NESTED = np.empty(N, dtype=object)
NESTED[:] = [np.array([row % 2, 1]) for row in range(N)]
BAD_CLASSES = {
    "NaN": (np.where(NUMBERS > 0.5, np.nan, 1.0), "y contains NaN.*Remove"),
    "infinity": (np.where(NUMBERS > 0.5, np.inf, 1.0), "y contains infinity.*Remove"),
    "None": ([None, *CLASSES[1:].tolist()], "y contains NaN or None.*Remove"),
    "NaN among strings": (np.array([np.nan, *CLASSES[1:]], dtype=object), "y contains NaN or None.*Remove"),
    "pandas NA": (pd.Series([pd.NA, *CLASSES[1:]], dtype="string"), "NaN"),
    "polars null": (pl.Series([None, *CLASSES[1:].tolist()]), "y contains NaN or None"),
    "one class": (["yes"] * N, "at least two classes.*one class only, 'yes'"),
    "continuous": (NUMBERS, "(?i)unknown label type.*continuous"),
    "too few": (CLASSES[:-1], "11 labels.*12 sets"),
    "two columns": (np.ones((N, 2)), "1d array.*\\(12, 2\\)"),
    "no labels": (None, "requires y"),
    "arrays": (NESTED, "labels of type ndarray.*one label for each set"),
    "strings and numbers": (np.array([1, "a"] * 6, dtype=object), "label"),
}


@pytest.mark.parametrize("case", BAD_CLASSES)
def test_labels_of_a_classification(case: str) -> None:
    labels, words = BAD_CLASSES[case]
    with refused(ValueError, words):
        cs.SetClassifier(["stars"]).fit(frame(), labels)


BAD_WEIGHTS = {
    "all zero": (np.zeros(N), "every weight is 0"),
    "negative": (np.where(NUMBERS > 0.5, -1.0, 1.0), "negative.*at least 0"),
    "NaN": (np.where(NUMBERS > 0.5, np.nan, 1.0), "NaN.*at least 0"),
    "infinite": (np.where(NUMBERS > 0.5, np.inf, 1.0), "infinite.*at least 0"),
    "too few": (np.ones(N - 1), "\\(11,\\).*12 sets"),
    "two columns": (np.ones((N, 2)), "\\(12, 2\\).*12 sets"),
    "strings": (["a"] * N, "sample_weight"),
}


@pytest.mark.parametrize("case", BAD_WEIGHTS)
@pytest.mark.parametrize(("cls", "y"), [(cs.SetRegressor, NUMBERS), (cs.SetClassifier, CLASSES)])
def test_weights(cls: Any, y: Any, case: str) -> None:
    weights, words = BAD_WEIGHTS[case]
    with refused(ValueError, words):
        cls(["stars"]).fit(frame(), y, sample_weight=weights)


@pytest.mark.parametrize("infinity", [float("inf"), float("-inf")])
def test_infinity_in_features(infinity: float) -> None:
    with refused(ValueError, "Feature 'stars' holds -?inf in set 4", "Clip it, or make it missing"):
        cs.SetRegressor(["stars"]).fit(frame(stars=with_token(infinity)), NUMBERS)
    price = [infinity if i == 7 else float(i) for i in range(N)]
    with refused(ValueError, "Feature 'price' holds -?inf in set 7", "Clip it, or make it missing"):
        cs.SetRegressor(["stars", "price"]).fit(frame(price=price), NUMBERS)
    with refused(ValueError, "infinity"):
        cs.SetRegressor().fit(np.array([[1.0], [infinity]]), [1.0, 2.0])


def test_no_sets() -> None:
    for X in (frame()[:0], frame()[:0].to_pandas(), frame()[:0].to_arrow()):
        with refused(ValueError, "no sets"):
            cs.SetRegressor(["stars"]).fit(X, [])
    with refused(ValueError, "0 sample"):
        cs.SetRegressor().fit(np.empty((0, 2)), [])
    with refused(ValueError, "no sets"):
        cs.SetRegressor().fit(cs.SetData(np.empty((0, 1)), [0], ["a"]), [])


def test_ragged_rows() -> None:
    ragged = [["a", "b", "c"][: 1 + i % 3] if i != 5 else ["a"] for i in range(N)]
    features = ["stars", cs.Feature("shop", kind="categorical")]
    with refused(ValueError, "Row 5", "'stars' holds 3", "'shop' holds 1", "one length"):
        cs.SetRegressor(features).fit(frame(shop=ragged), NUMBERS)


def test_missing_column() -> None:
    with refused(ValueError, "'star' is unknown", "Did you mean 'stars'", "'price'"):
        cs.SetRegressor(["star"]).fit(frame(), NUMBERS)


def test_columns_of_the_wrong_type() -> None:
    words = [["one", "two", "three"][: 1 + i % 3] for i in range(N)]
    with refused(TypeError, "'stars' is declared increasing but column 'stars' holds strings", "'one'", "categorical"):
        cs.SetRegressor([RATING]).fit(frame(stars=words), NUMBERS)
    with refused(TypeError, "'shop' is numeric", "holds strings", "kind='categorical'"):
        cs.SetRegressor(["stars", "shop"]).fit(frame(), NUMBERS)
    dates = pd.date_range("2024-01-01", periods=N)
    with refused(TypeError, "'price'", "dates", "days since"):
        cs.SetRegressor(["stars", "price"]).fit(frame(price=list(dates)), NUMBERS)
    nested = [[[1.0]]] * N
    with refused(TypeError, "'stars'", "lists in lists", "unnest"):
        cs.SetRegressor(["stars"]).fit(frame(stars=nested), NUMBERS)
    mixed = pd.DataFrame({"stars": [[1.0], ["one"]] * 6})
    with refused(TypeError, "'stars' cannot be read", "one type"):
        cs.SetRegressor(["stars"]).fit(mixed, NUMBERS)
    with refused(ValueError, "No column holds numbers", "categorical"):
        cs.SetRegressor().fit(frame().select("shop"), NUMBERS)


def test_what_is_no_data() -> None:
    with refused(FileNotFoundError, "no file or folder 'text'", "path of a Parquet file"):
        cs.SetRegressor().fit("text", [1.0, 2.0])
    for X in (None, 5, {"stars": [1.0]}, [[1.0], [1.0, 2.0]], np.zeros(3), np.zeros((2, 2, 2))):
        with pytest.raises((ValueError, TypeError)):
            cs.SetRegressor().fit(X, [1.0, 2.0])
    with refused(TypeError, "lazy frame", "collect"):
        cs.SetRegressor(["stars"]).fit(frame().lazy(), NUMBERS)


BAD_FEATURES: dict[str, tuple[Any, type[Exception], str]] = {
    "a string": ("stars", TypeError, "list of names.*Put it into a list"),
    "one feature": (RATING, TypeError, "list of names.*Put it into a list"),
    "empty": ([], ValueError, "features is empty.*None"),
    "numbers": ([1], TypeError, "neither a name nor a Feature"),
    "twice": (["stars", RATING], ValueError, "'stars' is declared twice"),
    "only the size": ([cs.Feature(cs.SIZE)], ValueError, "at least one token feature"),
    "the size without lists": (["price", cs.SIZE], ValueError, "SIZE counts the tokens.*Declare"),
}


@pytest.mark.parametrize("case", BAD_FEATURES)
def test_features(case: str) -> None:
    features, error, words = BAD_FEATURES[case]
    with refused(error, words):
        cs.SetRegressor(features).fit(frame(), NUMBERS)


SHOP = cs.Feature("shop", kind="categorical")
BAD_TRUSTS: dict[str, tuple[list[Any], list[Any], type[Exception], str]] = {
    "undeclared main": (["price"], [cs.Trust("stars", by="price")], ValueError, "'stars' is unknown"),
    "undeclared by": ([RATING], [cs.Trust("stars", by="prize")], ValueError, "'prize' is unknown"),
    "without direction": (["stars", "price"], [cs.Trust("stars", by="price")], ValueError, "no direction"),
    "categorical": ([RATING, SHOP], [cs.Trust("stars", by="shop")], ValueError, "categorical"),
    "no trust": ([RATING, "price"], ["stars"], TypeError, "not a Trust"),
    "twice": ([RATING, "price"], [cs.Trust("stars", by="price")] * 2, ValueError, "declared twice"),
}


@pytest.mark.parametrize("case", BAD_TRUSTS)
def test_trusts(case: str) -> None:
    features, trusts, error, words = BAD_TRUSTS[case]
    with refused(error, words):
        cs.SetRegressor(features, trusts=trusts).fit(frame(), NUMBERS)


def test_one_trust_without_a_list() -> None:
    with refused(TypeError, "trusts"):
        cs.SetRegressor([RATING, "price"], trusts=cs.Trust("stars", by="price")).fit(frame(), NUMBERS)


def test_a_full_lattice_of_too_many_features() -> None:
    X = np.zeros((N, 15))
    with refused(ValueError, "15 features", "32,768 vertices", "16,384", "'ensemble'"):
        cs.SetRegressor(lattices="full").fit(X, NUMBERS)
    with refused(ValueError, "vertices", "lattice_size"):
        cs.SetRegressor(lattices="full", lattice_size=200).fit(X[:, :2], NUMBERS)


@pytest.mark.parametrize("lattices", ["auto", "ensemble"])
def test_a_lattice_of_too_many_vertices_in_an_ensemble(lattices: str) -> None:
    """Two trusted features must meet in one lattice, however large their sizes are."""
    features = [cs.Feature("x0", monotonic="increasing", lattice_size=500), cs.Feature("x1", lattice_size=500)]
    model = cs.SetRegressor(features, trusts=[cs.Trust("x0", by="x1")], lattices=lattices)
    with refused(ValueError, "250,?000 vertices"):
        model.fit(np.zeros((N, 2)), NUMBERS)


def test_constraints_among_three_classes() -> None:
    with refused(ValueError, "'stars'", "3 classes", "two classes only", "Remove the declaration"):
        cs.SetClassifier([RATING]).fit(frame(), THREE)
    with refused(ValueError, "'stars'", "3 classes"):
        cs.SetClassifier([RATING, "price"], trusts=[cs.Trust("stars", by="price")]).fit(frame(), THREE)


def test_validation_data() -> None:
    with refused(ValueError, "'maybe'", "not among the classes fitted", "'no', 'yes'"):
        cs.SetClassifier(["stars"]).fit(frame(), CLASSES, validation_data=(frame(), ["maybe"] * N))
    with refused(ValueError, "11 labels.*12 sets"):
        cs.SetRegressor(["stars"]).fit(frame(), NUMBERS, validation_data=(frame(), NUMBERS[1:]))
    with refused(ValueError, "'stars' is unknown"):
        cs.SetRegressor(["stars"]).fit(frame(), NUMBERS, validation_data=(frame().drop("stars"), NUMBERS))
    with refused(ValueError, "y contains NaN"):
        cs.SetRegressor(["stars"]).fit(frame(), NUMBERS, validation_data=(frame(), NUMBERS * np.nan))
    for wrong in (frame(), (frame(),), (frame(), NUMBERS, NUMBERS), 5, "text"):
        with refused((ValueError, TypeError), "validation_data", "\\(X, y\\)"):
            cs.SetRegressor(["stars"]).fit(frame(), NUMBERS, validation_data=wrong)


@pytest.mark.parametrize(
    "method", ["predict", "phi", "verify", "calibrators", "rho", "save", "decision_function", "predict_proba"]
)
def test_before_fitting(method: str, tmp_path: Any) -> None:
    arguments = {"calibrators": [], "save": [tmp_path / "m"], "rho": [[0.0]]}.get(method, [frame()])
    for cls in (cs.SetRegressor, cs.SetClassifier):
        if hasattr(cls(), method):
            with refused(NotFittedError, "not fitted"):
                getattr(cls(["stars"]), method)(*arguments)
    assert not (tmp_path / "m").exists()


@pytest.fixture(scope="module")
def fitted() -> cs.SetRegressor:
    with training_allowed():
        features = [RATING, "price", cs.Feature("shop", kind="categorical")]
        return cs.SetRegressor(features, epochs=1, n_jobs=1, random_state=0).fit(frame(), NUMBERS)


@pytest.mark.parametrize("method", ["predict", "phi", "verify"])
def test_sets_for_a_fitted_model(fitted: cs.SetRegressor, method: str) -> None:
    call = getattr(fitted, method)
    with refused(ValueError, "'price' is unknown", "'stars'"):
        call(frame().drop("price"))
    with refused(ValueError, "'stars' holds inf in set 4"):
        call(frame(stars=with_token(float("inf"))))
    with refused(TypeError, "'stars' is declared increasing", "strings"):
        call(frame(stars=[["x"] * (1 + i % 3) for i in range(N)]))
    with refused(ValueError, "no sets"):
        call(frame()[:0])
    with refused(TypeError, "'shop' was fitted on categories like 'a' but holds"):
        call(frame(shop=[[1.0] * (1 + i % 3) for i in range(N)]))
    with refused(ValueError, "Row 0", "one length"):
        call(frame(shop=[["a"] * 9] * N))
    with pytest.warns(UserWarning, match="feature names"), refused(ValueError, "no column of X holds lists"):
        call(np.zeros((3, 3)))


@pytest.mark.parametrize("n_jobs", [0, "x", 1.5])
def test_a_number_of_threads_that_is_changed_after_the_fit(n_jobs: object) -> None:
    with training_allowed():
        model = cs.SetRegressor(epochs=1, n_jobs=1).fit(np.zeros((N, 3)), NUMBERS)
    model.set_params(n_jobs=n_jobs)
    with refused(ValueError, "n_jobs must be None, a positive number of threads, or -1"):
        model.predict(np.zeros((N, 3)))


def test_wrong_number_of_columns() -> None:
    with training_allowed():
        model = cs.SetRegressor(epochs=1, n_jobs=1).fit(np.zeros((N, 3)), NUMBERS)
    with refused(ValueError, "2 features", "3 features"):
        model.predict(np.zeros((N, 2)))


def test_hinge_has_no_probabilities() -> None:
    model = cs.SetClassifier(loss="hinge")
    assert not hasattr(model, "predict_proba")
    with refused(AttributeError, "predict_proba"):
        _ = model.predict_proba
    assert hasattr(cs.SetClassifier(), "predict_proba")


def test_a_warm_start_in_another_form_is_refused() -> None:
    """What the first fit has settled cannot change in the second."""
    form = ({"keypoints": 5}, {"keypoints": 20}, {"lattice_size": 3}, {"lattices": "ensemble"})
    for changed in ({"width": 2}, {"rho_keypoints": 5}, {"features": ["price"]}, *form):
        with training_allowed():
            model = cs.SetRegressor(["stars"], epochs=1, n_jobs=1, warm_start=True).fit(frame(), NUMBERS)
        model.set_params(**changed)
        model.predict(frame())  # the model takes note of changed parameters, but not for those of its fit
        for _ in range(2):
            with refused(ValueError, "warm_start", next(iter(changed))):
                model.fit(frame(), NUMBERS)


def test_a_warm_start_takes_changes_that_every_feature_overrules() -> None:
    features = [
        cs.Feature("stars", keypoints=4, lattice_size=3),
        cs.Feature("shop", kind="categorical", lattice_size=2),
    ]
    with training_allowed():
        model = cs.SetRegressor(features, epochs=1, n_jobs=1, warm_start=True).fit(frame(), NUMBERS)
        model.set_params(keypoints=7, lattice_size=4).fit(frame(), NUMBERS)
    assert model.model_.function.layout.sizes == (3, 2)
    model.set_params(lattices="full")
    with refused(ValueError, "lattices has changed from auto to full"):
        model.fit(frame(), NUMBERS)


def test_almost_everything_for_validation_leaves_something_to_train_on() -> None:
    X = np.linspace(0, 1, 100)[:, None]
    with training_allowed():
        model = cs.SetRegressor(validation_fraction=0.9999, epochs=1, n_jobs=1).fit(X, X[:, 0])
    assert np.isfinite(model.predict(X)).all()
