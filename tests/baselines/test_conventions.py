"""The conventions of scikit-learn, which every baseline keeps."""

import inspect
import pickle
import re
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

import clearset as cs
from clearset import baselines
from clearset.baselines import (
    AveragedDNNClassifier,
    AveragedDNNRegressor,
    AveragedLinearClassifier,
    AveragedLinearRegressor,
    DeepSetsClassifier,
    DeepSetsRegressor,
    MultiHotDNNClassifier,
    MultiHotDNNRegressor,
    MultiHotEncoder,
    SupportDistributionClassifier,
    SupportDistributionRegressor,
)

ON_SETS = (
    AveragedLinearRegressor,
    AveragedLinearClassifier,
    AveragedDNNRegressor,
    AveragedDNNClassifier,
    DeepSetsRegressor,
    DeepSetsClassifier,
    SupportDistributionRegressor,
    SupportDistributionClassifier,
)
ON_STRINGS = (MultiHotDNNRegressor, MultiHotDNNClassifier, MultiHotEncoder)
NETWORKS = (*ON_SETS[:6], *ON_STRINGS[:2])


# A few epochs tell as much of the conventions as many; those checks that look at accuracy pass with these.
FEW = {"epochs": 15, "learning_rate": 0.05}


@parametrize_with_checks([cls(**(FEW if cls in NETWORKS else {})) for cls in ON_SETS])
def test_scikit_learns_own_checks(estimator: Any, check: Any) -> None:
    check(estimator)


# Checks that fit pass a matrix of random numbers, which is no set of strings.
@pytest.mark.parametrize("cls", ON_STRINGS)
@pytest.mark.parametrize(
    "name",
    [
        "check_estimator_cloneable",
        "check_estimator_tags_renamed",
        "check_valid_tag_types",
        "check_estimator_repr",
        "check_no_attributes_set_in_init",
        "check_parameters_default_constructible",
        "check_get_params_invariance",
        "check_set_params",
        "check_mixin_order",
    ],
)
def test_checks_that_do_not_fit(cls: Any, name: str) -> None:
    getattr(estimator_checks, name)(cls.__name__, cls())


def sets(n: int = 120, seed: int = 0) -> cs.SetData:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 5, n)
    return cs.SetData(rng.normal(size=(int(sizes.sum()), 2)), np.concatenate([[0], np.cumsum(sizes)]), ["a", "b"])


def strings(n: int = 120, seed: int = 0) -> list[list[str]]:
    rng = np.random.default_rng(seed)
    return [rng.choice(list("abcdefgh"), rng.integers(1, 5)).tolist() for _ in range(n)]


def labels(cls: Any, n: int = 120) -> np.ndarray:
    rng = np.random.default_rng(1)
    return rng.choice(["x", "y", "z"], n) if is_classifier(cls()) else rng.normal(size=n)


def data(cls: Any, n: int = 120, seed: int = 0) -> Any:
    return strings(n, seed) if cls in ON_STRINGS else sets(n, seed)


def quick(cls: Any) -> Any:
    return cls(epochs=2, random_state=0) if cls in NETWORKS else cls()


def outputs(model: Any, X: Any) -> np.ndarray:
    return np.asarray(model.predict_proba(X) if is_classifier(model) else model.predict(X))


@pytest.mark.parametrize("cls", [*ON_SETS, *ON_STRINGS[:2]])
def test_the_same_seed_gives_the_same_bits(cls: Any) -> None:
    X, y, fresh = data(cls), labels(cls), data(cls, seed=5)
    torch.manual_seed(1)
    first = quick(cls).fit(X, y)
    torch.manual_seed(2)
    before = torch.random.get_rng_state()
    second = clone(first).fit(X, y)
    assert torch.equal(torch.random.get_rng_state(), before)
    assert np.array_equal(outputs(first, fresh), outputs(second, fresh))
    again = pickle.loads(pickle.dumps(first))  # noqa: S301
    assert np.array_equal(outputs(again, fresh), outputs(first, fresh))


@pytest.mark.parametrize("cls", NETWORKS)
def test_another_seed_gives_another_network(cls: Any) -> None:
    X, y = data(cls), labels(cls)
    first, second = quick(cls).fit(X, y), quick(cls).set_params(random_state=1).fit(X, y)
    assert not np.array_equal(outputs(first, X), outputs(second, X))


