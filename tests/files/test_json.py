"""JSON that readers would read differently is refused."""

import pytest

from clearset.files import json_object


def test_numbers() -> None:
    assert json_object(b'{"a": [1e308, -1e308, 5e-324, 0.5, 7]}') == {"a": [1e308, -1e308, 5e-324, 0.5, 7]}
    for number in ("1e309", "-1e999", "NaN", "Infinity"):
        with pytest.raises(ValueError, match=r"beyond all floats|is not JSON"):
            json_object(f'{{"a": [{number}]}}'.encode())
