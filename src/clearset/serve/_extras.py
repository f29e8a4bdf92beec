"""Packages that only the server needs."""

from importlib.util import find_spec


def check_installed(package: str) -> None:
    """Say how to get a package that is not there."""
    if find_spec(package) is None:
        raise ImportError(
            f"The explorer needs {package}, which is not installed. Run: pip install 'clearset[serve]'"
        )
