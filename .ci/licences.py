"""Write docs/licences.md: what clearset needs, directly and through others, and under which licences that is.

It ends with an error if the licence of something that users install is unknown, or asks that what uses it has the same.
"""

import re
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, distribution, metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

OUTPUT = Path("docs/licences.md")
FOR_DEVELOPERS = ("bench", "dev")
COPYLEFT = re.compile(r"\b(A?GPL|LGPL|EUPL|SSPL|CC-BY-SA|OSL|CECILL)|GNU|Affero")
# Of code that is compiled with GCC; what is linked with it may have any licence.
EXCEPTION = re.compile(r"\(?(L?GPL-[\d.]+(-or-later|-only)?) WITH GCC-exception-3\.1\)?")
# Their metadata name no licence; found in their files.
KNOWN: dict[str, str] = {}

Needed = dict[str, set[str]]


def licence_of(name: str) -> str:
    """Return the licence that a package's metadata name, '' for none."""
    found = metadata(name)
    if expression := found.get("License-Expression"):
        return str(expression)
    classifiers = [line.split(" :: ")[-1] for line in found.get_all("Classifier", []) if line.startswith("License ::")]
    classifiers = [name for name in classifiers if name != "OSI Approved"]
    text = (found.get("License") or "").strip()
    if classifiers:
        return " AND ".join(sorted(classifiers))
    return text if len(text.splitlines()) == 1 else KNOWN.get(name, "")


def follow(requirements: list[str], extra: str, needed: Needed, absent: set[str], by: str) -> None:
    """Add what some requirements bring to what is needed."""
    for line in requirements:
        requirement = Requirement(line)
        if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
            continue
        name = canonicalize_name(requirement.name)
        known = name in needed
        needed.setdefault(name, set()).add(by)
        if known and not requirement.extras:
            continue
        try:
            further = distribution(name).requires or []
        except PackageNotFoundError:
            absent.add(name)
            continue
        for wanted in ("", *requirement.extras):
            follow(further, wanted, needed, absent, name)


def table(needed: Needed) -> list[str]:
    """Return the rows of a table of packages."""
    rows = [
        f"| {name} | {licence_of(name).replace('|', '/')} | {', '.join(sorted(by))} |"
        for name, by in sorted(needed.items())
    ]
    return ["| package | licence | needed by |", "| --- | --- | --- |", *rows]


def main() -> None:
    """Write the page, and complain."""
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras: dict[str, list[str]] = {"": project["dependencies"], **project["optional-dependencies"]}
    lines = [
        "# Licences of what clearset needs",
        "",
        "Written by `make licences` from the metadata of what is installed. clearset itself is under Apache-2.0.",
        "Wheels hold parts of GCC's C++ library, whose exception allows that under any licence.",
    ]
    wrong, seen = [], set[str]()
    for extra, requirements in extras.items():
        if extra in FOR_DEVELOPERS:
            continue
        needed: Needed = {}
        absent: set[str] = set()
        follow(requirements, "", needed, absent, f"clearset[{extra}]" if extra else "clearset")
        if absent:
            sys.exit(f"Not installed, so that nothing is known of them: {', '.join(sorted(absent))}.")
        fresh = {name: by for name, by in needed.items() if name not in seen}
        seen |= set(needed)
        for name in fresh:
            licence = EXCEPTION.sub("", licence_of(name))
            if not licence or COPYLEFT.search(licence):
                wrong.append(f"{name}: {licence or 'unknown'}")
        title = f"`clearset[{extra}]`, beyond these" if extra else "`clearset`"
        if fresh:
            lines += ["", f"## {title}", "", *table(fresh)]
    OUTPUT.write_text("\n".join(lines) + "\n", encoding="utf-8")
    if wrong:
        sys.exit("Licences that are unknown, or ask that users' code has the same:\n" + "\n".join(wrong))


main()
