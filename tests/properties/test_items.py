"""Properties of models over sets of strings, for whatever tokens, features and options are chosen."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.properties.declarations import DIRECTIONS, SHAPES, WEIGHTS, drawn_classes, drawn_weights
from tests.properties.examples import share
from tests.properties.invariances import answers, assert_a_file_keeps_all, assert_rows_stand_alone, assert_same_bits
from tests.properties.items_drawn import FORMS, ItemSets
from tests.properties.promises import assert_follows, rounding

import clearset as cs

pytestmark = pytest.mark.filterwarnings("ignore:No token passed the filters")

N_LATER = 8
OWN = ("count", "size", "interval", "lift", "whole", "items", "tokens")
TOKENS = (
    "auto",
    cs.Items(),
    cs.Items(),
    cs.Subsets(2),
    cs.Subsets(),
    cs.NGrams(1),
    cs.NGrams(2),
    cs.Cross(),
    cs.Difference(max_size=2),
    cs.Union(cs.Items(), cs.Words()),
    cs.Union(cs.Words(), cs.Subsets(2)),
    cs.Union(cs.Cross(), cs.Difference()),
)
TASKS = {
    "number": ["auto", "squared_error", "absolute_error", "quantile", "poisson"],
    "two": ["auto", "log_loss", "binary_log_loss"],
    "three": ["auto", "log_loss", "binary_log_loss"],
}
OPTIONS: dict[str, st.SearchStrategy[Any]] = {
    "filters": st.sampled_from(["auto", [cs.MinCount(1)], [cs.MinCount(3), cs.MaxInterval(0.9)]]),
    "cross_fit": st.sampled_from([None, 2, 5]),
    "width": st.sampled_from(["auto", 1, 2, 3]),
    "cover": st.sampled_from(["auto", True, False]),
    "shrinkage": st.sampled_from([0.0, 1.0, 20.0]),
    "keypoints": st.integers(2, 10),
    "rho_keypoints": st.integers(2, 8),
    "optimizer": st.sampled_from(["adam", "adagrad"]),
    "constraints": st.sampled_from(["project", "project", "light_touch"]),
    "smoothness": st.sampled_from([0.0, 100.0]),
    "learning_rate": st.sampled_from([0.02, 1.0]),
    "epochs": st.integers(1, 3),
    "batch_size": st.sampled_from(["auto", 7]),
    "random_state": st.integers(0, 3),
    "n_jobs": st.sampled_from([1, 1, 1, 2]),
}


@dataclass(frozen=True)
class ItemCase:
    """What one example of a property is made of."""

    tokens: Any
    details: bool
    task: str
    loss: str
    features: list[cs.Feature] | None
    trusts: list[cs.Trust]
    refine: Any
    weights: str | None
    largest: int
    n: int
    form: str
    options: dict[str, Any]
    seed: int
    rng: np.random.Generator = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rng", np.random.default_rng(self.seed))

    @property
    def columns(self) -> list[str]:
        """The columns of the examples."""
        if not isinstance(self.tokens, str) and self.tokens.sides:
            return ["left", "right"]
        return ["items", "pay"] if self.details else ["items"]

    def examples(self, n: int, *, later: bool) -> ItemSets:
        """Draw examples: to train on, or later ones."""
        return ItemSets.drawn(self.rng, n, self.columns, self.largest, later=later)

    def labels(self) -> np.ndarray:
        """Draw labels; of classes, each."""
        if self.task != "number":
            return drawn_classes(self.rng, self.n, 2 if self.task == "two" else 3)
        return self.rng.poisson(3.0, self.n) + 0.5 if self.loss != "poisson" else self.rng.poisson(3.0, self.n) + 1.0

    def fitted(self, kind: Any) -> Any:
        """Fit an estimator."""
        weights = None if self.weights is None else drawn_weights(self.rng, self.weights, self.n)
        options = {**self.options, "tokens": self.tokens, "loss": self.loss, "refine": self.refine}
        options |= {"features": self.features, "trusts": self.trusts, "details": ["pay"] if self.details else []}
        X = self.examples(self.n, later=False).frame(self.form)
        return kind(**options).fit(X, self.labels(), weights)


@st.composite
def item_cases(draw: st.DrawFn) -> ItemCase:
    tokens, task = draw(st.sampled_from(TOKENS)), draw(st.sampled_from(sorted(TASKS)))
    details = isinstance(tokens, cs.Items) and draw(st.booleans())
    union = isinstance(tokens, cs.Union)
    features = draw(st.none() | _features(task, details=details, union=union))
    return ItemCase(
        tokens=tokens,
        details=details,
        task=task,
        loss=draw(st.sampled_from(TASKS[task])),
        features=features,
        trusts=draw(_trusts(features)),
        refine=draw(st.sampled_from([False, True, 2, "auto"])),
        weights=draw(st.sampled_from([None, None, *sorted(WEIGHTS)])),
        largest=draw(st.integers(1, 5)),
        n=draw(st.integers(12, 40)),
        form=draw(st.sampled_from(FORMS)),
        options={name: draw(values) for name, values in OPTIONS.items()},
        seed=draw(st.integers(0, 2**32 - 1)),
    )


@st.composite
def _features(draw: st.DrawFn, task: str, *, details: bool, union: bool) -> list[cs.Feature]:
    value = draw(st.sampled_from(["mean_label"] if task == "number" else ["mean_label", "log_odds"]))
    known = {*OWN} - {"whole"} if union else {*OWN}
    named = draw(
        st.lists(st.sampled_from(sorted([*known, *([] if task == "number" else ["entropy"])])), max_size=3, unique=True)
    )
    named += ["pay"] * (details and draw(st.booleans()))
    keypoints = st.sampled_from([None, None, 2, 5])
    shape = st.sampled_from(SHAPES)
    return [
        cs.Feature(value, keypoints=draw(keypoints), shape=draw(shape)),
        *([cs.Feature("kind")] if union and draw(st.booleans()) else []),
        *(
            cs.Feature(name, monotonic=draw(st.sampled_from(DIRECTIONS)), keypoints=draw(keypoints), shape=draw(shape))
            for name in named
        ),
    ]


@st.composite
def _trusts(draw: st.DrawFn, features: list[cs.Feature] | None) -> list[cs.Trust]:
    if features is None or len(features) < 2 or draw(st.booleans()):
        return []
    numeric = [feature for feature in features[1:] if feature.name != "kind"]
    if not numeric:
        return []
    value, by = features[0], draw(st.sampled_from(numeric))
    free = value.shape is None and by.shape is None and by.monotonic is None
    shape = draw(st.sampled_from(["edgeworth", "trapezoid"] if free else ["edgeworth"]))
    return [cs.Trust(value.name, by=by.name, shape=shape)]


def check(model: Any, case: ItemCase) -> None:
    """See that all properties hold of a fitted model."""
    sets, setting = case.examples(N_LATER, later=True), model.setting_

    def frame(rows: np.ndarray) -> Any:
        return sets.take(rows.tolist()).frame(case.form)

    X = sets.frame(case.form)
    whole = assert_rows_stand_alone(model, frame, N_LATER, case.rng)
    in_order = isinstance(setting.tokens, cs.NGrams)
    if not in_order or setting.tokens.max_order == 1:
        assert_same_bits(answers(model, sets.shuffled(case.rng).frame(case.form)), whole, "items in another order")
    told = [feature.name for feature in model.features_]
    if not in_order or (setting.tokens.max_order == 1 and "items" not in told and "whole" not in told):
        # What an example repeats counts once; details of it are averaged, which rounds.
        twice = answers(model, sets.doubled().frame(case.form))
        if case.details:
            for name, values in whole.items():
                if values.dtype.kind != "f":
                    continue
                np.testing.assert_allclose(twice[name], values, rtol=1e-9, err_msg="items twice")
        else:
            assert_same_bits(twice, whole, "items twice")
    assert_a_file_keeps_all(model, X, whole)
    assert model.verify()
    assert_value_raises(model, case, X)
    if case.details and case.task != "three":
        assert_pay_raises(model, case, sets)


def assert_value_raises(model: Any, case: ItemCase, X: Any) -> None:
    """Say of a token that its label is lower, or higher, than was counted."""
    table = model.token_table_
    if not len(table):
        return
    token = table.to_arrow()["token"][int(case.rng.integers(len(table)))].as_py()
    ends = (0.0, 20.0) if case.task == "number" else (0.0, 1.0)
    low, high = np.sort(case.rng.uniform(*ends, 2))
    label = None if case.task == "number" else str(case.rng.choice(model.classes_))
    found = []
    for value in (low, high):
        editor = model.edit()
        editor.pin_token(token, float(value), **({} if label is None else {"label": label}))
        found.append(estimates(editor.model, X, label))
    assert (found[1] - found[0] >= -rounding(model.set_function_, found[0])).all(), token


def estimates(model: Any, X: Any, label: str | None) -> np.ndarray:
    """Return a number, or the share of a class."""
    if label is None:
        return np.asarray(model.predict(X))
    return np.asarray(model.predict_proba(X)[:, model.classes_.tolist().index(label)])


def assert_pay_raises(model: Any, case: ItemCase, sets: ItemSets) -> None:
    """Raise the number beside one item of each example."""
    feature = next((feature for feature in case.features or () if feature.name == "pay"), None)
    if feature is None or feature.monotonic is None:
        return
    known = [[1.0 if number is None else number for number in row] for row in sets.columns["pay"]]
    raised = [[*row[:-1], row[-1] + case.rng.gamma(2.0)] if row else row for row in known]
    label = None if case.task == "number" else "yes"
    lower, higher = (estimates(model.as_model(), sets.with_pay(pay).frame(case.form), label) for pay in (known, raised))
    assert_follows(model.set_function_, feature, lower, higher)


@share(0.2)
@given(case=item_cases())
def test_predictors(case: ItemCase) -> None:
    check(case.fitted(cs.SemanticRegressor if case.task == "number" else cs.SemanticClassifier), case)


@share(0.05)
@given(case=item_cases())
def test_engines(case: ItemCase) -> None:
    check(case.fitted(cs.SemanticFeatureEngine), case)
