"""Blocks of code in the pages of the documentation: read, run in the order in which they stand, and their outputs.

``python -m tests.documents PAGE ...`` runs pages and writes what their blocks print below "It prints".
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from importlib.util import find_spec
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
INSTALL = "pip install -c constraints.txt "
FENCE = re.compile(r"^```(\w*)\n(.*?)^```\n", flags=re.MULTILINE | re.DOTALL)
# Comments above a block, which readers of the page do not see.
NOT_RUN = re.compile(r"<!-- not run: (.+?) -->")
NEEDS = re.compile(r"<!-- needs: (.+?) -->")
NAMED = re.compile(r"# (\S+\.(?:yaml|toml))\n")
LANGUAGES = {"python", "bash", "yaml", "toml", "text", "json", "sql", "c", "javascript"}

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
    """A block of code of a page: where it stands, what it needs besides the page's installs, and what it prints."""

    language: str
    text: str
    place: str
    needs: str | None = None
    not_run: str | None = None
    prints: str | None = None
    output: tuple[int, int] = (0, 0)  # where in the page the output stands

    @property
    def runs(self) -> bool:
        code = self.language in ("python", "bash") and not self.text.startswith("pip ")
        return code and self.not_run is None and (self.needs is None or _is_there(self.needs))


def _is_there(need: str) -> bool:
    if need == "cuda":
        return shutil.which("nvidia-smi") is not None
    return all(shutil.which(name) or find_spec(name) for name in need.split(", "))


def pages() -> list[Path]:
    """Return all pages of the documentation."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks_of(page: Path) -> list[Block]:
    """Return the fenced blocks of a page; a text block after "It prints" is the output of the block above it."""
    blocks: list[Block] = []
    text, end = page.read_text(), 0
    for match in FENCE.finditer(text):
        above, end = text[end : match.start()], match.end()
        language, code = match.groups()
        if language == "text" and above.strip() == "It prints":
            blocks[-1] = Block(**{**vars(blocks[-1]), "prints": code, "output": match.span(2)})
            continue
        line = text.count("\n", 0, match.start()) + 1
        comment = above.strip().rpartition("\n")[2]
        needs, not_run = NEEDS.fullmatch(comment), NOT_RUN.fullmatch(comment)
        reasons = needs and needs[1], not_run and not_run[1]
        blocks.append(Block(language, code, f"{name_of(page)}:{line}", *reasons))
    return blocks


def extras_of(blocks: Iterable[Block]) -> tuple[str, ...]:
    """Return the extras that the installs of a page name."""
    found: list[str] = []
    for block in blocks:
        for line in block.text.splitlines() if block.text.startswith("pip ") else ():
            names = re.fullmatch(re.escape(INSTALL) + r"(?:\.|'\.\[([a-z,]+)\]')", line)
            assert names, f"{line!r} is not an install of this project with the tested versions"
            found += names[1].split(",") if names[1] else []
    assert set(found) <= set(PROJECT["optional-dependencies"])
    return tuple(found)


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

    def __init__(self, folder: Path, extras: Iterable[str] = (), needs: Iterable[str] = ()) -> None:
        self.folder = folder / "folder"
        self.scripts = folder / "scripts"
        programs, site = folder / "bin", folder / "site"
        for path in (self.folder, self.scripts, programs, site):
            path.mkdir()
        optional = PROJECT["optional-dependencies"]
        wanted = [*PROJECT["dependencies"], *(name for extra in extras for name in optional[extra]), *needs]
        brought = _needed(wanted) | {PROJECT["name"]}
        left_out = {
            module
            for module, packages in packages_distributions().items()
            if brought.isdisjoint(map(canonicalize_name, packages))
        }
        (site / "sitecustomize.py").write_text(SITE.format(left_out=left_out))
        for name, module in (("clearset", "clearset.cli"), ("torchrun", "torch.distributed.run")):
            command = programs / name
            command.write_text(f"#!{sys.executable}\nimport sys\nfrom {module} import main\nsys.exit(main())\n")
            command.chmod(0o755)
        paths = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
        self.environment = {
            **os.environ,
            "CLEARSET_ISA": "baseline",  # every machine has it, so that training ends with the same figures on all
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": os.pathsep.join([str(site), *(str(Path(path).absolute()) for path in paths)]),
        }

    def run(self, language: str, text: str) -> str:
        """Run a block, which must succeed without a warning, and return what it prints."""
        script = self.scripts / f"block.{language}"
        script.write_text(text)
        return self._start([sys.executable, script] if language == "python" else ["bash", "-euo", "pipefail", script])

    def read(self, blocks: Sequence[Block]) -> list[str]:
        """Run the blocks of a page in one session, and return what each prints."""
        for block in blocks:
            if named := NAMED.match(block.text):
                (self.folder / named[1]).write_text(block.text)
        given, printed = self.scripts / "blocks.json", self.scripts / "printed.json"
        given.write_text(json.dumps([(block.language, block.text) for block in blocks if block.runs]))
        self._start([sys.executable, Path(__file__).with_name("page_session.py"), given, printed])
        return json.loads(printed.read_text())

    def _start(self, command: Sequence[object]) -> str:
        out, errors = self.scripts / "out", self.scripts / "errors"
        with out.open("w") as stdout, errors.open("w") as stderr:
            started = subprocess.Popen(  # noqa: S603
                list(map(str, command)),
                cwd=self.folder,
                env=self.environment,
                stdout=stdout,
                stderr=stderr,
                start_new_session=True,
            )
            try:
                status = started.wait(timeout=300)
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(started.pid, signal.SIGKILL)  # also a server that a block that failed has left
        assert status == 0, out.read_text() + errors.read_text()
        assert "Warning" not in errors.read_text(), errors.read_text()
        return out.read_text()


def machine_of(blocks: Sequence[Block], folder: Path) -> Machine:
    """Return a machine with what the installs of a page bring, and what its blocks say that they need."""
    needs = [name for block in blocks if block.needs and block.runs for name in block.needs.split(", ")]
    return Machine(folder, extras_of(blocks), [name for name in needs if find_spec(name)])


def write_outputs(page: Path) -> None:
    """Run a page and write what its blocks print."""
    blocks = blocks_of(page)
    with tempfile.TemporaryDirectory() as folder:
        printed = machine_of(blocks, Path(folder)).read(blocks)
    text = page.read_text()
    running = [block for block in blocks if block.runs]
    for block, said in reversed(list(zip(running, printed, strict=True))):
        if block.prints is not None:
            text = text[: block.output[0]] + said.rstrip() + "\n" + text[block.output[1] :]
    page.write_text(text)


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        write_outputs(Path(argument).resolve())
