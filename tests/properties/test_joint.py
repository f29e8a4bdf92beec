"""Properties of joint models: engines over sets of strings, and a set function of estimates and dense features."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.properties.declarations import CLASSIFICATION, REGRESSION, Case, cases
from tests.properties.examples import share
from tests.properties.given_places import reads_places
from tests.properties.invariances import answers, assert_a_file_keeps_all, assert_rows_stand_alone, assert_same_bits
from tests.properties.items_drawn import ItemSets
from tests.properties.promises import assert_follows, raised
from tests.properties.sets_drawn import Sets

import clearset as cs

pytestmark = pytest.mark.filterwarnings("ignore:No token passed the filters")
N_LATER = 8
COMMON: dict[str, Any] = {"epochs": 1, "n_jobs": 1}


@dataclass(frozen=True)
class JointCase:
    """What one example of a property is made of: dense columns and the follow-on model, engines, joint training."""

    dense: Case
    engine: dict[str, Any]
    crossed: bool
    epochs: int
    learning_rate: float

    def fitted(self, kind: Any, labels: np.ndarray) -> Any:
        """Fit a joint model."""
        dense = self.dense
        engines: dict[Any, Any] = {"left": cs.SemanticFeatureEngine(**self.engine, **COMMON)}
        if self.crossed:
            tokens = cs.Cross("left", "right")
            engines["left", "right"] = cs.SemanticFeatureEngine(tokens=tokens, cross_fit=2, **COMMON)
        follow_on = kind(dense.features, trusts=dense.trusts, **dense.options)
        model = cs.JointModel(engines, follow_on, epochs=self.epochs, learning_rate=self.learning_rate, random_state=0)
        X = self.frame(dense.sets(dense.n_sets, later=False), self.items(dense.n_sets, later=False))
        return model.fit(X, labels, dense.sample_weight())

    def items(self, n: int, *, later: bool) -> ItemSets:
        """Draw the two columns of items."""
        return ItemSets.drawn(self.dense.rng, n, ["left", "right"], 3, later=later)

    def frame(self, sets: Sets, items: ItemSets) -> Any:
        """Return a frame of the dense columns and those of items."""
        table = sets.table()
        for name, lists in items.columns.items():
            table = table.append_column(name, pa.array(lists, pa.list_(pa.string())))
        return pl.from_arrow(table) if self.dense.library == "polars" else table


def without_places(case: Case) -> bool:
    """Tell whether the order of tokens means nothing."""
    return not reads_places(case)


def joint_cases(kind: Any, *, constrained: bool = True) -> st.SearchStrategy[JointCase]:
    """Draw examples; joint training needs at least 200 rows, for a quarter of them is held out."""
    engine = {
        "tokens": st.sampled_from([cs.Items(), cs.Subsets(2)]),
        "width": st.integers(1, 2),
        "cover": st.booleans(),
        "filters": st.sampled_from([[cs.MinCount(1)], [cs.MinCount(3)]]),
    }
    return st.builds(
        JointCase,
        dense=cases(kind, constrained=constrained, n_sets=st.sampled_from([24, 204])).filter(without_places),
        engine=st.fixed_dictionaries(engine),
        crossed=st.booleans(),
        epochs=st.integers(0, 2),
        learning_rate=st.sampled_from([0.005, 0.5]),
    )


def check(model: Any, case: JointCase) -> None:
    """See that all properties hold of a fitted model."""
    dense, rng = case.dense, case.dense.rng
    sets, items = dense.sets(N_LATER, later=True), case.items(N_LATER, later=True)

    def frame(rows: np.ndarray) -> Any:
        return case.frame(sets.take(rows), items.take(rows.tolist()))

    whole = assert_rows_stand_alone(model, frame, N_LATER, rng)
    shuffled = case.frame(sets.shuffled(rng), items.shuffled(rng))
    assert_same_bits(answers(model, shuffled), whole, "tokens and items in another order")
    assert_same_bits(answers(model, case.frame(sets, items.doubled())), whole, "items twice")
    assert_a_file_keeps_all(model, frame(np.arange(N_LATER)), whole)
    assert model.verify()
    for feature in dense.features:
        if feature.monotonic is not None:
            lower, higher = (
                estimates(model, case.frame(changed, items.take(range(len(changed)))))
                for changed in raised(dense, sets, feature)
            )
            assert_follows(model.follow_on_.set_function_, feature, lower, higher)


def estimates(model: Any, X: Any) -> np.ndarray:
    """Return a number, or the probability of the second class; of a hinge loss, whether it is predicted."""
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(X)[:, 1])
    found = model.predict(X)
    return found if found.dtype.kind == "f" else np.asarray(found == model.classes_[1], dtype=float)


@share(0.05)
@given(case=joint_cases(REGRESSION))
def test_regression(case: JointCase) -> None:
    check(case.fitted(cs.SetRegressor, case.dense.numbers()), case)


@share(0.03)
@given(case=joint_cases(CLASSIFICATION))
def test_two_classes(case: JointCase) -> None:
    check(case.fitted(cs.SetClassifier, case.dense.classes(2)), case)


@share(0.02)
@given(case=joint_cases(CLASSIFICATION, constrained=False))
def test_three_classes(case: JointCase) -> None:
    check(case.fitted(cs.SetClassifier, case.dense.classes(3)), case)
