"""Every page of the documentation does what it says: its blocks run in order, and print what is shown."""

import re
import shutil
import socket
from decimal import Decimal
from pathlib import Path

import pytest
from tests.documents import LANGUAGES, ROOT, Machine, blocks_of, machine_of, name_of, pages

NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
PAGES = {page: blocks_of(page) for page in pages()}


def _check_alike(printed: str, shown: str) -> None:
    """Compare two outputs: words exactly, numbers with fractions up to their last digits, or to a millionth."""
    assert NUMBER.sub("0", printed).split() == NUMBER.sub("0", shown).split()
    for number, expected in zip(NUMBER.findall(printed), NUMBER.findall(shown), strict=True):
        exponent = int(Decimal(expected).as_tuple().exponent)
        last_digit = 2 * 10.0**exponent if exponent < 0 else 0.0
        assert float(number) == pytest.approx(float(expected), abs=last_digit, rel=1e-6 if exponent < 0 else 0)


@pytest.mark.parametrize("page", [page for page, blocks in PAGES.items() if any(b.runs for b in blocks)], ids=name_of)
def test_the_blocks_of_a_page_run_in_order(page: Path, tmp_path: Path) -> None:
    blocks = PAGES[page]
    running = [block for block in blocks if block.runs]
    if any("clearset serve" in block.text for block in running):
        if shutil.which("curl") is None:
            pytest.skip("there is no curl on this machine")
        port = next((int(port) for block in running for port in re.findall(r"--port (\d+)", block.text)), 8000)
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                pytest.skip(f"another program on this machine listens at port {port}")
    for block, printed in zip(running, machine_of(blocks, tmp_path).read(blocks), strict=True):
        if block.prints is not None:
            _check_alike(printed, block.prints)


# The job for Spark is run by tests/spark, with Spark.
EXAMPLES = [path for path in sorted((ROOT / "examples").glob("*.py")) if path.name != "spark_job.py"]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_an_example_runs_alone(path: Path, tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    shutil.copytree(path.parent, machine.folder / "examples")
    machine.run("python", path.read_text())
    # Commands stand in its comments, further in than text.
    machine.run("bash", "\n".join(re.findall(r"^#   +(.+)$", path.read_text(), flags=re.MULTILINE)))


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_no_block_is_overlooked(page: Path) -> None:
    text, blocks = page.read_text(), PAGES[page]
    assert {block.language for block in blocks} <= LANGUAGES
    outputs = sum(block.prints is not None for block in blocks)
    assert text.count("\n```") + text.startswith("```") == 2 * (len(blocks) + outputs)
    comments = len(re.findall(r"^<!-- (?:not run|needs): .+ -->$", text, flags=re.MULTILINE))
    assert comments == sum(bool(block.needs or block.not_run) for block in blocks)
    assert not any("pip " in block.text for block in blocks if block.runs)  # installs are read, not run


def test_the_first_block_of_the_readme_installs() -> None:
    assert PAGES[ROOT / "README.md"][0].text == "pip install -c constraints.txt .\n"


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


def test_a_page_whose_block_fails_or_prints_something_else_is_noticed(tmp_path: Path) -> None:
    page = ROOT / "README.md"
    good = next(block for block in PAGES[page] if block.runs)
    for number, text in enumerate(("raise ValueError('no')\n", "clearset verify nothing.clearset\n")):
        folder = tmp_path / str(number)
        folder.mkdir()
        bad = type(good)("bash" if number else "python", text, good.place)
        with pytest.raises(AssertionError, match="no"):
            machine_of([bad], folder).read([bad])
