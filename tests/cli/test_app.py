import subprocess
import sys
from pathlib import Path

import pytest

from clearset.cli import main


@pytest.mark.parametrize("arguments", [[], ["--help"]])
def test_help(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 0
    out = capsys.readouterr().out
    assert all(command in out for command in ("demo", "fit", "predict", "verify", "tune"))


@pytest.mark.parametrize("command", ["demo", "fit", "predict", "verify", "tune"])
def test_help_of_a_command(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "--help"]) == 0
    assert "Usage" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing"], "No such command 'nothing'"),
        (["fit", "a.csv"], "Missing option '--label'"),
        (["fit", "a.csv", "--label", "y", "--widht", "2"], "No such option"),
        (["fit", "a.csv", "--label", "y", "--width", "two"], "Invalid value for '--width'"),
        (["fit", "a.csv", "--label", "y", "--task", "ranking"], "'ranking' is not one of"),
        (["predict"], "Missing argument 'MODEL'"),
    ],
)
def test_wrong_calls(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    err = capsys.readouterr().err
    assert err.startswith("clearset: ")
    assert message in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fit", "no.csv", "--label", "y"], "Cannot read 'no.csv': there is no such file"),
        (["fit", "no.csv", "--label", "y", "--output", "no/model"], "there is no folder 'no'"),
        (["fit", "no.csv", "--label", "y", "--features", "no.yaml"], "There is no features file 'no.yaml'"),
        (["tune", "no.csv", "--label", "y"], "Cannot read 'no.csv': there is no such file"),
        (["tune", "no.csv", "--label", "y", "--plot", "a.txt"], "'a.txt' is no figure"),
        (["predict", "no.clearset", "no.csv"], "Cannot read 'no.clearset'"),
        (["predict", "no.clearset", "no.csv", "--output", "a.txt"], "neither CSV nor Parquet"),
        (["verify", "no.clearset", "--by", "k"], "no DATA was given"),
    ],
)
def test_errors_are_one_line(arguments, message: str, capsys, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("clearset: ")
    assert message in err
    assert err.count("\n") == 1


def test_help_loads_nothing_heavy() -> None:
    script = (
        "import sys; from clearset.cli import main; main(['fit', '--help']); main(['tune', '--help']); "
        "sys.exit(any(name in sys.modules for name in ('torch', 'sklearn', 'pyarrow', 'optuna')))"
    )
    assert subprocess.run([sys.executable, "-c", script], stdout=subprocess.DEVNULL).returncode == 0  # noqa: S603


def test_saved_models_need_neither_torch_nor_scikit_learn(folder: Path, tmp_path: Path) -> None:
    model, data = str(folder / "classifier"), str(folder / "sets.parquet")
    commands = [
        ["predict", model, data],
        ["explain", model, data],
        ["verify", model, data],
        ["report", model, data, "--output", str(tmp_path / "report.html")],
    ]
    script = (
        f"import sys; from clearset.cli import main; assert not any(map(main, {commands})); "
        "sys.exit(any(name in sys.modules for name in ('torch', 'sklearn')))"
    )
    assert subprocess.run([sys.executable, "-c", script], stdout=subprocess.DEVNULL).returncode == 0  # noqa: S603
