"""Of a feature that is constant in training nothing is learned, so that all of its values predict the same."""

import numpy as np
import pyarrow as pa
import pytest

import clearset as cs

N = 200
RNG = np.random.default_rng(0)
RATING = RNG.uniform(size=N)
LABELS = RATING + 0.1 * RNG.normal(size=N)
VALUES = [-1e9, 0.0, 4.0, 5.0, 5.5, 6.0, 10.0, 1e9]
QUICK = {"epochs": 5, "random_state": 0, "n_jobs": 1}

CASES = {
    "nothing": (cs.Feature("price"), []),
    "increasing": (cs.Feature("price", monotonic="increasing"), []),
    "decreasing, within bounds": (cs.Feature("price", monotonic="decreasing", bounds=(0.0, 10.0)), []),
    "at a bound": (cs.Feature("price", bounds=(0.0, 5.0)), []),
    "beyond a bound": (cs.Feature("price", bounds=(None, 3.0)), []),
    "convex": (cs.Feature("price", shape="convex", bounds=(0.0, 10.0)), []),
    "trusted by it": (cs.Feature("price"), [cs.Trust("rating", by="price")]),
}


def table(prices, ratings=RATING):
    return pa.table({"rating": ratings, "price": pa.array(prices, pa.float64())})


def fitted(feature, trusts=(), cls=cs.SetRegressor, labels=LABELS, prices=(5.0,) * N):
    rating = cs.Feature("rating", monotonic="increasing")
    return cls([rating, feature], trusts=trusts, **QUICK).fit(table(prices), labels)


def predicted(model, prices=VALUES):
    return model.predict(table(prices, [0.5] * len(prices)))


@pytest.mark.parametrize("declared", CASES)
def test_all_values_predict_the_same(declared):
    model = fitted(*CASES[declared])
    assert len(np.unique(predicted(model))) == 1
    assert model.verify()
    assert len(np.unique(model.predict(table([5.0] * N)))) > N / 2  # the other feature counts


def test_of_classes_too():
    model = fitted(cs.Feature("price"), cls=cs.SetClassifier, labels=LABELS > 0.5)
    assert len(np.unique(model.predict_proba(table(VALUES, [0.5] * len(VALUES))), axis=0)) == 1


def test_missing_values_count_for_themselves():
    missing = np.arange(N) % 2 == 0
    model = fitted(cs.Feature("price"), labels=RATING + missing, prices=np.where(missing, np.nan, 5.0))
    one, other = predicted(model, [5.0, None])
    assert other > one + 0.2
    assert len(np.unique(predicted(model))) == 1


def test_a_single_other_value_says_something():
    prices = np.full(N, 5.0)
    prices[7] = 6.0
    assert len(np.unique(predicted(fitted(cs.Feature("price"), prices=prices)))) > 1


def test_trapezoid_trust_keeps_the_ends_of_a_calibrator():
    features, trust = ["rating", cs.Feature("price", monotonic="increasing")], cs.Trust("price", "rating", "trapezoid")
    model = cs.SetRegressor(features, trusts=[trust], **QUICK).fit(table([5.0] * N), LABELS)
    assert (np.ptp(model.model_.function.calibration[:, model.binning_.slots_of("price")], axis=1) == 1).all()
    assert model.verify()


def test_a_warm_start_keeps_what_was_learned_and_learns_what_is_new():
    X, other = np.stack([RATING, np.full(N, 5.0)], axis=1), np.stack([RATING, 5.0 + RNG.uniform(size=N)], axis=1)
    asked = np.stack([np.full(3, 0.5), [5.0, 5.5, 6.0]], axis=1)
    model = cs.SetRegressor(warm_start=True, **QUICK).fit(X, LABELS)
    for data, distinct in ((X, 1), (other, 3), (X, 3)):
        model.fit(data, data.sum(axis=1) - 5.0)
        assert len(np.unique(model.predict(asked))) == distinct
