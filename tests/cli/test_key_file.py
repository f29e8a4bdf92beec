"""--key-file: what is read must be signed with the key, and what is saved is."""

from pathlib import Path

import pytest

import clearset as cs
from clearset import runtime
from clearset.cli import main

KEY = "0123456789abcdef" * 2


@pytest.fixture
def key(tmp_path: Path) -> str:
    (tmp_path / "key").write_text(f"{KEY}\n")
    return str(tmp_path / "key")


def test_models_are_saved_and_read_with_the_key(folder: Path, tmp_path: Path, key: str, monkeypatch, capsys) -> None:
    data, model = str(folder / "sets.parquet"), tmp_path / "model"
    fit = ["fit", data, "--label", "sales", "--epochs", "1", "--quiet", "--output", str(model)]
    assert main([*fit, "--key-file", key]) == 0
    cs.load(model, key=KEY.encode())
    predict = ["predict", str(model), data, "--quiet", "--output", str(tmp_path / "out.csv")]
    assert main([*predict, "--key-file", key]) == 0
    monkeypatch.setenv("CLEARSET_KEY_FILE", key)
    assert main(predict) == 0
    assert main(["edit", str(model), "--output", str(tmp_path / "edited")]) == 0
    cs.load(tmp_path / "edited", key=KEY.encode())
    assert main(["export", str(model), str(tmp_path / "m.runtime")]) == 0
    runtime.load(tmp_path / "m.runtime", key=KEY.encode())
    unsigned = str(folder / "regressor")
    commands = {
        "predict": [data],
        "explain": [data],
        "importance": [data],
        "report": ["--output", str(tmp_path / "report.html")],
        "verify": [],
        "edit": [],
        "export": [str(tmp_path / "m.runtime")],
        "serve": ["--port", "0"],
    }
    capsys.readouterr()
    for command, further in commands.items():
        assert main([command, unsigned, *further]) == 1, command
        assert "it is not signed, but a key was given" in capsys.readouterr().err, command


def test_tables_are_saved_and_read_with_the_key(tmp_path: Path, key: str, capsys) -> None:
    (tmp_path / "d.csv").write_text("items,label\nsalt;lime,a\nsalt,b\nlime,a\n")
    build = ["table", "build", str(tmp_path / "d.csv"), "--column", "items", "--label", "label", "--quiet"]
    table, plain = str(tmp_path / "t"), str(tmp_path / "plain")
    assert main([*build, "--output", table, "--key-file", key]) == 0
    assert main([*build, "--output", plain]) == 0
    cs.TokenTable.load(table, key=KEY.encode())
    update = ["table", "update", table, *build[2:]]
    assert main([*update, "--key-file", key]) == 0
    merged = str(tmp_path / "merged")
    assert main(["table", "merge", table, table, "--output", merged, "--key-file", key]) == 0
    assert cs.TokenTable.load(merged, key=KEY.encode()).n_examples == 12
    assert main(["table", "show", merged, "--key-file", key]) == 0
    capsys.readouterr()
    for command in (["show", plain], ["merge", table, plain, "--output", merged], ["update", plain, *build[2:]]):
        assert main(["table", *command, "--key-file", key]) == 1
        assert "it is not signed" in capsys.readouterr().err


def test_a_file_without_a_key_is_refused_before_training(folder: Path, tmp_path: Path, capsys) -> None:
    (tmp_path / "short").write_text("hunter2")
    for key in ("short", "absent"):
        command = ["fit", str(folder / "sets.parquet"), "--label", "sales", "--key-file", str(tmp_path / key)]
        assert main([*command, "--output", str(tmp_path / "model")]) == 1
        assert "key" in (told := capsys.readouterr().err)
        assert "hunter2" not in told
    assert not (tmp_path / "model").exists()


def test_a_signature_that_is_lost_is_told(folder: Path, tmp_path: Path, key: str, capsys) -> None:
    data = tmp_path / "d.csv"
    data.write_text("items,label\nsalt;lime,a\nsalt,b\nlime,a\n")
    of_items = ["--column", "items", "--label", "label"]
    table, plain, output = str(tmp_path / "t"), str(tmp_path / "plain"), ["--output", str(tmp_path / "new")]
    for path, signed in ((table, ["--key-file", key]), (plain, [])):
        assert main(["table", "build", str(data), *of_items, "--output", path, "--quiet", *signed]) == 0
    model, unsigned = tmp_path / "model", str(folder / "regressor")
    cs.load(unsigned).save(model, key=KEY.encode())
    capsys.readouterr()
    for path, command in {
        table: ["table", "update", table, str(data), *of_items],
        str(model): ["edit", str(model)],
    }.items():
        assert main([*command, *output]) == 0
        told = f"clearset: warning: '{path}' is signed, but what is saved is not. Sign it with --key-file.\n"
        assert capsys.readouterr().err == told
        assert main([*command, *output, "--key-file", key]) == 0
        assert "warning" not in capsys.readouterr().err
    assert main(["table", "merge", plain, table, *output]) == 0
    assert f"'{table}' is signed" in capsys.readouterr().err
    for command in (["table", "update", plain, str(data), *of_items], ["edit", unsigned]):
        assert main([*command, *output]) == 0
        assert "signed" not in capsys.readouterr().err
    # Over itself, the signature is lost as well.
    assert main(["table", "update", table, str(data), *of_items]) == 0
    assert "is signed" in capsys.readouterr().err
    assert main(["table", "update", table, str(data), *of_items]) == 0
    assert "is signed" not in capsys.readouterr().err
