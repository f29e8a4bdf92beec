"""The table of results in the README is the one that the command wrote."""

from pathlib import Path

ROOT = Path(__file__).parents[1]


def _table(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("|")]


def test_readme_shows_the_summary_of_the_results():
    readme = (ROOT / "README.md").read_text()
    shown = readme.split("<!-- experiments/results -->")[1].split("<!-- /experiments/results -->")[0]
    written = _table((ROOT / "experiments" / "results" / "summary.md").read_text())
    assert _table(shown) == [line.replace("](", "](experiments/results/") for line in written]
