"""Packages that only the server needs."""

from importlib.util import find_spec


def check_installed(package: str) -> None:
    """Raise an error that says how to install a package if it is missing."""
    if find_spec(package) is None:
        raise ImportError(f"The explorer needs {package}, which is not installed. Run: pip install 'clearset[serve]'")
