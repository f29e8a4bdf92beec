"""Doc strings of estimators: each parameter and attribute is described once, by the class that introduces it."""

import inspect
import re
import sys
from typing import Any, TypeVar

AnyClass = TypeVar("AnyClass", bound=type)

_HEADING = re.compile(r"^(Parameters|Attributes|Examples)\n-+\n", re.MULTILINE)


def inherited_docs(cls: AnyClass) -> AnyClass:
    r"""Complete the doc string of a class by what its parents describe; it names only what it describes differently.

    Parameters are listed as the constructor has them, with its default values. Attributes are listed from the class
    itself to the most general of its parents.

    Parameters
    ----------
    cls : type
        A class, each of whose parameters is described by itself or by a parent.

    Returns
    -------
    type
        The same class.

    Examples
    --------
    >>> class Parent:
    ...     '''A parent.
    ...
    ...     Parameters
    ...     ----------
    ...     epochs : int
    ...         The number of epochs.
    ...     '''
    >>> @inherited_docs
    ... class Child(Parent):
    ...     '''A child.'''
    ...
    ...     def __init__(self, epochs=5):
    ...         self.epochs = epochs
    >>> "epochs : int, default=5\n    The number of epochs." in Child.__doc__
    True
    """
    if sys.flags.optimize > 1:  # python -OO has removed all doc strings
        return cls
    described = _inherited(cls, "Parameters")
    parameters = inspect.signature(cls).parameters.values()
    sections = _sections(cls)
    sections["Parameters"] = "".join(_with_default(described[each.name], each.default) for each in parameters)
    sections["Attributes"] = "".join(_inherited(cls, "Attributes").values())
    text = sections.pop("Summary").strip()
    for heading in ("Parameters", "Attributes", "Examples"):
        if content := sections.get(heading, "").strip():
            text += f"\n\n{heading}\n{'-' * len(heading)}\n{content}"
    cls.__doc__ = text
    return cls


def _sections(cls: type) -> dict[str, str]:
    """Split a doc string at its headings."""
    summary, *rest = _HEADING.split(inspect.cleandoc(cls.__doc__ or ""))
    return {"Summary": summary, **dict(zip(rest[::2], rest[1::2], strict=True))}


def _inherited(cls: type, heading: str) -> dict[str, str]:
    """Return the entries that a class and its parents have under a heading, by name; the class comes first."""
    found: dict[str, str] = {}
    for each in cls.__mro__:
        entries = re.split(r"^(?=\S)", _sections(each).get(heading, ""), flags=re.MULTILINE)
        for entry in filter(str.strip, entries):
            found.setdefault(entry.partition(" : ")[0], f"{entry.strip()}\n")
    return found


def _with_default(entry: str, default: Any) -> str:
    """Write the default value of a parameter behind its type."""
    head, _, description = entry.partition("\n")
    shown = f'"{default}"' if isinstance(default, str) else repr(default)
    return f"{head}, default={shown}\n{description}"
