"""Optional packages, which only tuning needs."""

from importlib import import_module
from typing import Any


def need(name: str) -> Any:
    """Import a package; raise an error that says how to install it if it is missing.

    Parameters
    ----------
    name : str
        The name of the package, or of a module of it.

    Returns
    -------
    module
        The package.
    """
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        package = name.partition(".")[0]
        raise ImportError(
            f"Tuning needs {package}, which is not installed ({error}). Run: pip install 'clearset[tune]'"
        ) from error
