"""The explorer: a model's page and its JSON interface, by HTTP."""

from clearset.serve._app import create_app
from clearset.serve._run import run

__all__ = ["create_app", "run"]
