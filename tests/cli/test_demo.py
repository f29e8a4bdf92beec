from pathlib import Path

import pyarrow.parquet
import pytest

import clearset as cs
from clearset.cli import main


def test_demo(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    output = tmp_path / "demo"
    assert main(["demo", "--products", "300", "--output", str(output)]) == 0
    out = capsys.readouterr().out
    for part in ("star_rating", "number of reviews", "times smaller", "base rate", " predict"):
        assert part in out
    shown = [line for line in out.splitlines() if str(tmp_path) not in line]
    assert max(map(len, shown)) <= 100
    test = pyarrow.parquet.read_table(output / "test.parquet")
    assert len(cs.load(output / "reviews.clearset").predict(test)) == len(test) == 60


def test_too_few_products(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--products", "3"]) == 2
    assert capsys.readouterr().err.startswith("clearset: ")
