"""Properties of models over sets whose tokens have features, for whatever is declared and given."""

from typing import Any

import numpy as np
from hypothesis import given
from tests.properties.declarations import CLASSIFICATION, REGRESSION, Case, cases
from tests.properties.examples import share
from tests.properties.given_places import reads_places, with_columns_for_places
from tests.properties.invariances import answers, assert_a_file_keeps_all, assert_rows_stand_alone, assert_same_bits
from tests.properties.promises import assert_promises_kept, rounding
from tests.properties.sets_drawn import Sets

import clearset as cs

N_LATER = 8


def check(model: Any, case: Case) -> None:
    """See that all properties hold of a fitted model."""
    sets = case.sets(N_LATER, later=True)

    def frame(rows: np.ndarray) -> Any:
        return sets.take(rows).frame(case.library)

    X = sets.frame(case.library)
    whole = assert_rows_stand_alone(model, frame, N_LATER, case.rng)
    assert_a_file_keeps_all(model, X, whole)
    assert model.verify(X)
    if reads_places(case):
        model, case, sets = with_columns_for_places(model, case, sets)
        told = answers(model, sets.frame(case.library))
        assert_same_bits({name: told[name] for name in whole}, whole, "places in columns")
        whole = told
    assert_same_bits(answers(model, sets.shuffled(case.rng).frame(case.library)), whole, "tokens in another order")
    assert_doubling_changes_nothing(model, case, sets)
    assert_promises_kept(model, case, sets)


def assert_doubling_changes_nothing(model: Any, case: Case, sets: Sets) -> None:
    """Double sets that training has seen the size of, of a model that does not read the size."""
    supported = (sets.sizes >= model.as_model().support.tokens) | (sets.sizes == 0)
    some = sets.take(np.flatnonzero(supported))
    if not case.has_lists or not len(some) or cs.SIZE in [feature.name for feature in model.features_]:
        return
    once, twice = (answers(model, data.frame(case.library)) for data in (some, some.doubled()))
    for name, values in once.items():
        if values.dtype.kind == "f":
            assert (np.abs(twice[name] - values) <= rounding(model.set_function_, values)).all(), name


def fitted(kind: Any, case: Case, labels: np.ndarray) -> Any:
    """Fit an estimator, maybe with sets to validate on."""
    frame = case.sets(case.n_sets, later=False).frame(case.library)
    held = None
    if case.validates:
        held = case.sets(case.n_sets, later=True).frame(case.library), case.rng.permutation(labels)
    model = kind(case.features, trusts=case.trusts, **case.options)
    return model.fit(frame, labels, case.sample_weight(), held)


@share(0.45)
@given(case=cases(REGRESSION))
def test_regression(case: Case) -> None:
    check(fitted(cs.SetRegressor, case, case.numbers()), case)


@share(0.2)
@given(case=cases(CLASSIFICATION))
def test_two_classes(case: Case) -> None:
    check(fitted(cs.SetClassifier, case, case.classes(2)), case)


@share(0.05)
@given(case=cases(CLASSIFICATION, constrained=False))
def test_three_classes(case: Case) -> None:
    check(fitted(cs.SetClassifier, case, case.classes(3)), case)
