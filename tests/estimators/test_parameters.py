"""Parameters: each has a rule or is read before any work, and what is left to be chosen has two spellings."""

import inspect
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import clearset as cs
from clearset.estimators import Auto, Either, Flag, Number, OneOf, OrNone, Rule, Threads, Whole, make_rng

from .items import labels, sets

ESTIMATORS = [
    cs.SetRegressor,
    cs.SetClassifier,
    cs.SemanticFeatureEngine,
    cs.SemanticClassifier,
    cs.SemanticRegressor,
    cs.JointModel,
]
# Objects, which are read, and so checked, before any work; see the tests of bad input.
READ = {"features", "trusts", "tokens", "filters", "details", "random_state", "engines", "follow_on"}
OPEN = ("tokens", "filters", "width", "cover", "refine", "loss", "validation_fraction")


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_every_parameter_is_checked(estimator: Any) -> None:
    parameters = inspect.signature(estimator).parameters
    assert set(estimator._rules) | (READ & set(parameters)) == set(parameters)
    for name, rule in estimator._rules.items():
        rule.check(name, parameters[name].default)
        with pytest.raises(ValueError, match=rf"^{name} must be .*; received \(1, 2\)\.$"):
            rule.check(name, (1, 2))


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_all_but_the_first_parameters_are_given_by_name(estimator: Any) -> None:
    parameters = inspect.signature(estimator).parameters.values()
    first = [each.name for each in parameters if each.kind is not each.KEYWORD_ONLY]
    of_sets, of_strings = ["features", "width"], ["tokens", "filters", "cross_fit", "width"]
    assert first in (of_sets, of_strings, ["engines", "follow_on"])


def test_estimators_work_without_doc_strings() -> None:
    script = "import clearset as cs; print(cs.SetRegressor(epochs=3), cs.SemanticClassifier())"
    command = [sys.executable, "-OO", "-c", script]
    run = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
    assert run.stdout == "SetRegressor(epochs=3) SemanticClassifier()\n"


def test_doc_strings_have_the_defaults_of_the_constructor() -> None:
    assert "\nlearning_rate : float, default=0.03\n" in (cs.SetRegressor.__doc__ or "")
    assert "\nlearning_rate : float, default=0.02\n" in (cs.SemanticRegressor.__doc__ or "")
    assert '\nloss : {"log_loss", "hinge"}, default="log_loss"\n' in (cs.SetClassifier.__doc__ or "")


@pytest.mark.parametrize(
    ("rule", "allowed", "refused", "words"),
    [
        (OneOf(("auto",)), ["auto"], [None, 1], "it must be 'auto'"),
        (OneOf(("a", "b")), ["a", "b"], ["c", None, 1, ["a"]], "one of 'a', 'b'"),
        (Whole(2), [2, np.int64(9)], [1, 2.0, True, "2", None], "a whole number at least 2"),
        (Whole(0, 3), [0, 3], [-1, 4], "a whole number from 0 to 3"),
        (Number(), [1, 0.5, np.float32(2)], [0, -1.0, float("inf"), float("nan"), True, "1"], "a number above 0"),
        (Number(or_low=True), [0, 0.0, 2.5], [-0.1, None], "a number of at least 0 and below inf"),
        (Number(0.0, 1.0), [0.5], [0, 1], "a number above 0 and below 1"),
        (Flag(), [True, False, np.True_], [0, 1, "yes", None], "True or False"),
        (Auto(Whole(1), "chosen"), ["auto", None, 3], ["automatic", 0], "at least 1, or 'auto' to have it chosen"),
        (OrNone(Whole(2), "no folds"), [None, False, 2], [True, 1, "auto"], "at least 2, or None for no folds"),
        (Either(Flag(), Whole(5)), [True, 6], [4, "x"], "True or False, or a whole number at least 5"),
        (Threads(), [None, 1, -1, np.int64(2)], [0, True, 1.0, "all"], "None, a positive number of threads, or -1"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Rule) else "",
)
def test_rules(rule: Rule, allowed: list[Any], refused: list[Any], words: str) -> None:
    for value in allowed:
        rule.check("it", value)
    for value in refused:
        with pytest.raises(ValueError, match=r"^it must be ") as caught:
            rule.check("it", value)
        assert words in str(caught.value)
        assert str(caught.value).endswith(f"; received {value!r}.")


@pytest.mark.parametrize("value", [-1, 2**32, "seed", 1.5])
def test_seeds(value: Any) -> None:
    with pytest.raises(ValueError, match=r"random_state must be None, a whole number from 0 to 4294967295, or"):
        make_rng(value)


@pytest.mark.parametrize("given", [{}, {"tokens": cs.Items()}])
def test_none_is_the_old_spelling_of_auto(given: dict[str, Any], tmp_path: Path) -> None:
    X = sets(260)
    y, options = labels(X), {"epochs": 1, "random_state": 0, "n_jobs": 1, **given}
    auto, none = (
        cs.SemanticClassifier(**{**dict.fromkeys(OPEN, value), **options}).fit(X, y) for value in ("auto", None)
    )
    assert none.choices_ == auto.choices_
    assert none.setting_ == auto.setting_
    assert np.array_equal(none.predict_proba(X), auto.predict_proba(X))
    for model, value in ((auto, "auto"), (none, None)):
        model.save(tmp_path / "model")
        again = cs.as_estimator(cs.load(tmp_path / "model"))
        assert [getattr(again, name) for name in OPEN if name not in given] == [value] * (len(OPEN) - len(given))
        assert np.array_equal(again.predict_proba(X), auto.predict_proba(X))


def test_none_is_the_old_spelling_of_auto_in_joint_models() -> None:
    defaults = {name: each.default for name, each in inspect.signature(cs.JointModel).parameters.items()}
    assert defaults["validation_fraction"] == defaults["batch_size"] == "auto"
    cs.JointModel._rules["validation_fraction"].check("validation_fraction", None)


def test_artifacts_of_earlier_versions_are_estimators() -> None:
    """They have None where it says ``"auto"`` now."""
    folder = Path(__file__).parent.parent / "golden"
    found = [cs.as_estimator(cs.load(path)) for path in sorted(folder.glob("*.clearset"))]
    assert len(found) > 3
    semantic = [each for each in found if hasattr(each, "token_table_")]
    assert any(each.validation_fraction is None for each in semantic)
    for each in semantic:
        X = sets(60)
        assert each.set_params(epochs=1).fit(X, labels(X, "number" if each.loss_ == "squared_error" else "many"))
