from pathlib import Path

import pytest

import clearset as cs
from clearset.cli import main


@pytest.mark.parametrize("data", [[], ["sets.parquet"]])
def test_the_certificate_is_printed(folder: Path, data: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", str(folder / "regressor"), *(str(folder / name) for name in data)]) == 0
    assert "star_rating" in capsys.readouterr().out


def test_a_certificate_that_does_not_hold(folder: Path, monkeypatch, capsys) -> None:
    class Broken:
        def __bool__(self) -> bool:
            return False

    monkeypatch.setattr(cs.SetModel, "verify", lambda *_: Broken())
    assert main(["verify", str(folder / "regressor")]) == 1
    assert "breaks a declared constraint" in capsys.readouterr().err
