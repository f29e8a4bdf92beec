"""Packages that only the server needs."""

from importlib import import_module
from typing import Any


def need(name: str) -> Any:
    """Import a package, or say how to get it."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        package = name.partition(".")[0]
        raise ImportError(
            f"The explorer needs {package}, which is not installed ({error}). Run: pip install 'clearset[serve]'"
        ) from error
