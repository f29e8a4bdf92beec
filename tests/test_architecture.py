"""What `lint-imports` does not check: private modules, imports by name, and the size of functions."""

import ast
from pathlib import Path

import pytest

import clearset

ROOT = Path(clearset.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))
MOST_ARGUMENTS = 8
# What users call with keywords; scripts that nobody here wrote depend on them.
PUBLIC = {("estimators", "fit"), ("estimators", "fit_transform"), ("tokens", "build"), ("tuning", "tune")}


def package_of(path):
    """The package right under clearset that a file belongs to; empty for clearset itself."""
    parts = path.relative_to(ROOT).parts
    return parts[0] if len(parts) > 1 else ""


def imported(tree):
    """All names of modules of clearset that a file imports, in functions too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_private_modules_stay_in_their_package(path):
    for name in imported(ast.parse(path.read_text(encoding="utf-8"))):
        parts = name.split(".")
        if parts[0] == "clearset" and any(part.startswith("_") for part in parts[2:]):
            assert parts[1] == package_of(path), f"{path} imports {name}"


def test_no_module_of_ours_is_imported_by_its_name():
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Call)
                and getattr(node.func, "attr", getattr(node.func, "id", "")) == "import_module"
            ):
                text = ast.unparse(node.args[0])
                assert "clearset." not in text or "_native" in text or path == ROOT / "__init__.py", f"{path}: {text}"


def _functions():
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                names = [each.arg for each in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
                yield path, node.name, [name for name in names if name not in ("self", "cls")]


def test_functions_take_few_arguments():
    # Constructors of estimators spell out every parameter, as scikit-learn wants it; commands every option.
    long = [
        (str(path.relative_to(ROOT)), name, len(arguments))
        for path, name, arguments in _functions()
        if len(arguments) > MOST_ARGUMENTS
        and not (name == "__init__" and package_of(path) in ("estimators", "baselines"))
        and package_of(path) != "cli"
        and (package_of(path), name) not in PUBLIC
    ]
    assert long == []
