"""Doc strings of public names: numpydoc, with a type for every parameter, its default, and what comes back."""

import dataclasses
import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest

import clearset as cs

# Packages whose doc strings are complete; those of sets, tokens and training are to follow.
PACKAGES = (
    "artifact",
    "baselines",
    "cli",
    "datasets",
    "display",
    "engines",
    "engines.torch",
    "estimators",
    "experiments",
    "functions",
    "functions.projections",
    "models",
    "models.documents",
    "models.edits",
    "serve",
    "spark",
    "tuning",
)
# What numpy and other libraries document themselves.
SECTIONS = ("Parameters", "Attributes", "Returns", "Yields", "Raises", "See Also", "Notes", "Examples")
UNWANTED = ("Give", "Say")


def sections_of(text: str) -> dict[str, str]:
    """Split a doc string at its underlined headings; what comes first is called "Summary"."""
    parts = re.split(rf"^({'|'.join(SECTIONS)})\n-+\n", text, flags=re.MULTILINE)
    return {"Summary": parts[0], **dict(zip(parts[1::2], parts[2::2], strict=True))}


def entries_of(section: str) -> Iterator[tuple[list[str], str, str]]:
    """Yield the names, the type and the description of every entry of a section."""
    found = re.split(r"^(?=\S)", section, flags=re.MULTILINE)
    for entry in filter(str.strip, found):
        head, _, described = entry.partition("\n")
        names, colon, kind = head.partition(" : ")
        yield [name.strip() for name in names.split(",")], kind if colon else "", described.strip()


def parameters_of(value: Any) -> dict[str, inspect.Parameter]:
    """Return the parameters that callers pass."""
    # Nobody makes an instance of a protocol, and errors take a message.
    if inspect.isclass(value) and (issubclass(value, BaseException) or getattr(value, "_is_protocol", False)):
        return {}
    holds_fields = dataclasses.is_dataclass(value) or hasattr(value, "_fields")
    if inspect.isclass(value) and not holds_fields and value.__init__ is object.__init__:
        return {}
    try:
        parameters = dict(inspect.signature(value).parameters)
    except (TypeError, ValueError):
        return {}
    return {name: each for name, each in parameters.items() if name not in ("self", "cls")}


def returns_something(value: Any) -> bool:
    if inspect.isclass(value):
        return False
    annotation = inspect.signature(value).return_annotation
    return annotation not in (None, "None", inspect.Signature.empty)


def faults_of(value: Any) -> list[str]:
    """List what is wrong with the doc string of a class or a function."""
    text = inspect.getdoc(value) or ""
    if not text or (inspect.isclass(value) and "__doc__" not in vars(value)):
        return ["there is none"]
    faults, sections = [], sections_of(text)
    summary = sections["Summary"].strip().splitlines()[0]
    if not summary.endswith("."):
        faults.append(f"the summary does not end with a period: {summary!r}")
    if summary.split()[0] in UNWANTED:
        faults.append(f"the summary begins with {summary.split()[0]!r}")
    documented: dict[str, str] = {}
    heads = ("Parameters", "Attributes") if inspect.isclass(value) else ("Parameters",)
    for head in heads:
        for names, kind, described in entries_of(sections.get(head, "")):
            if not kind:
                faults.append(f"{', '.join(names)} has no type")
            if not described[:1].isupper() and described[:1] not in "`\"'(0123456789":
                faults.append(f"{', '.join(names)} is not described by a sentence")
            elif not described.endswith((".", "``", ":")):
                faults.append(f"the description of {', '.join(names)} does not end with a period")
            documented |= {name.lstrip("*"): kind for name in names if name not in documented}
    wanted = parameters_of(value)
    if missing := [name for name in wanted if name not in documented]:
        faults.append(f"parameters are not documented: {missing}")
    order = [name for name in documented if name in wanted]
    if not missing and order != list(wanted):
        faults.append(f"parameters are not in order: {order}")
    for name, parameter in wanted.items():
        optional = parameter.default is not inspect.Parameter.empty
        if optional and not re.search(r"default=|optional", documented.get(name, "optional")):
            faults.append(f"{name} has no default=... and is not called optional")
    if returns_something(value) and not {"Returns", "Yields"} & set(sections):
        faults.append("what is returned is not documented")
    return faults


def methods_of(cls: type) -> Iterator[tuple[str, Any]]:
    """Yield the public methods that a class has from this package."""
    for name, value in inspect.getmembers(cls, callable):
        home = getattr(value, "__module__", None) or ""
        if not name.startswith("_") and inspect.isroutine(value) and home.startswith("clearset"):
            yield name, value


def public_names() -> dict[str, Any]:
    """Return all names of the packages, and of the top level."""
    modules = {"clearset": cs, **{f"clearset.{name}": import_module(f"clearset.{name}") for name in PACKAGES}}
    return {f"{module}.{name}": getattr(found, name) for module, found in modules.items() for name in found.__all__}


PUBLIC = {name: value for name, value in public_names().items() if inspect.isclass(value) or inspect.isroutine(value)}
TOP = {name: value for name, value in PUBLIC.items() if name.count(".") == 1}
RESULTS = ("Churn", "EditComparison", "Editor", "Explanation", "JointExplanation", "PartialDependence")
# What users call: the methods of estimators, of frozen models, and of results.
METHODS = {
    f"{name}.{method}": function
    for name, value in PUBLIC.items()
    if inspect.isclass(value) and (name in TOP or name.rpartition(".")[2] in RESULTS)
    if value.__module__.split(".")[1] in PACKAGES
    for method, function in methods_of(value)
}


@pytest.mark.parametrize("name", PUBLIC)
def test_classes_and_functions(name: str) -> None:
    assert not faults_of(PUBLIC[name]), "\n".join(faults_of(PUBLIC[name]))


@pytest.mark.parametrize("name", METHODS)
def test_methods(name: str) -> None:
    assert not faults_of(METHODS[name]), "\n".join(faults_of(METHODS[name]))


@pytest.mark.parametrize("name", TOP)
def test_the_top_level_has_examples(name: str) -> None:
    if not (inspect.isclass(TOP[name]) and issubclass(TOP[name], BaseException)):
        assert ">>> " in sections_of(inspect.getdoc(TOP[name]) or "").get("Examples", "")


def test_all_names_are_there() -> None:
    for name in cs.__all__:
        assert name in dir(cs)
        assert getattr(cs, name) is not None


def bad(first, second=1):  # type: ignore[no-untyped-def]
    """Give something

    Parameters
    ----------
    second
        of what
    """


def good(first: int, second: int = 1, *, third: str | None = None) -> int:
    """Return a number.

    Parameters
    ----------
    first, second : int, default=1
        The numbers.
    third : str, optional
        A word.

    Returns
    -------
    int
        The number.
    """
    return first + second + len(third or "")


def test_the_check_finds_what_is_wrong() -> None:
    found = "\n".join(faults_of(bad))
    for fault in ("a period", "begins with 'Give'", "second has no type", "['first']", "no default="):
        assert fault in found
    assert not faults_of(good)