@pytest.mark.parametrize("n_jobs", [None, 1, 2])
@pytest.mark.parametrize("cls", [DeepSetsRegressor, SupportDistributionRegressor])
def test_torch_gets_its_threads_back(cls: Any, n_jobs: int | None) -> None:
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(3)
        model = quick(cls).set_params(n_jobs=n_jobs).fit(sets(), labels(cls))
        model.predict(sets())
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)


def test_sets_may_come_in_any_form() -> None:
    """As SetData, Arrow, pandas and polars they are the same sets."""
    flat = sets()
    rows = [flat[b].values for b in range(len(flat))]
    columns = {name: [row[:, d].tolist() for row in rows] for d, name in enumerate(["a", "b"])}
    y = labels(DeepSetsRegressor)
    expected = quick(DeepSetsRegressor).fit(flat, y).predict(flat)
    for frame in (pa.table(columns), pd.DataFrame(columns), pl.DataFrame(columns)):
        np.testing.assert_array_equal(quick(DeepSetsRegressor).fit(frame, y).predict(frame), expected)


def test_strings_may_come_in_any_form() -> None:
    rows, y = strings(), labels(MultiHotDNNClassifier)
    expected = quick(MultiHotDNNClassifier).fit(rows, y).predict_proba(rows)
    column = pa.table({"items": rows})
    for X in (column, column["items"], column.to_pandas()["items"], pl.from_arrow(column)):
        np.testing.assert_array_equal(quick(MultiHotDNNClassifier).fit(X, y).predict_proba(X), expected)


def test_grid_search() -> None:
    search = GridSearchCV(quick(DeepSetsRegressor), {"width": [2, 4]}, cv=2, error_score="raise")
    assert search.fit(sets(), labels(DeepSetsRegressor)).best_params_["width"] in (2, 4)


def test_the_encoder_feeds_scikit_learn() -> None:
    X = strings(300)
    y = np.array(["a" in row for row in X])
    assert make_pipeline(MultiHotEncoder(), LogisticRegression()).fit(X, y).score(X, y) == 1.0
    assert make_pipeline(MultiHotEncoder(), GradientBoostingClassifier(n_estimators=20)).fit(X, y).score(X, y) == 1.0


def test_kinds() -> None:
    assert all(is_classifier(cls()) == cls.__name__.endswith("Classifier") for cls in (*ON_SETS, *ON_STRINGS))
    assert all(is_regressor(cls()) == cls.__name__.endswith("Regressor") for cls in (*ON_SETS, *ON_STRINGS))


@pytest.mark.parametrize("cls", [*ON_SETS, *ON_STRINGS])
def test_nothing_works_before_fit(cls: Any) -> None:
    with pytest.raises(NotFittedError):
        (cls().transform if cls is MultiHotEncoder else cls().predict)(data(cls))


@pytest.mark.parametrize("name", [name for name in baselines.__all__ if not name.endswith("Classifier")])
def test_every_parameter_is_documented(name: str) -> None:
    cls = getattr(baselines, name)
    text = inspect.getdoc(cls) or ""
    lines = [line for line in text[text.index("Parameters") :].splitlines() if line and line[0] != " "]
    documented = {word.strip() for line in lines for word in line.split(" : ")[0].split(",")}
    assert set(inspect.signature(cls).parameters) <= documented


def documented_attributes(name: str) -> set[str]:
    """Return the attributes that a class documents, by itself or by pointing to another."""
    text = inspect.getdoc(getattr(baselines, name)) or ""
    other = re.search(r"attributes,?\s+are\s+those\s+of\s+`(\w+)`", text)
    found = documented_attributes(other[1]) if other else set()
    if "Attributes\n" in text:
        section = text[text.index("Attributes\n") : text.index("Examples\n")]
        lines = [line for line in section.splitlines()[2:] if line and line[0] != " "]
        found |= {word.strip() for line in lines for word in line.split(" : ")[0].split(",")}
    return found


@pytest.mark.parametrize("cls", [*ON_SETS, *ON_STRINGS])
def test_every_documented_attribute_is_there(cls: Any) -> None:
    model = quick(cls).fit(data(cls), labels(cls))
    names = documented_attributes(cls.__name__)
    assert names
    assert {name for name in names if not hasattr(model, name)} == set()
