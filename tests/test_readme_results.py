"""Figures in the pages are those that the commands wrote."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PEERS = (ROOT / "benchmarks" / "results" / "peers.md").read_text()
COLUMNS = ("clearset", "LogisticRegression", "LightGBM")


def _table(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("|")]


def test_the_table_of_the_paper_is_the_summary_of_the_results():
    page = (ROOT / "docs" / "benchmarks" / "paper.md").read_text()
    shown = page.split("<!-- experiments/results -->")[1].split("<!-- /experiments/results -->")[0]
    written = _table((ROOT / "experiments" / "results" / "summary.md").read_text())
    assert _table(shown) == [line.replace("](", "](../../experiments/results/") for line in written]


def _is_rounded(shown: str, measured: float) -> bool:
    digits = len(shown.partition(".")[2])
    return abs(float(shown) - measured) <= 0.5001 * 10.0**-digits


def test_the_table_of_the_readme_is_what_was_measured_of_peers():
    readme = (ROOT / "README.md").read_text()
    rows = re.findall(r"^\| ([\d,]+) \| (.+) \|$", readme, flags=re.MULTILINE)
    assert len(rows) == 4
    for sets, cells in rows:
        for who, cell in zip(COLUMNS, cells.split(" | "), strict=True):
            measured = re.search(rf"^\| {sets} sets, 2 classes \| {who} \|(.+)\|$", PEERS, flags=re.MULTILINE)
            assert measured
            figures = measured[1].split("|")
            area, seconds = cell.removesuffix(" s").split(", ")
            assert _is_rounded(area, float(figures[6])), (sets, who)
            assert _is_rounded(seconds, float(figures[0])), (sets, who)


@pytest.mark.parametrize("shown", ["45 to 81 times"])
def test_the_ratio_of_the_readme_is_what_was_measured_of_peers(shown):
    found = re.findall(r"TensorFlow Lattice, batches cut before \| \d+ \| [\d.]+ \| ([\d.]+) \|", PEERS)
    ratios = [float(ratio) for ratio in found]
    assert shown == f"{min(ratios):.0f} to {max(ratios) + 0.5:.0f} times"
    assert shown in (ROOT / "README.md").read_text()
