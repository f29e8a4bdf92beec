"""Where models find what draws them."""

import importlib
from typing import Any


def display() -> Any:
    """Give `clearset.explain`, which draws models and writes HTML.

    It stands above the estimators and knows them, so that they fetch it only when something is to be drawn; they
    work without it.
    """
    return importlib.import_module("clearset.explain")
