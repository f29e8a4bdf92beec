"""The conventions of scikit-learn: what works with any estimator works with these."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import clearset as cs
from clearset.datasets import make_reviews

FEATURES = [cs.Feature("star_rating", monotonic="increasing"), "num_helpful", "price"]


# A few epochs tell as much of the conventions as many; those checks that look at accuracy pass with these.
# Longer training makes differences of the last bit, which weights and repetitions have, larger than the checks allow.
@parametrize_with_checks([cs.SetRegressor(epochs=24, n_jobs=1), cs.SetClassifier(epochs=24, n_jobs=1)])
def test_scikit_learns_own_checks(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.fixture(scope="module")
def reviews() -> Any:
    return make_reviews(150)


@pytest.fixture(scope="module")
def flat() -> tuple[np.ndarray, np.ndarray]:
    """Two far-scaled columns of which the first decides."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2)) * [1.0, 1e6] + [5.0, -3e6]
    return X, X[:, 0] > 5.0


def set_data(frame: Any) -> cs.SetData:
    """Bring a table of reviews to the flat form by NumPy alone."""
    tokens = [np.concatenate(frame[name].to_pylist()).astype(float) for name in ("star_rating", "num_helpful")]
    sizes = [len(row) for row in frame["star_rating"].to_pylist()]
    return cs.SetData(
        np.stack(tokens, axis=1),
        np.concatenate([[0], np.cumsum(sizes)]),
        ["star_rating", "num_helpful"],
        set_values=np.array(frame["price"].to_pylist()),
        set_feature_names=["price"],
    )


@pytest.mark.parametrize("cls", [cs.SetRegressor, cs.SetClassifier])
def test_clone_has_equal_parameters_and_no_fit(cls: Any) -> None:
    trusts = (cs.Trust("star_rating", by="num_helpful"),)
    model = cls(FEATURES, 3, trusts=trusts, epochs=7, smoothness=1.5, random_state=4)
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert copy.features == FEATURES
    assert copy.trusts == trusts
    assert not hasattr(copy, "set_function_")


@pytest.mark.parametrize("cls", [cs.SetRegressor, cs.SetClassifier])
def test_parameters_are_stored_untouched(cls: Any) -> None:
    features = ["a"]
    model = cls(features)
    assert model.features is features
    assert model.set_params(width=5, lattices="full") is model
    assert (model.get_params()["width"], model.get_params()["lattices"]) == (5, "full")
    with pytest.raises(ValueError, match="Invalid parameter 'widht'"):
        model.set_params(widht=3)


@pytest.mark.parametrize("container", [None, "polars", "pandas"])
def test_pipeline_after_a_scaler(flat: tuple[np.ndarray, np.ndarray], container: str | None) -> None:
    X, y = flat
    scaler = StandardScaler()
    if container is not None:
        scaler.set_output(transform=container)
    pipeline = make_pipeline(scaler, cs.SetClassifier(epochs=30, random_state=0, n_jobs=1)).fit(X, y)
    assert pipeline.score(X, y) > 0.9
    plain = make_pipeline(StandardScaler(), cs.SetClassifier(epochs=30, random_state=0, n_jobs=1)).fit(X, y)
    assert np.array_equal(pipeline.predict_proba(X), plain.predict_proba(X))


def test_sample_weight_through_a_pipeline(flat: tuple[np.ndarray, np.ndarray]) -> None:
    """Of two contradicting halves the one that counts is learned."""
    X, y = flat
    both, labels = np.concatenate([X, X]), np.concatenate([y, ~y])
    weights = np.repeat([1.0, 0.0], len(X))
    pipeline = make_pipeline(StandardScaler(), cs.SetClassifier(epochs=30, random_state=0, n_jobs=1))
    pipeline.fit(both, labels, setclassifier__sample_weight=weights)
    assert pipeline.score(X, y) > 0.9
    pipeline.fit(both, labels, setclassifier__sample_weight=1.0 - weights)
    assert pipeline.score(X, y) < 0.1


