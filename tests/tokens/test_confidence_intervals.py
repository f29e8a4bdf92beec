import numpy as np
import pytest
from scipy import stats

from clearset.tokens._confidence_intervals import least_n_of_wilson, student, wilson


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
@pytest.mark.parametrize(("k", "n"), [(0, 1), (1, 1), (3, 10), (10, 10), (0, 500), (250, 500)])
def test_wilson_against_scipy(k: int, n: int, level: float) -> None:
    expected = stats.binomtest(k, n).proportion_ci(level, method="wilson")
    low, high = wilson(k / n, n, level)
    np.testing.assert_allclose([low, high], [expected.low, expected.high], atol=1e-12)


def test_wilson_holds_the_shares_where_n_is_not_whole() -> None:
    shares = np.linspace(0, 1, 11)
    low, high = wilson(shares, 6.25)
    assert (low <= shares).all()
    assert (shares <= high).all()
    assert (low[0], high[-1]) == (0, 1)


@pytest.mark.parametrize("level", [0.9, 0.95])
def test_student_against_scipy(level: float) -> None:
    y = np.random.default_rng(0).normal(3, 2, 9)
    expected = stats.ttest_1samp(y, 0).confidence_interval(level)
    low, high = student(y.mean(), y.var(ddof=1), 9, level)
    np.testing.assert_allclose([low, high], [expected.low, expected.high])


def test_student_of_few() -> None:
    low, high = student(np.ones(3), np.array([np.nan, np.nan, 0.0]), np.array([0, 1, 2]))
    assert (high - low).tolist() == [np.inf, np.inf, 0]


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
@pytest.mark.parametrize("width", [0.01, 0.1, 0.2, 0.5, 0.8, 0.99, 1.0, 2.0])
def test_the_least_count_is_the_first_that_can_do(width: float, level: float) -> None:
    n = np.arange(1, 5000)
    low, high = wilson(np.zeros(len(n)), n, level)
    narrow = n[high - low <= width]
    assert not len(narrow) or least_n_of_wilson(width, level) == narrow[0]
    assert least_n_of_wilson(0.2) == 16
