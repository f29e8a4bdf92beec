"""scikit-learn's tools on frames with list columns: selection, inspection, pipelines."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.inspection import permutation_importance
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import clearset as cs

FRAMES = {
    "arrow": lambda table: table,
    "pandas": lambda table: table.to_pandas(),
    "pandas of lists": lambda table: pd.DataFrame(table.to_pydict()),
    "pandas of Arrow": lambda table: table.to_pandas(types_mapper=pd.ArrowDtype),
    "polars": pl.from_arrow,
}
NO_NAMES = "X does not have valid feature names"


def products(n: int = 120, seed: int = 0) -> tuple[pa.Table, np.ndarray]:
    """Products whose label is the mean of their stars; words and price say little."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(0, 5, n)
    stars = [rng.integers(1, 6, size).astype(float).tolist() for size in sizes]
    words = [rng.normal(size=size).tolist() for size in sizes]
    price = rng.uniform(1, 9, n)
    y = np.array([np.mean(row) if row else 2.0 for row in stars]) + 0.1 * price
    return pa.table({"stars": stars, "words": words, "price": price}), y


def model(features: Any = None, **options: Any) -> cs.SetRegressor:
    return cs.SetRegressor(features, **{"epochs": 10, "random_state": 0, "n_jobs": 1} | options)


@pytest.mark.parametrize("kind", FRAMES)
def test_names_and_number_of_columns(kind: str) -> None:
    table, y = products()
    frame = FRAMES[kind](table)
    fitted = model().fit(frame, y)
    assert fitted.feature_names_in_.tolist() == ["stars", "words", "price"]
    assert fitted.n_features_in_ == 3
    declared = model(["price", cs.SIZE, "stars"]).fit(frame, y)
    assert declared.feature_names_in_.tolist() == ["price", "stars"]
    assert declared.n_features_in_ == 2
    for loaded in (declared.as_model(), cs.as_estimator(declared.as_model())):
        assert loaded.feature_names_in_.tolist() == ["price", "stars"]
        assert loaded.n_features_in_ == 2
    with pytest.raises(ValueError, match="'stars' is unknown"):
        declared.predict(FRAMES[kind](table.select(["words", "price"])))
    with pytest.raises(ValueError, match=r"yet now missing:\n- stars"):
        fitted.predict(FRAMES[kind](table.select(["words", "price"])))


def test_names_of_columns_of_items() -> None:
    items, y = [["a", "b"], ["c"], ["b"]] * 10, [0, 1, 0] * 10
    semantic = cs.SemanticClassifier(cs.Items(), epochs=2, random_state=0).fit(pl.DataFrame({"basket": items}), y)
    for fitted in (semantic, semantic.as_model(), cs.as_estimator(semantic.as_model())):
        assert fitted.feature_names_in_.tolist() == ["basket"]
        assert fitted.n_features_in_ == 1
    semantic.fit(items, y)
    assert not hasattr(semantic, "feature_names_in_")
    assert not hasattr(semantic, "n_features_in_")


@pytest.mark.parametrize("kind", FRAMES)
def test_selection(kind: str) -> None:
    """Every container gives the scores that Arrow's does."""
    table, y = products()
    frame = FRAMES[kind](table)
    expected = cross_val_score(model(), table, y, cv=2, error_score="raise")
    assert np.array_equal(cross_val_score(model(), frame, y, cv=2, error_score="raise"), expected)
    assert cross_val_predict(model(), frame, y, cv=2).shape == y.shape
    search = GridSearchCV(model(), {"width": [1, 2]}, cv=2, error_score="raise").fit(frame, y)
    assert search.feature_names_in_.tolist() == ["stars", "words", "price"]
    train, test, y_train, y_test = train_test_split(frame, y, random_state=0)
    assert np.isfinite(model().fit(train, y_train).score(test, y_test))


