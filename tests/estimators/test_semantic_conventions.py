"""The conventions of scikit-learn, as far as they make sense of strings."""

import copy
import inspect
import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_predict, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_checks

import clearset as cs

from .items import classifier, engine, labels, regressor, sets

X, FRESH = sets(), sets(150, seed=9)
Y = labels(X)
ESTIMATORS = (cs.SemanticFeatureEngine, cs.SemanticClassifier, cs.SemanticRegressor)

# scikit-learn's own checks that look at an estimator without fitting it. Those that fit pass a matrix of random
# numbers, which is no set of strings and refused; what they ask is asked below of strings.
CHECKS = (
    "check_estimator_cloneable",
    "check_estimator_tags_renamed",
    "check_valid_tag_types",
    "check_estimator_repr",
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_get_params_invariance",
    "check_set_params",
    "check_mixin_order",
    "check_estimators_unfitted",
)


@pytest.mark.parametrize("cls", ESTIMATORS)
@pytest.mark.parametrize("name", CHECKS)
def test_scikit_learns_own_checks(cls: Any, name: str) -> None:
    getattr(estimator_checks, name)(cls.__name__, cls())


@pytest.mark.parametrize("cls", ESTIMATORS)
def test_parameters(cls: Any) -> None:
    tokens, features = cs.Subsets(2), ["mean_label", "count"]
    model = cls(tokens, [cs.MinCount(3)], 7, 2, features=features, shrinkage=3.0, random_state=4)
    assert model.tokens is tokens
    assert model.features is features
    assert set(model.get_params()) == set(inspect.signature(cls).parameters)
    copied = clone(model)
    assert copied.get_params() == model.get_params()
    assert not hasattr(copied, "set_function_")
    assert model.set_params(width=3) is model
    assert model.width == 3
    with pytest.raises(ValueError, match="Invalid parameter 'widht'"):
        model.set_params(widht=1)
    assert "shrinkage=3.0" in repr(model)


def test_kinds() -> None:
    assert is_classifier(cs.SemanticClassifier())
    assert is_regressor(cs.SemanticRegressor())
    assert not is_classifier(cs.SemanticFeatureEngine())
    assert cs.SemanticFeatureEngine().__sklearn_tags__().transformer_tags is not None


@pytest.mark.parametrize("make", [engine, classifier, regressor])
def test_fit_leaves_parameters_and_data_alone(make: Any) -> None:
    rows, y = copy.deepcopy(X), labels(X, "number" if make is regressor else "two")
    before, kept = y.copy(), make(features=["mean_label", "count"], filters=[cs.MinCount(2)], epochs=1)
    parameters = copy.deepcopy(kept.get_params())
    assert kept.fit(rows, y) is kept
    assert kept.get_params() == parameters
    assert rows == X
    assert (y == before).all()


def test_fitting_again_forgets_the_first_fit() -> None:
    model = engine(epochs=2).fit(X, labels(X, "many"))
    assert model.transform(FRESH).shape == (150, 3)
    model.fit(X, labels(X, "number"))
    assert not hasattr(model, "classes_")
    np.testing.assert_array_equal(model.transform(FRESH), engine(epochs=2).fit(X, labels(X, "number")).transform(FRESH))


@pytest.mark.parametrize("method", ["predict", "predict_proba", "decision_function", "predict_top"])
def test_nothing_works_before_fit(method: str) -> None:
    with pytest.raises(NotFittedError):
        getattr(classifier(), method)(X)


@pytest.mark.parametrize("method", ["transform", "calibrators", "verify", "get_feature_names_out", "refresh_table"])
def test_nothing_of_the_engine_works_before_fit(method: str) -> None:
    arguments = {"transform": (X,), "refresh_table": (X, Y)}.get(method, ())
    with pytest.raises(NotFittedError):
        getattr(engine(), method)(*arguments)


@pytest.mark.parametrize("refine", [False, True])
def test_pickling(refine: bool) -> None:
    for model in (engine(epochs=2, refine=refine), classifier(epochs=2, refine=refine)):
        model.fit(X, labels(X, "many"))
        before = model.as_model().read(FRESH).outputs()
        again = pickle.loads(pickle.dumps(model))  # noqa: S301
        for copied in (again, copy.deepcopy(model)):
            np.testing.assert_array_equal(copied.as_model().read(FRESH).outputs(), before)
        assert again.classes_.tolist() == model.classes_.tolist()
        again.refresh_table(X, labels(X, "many"))


