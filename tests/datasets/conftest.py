"""Real data, where they are."""

from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture
def real() -> Callable[..., Any]:
    """Call a loader without a folder, and skip the test, saying so, where its files are absent."""

    def load(loader: Callable[..., Any], **options: Any) -> Any:
        try:
            return loader(**options)
        except FileNotFoundError as error:
            pytest.skip(str(error))

    return load
