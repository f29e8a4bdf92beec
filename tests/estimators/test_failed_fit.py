"""A fit that fails changes nothing, however it fails and whatever was fitted before."""

import copy
import inspect
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from sklearn.base import is_classifier
from sklearn.linear_model import LogisticRegression, Ridge
from torch import nn

import clearset as cs
from clearset import baselines
from clearset.engines import engine as engine_of
from clearset.functions import ShapeConstraints

RNG = np.random.default_rng(0)
N = 60
ITEMS = [RNG.choice(list("abcdef"), RNG.integers(1, 4)).tolist() for _ in range(N)]
STARS = [[float(ord(item)) for item in row] for row in ITEMS]
WORTH = np.array([np.mean(row) for row in STARS])
NUMBERS, CLASSES = WORTH + 0.1 * RNG.normal(size=N), np.where(np.median(WORTH) < WORTH, "high", "low")
# What the second fit is given differs in its columns and classes, so that whatever it leaves behind is seen.
OTHER_NUMBERS, OTHER_CLASSES = 7.0 - NUMBERS, np.array(["x", "y", "z"])[np.arange(N) % 3]
SETS, OTHER_SETS = pa.table({"stars": STARS, "worth": WORTH}), pa.table({"stars": STARS, "more": STARS})
STRINGS, OTHER_STRINGS = pa.table({"items": ITEMS}), pa.table({"words": [[*row, "g"] for row in ITEMS]})
JOINT = pa.table({"items": ITEMS, "worth": WORTH})
OTHER_JOINT = pa.table({"items": ITEMS, "more": WORTH})


@dataclass(frozen=True)
class Case:
    """An estimator, what it is fitted on first and then, and what its training goes through."""

    make: Callable[[], Any]
    X: Any
    other: Any
    training: tuple[Any, str]

    def labels(self, other: bool = False) -> Any:
        if is_classifier(self.make()):
            return OTHER_CLASSES if other else CLASSES
        return OTHER_NUMBERS if other else NUMBERS

    @property
    def takes_labels(self) -> bool:
        return self.make().__sklearn_tags__().target_tags.required


QUICK: dict[str, Any] = {"epochs": 2, "random_state": 0}
SEMANTIC: dict[str, Any] = {**QUICK, "tokens": cs.Items(), "n_jobs": 1}
# What trains by default.
ENGINE = type(engine_of())
SET_TRAINING, JOINT_TRAINING = (ENGINE, "trainer"), (ENGINE, "joint_trainer")


def joint(follow_on: Any) -> Callable[[], Any]:
    def make() -> Any:
        engine = cs.SemanticFeatureEngine(**SEMANTIC)
        return cs.JointModel({"items": engine}, follow_on(**QUICK), epochs=2, validation_fraction=0.9)

    return make


CASES = {
    "SetRegressor": Case(lambda: cs.SetRegressor(**QUICK), SETS, OTHER_SETS, SET_TRAINING),
    "SetRegressor again": Case(lambda: cs.SetRegressor(**QUICK, warm_start=True), SETS, SETS, SET_TRAINING),
    "SetClassifier": Case(lambda: cs.SetClassifier(**QUICK), SETS, OTHER_SETS, SET_TRAINING),
    "SemanticFeatureEngine": Case(lambda: cs.SemanticFeatureEngine(**SEMANTIC), STRINGS, OTHER_STRINGS, SET_TRAINING),
    "SemanticRegressor": Case(
        lambda: cs.SemanticRegressor(**SEMANTIC, refine=True), STRINGS, OTHER_STRINGS, SET_TRAINING
    ),
    "SemanticClassifier": Case(lambda: cs.SemanticClassifier(**SEMANTIC), STRINGS, OTHER_STRINGS, SET_TRAINING),
    "JointModel of numbers": Case(joint(cs.SetRegressor), JOINT, OTHER_JOINT, SET_TRAINING),
    "JointModel of classes": Case(joint(cs.SetClassifier), JOINT, OTHER_JOINT, JOINT_TRAINING),
}
for _name in baselines.__all__:
    _cls = getattr(baselines, _name)
    if _name == "MultiHotEncoder":
        CASES[_name] = Case(_cls, STRINGS, OTHER_STRINGS, (cs.TokenTable, "build"))
    elif _name.startswith("SupportDistribution"):
        _linear = Ridge if _name.endswith("Regressor") else LogisticRegression
        CASES[_name] = Case(_cls, SETS, OTHER_SETS, (_linear, "fit"))
    elif _name.endswith(("Regressor", "Classifier")):
        _sets = (STRINGS, OTHER_STRINGS) if _name.startswith("MultiHot") else (SETS, OTHER_SETS)
        CASES[_name] = Case(lambda cls=_cls: cls(**QUICK), *_sets, (nn.Linear, "forward"))


