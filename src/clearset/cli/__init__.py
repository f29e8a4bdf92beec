"""The command line: ``clearset demo | fit | predict | verify | table | tune``."""

from clearset.cli._app import main

__all__ = ["main"]
