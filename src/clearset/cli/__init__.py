"""The command line: ``clearset demo | fit | predict | explain | report | serve | verify | tune | table | ...``."""

from clearset.cli._app import main

__all__ = ["main"]
