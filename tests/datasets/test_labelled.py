from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from clearset.datasets import Labelled
from clearset.sets import SetData

DATA = Labelled(pa.array([[str(place)] for place in range(103)]), np.arange(103))


def test_is_a_pair() -> None:
    X, y = DATA
    assert X is DATA.X
    assert y is DATA.y
    assert isinstance(DATA, tuple)
    assert DATA.n == 103


def test_take_keeps_examples_and_labels_together() -> None:
    some = DATA.take(np.array([5, 2, 5]))
    assert some.X.to_pylist() == [["5"], ["2"], ["5"]]
    assert some.y.tolist() == [5, 2, 5]
    table = Labelled(pa.table({"a": [[1], [2, 3]]}), np.array([0.5, 1.5])).take([1])
    assert table.X.to_pylist() == [{"a": [2, 3]}]
    assert DATA.take([]).n == 0


@pytest.mark.parametrize("form", [list, tuple, np.array, lambda rows: SetData(rows, range(6), ["a"])])
def test_examples_in_other_forms(form: Any) -> None:
    data = Labelled(form([0.0, 1.0, 2.0, 3.0, 4.0]), np.arange(5.0))
    some = data.take([3, 1])
    values = some.X.values[:, 0] if isinstance(some.X, SetData) else some.X
    assert list(values) == some.y.tolist() == [3.0, 1.0]
    assert [part.n for part in data.split((0.4, 0.6))] == [2, 3]
    assert repr(data) == f"Labelled(5 examples; X: {type(data.X).__name__}, y: float64)"


@pytest.mark.parametrize(("n", "shares"), [(2, (0.7, 0.1, 0.2)), (9, (0.7, 0.1, 0.2)), (0, (1.0,))])
def test_too_few_to_split(n: int, shares: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match=f"{n} examples are too few for the shares .*a part would be empty"):
        Labelled(list(range(n)), np.arange(n)).split(shares)


def test_a_seed_that_is_none() -> None:
    with pytest.raises(ValueError, match="random_state must be None, a whole number of at least 0"):
        DATA.split(random_state=-1)


def test_split_is_a_partition_of_the_sizes_asked_for() -> None:
    parts = DATA.split(random_state=4)
    assert [part.n for part in parts] == [72, 10, 21]
    assert sorted(np.concatenate([part.y for part in parts]).tolist()) == list(range(103))
    for part in parts:
        assert part.X.to_pylist() == [[str(label)] for label in part.y]
        assert (np.diff(part.y) > 0).all()


def test_split_follows_the_generators_permutation() -> None:
    # Figures that were published before depend on which rows are in which part.
    order = np.random.default_rng(7).permutation(103)
    training, validation, test = DATA.split(random_state=7)
    assert training.y.tolist() == sorted(order[:72].tolist())
    assert validation.y.tolist() == sorted(order[72:82].tolist())
    assert test.y.tolist() == sorted(order[82:].tolist())


def test_other_shares_and_seeds() -> None:
    assert [part.n for part in DATA.split((0.8, 0.2))] == [82, 21]
    assert [part.n for part in DATA.split((1.0,))] == [103]
    assert DATA.split(random_state=1)[0].y.tolist() != DATA.split(random_state=2)[0].y.tolist()
    assert DATA.split(random_state=1)[0].y.tolist() == DATA.split(random_state=1)[0].y.tolist()


@pytest.mark.parametrize("shares", [(), (0.5, 0.4), (1.2, -0.2), (1.0, 0.0)])
def test_shares_must_be_shares(shares: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="shares must be positive and add up to 1"):
        DATA.split(shares)


def test_repr_is_short() -> None:
    assert repr(DATA) == "Labelled(103 examples; X: list<item: string>, y: int64)"
    assert "columns a" in repr(Labelled(pa.table({"a": [1]}), np.array([1.0])))
