"""Every block of the README and every example runs alone, after the install above it, and prints what is shown."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
INSTALL = "pip install -c constraints.txt "
NOT_RUN = {
    "make demo ": "sets up .venv from the network; the tests of clearset demo and these tests are what it would run",
    "clearset reproduce all ": "reads public data that is not part of the project, and takes hours",
    "import numpy as np\nimport onnxruntime\n": "needs ONNX Runtime, which only tests install",
}
# Later blocks of a section read what a block that begins like this makes, and YAML that begins with a file's name.
MAKES_FILES = re.compile(r"# Makes (.+), which the commands of this section read\.\n")
NAMED = re.compile(r"# (\S+\.yaml)\n")
NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")

# A package that is left out is not found, as if it were not installed.
SITE = """
import sys
from importlib.machinery import PathFinder

LEFT_OUT = {left_out!r}


class Installed(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.partition(".")[0] in LEFT_OUT else super().find_spec(name, path, target)


sys.meta_path[sys.meta_path.index(PathFinder)] = Installed
"""


@dataclass(frozen=True)
class Block:
    language: str
    text: str
    place: str
    extras: tuple[str, ...] = ()  # those that the last install above it in its section names
    before: tuple["Block", ...] = ()  # blocks above it in its section that make files
    prints: str | None = None


def _extras(text: str) -> tuple[str, ...]:
    """Return the extras that a block of installs names."""
    found: list[str] = []
    for line in text.splitlines():
        names = re.fullmatch(re.escape(INSTALL) + r"(?:\.|'\.\[([a-z,]+)\]')", line)
        assert names, f"{line!r} is not an install of this project with the tested versions"
        found += names[1].split(",") if names[1] else []
    assert set(found) <= set(PROJECT["optional-dependencies"])
    return tuple(found)


def _blocks(document: Path) -> list[Block]:
    """Return the fenced blocks of a document; a text block after "It prints" is the output of the block above it."""
    blocks: list[Block] = []
    for section in re.split(r"^(?=## )", document.read_text(), flags=re.MULTILINE):
        extras: tuple[str, ...] = ()
        before: tuple[Block, ...] = ()
        title = section.partition("\n")[0].strip("# ")
        parts = re.split(r"^```(\w*)\n(.*?)^```\n", section, flags=re.MULTILINE | re.DOTALL)
        for number, (above, language, text) in enumerate(zip(parts[::3], parts[1::3], parts[2::3], strict=False)):
            if language == "text" and above.strip() == "It prints":
                blocks[-1] = replace(blocks[-1], prints=text)
                continue
            block = Block(language, text, f"{document.name}: {title}, block {number + 1}", extras, before)
            if text.startswith("pip "):
                extras = _extras(text)
            if MAKES_FILES.match(text) or NAMED.match(text):
                before += (block,)
            blocks.append(block)
    return blocks


BLOCKS = [block for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))) for block in _blocks(path)]
RUN = [
    block for block in BLOCKS if block.language in ("python", "bash") and not block.text.startswith(("pip ", *NOT_RUN))
]


def _needed(requirements: Iterable[str], extras: Iterable[str] = ()) -> set[str]:
    """Return the names of the packages that requirements bring with them."""
    needed: set[str] = set()
    wanted = [(Requirement(text), {"", *extras}) for text in requirements]
    while wanted:
        requirement, asked = wanted.pop()
        name = canonicalize_name(requirement.name)
        marker = requirement.marker
        if name in needed or (marker and not any(marker.evaluate({"extra": extra}) for extra in asked)):
            continue
        needed.add(name)
        try:
            wanted += [(Requirement(text), {"", *requirement.extras}) for text in requires(name) or ()]
        except PackageNotFoundError:
            continue  # then what needs it fails
    return needed


class Machine:
    """A folder, empty at first, whose programs find this project, what an install of it brings, and nothing else."""

    def __init__(self, folder: Path, extras: Iterable[str] = ()) -> None:
        self.folder = folder / "folder"
        self.scripts = folder / "scripts"
        programs, site = folder / "bin", folder / "site"
        for path in (self.folder, self.scripts, programs, site):
            path.mkdir()
        optional = PROJECT["optional-dependencies"]
        brought = _needed([*PROJECT["dependencies"], *(name for extra in extras for name in optional[extra])])
        brought.add(PROJECT["name"])
        left_out = {
            module
            for module, packages in packages_distributions().items()
            if brought.isdisjoint(map(canonicalize_name, packages))
        }
        (site / "sitecustomize.py").write_text(SITE.format(left_out=left_out))
        command = programs / "clearset"
        command.write_text(f"#!{sys.executable}\nimport sys\nfrom clearset.cli import main\nsys.exit(main())\n")
        command.chmod(0o755)
        paths = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
        self.environment = {
            **os.environ,
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": os.pathsep.join([str(site), *(str(Path(path).absolute()) for path in paths)]),
        }

    def run(self, language: str, text: str) -> str:
        """Run a block, which must succeed without a warning, and return what it prints."""
        script = self.scripts / f"block.{language}"
        script.write_text(text)
        command = [sys.executable, str(script)] if language == "python" else ["bash", "-euo", "pipefail", str(script)]
        out, errors = self.scripts / "out", self.scripts / "errors"
        with out.open("w") as stdout, errors.open("w") as stderr:
            started = subprocess.Popen(  # noqa: S603
                command, cwd=self.folder, env=self.environment, stdout=stdout, stderr=stderr, start_new_session=True
            )
            try:
                status = started.wait(timeout=300)
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(started.pid, signal.SIGKILL)  # also a server that a block that failed has left
        assert status == 0, out.read_text() + errors.read_text()
        assert "Warning" not in errors.read_text()
        return out.read_text()


def _check_alike(printed: str, shown: str) -> None:
    """Compare two outputs: words exactly, numbers with fractions up to their last digits."""
    assert NUMBER.sub("0", printed).split() == NUMBER.sub("0", shown).split()
    for number, expected in zip(NUMBER.findall(printed), NUMBER.findall(shown), strict=True):
        exponent = int(Decimal(expected).as_tuple().exponent)
        last_digit = 2 * 10.0**exponent if exponent < 0 else 0.0
        assert float(number) == pytest.approx(float(expected), abs=last_digit, rel=1e-6 if exponent < 0 else 0)


@pytest.mark.parametrize("block", RUN, ids=lambda block: block.place)
def test_a_block_runs_alone(block: Block, tmp_path: Path) -> None:
    if "clearset serve" in block.text:
        if shutil.which("curl") is None:
            pytest.skip("there is no curl on this machine")
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", 8000)) == 0:
                pytest.skip("another program on this machine listens at port 8000")
    machine = Machine(tmp_path, block.extras)
    for needed in block.before:
        if named := NAMED.match(needed.text):
            (machine.folder / named[1]).write_text(needed.text)
        else:
            machine.run(needed.language, needed.text)
    printed = machine.run(block.language, block.text)
    if block.prints is not None:
        _check_alike(printed, block.prints)
    if makes := MAKES_FILES.match(block.text):
        assert {path.name for path in machine.folder.iterdir()} == set(re.split(", | and ", makes[1]))


# The job for Spark is run by tests/spark, with Spark.
EXAMPLES = [path for path in sorted((ROOT / "examples").glob("*.py")) if path.name != "spark_job.py"]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_an_example_runs_alone(path: Path, tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    shutil.copytree(path.parent, machine.folder / "examples")
    machine.run("python", path.read_text())
    # Commands stand in its comments, further in than text.
    machine.run("bash", "\n".join(re.findall(r"^#   +(.+)$", path.read_text(), flags=re.MULTILINE)))


def test_no_block_is_overlooked() -> None:
    readme = (ROOT / "README.md").read_text()
    assert {block.language for block in BLOCKS} <= {"python", "bash", "yaml", "text"}
    assert readme.count("```") == 2 * len(re.findall(r"^```\w+$", readme, flags=re.MULTILINE))
    assert not re.search(r"\n\n(    |\t)", re.sub(r"^```.*?^```$", "", readme, flags=re.MULTILINE | re.DOTALL))
    assert BLOCKS[0].text == f"{INSTALL}.\n"
    assert not any("pip " in block.text for block in RUN)  # installs stand alone: they are read, not run


@pytest.mark.parametrize("start", NOT_RUN)
def test_blocks_that_are_not_run_are_there(start: str) -> None:
    assert any(block.text.startswith(start) for block in BLOCKS)


def test_packages_that_no_install_names_are_not_found(tmp_path: Path) -> None:
    optional = ["duckdb", "httpx2", "hypothesis", "matplotlib", "optuna", "pandas", "playwright", "polars", "pytest"]
    optional += ["snowballstemmer", "starlette", "uvicorn"]
    code = f"from importlib.util import find_spec\nprint(*[name for name in {optional} if find_spec(name)])\n"
    for extras, found in (((), []), (("tune",), ["matplotlib", "optuna"]), (("serve",), ["starlette", "uvicorn"])):
        folder = tmp_path / "-".join(("base", *extras))
        folder.mkdir()
        assert Machine(folder, extras).run("python", code).split() == found
    with pytest.raises(AssertionError, match="ModuleNotFoundError: No module named 'pandas'"):
        Machine(tmp_path).run("python", "import pandas")


@pytest.mark.parametrize(("printed", "alike"), [("a 0.52", True), ("a 0.55", False), ("b 0.5", False), ("a 1", False)])
def test_outputs_are_compared(printed: str, alike: bool) -> None:
    if alike:
        _check_alike(f"3 {printed}", "3  a\n0.51")
    else:
        with pytest.raises(AssertionError):
            _check_alike(f"3 {printed}", "3  a\n0.51")
    with pytest.raises(AssertionError):
        _check_alike("101 sets", "100 sets")
