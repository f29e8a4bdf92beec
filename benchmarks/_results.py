"""Tables of results: printed, and kept beside the code with what they were measured on."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Sequence
from pathlib import Path

import sklearn
import torch

BAR = r"\|"  # in a cell of a Markdown table
RESULTS = Path(__file__).parent / "results"


def write_table(name: str, title: str, text: str, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a Markdown table and write it to ``results/<name>.md``."""
    lines = [
        f"# {title}",
        "",
        *text.strip().splitlines(),
        f"(`python -m benchmarks.{name}`)",
        "",
        f"| {' | '.join(header)} |",
        f"|{' --- |' * len(header)}",
        *(f"| {' | '.join(str(cell).replace('|', BAR) for cell in row)} |" for row in rows),
        "",
        machine(),
        "",
    ]
    table = "\n".join(lines)
    print(table)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.md").write_text(table)


def machine() -> str:
    """Return the name of the processor, and the versions of packages."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    cpu = names[0] if names else platform.processor()
    versions = f"Python {platform.python_version()}, torch {torch.__version__}, scikit-learn {sklearn.__version__}"
    return f"{cpu}, {os.cpu_count()} cores; {versions}."