@pytest.mark.parametrize("kind", FRAMES)
def test_permutation_importance_of_sets(kind: str) -> None:
    """scikit-learn makes arrays of objects of what is no pandas frame; these are read by position."""
    table, y = products()
    frame = FRAMES[kind](table.select(["stars", "price"]))
    fitted = model(epochs=60).fit(frame, y)
    options = {"n_repeats": 3, "random_state": 0}
    if kind.startswith("pandas"):
        found = permutation_importance(fitted, frame, y, **options)
    else:
        with pytest.warns(UserWarning, match=NO_NAMES):
            found = permutation_importance(fitted, frame, y, **options)
    assert found.importances_mean[0] > 5 * found.importances_mean[1] > 0
    again = permutation_importance(fitted, pd.DataFrame(table.select(["stars", "price"]).to_pydict()), y, **options)
    assert np.array_equal(found.importances, again.importances)


def test_several_list_columns_cannot_be_shuffled_one_by_one() -> None:
    table, y = products()
    with pytest.raises(ValueError, match="The list columns of a row describe the same tokens"):
        permutation_importance(model(epochs=2).fit(table, y), table.to_pandas(), y)


def test_values_of_one_feature_are_shuffled_among_all_tokens() -> None:
    """What stands in for permutation_importance where there are several list columns."""
    table, y = products()
    fitted = model(epochs=60).fit(table, y)
    sets, rng = fitted.as_model().read(table).sets, np.random.default_rng(0)
    losses = {}
    for place, name in enumerate(sets.feature_names):
        values = sets.values.copy()
        rng.shuffle(values[:, place])
        further = {"set_values": sets.set_values, "set_feature_names": sets.set_feature_names}
        shuffled = cs.SetData(values, sets.offsets, sets.feature_names, **further)
        losses[name] = fitted.score(table, y) - fitted.score(shuffled, y)
    assert losses["stars"] > 0.5 > 10 * losses["words"]


@pytest.mark.parametrize("kind", [kind for kind in FRAMES if kind != "arrow"])
@pytest.mark.parametrize("output", ["pandas", "polars", "default"])
def test_columns_beside_lists_are_transformed(kind: str, output: str) -> None:
    """A linear transformation moves keypoints and nothing else. (scikit-learn's transformers take no Arrow tables.)"""
    table, y = products()
    frame = FRAMES[kind](table)
    parts = [("lists", "passthrough", ["stars", "words"]), ("dense", StandardScaler(), ["price"])]
    transformer = ColumnTransformer(parts, verbose_feature_names_out=False).set_output(transform=output)
    pipeline = make_pipeline(transformer, model()).fit(frame, y)
    np.testing.assert_allclose(pipeline.predict(frame), model().fit(frame, y).predict(frame), rtol=1e-6)


@pytest.mark.parametrize("kind", [kind for kind in FRAMES if kind != "arrow"])
def test_items_beside_other_columns(kind: str) -> None:
    table, y = products()
    items = [[f"i{star:g}" for star in row] for row in table["stars"].to_pylist()]
    frame = FRAMES[kind](pa.table({"items": items, "price": table["price"]}))
    engine = cs.SemanticFeatureEngine(cs.Items(), epochs=5, random_state=0, n_jobs=1)
    transformer = ColumnTransformer([("items", engine, ["items"])], remainder="passthrough")
    pipeline = make_pipeline(transformer, model(epochs=40))
    assert cross_val_score(pipeline, frame, y, cv=2, error_score="raise").mean() > 0.3
    found = permutation_importance(pipeline.fit(frame, y), frame.to_pandas() if kind == "polars" else frame, y)
    assert found.importances_mean[0] > found.importances_mean[1]


def test_an_array_has_the_columns_of_the_fit_in_order() -> None:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 2)), rng.normal(size=60)
    frame = pa.table({"a": X[:, 0], "b": X[:, 1]})
    fitted = model(["b", "a"]).fit(frame, y)
    expected = fitted.predict(frame)
    with pytest.warns(UserWarning, match=NO_NAMES):
        assert np.array_equal(fitted.predict(X[:, ::-1]), expected)
    assert np.array_equal(fitted.as_model().predict(X[:, ::-1]), expected)
    assert np.array_equal(fitted.as_model().predict(X[:, ::-1].astype(object)), expected)
    with pytest.raises(ValueError, match="3 features, but SetRegressor is expecting 2"):
        fitted.as_model().predict(np.zeros((2, 3)))
