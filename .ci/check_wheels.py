"""Install each wheel of dist/ in an empty environment, and use it where there is no compiler, nor anything else.

The one for the oldest Python is installed once more, with the lowest versions that `pyproject.toml` allows.
"""

import os
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from pathlib import Path, PurePosixPath

from interpreters import interpreters

ENDINGS = {".css", ".cu", ".h", ".html", ".js", ".py", ".so", ".typed"}
METADATA = {"LICENSE", "METADATA", "RECORD", "WHEEL", "entry_points.txt"}
SMOKE = Path(__file__).with_name("smoke.py")


def check_contents(wheel: Path) -> None:
    """See that a wheel holds the package with one compiled module, its licence, and nothing else."""
    with zipfile.ZipFile(wheel) as archive:
        names = [PurePosixPath(name) for name in archive.namelist() if not name.endswith("/")]
    package = [name for name in names if name.parts[0] == "clearset"]
    others = [name for name in names if name.parts[0] != "clearset"]
    assert sum(name.suffix == ".so" for name in package) == 1, "one compiled module is needed"
    strange = [name for name in package if name.suffix not in ENDINGS]
    strange += [name for name in others if not name.parts[0].endswith(".dist-info") or name.name not in METADATA]
    assert not strange, f"{wheel.name} holds {strange}"
    assert {name.name for name in others} == METADATA, "the licence and the metadata are needed"


def lowest_versions() -> str:
    """Return constraints to the lowest versions of what the package itself needs; others are the newest ones."""
    needed = tomllib.loads(Path("pyproject.toml").read_text())["project"]["dependencies"]
    return "\n".join(line.replace(">=", "==") for line in needed)


def check_install(wheel: Path, python: str, constraints: str, folder: Path) -> None:
    """Install a wheel, and run `smoke.py` and the demo with no variable but a path that leads to nothing else."""
    subprocess.run([python, "-m", "venv", folder / "venv"], check=True)
    binaries = folder / "venv" / "bin"
    versions = folder / "constraints.txt"
    versions.write_text(constraints)
    options = ["--quiet", "--disable-pip-version-check", "--only-binary", ":all:"]
    variables = {**os.environ, "PIP_CONSTRAINT": str(versions)}
    subprocess.run([binaries / "pip", "install", *options, wheel.resolve()], env=variables, check=True)
    subprocess.run([binaries / "pip", "check"], check=True)
    alone = {"cwd": folder, "env": {"PATH": str(binaries)}, "check": True}
    subprocess.run([binaries / "python", "-I", SMOKE.resolve()], **alone)
    demo = subprocess.run(
        [binaries / "clearset", "demo", "--products", "60"], **alone, text=True, stdout=subprocess.PIPE
    )
    assert "all" in demo.stdout, demo.stdout
    assert (folder / "demo" / "report.html").stat().st_size > 10_000


def main() -> None:
    """Check all versions."""
    pinned = Path("constraints.txt").read_text()
    for number, (version, python) in enumerate(interpreters().items()):
        tag = "cp" + version.replace(".", "")
        wheels = sorted(Path("dist").glob(f"*-{tag}-*.whl"))
        if not wheels:
            sys.exit(f"dist/ holds no wheel for Python {version}. Run `make wheel`.")
        check_contents(wheels[0])
        tried = {"constraints.txt": pinned}
        if number == 0:
            tried["the lowest versions"] = lowest_versions()
        for name, constraints in tried.items():
            with tempfile.TemporaryDirectory() as folder:
                check_install(wheels[0], python, constraints, Path(folder))
            print(
                f"{wheels[0].name} with {name}: installs, imports, fits, predicts, explains, saves, loads and shows "
                "the demo",
                flush=True,
            )


main()
