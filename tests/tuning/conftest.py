import pytest

from .bowl import FITTED, HOOKS


@pytest.fixture(autouse=True)
def _nothing_fitted_yet():
    FITTED.clear()
    HOOKS.clear()
