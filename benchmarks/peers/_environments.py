"""A virtual environment for each peer, made when it is first needed; ours runs in the interpreter that is there."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "build" / "peers"
OURS = "clearset"


class PeerMissingError(Exception):
    """An environment could not be made; the message says why."""


class Contender(NamedTuple):
    """Who takes part: its name in tables, its module, and what is installed for it.

    Packages that are installed `alone` would ask for versions of others that cannot be had together; what they import
    stands under `packages`. What is not pinned here has the version of ``constraints.txt``, if it is named there.
    `home` is the contender whose environment it shares, and `extra` is added to its jobs.
    """

    title: str
    module: str
    packages: tuple[str, ...] = ()
    alone: tuple[str, ...] = ()
    home: str = ""
    extra: tuple[tuple[str, bool], ...] = ()


CONTENDERS = {
    OURS: Contender("clearset", "ours"),
    "lattice": Contender(
        "TensorFlow Lattice",
        "lattice",
        ("tensorflow-cpu==2.21.0", "numpy==2.4.6"),
        ("tf_keras==2.21.0", "tensorflow-lattice==2.1.1"),
    ),
    "lattice-cut": Contender(
        "TensorFlow Lattice, batches cut before", "lattice", home="lattice", extra=(("cut_before", True),)
    ),
    "deep-sets": Contender("Deep Sets, 3 x 64", "deep_sets", ("torch==2.13.0", "numpy==2.4.6")),
    "logistic": Contender("LogisticRegression", "logistic", ("scikit-learn==1.9.1", "numpy==2.4.6", "pyarrow==26.0.1")),
    "lightgbm": Contender(
        "LightGBM", "boosting", ("lightgbm==4.7.0", "scikit-learn==1.9.1", "numpy==2.4.6", "pyarrow==26.0.1")
    ),
    "ebm": Contender(
        "EBM, 100 items", "ebm", ("interpret-core==0.7.8", "scikit-learn==1.9.1", "numpy==2.4.6", "pyarrow==26.0.1")
    ),
}


def command(name: str) -> list[str]:
    """Return the command that runs a contender, without its job; its environment is made if need be."""
    python = sys.executable if name == OURS else str(_python(name))
    return [python, "-m", f"benchmarks.peers.contenders.{CONTENDERS[name].module}"]


def variables(name: str, threads: int) -> dict[str, str]:
    """Return the environment variables of a contender: as many threads as the job says, and none that waits busily.

    Where others use the machine, threads that wait for each other by turning round and round take many times what is
    needed of the processor; that would flatter whoever has none. Sparse data have no use for threads of BLAS at all.
    """
    chosen = dict(os.environ)
    if name != OURS:
        for variable in ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"):
            chosen.pop(variable, None)
    chosen |= dict.fromkeys(("OMP_NUM_THREADS", "LOKY_MAX_CPU_COUNT"), str(threads))
    chosen |= dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return chosen | {"OMP_WAIT_POLICY": "PASSIVE"}


def _python(name: str) -> Path:
    """Return the interpreter of a peer; install what it needs unless that was done."""
    name = CONTENDERS[name].home or name
    peer, folder = CONTENDERS[name], FOLDER / name
    python, done = folder / "bin" / "python", folder / "installed.txt"
    wanted = "\n".join((sys.version, *peer.packages, *peer.alone))
    if done.exists() and done.read_text() == wanted:
        return python
    print(f"Installing {peer.title} into {folder.relative_to(ROOT)}", file=sys.stderr, flush=True)
    try:
        venv.create(folder, with_pip=True, clear=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise PeerMissingError(f"no virtual environment: {error}") from error
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    _pip([*pip, "--constraint", str(ROOT / "constraints.txt"), *peer.packages])
    if peer.alone:
        _pip([*pip, "--no-deps", *peer.alone])
    done.write_text(wanted)
    return python


def _pip(arguments: list[str]) -> None:
    # The Makefile sets constraints for all of pip; they are given above, where they are wanted.
    settings = {name: value for name, value in os.environ.items() if name != "PIP_CONSTRAINT"}
    said = subprocess.run(arguments, capture_output=True, text=True, env=settings, check=False)
    if said.returncode:
        errors = [line for line in said.stderr.splitlines() if line.startswith("ERROR")]
        raise PeerMissingError((errors or said.stderr.splitlines() or ["pip failed"])[-1])
