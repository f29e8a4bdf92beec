from typing import Any

import numpy as np
import pytest

import clearset as cs
from clearset.tokens import Statistics
from clearset.tokens._filters import filter_from_json, filter_to_json, least_count


def statistics(class_weights: list[list[int]]) -> Statistics:
    sums = np.array(class_weights, np.float64)
    held = sums.sum(axis=1).astype(np.int64)
    return Statistics(held, sums, np.ones(len(sums), np.int32), held > 0)


TOKENS = statistics([[0, 4], [3, 3], [0, 16], [0, 15], [50, 50], [450, 550]])


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        (cs.MinCount(5), [0, 1, 1, 1, 1, 1]),
        (cs.MaxInterval(0.2), [0, 0, 1, 0, 1, 1]),
        (cs.MaxInterval(0.2, level=0.8), [0, 0, 1, 1, 1, 1]),
        (cs.MinCount(17) & cs.MaxInterval(0.2), [0, 0, 0, 0, 1, 1]),
        (cs.MinCount(1000) | cs.MaxInterval(0.06), [0, 0, 0, 0, 0, 1]),
        (cs.MinCount(5) & (lambda s: s.means > 0.9), [0, 0, 1, 1, 0, 0]),
    ],
)
def test_what_passes(part: Any, expected: list[int]) -> None:
    assert part(TOKENS).astype(int).tolist() == expected


def test_three_classes_go_by_the_widest() -> None:
    tokens = statistics([[100, 0, 0], [50, 50, 0], [34, 33, 33]])
    widths = tokens.interval_widths()
    low, high = tokens.intervals()
    np.testing.assert_array_equal(widths, (high - low).max(axis=1))
    assert widths[0] < widths[2] < widths[1]


@pytest.mark.parametrize(
    ("part", "classes", "number"),
    [
        (cs.MinCount(5), 5, 5),
        (cs.MaxInterval(0.2), 16, 2),
        (cs.MinCount(20) & cs.MaxInterval(0.2), 20, 20),
        (cs.MinCount(20) | cs.MaxInterval(0.2), 16, 2),
        (cs.MinCount(20) | (lambda s: s.counts > 3), 1, 1),
        (lambda s: s.counts > 3, 1, 1),
    ],
)
def test_least_counts(part: Any, classes: int, number: int) -> None:
    assert least_count(part, "classes") == classes
    assert least_count(part, "number") == number


@pytest.mark.parametrize(
    "part", [cs.MinCount(5), cs.MaxInterval(0.2, 0.9), cs.AllOf(cs.MinCount(2), cs.AnyOf(cs.MinCount(3)))]
)
def test_json(part: Any) -> None:
    assert filter_from_json(filter_to_json(part)) == part
    assert hash(filter_from_json(filter_to_json(part))) == hash(part)


def test_own_filters_are_named() -> None:
    def frequent(s: Statistics) -> Any:
        return s.counts > 3

    again = filter_from_json(filter_to_json(frequent))
    with pytest.raises(ValueError, match=r"frequent.*load"):
        again(TOKENS)
    with pytest.raises(ValueError, match="newer version"):
        filter_from_json({"kind": "min_size"})


@pytest.mark.parametrize(
    "make",
    [
        lambda: cs.MinCount(0),
        lambda: cs.MinCount(2.5),
        lambda: cs.MinCount(True),
        lambda: cs.MaxInterval(0),
        lambda: cs.MaxInterval("0.2"),
        lambda: cs.MaxInterval(float("nan")),
        lambda: cs.MaxInterval(0.2, 95),
        lambda: cs.AllOf(),
    ],
)
def test_arguments_are_checked(make: Any) -> None:
    with pytest.raises(ValueError):
        make()


def test_classes_for_filters_are_refused() -> None:
    with pytest.raises(TypeError, match="A filter is"):
        cs.AnyOf(cs.MinCount)


def test_narrow_intervals_of_numbers_need_two_examples() -> None:
    table = cs.TokenTable.build([["a"], ["a"], ["b"]], [1.5, 1.5, 2.5], filters=[cs.MaxInterval(0.5)])
    assert table.to_arrow()["token"].to_pylist() == [["a"]]
    assert table.variances.tolist() == [0.0]


def test_functions_are_joined_from_either_side() -> None:
    def small(s: Statistics) -> Any:
        return s.counts < 5

    counted = statistics([[1, 0], [2, 1], [4, 4]])
    assert (small & cs.MinCount(2))(counted).tolist() == [False, True, False]
    assert (cs.MinCount(2) & small)(counted).tolist() == [False, True, False]
    assert (small | cs.MinCount(8))(counted).tolist() == [True, True, True]
    assert (small | cs.MinCount(9))(counted).tolist() == [True, True, False]
