"""The explorer: a model's page and its JSON interface, by HTTP."""

from clearset.serve._extras import check_installed

check_installed("starlette")

from clearset.serve._app import create_app  # noqa: E402
from clearset.serve._run import run  # noqa: E402

__all__ = ["create_app", "run"]
