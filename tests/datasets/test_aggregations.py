import math
import statistics

import pytest

from clearset.datasets import make_aggregation

# Each written for one Python list at a time, from its definition.
REFERENCES = {
    "mean": lambda x, _: statistics.fmean(x),
    "geometric_mean": lambda x, _: statistics.geometric_mean(x),
    "l2_norm": lambda x, _: math.hypot(*x),
    "min": lambda x, _: min(x),
    "max": lambda x, _: max(x),
    "weighted_mean_unnormalised": lambda x, w: statistics.fmean(a * b for a, b in zip(x, w, strict=True)),
    "weighted_mean": lambda x, w: statistics.fmean(x, weights=w),
}


@pytest.mark.parametrize("kind", REFERENCES)
def test_target_is_the_aggregation(kind: str) -> None:
    data = make_aggregation(kind, 300, random_state=4)
    x = data.frame["x"].to_pylist()
    w = data.frame["w"].to_pylist() if "w" in data.frame.column_names else x
    assert ("w" in data.frame.column_names) == kind.startswith("weighted")
    expected = [REFERENCES[kind](*row) for row in zip(x, w, strict=True)]
    assert data.target.tolist() == pytest.approx(expected, rel=1e-12)
    assert {len(row) for row in x} == set(range(1, 9))
    assert all(0 < value <= 1 for row in x for value in row)


def test_sizes_and_seed() -> None:
    one = make_aggregation("mean", 50, max_tokens=2, random_state=7)
    assert {len(row) for row in one.frame["x"].to_pylist()} == {1, 2}
    assert one.frame.equals(make_aggregation("mean", 50, max_tokens=2, random_state=7).frame)
    assert not one.frame.equals(make_aggregation("mean", 50, max_tokens=2, random_state=8).frame)


def test_errors() -> None:
    with pytest.raises(ValueError, match=r"kind must be one of mean, .*got 'median'"):
        make_aggregation("median")
    with pytest.raises(ValueError, match="n_sets must be at least 1, got 0"):
        make_aggregation("mean", 0)
    with pytest.raises(TypeError, match=r"max_tokens must be a whole number, got 2\.5"):
        make_aggregation("mean", max_tokens=2.5)