FRAME = pd.DataFrame({"items": X, "price": np.random.default_rng(0).uniform(size=400)})


def test_names_of_outputs() -> None:
    two = engine(epochs=1).fit(X, Y)
    assert two.get_feature_names_out(["items"]).tolist() == ["items"]
    many = engine(epochs=1).fit(X, labels(X, "many"))
    assert many.get_feature_names_out(["items"]).tolist() == ["items_high", "items_low", "items_middle"]
    assert len(many.get_feature_names_out()) == 3
    assert engine(epochs=1).fit(FRAME[["items"]], Y).get_feature_names_out().tolist() == ["items"]
    assert engine(epochs=1).fit(FRAME["items"], Y).get_feature_names_out().tolist() == ["items"]
    pair = pl.DataFrame({"who": X, "what": X[::-1]})
    crossed = engine(tokens=cs.Cross(), epochs=1).fit(pair, Y)
    assert crossed.get_feature_names_out().tolist() == ["who_what"]
    assert crossed.feature_names_in_.tolist() == ["who", "what"]
    again = crossed.set_params(tokens=cs.Items()).fit(X, Y)
    assert again.get_feature_names_out().tolist() == ["semantic"]
    detailed = pd.DataFrame({"pay": [[1.0] * len(row) for row in X], "items": X})
    told = engine(details=["pay"], epochs=1).fit(detailed, Y)
    assert told.get_feature_names_out().tolist() == ["items"]


@pytest.mark.parametrize("column", ["items", ["items"]])
@pytest.mark.parametrize("kind", ["two", "many"])
@pytest.mark.parametrize("library", [pd, pl])
def test_a_column_transformer(column: Any, kind: str, library: Any) -> None:
    y, frame = labels(X, kind), FRAME if library is pd else pl.from_pandas(FRAME)
    mixed = ColumnTransformer(
        [("sfe", engine(epochs=2), column), ("rest", "passthrough", ["price"])], sparse_threshold=0
    )
    known = mixed.fit_transform(frame, y)
    assert known.shape == (400, 2 if kind == "two" else 4)
    np.testing.assert_array_equal(known[:, :-1], engine(epochs=2).fit_transform(X, y))
    np.testing.assert_array_equal(mixed.transform(frame)[:, :-1], engine(epochs=2).fit(X, y).transform(X))
    names = mixed.get_feature_names_out().tolist()
    assert names[-1] == "rest__price"
    assert names[0] == ("sfe__items" if kind == "two" else "sfe__items_high")


@pytest.mark.parametrize("container", ["pandas", "polars"])
def test_set_output(container: str) -> None:
    model = engine(epochs=2).set_output(transform=container)
    known = model.fit_transform(X, labels(X, "many"))
    estimated = model.transform(FRESH)
    for result in (known, estimated):
        assert isinstance(result, pd.DataFrame if container == "pandas" else pl.DataFrame)
        assert list(result.columns) == model.get_feature_names_out().tolist()
    np.testing.assert_array_equal(estimated.to_numpy(), engine(epochs=2).fit(X, labels(X, "many")).transform(FRESH))
    refined = engine(epochs=1, refine=True, cross_fit=2).set_output(transform=container)
    assert refined.fit_transform(X, Y).shape == (400, 1)


def test_set_output_keeps_the_index() -> None:
    rows = FRAME.set_index(np.arange(400)[::-1] * 3)
    transformer = make_column_transformer((engine(epochs=2), "items"), remainder="passthrough")
    result = transformer.set_output(transform="pandas").fit_transform(rows, Y)
    assert result.index.tolist() == rows.index.tolist()
    assert result.columns.tolist() == ["semanticfeatureengine__items", "remainder__price"]


def test_a_pipeline() -> None:
    number = labels(X, "number")
    pipeline = make_pipeline(engine(epochs=5), StandardScaler(), LinearRegression()).fit(X, number)
    assert pipeline.score(FRESH, labels(FRESH, "number")) > 0.85
    steps = Pipeline([("sfe", engine(epochs=3)), ("follow", LogisticRegression())]).fit(X, labels(X, "many"))
    assert steps.score(FRESH, labels(FRESH, "many")) > 0.6
    assert steps.set_params(sfe__width=2).fit(X, Y)["sfe"].setting_.width == 2
    weighted = Pipeline([("sfe", engine(epochs=3)), ("follow", LogisticRegression())])
    weights = np.repeat([1.0, 0.0], 200)
    weighted.fit(X, np.concatenate([Y[:200], 1 - Y[200:]]), sfe__sample_weight=weights, follow__sample_weight=weights)
    assert weighted.score(FRESH, labels(FRESH)) > 0.7  # without weights the upside-down half would cancel the other