class TrainingError(Exception):
    """What goes wrong in the middle of training."""


def raising(error: type[BaseException]) -> Callable[..., Any]:
    def method(*_: Any, **__: Any) -> None:
        raise error

    return method


def failing(training: tuple[Any, str], error: type[BaseException]) -> Callable[..., Any]:
    """Stand in for what trains: an epoch of an engine's trainer, or the method itself, raises an error."""
    if training[0] is not ENGINE:
        return raising(error)
    make = getattr(*training)

    def trainer(*arguments: Any) -> Any:
        made = make(*arguments)
        made.epoch = raising(error)
        return made

    return trainer


def missing(labels: Any) -> Any:
    return [None, *labels[1:].tolist()]


def fit(case: Case, model: Any, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    """Let a fit fail."""
    X, y, options, error = case.other, case.labels(other=True), {}, (ValueError, TypeError)
    if how == "labels that are missing":
        y = missing(y)
    elif how == "too few labels":
        y = y[:-1]
    elif how == "one label only":
        y = np.full(N, "a")
    elif how == "no examples":
        X, y = X.slice(0, 0), y[:0]
    elif how == "no frame":
        X = 5
    elif how == "a parameter":
        name = next(name for name in ("epochs", "alpha", "min_count") if hasattr(model, name))
        monkeypatch.setattr(model, name, -1)
    elif how == "weights":
        options["sample_weight"] = np.full(N, -1.0)
    elif how == "labels for validation":
        options["validation_data"] = (X, missing(y))
    elif how == "examples for validation":
        options["validation_data"] = (5, y)
    elif how == "error in training":
        error = TrainingError
        monkeypatch.setattr(*case.training, failing(case.training, TrainingError))
    elif how == "interrupt before the first epoch":
        error = KeyboardInterrupt
        monkeypatch.setattr(*case.training, failing(case.training, KeyboardInterrupt))
    elif how == "error at the end":
        error = TrainingError
        monkeypatch.setattr(ShapeConstraints, "violations", raising(TrainingError))
    # scikit-learn warns that a number has no names of columns.
    with pytest.raises(error), warnings.catch_warnings(action="ignore"):
        model.fit(X, y, **options)
    monkeypatch.undo()


def unchanged(model: Any, before: dict[str, Any]) -> bool:
    return list(vars(model)) == list(before) and all(value is before[key] for key, value in vars(model).items())


def outputs(case: Case, model: Any) -> Any:
    if hasattr(model, "predict"):
        return getattr(model, "predict_proba", model.predict)(case.X)
    found = model.transform(case.X)
    return found if isinstance(found, np.ndarray) else found.toarray()


WAYS = (
    "labels that are missing",
    "too few labels",
    "one label only",
    "no examples",
    "no frame",
    "a parameter",
    "weights",
    "labels for validation",
    "examples for validation",
    "error in training",
    "interrupt before the first epoch",
    "error at the end",
)


def can_fail(case: Case, how: str) -> bool:
    model = case.make()
    if not case.takes_labels and ("label" in how or how == "weights"):
        return False
    if "validation" in how:
        return "validation_data" in inspect.signature(model.fit).parameters
    if how == "error at the end":
        return hasattr(model, "verify") and not isinstance(model, cs.JointModel)
    # What comes before joint training is kept if that is interrupted.
    return not (how.startswith("interrupt") and case.training == JOINT_TRAINING)


PAIRS = [(name, how) for name, case in CASES.items() for how in WAYS if can_fail(case, how)]


@pytest.fixture(scope="module")
def fitted() -> dict[str, Any]:
    return {}


@pytest.mark.parametrize(("name", "how"), PAIRS)
def test_a_fitted_estimator_stays_as_it_was(
    name: str, how: str, fitted: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    case = CASES[name]
    if name not in fitted:
        fitted[name] = case.make().fit(case.X, case.labels())
    model = fitted[name]
    expected = outputs(case, model)
    before, history = vars(model).copy(), copy.deepcopy(getattr(model, "history_", None))
    fit(case, model, monkeypatch, how)
    assert unchanged(model, before)
    assert getattr(model, "history_", None) == history
    assert np.array_equal(outputs(case, model), expected)


@pytest.mark.parametrize(("name", "how"), PAIRS)
def test_an_estimator_that_was_never_fitted_stays_so(name: str, how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = CASES[name].make()
    before = vars(model).copy()
    fit(CASES[name], model, monkeypatch, how)
    assert unchanged(model, before)


def interrupted_at(epoch: int) -> Callable[..., Any]:
    """Stand in for trainers whose so many-th epoch, of all together, an interrupt ends, as Ctrl-C would."""
    calls, make = [], ENGINE.trainer

    def trainer(*arguments: Any) -> Any:
        made = make(*arguments)
        train = made.epoch

        def counted() -> float:
            calls.append(1)
            if len(calls) == epoch:
                raise KeyboardInterrupt
            return train()

        made.epoch = counted
        return made

    return trainer


@pytest.fixture(scope="module")
def engine() -> Any:
    case = CASES["SemanticFeatureEngine"]
    return case.make().fit(case.X, case.labels())


@pytest.mark.parametrize("method", ["refresh_table", "refit_set_function", "fit_transform"])
@pytest.mark.parametrize("how", ["labels", "examples", "weights", "training", "end"])
def test_other_methods_that_fit(method: str, how: str, engine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, error = OTHER_STRINGS, OTHER_NUMBERS, (ValueError, TypeError)
    expected, before = engine.transform(STRINGS), vars(engine).copy()
    if how == "labels":
        y = missing(y)
    elif how == "examples":
        X = pa.table({"items": [[[0.5]]] * N})
    elif how in ("training", "end"):
        if method == "refresh_table":
            monkeypatch.setattr(cs.TokenTable, "carrying", raising(TrainingError))
        elif how == "training":
            monkeypatch.setattr(*SET_TRAINING, failing(SET_TRAINING, TrainingError))
        else:
            monkeypatch.setattr(ShapeConstraints, "violations", raising(TrainingError))
        error = TrainingError
    with pytest.raises(error):
        getattr(engine, method)(X, y, np.full(N, -1.0 if how == "weights" else 1.0))
    monkeypatch.undo()
    assert unchanged(engine, before)
    assert np.array_equal(engine.transform(STRINGS), expected)


def test_an_interrupt_among_the_folds_leaves_the_engine_as_it_was(engine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    before = vars(engine).copy()
    monkeypatch.setattr(*SET_TRAINING, interrupted_at(4))
    with pytest.raises(RuntimeError, match="The engine is as it was"):
        engine.fit_transform(OTHER_STRINGS, OTHER_NUMBERS)
    assert unchanged(engine, before)


def test_an_interrupt_in_the_first_epoch_of_refinement_keeps_what_was_trained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(*SET_TRAINING, interrupted_at(3))
    model = CASES["SemanticRegressor"].make()
    with pytest.warns(UserWarning, match="best model so far is kept"):
        model.fit(STRINGS, NUMBERS)
    assert model.interrupted_
    assert np.corrcoef(model.predict(STRINGS), NUMBERS)[0, 1] > 0.5
