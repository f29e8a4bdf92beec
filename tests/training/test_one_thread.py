"""BLAS on one thread while something is fitted, and as before after it."""

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import clearset as cs
from clearset.training import _fitting, on_one_thread


def threads() -> set[int]:
    return {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}


@pytest.fixture(autouse=True)
def usual() -> set[int]:
    if threads() == {1}:
        pytest.skip("BLAS has one thread here")
    return threads()


def test_it_is_restored_after_returns_and_errors(usual):
    assert on_one_thread(threads)() == {1}
    assert threads() == usual
    with pytest.raises(ZeroDivisionError):
        on_one_thread(lambda: 1 / 0)()
    assert threads() == usual


def test_the_last_one_that_ends_restores_it(usual):
    seen = []

    @on_one_thread
    def outer():
        seen.append(on_one_thread(threads)())
        seen.append(threads())

    outer()
    assert seen == [{1}, {1}]
    assert threads() == usual


@pytest.mark.parametrize("strings", [False, True])
def test_fits_have_one_thread(strings, monkeypatch, usual):
    seen, train = [], _fitting.Fitting.train

    def watched(self, *arguments, **options):
        seen.append(threads())
        return train(self, *arguments, **options)

    monkeypatch.setattr(_fitting.Fitting, "train", watched)
    labels = np.arange(60) % 3
    if strings:
        cs.SemanticRegressor(tokens=cs.Items(), random_state=0, n_jobs=1).fit([[f"item {n}"] for n in labels], labels)
    else:
        cs.SetRegressor(random_state=0, n_jobs=1).fit(labels[:, None].astype(float), labels)
    assert seen
    assert all(each == {1} for each in seen)
    assert threads() == usual


def test_fits_are_the_same_bits_whatever_the_threads_of_blas():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 12)), rng.normal(size=200)
    found = []
    for limit in (1, 2):
        with threadpool_limits(limit, "blas"):
            found.append(cs.SetRegressor(random_state=0).fit(X, y).predict(X))
            assert threads() == {limit}
    np.testing.assert_array_equal(*found)