def test_a_follow_on_set_model() -> None:
    frame = FRAME.assign(price=np.where(Y == 1, FRAME["price"], -FRAME["price"]))
    transformer = make_column_transformer(
        (engine(epochs=5), "items"), remainder="passthrough", verbose_feature_names_out=False
    ).set_output(transform="pandas")
    features = [cs.Feature("items", monotonic="increasing"), "price"]
    pipeline = make_pipeline(transformer, cs.SetClassifier(features, epochs=5, random_state=0, n_jobs=1))
    pipeline.fit(frame, Y)
    assert pipeline.score(frame, Y) > 0.85


@pytest.fixture
def routing() -> Any:
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def test_routing_of_weights_and_groups(routing: Any) -> None:
    groups = np.random.default_rng(0).integers(0, 40, 400)
    weights = np.repeat([1.0, 0.0], 200)
    lies = np.where(weights > 0, Y, 1 - Y)
    requested = engine(epochs=3).set_fit_request(sample_weight=True, groups=True)
    pipeline = make_pipeline(requested, LogisticRegression().set_fit_request(sample_weight=True))
    pipeline.fit(X, lies, sample_weight=weights, groups=groups)
    assert pipeline.score(FRESH, labels(FRESH)) > 0.8
    alone = engine(epochs=3).fit(X, lies, weights, groups=groups)
    np.testing.assert_array_equal(pipeline[0].transform(FRESH), alone.transform(FRESH))
    mixed = ColumnTransformer([("sfe", requested, "items"), ("rest", "passthrough", ["price"])])
    known = mixed.fit_transform(FRAME, lies, sample_weight=weights, groups=groups)
    expected = engine(epochs=3).fit_transform(X, lies, weights, groups=groups)
    np.testing.assert_array_equal(known[:, :1], expected)


def test_routing_into_cross_validation(routing: Any) -> None:
    groups = np.random.default_rng(0).integers(0, 40, 400)
    model = classifier(epochs=2).set_fit_request(groups=True, sample_weight=True)
    model.set_score_request(sample_weight=False)
    scores = cross_val_score(
        model, X, Y, cv=GroupKFold(3), params={"groups": groups, "sample_weight": np.ones(400)}, error_score="raise"
    )
    assert scores.mean() > 0.75
    with pytest.raises(Exception, match="groups"):
        make_pipeline(classifier(epochs=1)).fit(X, Y, groups=groups)


@pytest.mark.parametrize("container", [list, pd.Series, lambda rows: pl.DataFrame({"items": rows})])
def test_grid_search(container: Any) -> None:
    search = GridSearchCV(
        classifier(epochs=2), {"width": [1, 2], "tokens": [cs.Items(), cs.Subsets(2)]}, cv=2, error_score="raise"
    )
    search.fit(container(X), Y)
    assert search.best_score_ > 0.75
    assert search.best_estimator_.setting_.width == search.best_params_["width"]
    assert search.best_estimator_.setting_.tokens == search.best_params_["tokens"]


def test_cross_validation() -> None:
    assert cross_val_score(classifier(epochs=3), X, Y, cv=3, scoring="roc_auc", error_score="raise").mean() > 0.85
    number = labels(X, "number")
    assert cross_val_score(regressor(epochs=10), X, number, cv=3, error_score="raise").mean() > 0.7
    shares = cross_val_predict(classifier(epochs=3), X, Y, cv=3, method="predict_proba")
    assert roc_auc_score(Y, shares[:, 1]) > 0.85


def test_a_generator_as_random_state() -> None:
    fits = [engine(epochs=2, random_state=np.random.RandomState(7)).fit(X, Y) for _ in range(2)]
    np.testing.assert_array_equal(fits[0].transform(FRESH), fits[1].transform(FRESH))
    assert engine(epochs=1, random_state=np.random.default_rng(3)).fit(X, Y).transform(FRESH).shape == (150, 1)
