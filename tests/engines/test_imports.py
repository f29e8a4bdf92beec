"""Set functions are plain data: they are applied, projected and certified without torch and without scikit-learn."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import clearset
from clearset.engines import available_engines

PACKAGE = Path(clearset.__file__).parent
HEAVY = {"torch", "sklearn"}


def imported(path: Path) -> set[str]:
    """Return the modules that a file imports, wherever in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def modules(package: str) -> list[Path]:
    of_torch = {PACKAGE / "engines" / "torch", PACKAGE / "engines" / "cuda"}
    return [path for path in sorted((PACKAGE / package).rglob("*.py")) if not of_torch & set(path.parents)]


@pytest.mark.parametrize("package", ["functions", "engines"])
def test_no_module_names_torch_or_scikit_learn(package):
    named = {str(path): {name.split(".")[0] for name in imported(path)} & HEAVY for path in modules(package)}
    assert len(named) > 5
    assert not {path: names for path, names in named.items() if names}


@pytest.mark.skipif("native" not in available_engines(), reason="clearset._native is not built")
def test_the_native_engine_works_where_torch_and_scikit_learn_are_not_installed():
    code = """
import sys
sys.modules["torch"] = sys.modules["sklearn"] = None  # an import of either raises
import numpy as np
from clearset.engines import engine
from clearset.functions import Layout, SetFunction
from clearset.sets import Positions
line = np.array([[0.0, 1.0]])
function = SetFunction(Layout.full((2,)), line, 2 * line - 1, line, 2 * line - 1, 2 * line - 1)
sets = Positions(np.zeros((1, 2), np.int32), np.array([[0.25, 0.75]]), np.array([0, 1, 2]))
print(engine("native").outputs(function, sets).ravel().tolist())
"""
    result = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert result.stdout.strip() == "[-0.5, 0.5]", result.stderr