@pytest.mark.parametrize("container", ["polars", "pandas", "set data"])
def test_grid_search_over_width(reviews: Any, container: str) -> None:
    frames = {
        "polars": lambda: pl.from_arrow(reviews.frame),
        "pandas": lambda: reviews.frame.to_pandas(),
        "set data": lambda: set_data(reviews.frame),
    }
    model = cs.SetRegressor(FEATURES, epochs=10, random_state=0, n_jobs=1)
    search = GridSearchCV(model, {"width": [1, 2]}, cv=2, error_score="raise")
    X = frames[container]()
    search.fit(X, np.log(reviews.sales))
    assert set(search.cv_results_["param_width"]) == {1, 2}
    assert search.best_estimator_.width == search.best_params_["width"]
    assert search.best_score_ > 0.3
    assert search.predict(X).shape == (150,)


def test_cross_val_score(reviews: Any) -> None:
    model = cs.SetClassifier(FEATURES, epochs=60, random_state=0, n_jobs=1)
    labels = np.where(reviews.sales > np.median(reviews.sales), "popular", "dull")
    scores = cross_val_score(model, pl.from_arrow(reviews.frame), labels, cv=3, error_score="raise")
    assert scores.shape == (3,)
    assert scores.mean() > 0.7
    aucs = cross_val_score(
        model, set_data(reviews.frame), labels == "popular", cv=3, scoring="roc_auc", error_score="raise"
    )
    assert aucs.mean() > 0.75


@pytest.fixture(scope="module")
def follow_on() -> tuple[pd.DataFrame, np.ndarray]:
    """A table of plain columns, with gaps, whose label rises with ``score``."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "score": rng.normal(size=300),
            "age": rng.uniform(18, 90, size=300),
            "shop": rng.choice(["town", "web", "fair"], size=300),
            "note": "free text",
        }
    )
    y = 2 * frame["score"] + np.where(frame["shop"] == "web", 3.0, 0.0) + 0.1 * rng.normal(size=300)
    frame.loc[rng.uniform(size=300) < 0.1, "score"] = np.nan
    frame.loc[rng.uniform(size=300) < 0.1, "shop"] = None
    return frame, y.to_numpy()


def test_follow_on_model_on_plain_columns(follow_on: tuple[pd.DataFrame, np.ndarray]) -> None:
    frame, y = follow_on
    features = [
        cs.Feature("score", monotonic="increasing"),
        "age",
        cs.Feature("shop", kind="categorical", monotonic=[("town", "web")]),
    ]
    model = cs.SetRegressor(features, epochs=60, random_state=0, n_jobs=1).fit(frame, y)
    complete = frame["score"].notna() & frame["shop"].notna()
    assert model.score(frame[complete], y[complete]) > 0.85
    assert np.isfinite(model.predict(frame)).all()
    assert model.verify(frame)
    web = model.predict(frame.assign(shop="web"))
    town = model.predict(frame.assign(shop="town"))
    assert (web >= town).all()
    assert (web > town + 1.0).mean() > 0.8


def test_fitting_again_forgets_the_first_fit(flat: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = flat
    model = cs.SetClassifier(epochs=1, n_jobs=1).fit(pd.DataFrame(X, columns=["a", "b"]), y)
    assert model.n_features_in_ == 2
    assert model.feature_names_in_.tolist() == ["a", "b"]
    model.fit(np.hstack([X, X]), y)
    assert model.n_features_in_ == 4
    assert not hasattr(model, "feature_names_in_")
    model.set_params(features=["a"]).fit(pd.DataFrame(X, columns=["a", "b"]), y)
    assert model.n_features_in_ == 1
    model.set_params(features=None).fit(cs.SetData(X, np.arange(len(X) + 1), ["p", "q"]), y)
    assert model.n_features_in_ == 2


def test_a_generator_as_random_state(flat: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = flat
    fits = [cs.SetClassifier(epochs=2, random_state=np.random.RandomState(7), n_jobs=1).fit(X, y) for _ in range(2)]
    assert np.array_equal(fits[0].predict_proba(X), fits[1].predict_proba(X))
