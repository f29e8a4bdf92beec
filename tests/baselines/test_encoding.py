"""Sets as numbers: against values worked out by hand or set by set."""

from itertools import pairwise

import numpy as np
import polars as pl

import clearset as cs
from clearset.baselines import Encoding
from clearset.sets import SetData, read_sets


def frame() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "stars": [[1.0, None], [3.0], [], [5.0, 3.0, None]],
            "shop": [["b", "a"], ["a"], [], ["b", None, "b"]],
            "price": [2.0, 4.0, 6.0, None],
        }
    )


FEATURES = [cs.Feature("stars"), cs.Feature("shop", kind="categorical"), cs.Feature("price"), cs.Feature(cs.SIZE)]


def read(data: pl.DataFrame) -> SetData:
    return read_sets(data, FEATURES)


def test_by_hand() -> None:
    data = read(frame())
    encoding = Encoding.fit(data, FEATURES, np.ones(4))
    values, offsets = encoding.tokens(data, np.float64)
    assert offsets.tolist() == [0, 2, 3, 4, 7]
    # stars 1, 3, 5, 3 have mean 3 and variance 2; the prices of the tokens are 2, 2, 4, 6; sizes 2, 2, 1, 0, 3, 3, 3.
    stars = np.array([-2, 0, 0, 0, 2, 0, 0]) / np.sqrt(2)
    np.testing.assert_allclose(values[:, 0], stars)
    assert values[:, 1].tolist() == [0, 1, 0, 1, 0, 0, 1]
    assert values[:, 2:5].tolist() == [[0, 1, 0], [1, 0, 0], [1, 0, 0], [0, 0, 1], [0, 1, 0], [0, 0, 1], [0, 1, 0]]
    prices = np.array([2.0, 2.0, 4.0, 6.0])
    np.testing.assert_allclose(values[:4, 5], (prices - prices.mean()) / prices.std())
    assert values[4:, 5].tolist() == [0, 0, 0]
    assert values[:, 6].tolist() == [0, 0, 0, 0, 1, 1, 1]
    sizes = np.array([2, 2, 1, 0, 3, 3, 3])
    np.testing.assert_allclose(values[:, 7], (sizes - sizes.mean()) / sizes.std())
    assert encoding.n_columns == 8


def test_means_are_those_of_the_tokens() -> None:
    data = read(frame())
    encoding = Encoding.fit(data, FEATURES, np.ones(4))
    values, offsets = encoding.tokens(data, np.float64)
    expected = [values[a:b].mean(axis=0) for a, b in pairwise(offsets)]
    np.testing.assert_allclose(encoding.means(data), expected, atol=1e-15)


def test_unknown_categories_count_as_missing() -> None:
    encoding = Encoding.fit(read(frame()), FEATURES, np.ones(4))
    later = frame().with_columns(shop=pl.Series([["z", "a"], ["a"], [], ["b", None, "b"]]))
    missing = frame().with_columns(shop=pl.Series([[None, "a"], ["a"], [], ["b", None, "b"]]))
    for encoded in (encoding.means, lambda sets: encoding.tokens(sets, np.float64).values):
        np.testing.assert_array_equal(encoded(read(later)), encoded(read(missing)))


def test_weights_are_repetitions_and_zero_is_absence() -> None:
    data = read(frame())
    weighted = Encoding.fit(data, FEATURES, np.array([2.0, 0.0, 0.0, 1.0]))
    repeated = Encoding.fit(data[np.array([0, 0, 3])], FEATURES, np.ones(3))
    np.testing.assert_allclose(weighted.means(data), repeated.means(data), atol=1e-14)
    without = Encoding.fit(data[:2], FEATURES[1:], np.array([0.0, 1.0]))
    assert without.columns[0].categories == ("a",)
    assert not without.columns[0].gaps


def test_no_gaps_no_further_columns() -> None:
    data = SetData([[1.0], [2.0]], [0, 1, 2], ["a"])
    encoding = Encoding.fit(data, [cs.Feature("a")], np.ones(2))
    later = SetData([[np.nan], [3.5]], [0, 1, 2, 2], ["a"])
    np.testing.assert_allclose(encoding.tokens(later, np.float64).values, [[0.0], [4.0], [0.0]])
    np.testing.assert_allclose(encoding.means(later), [[0.0], [4.0], [0.0]])


def test_constants_and_far_values() -> None:
    data = SetData(np.array([[7.0, 1e200, np.nan], [7.0, -1e200, np.nan]]), [0, 1, 2], ["a", "b", "c"])
    encoding = Encoding.fit(data, [cs.Feature(name) for name in "abc"], np.ones(2))
    np.testing.assert_allclose(encoding.means(data), [[0, 1, 0, 1], [0, -1, 0, 1]])


def test_all_sets_empty() -> None:
    data = SetData(np.empty((0, 1)), [0, 0, 0], ["a"])
    encoding = Encoding.fit(data, [cs.Feature("a")], np.ones(2))
    np.testing.assert_array_equal(encoding.means(data), [[0, 1], [0, 1]])
    np.testing.assert_array_equal(encoding.tokens(data, np.float32).values, [[0, 1], [0, 1]])
