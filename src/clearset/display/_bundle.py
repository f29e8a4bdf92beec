"""From JavaScript modules to one inline script.

A page that needs nothing else has nowhere to import modules from: an inline module has no address, and addresses that
hold code themselves (data:, blob:) would have to be allowed by the page's policy as a whole, past its hashes. So each
module becomes a function that returns what it exports, and these are called in the order of their imports. Names that
a module does not export stay its own, so that modules cannot clash.

What is read here is less than JavaScript allows, and anything else is an error: imports of names as they are, or of a
whole module (``import * as Charts``), from a relative path; ``export`` before a constant, a function or a class.
"""

import re
from dataclasses import dataclass
from pathlib import Path

_IMPORT = re.compile(r'^import (\{\s*[\w$]+(?:,\s*[\w$]+)*,?\s*\}|\* as [\w$]+) from "(\.[^"\n]+)";$', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:const|(?:async )?function\*?|class) ([\w$]+))", re.MULTILINE)
# Statements begin lines, which the formatter sees to.
_OTHER = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)


@dataclass(frozen=True)
class Module:
    """A module as its source says."""

    body: str  # without imports, and without the word ``export``
    imports: tuple[tuple[Path, str], ...]  # where from, and what: the name of the whole module, or names in braces
    exports: tuple[str, ...]


def read_module(path: Path) -> Module:
    """Read one module; raise a ValueError if it imports or exports in a way that is not read here."""
    source = path.read_text(encoding="utf-8")
    imports = [((path.parent / where).resolve(), what.removeprefix("* as ")) for what, where in _IMPORT.findall(source)]
    exports = [name for _, name in _EXPORT.findall(source)]
    body = _EXPORT.sub(r"\1", _IMPORT.sub("", source))
    if other := _OTHER.search(body):
        raise ValueError(
            f"{path.name} has the line {other[0]!r}, which cannot be made part of a page. Write "
            "'import { name } from \"./file.js\";' or 'import * as Name from \"./file.js\";', and 'export' only before "
            "'const', 'function' or 'class'."
        )
    return Module(body.strip(), tuple(imports), tuple(exports))


def read_modules(entry: Path) -> dict[Path, Module]:
    """Read a module and all that it needs, each after what it imports; check that all imports are exported."""
    found: dict[Path, Module] = {}

    def visit(path: Path, importers: tuple[Path, ...]) -> None:
        if path in importers:
            circle = " -> ".join(each.name for each in (*importers[importers.index(path) :], path))
            raise ValueError(f"Modules import each other: {circle}. Move what they share to a module of its own.")
        if path in found:
            return
        module = read_module(path)
        for where, what in module.imports:
            visit(where, (*importers, path))
            missing = set(names(what)) - set(found[where].exports)
            if missing:
                raise ValueError(
                    f"{path.name} imports {sorted(missing)} from {where.name}, which exports "
                    f"{sorted(found[where].exports)}. Import one of these, or export what is missing."
                )
        found[path] = module

    visit(entry.resolve(), ())
    return found


def names(what: str) -> list[str]:
    """Return the names in braces of an import; none where the whole module is imported."""
    return re.findall(r"[\w$]+", what) if what.startswith("{") else []


def bundle(entry: Path) -> str:
    """Return one script that runs the function ``start`` of a module."""
    # It is to be run as a module, whose rules (strict, names that are not global) its parts were written for.
    modules = read_modules(entry)
    called = {path: f"$module{place}" for place, path in enumerate(modules)}
    parts = []
    for path, module in modules.items():
        imports = "".join(f"const {what} = {called[where]};\n" for where, what in module.imports)
        exports = ", ".join(module.exports)
        parts.append(f"const {called[path]} = (() => {{\n{imports}{module.body}\nreturn {{ {exports} }};\n}})();\n")
    return "".join([*parts, f"{called[entry.resolve()]}.start();\n"])
