import json

import numpy as np
import pytest

from clearset.sets import entries, number, numbers


@pytest.mark.parametrize("value", [0.1234567890123, 1.797e308, -5e-324, 3.0, 2.0**60])
def test_numbers_are_close_and_finite(value):
    assert number(value) == pytest.approx(value, rel=1e-10)
    assert np.isfinite(number(value, 3))


def test_what_is_no_number_is_null():
    assert number(float("nan")) is None
    assert number(-float("inf")) is None


def test_digits_and_whole_numbers():
    assert number(1 / 3, 4) == 0.3333
    assert json.dumps(number(3.0)) == "3"
    assert number(123456.0, 2) == 120000


def test_arrays_of_any_depth_and_mappings():
    assert numbers([[1.0, np.nan], [0.25, -2.0]]) == [[1, None], [0.25, -2]]
    assert numbers([]) == []
    assert entries({"loss": np.float64(0.5), "name": "a", "none": None}) == {"loss": 0.5, "name": "a", "none": None}
