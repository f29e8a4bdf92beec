"""Doc strings as Python has them, for the reference: `inherited_docs` completes those of some classes on import.

mkdocstrings reads the sources without running them, and would show the parameters of a parent nowhere.
"""

import inspect
from importlib import import_module
from typing import Any

import griffe


class CompletedDocstrings(griffe.Extension):
    """Take the doc strings of classes that are completed on import from the imported classes."""

    def on_class(self, *, cls: griffe.Class, **_: Any) -> None:
        """Replace the doc string of a class."""
        if not any(str(decorator.value) == "inherited_docs" for decorator in cls.decorators):
            return
        completed = inspect.getdoc(getattr(import_module(cls.module.canonical_path), cls.name))
        if completed:
            cls.docstring = griffe.Docstring(completed, parent=cls)
