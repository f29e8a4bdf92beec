import errno
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import clearset as cs
from clearset.cli import main


def fit(folder: Path, data: str, *options: str) -> int:
    return main(["fit", str(folder / data), "--output", str(folder / "new"), "--epochs", "2", "--seed", "0", *options])


def test_the_command_does_what_the_python_api_does(folder: Path) -> None:
    table = pa.parquet.read_table(folder / "sets.parquet")
    features = [
        cs.Feature("star_rating", monotonic="increasing"),
        "num_helpful",
        "price",
        cs.Feature(cs.SIZE, monotonic="increasing"),
    ]
    trusts = [cs.Trust("star_rating", by="num_helpful")]
    model = cs.SetRegressor(features, trusts=trusts, epochs=3, random_state=0)
    model.fit(table, table["sales"].to_numpy())
    np.testing.assert_array_equal(cs.load(folder / "regressor").predict(table), model.predict(table))


def test_a_long_table_gives_the_same_model(folder: Path) -> None:
    features = ["--features", str(folder / "features.yaml"), "--quiet"]
    by = ["--by", "product", "--set-columns", "price"]
    assert fit(folder, "sets.parquet", "--label", "sales", *features) == 0
    first = (folder / "new").read_bytes()
    assert fit(folder, "long.csv", "--label", "sales", *by, *features) == 0
    table = pa.parquet.read_table(folder / "sets.parquet")
    second = cs.load(folder / "new").predict(table)
    (folder / "new").write_bytes(first)
    np.testing.assert_allclose(cs.load(folder / "new").predict(table), second, rtol=1e-9)


def test_summary(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    features = ["--features", str(folder / "features.yaml")]
    assert fit(folder, "sets.parquet", "--label", "sales", *features) == 0
    out = capsys.readouterr().out
    tokens = pa.csv.read_csv(folder / "long.csv").num_rows
    assert f"Regression of 'sales', because the label is a number: 600 sets, {tokens:,} tokens." in out
    assert "2 epochs, training loss" in out
    assert f"Saved to {folder / 'new'}" in out.replace("\n", "")


def test_the_task_follows_the_label(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert list(cs.load(folder / "classifier").classes_) == ["high", "low"]
    assert fit(folder, "classes.parquet", "--label", "level", "--task", "regression") == 1
    assert capsys.readouterr().err.startswith("clearset: ")


def test_all_options_reach_the_estimator(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "f.toml"
    path.write_text("[model]\nkeypoints = 6\nwidth = 3\nloss = 'absolute_error'\n")
    options = ["--features", str(path), "--width", "2", "--learning-rate", "0.02", "--batch-size", "32"]
    assert fit(folder, "sets.parquet", "--label", "sales", "--jobs", "1", "--quiet", *options) == 0
    params = cs.load(folder / "new").get_params()
    expected = {
        "keypoints": 6, "width": 2, "loss": "absolute_error", "learning_rate": 0.02, "batch_size": 32,
        "epochs": 2, "random_state": 0, "n_jobs": 1, "verbose": 0, "features": None,
    }  # fmt: skip
    assert {name: params[name] for name in expected} == expected


def test_epochs_and_batch_size_may_be_auto(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--label", "sales", "--epochs", "auto", "--batch-size", "auto", "--quiet"]
    assert fit(folder, "sets.parquet", *options) == 0
    model = cs.load(folder / "new")
    assert [model.get_params()[name] for name in ("epochs", "batch_size")] == ["auto", "auto"]
    assert len(model.record.history) > 2
    assert fit(folder, "sets.parquet", "--label", "sales", "--epochs", "many") == 2
    assert "'--epochs': 'many' is neither a whole number nor auto" in capsys.readouterr().err
    assert fit(folder, "sets.parquet", "--label", "sales", "--epochs", "0") == 1
    assert "epochs must be a whole number at least 1, or 'auto'; received 0" in capsys.readouterr().err


def test_without_a_file_all_numeric_columns_but_label_key_and_weight(folder: Path) -> None:
    by = ["--by", "product", "--set-columns", "price", "--weight", "weight", "--quiet"]
    long = pa.csv.read_csv(folder / "long.csv")
    long = long.append_column("weight", pa.array(np.ones(len(long))))
    pa.csv.write_csv(long, folder / "weighted.csv")
    validation = ["--validation", str(folder / "weighted.csv")]
    assert fit(folder, "weighted.csv", "--label", "sales", *by, *validation) == 0
    assert set(cs.load(folder / "new").calibrators()) == {
        "price", "star_rating", "word_count", "num_helpful", "photo", cs.SIZE,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        ("k,x,y\na,1,1\na,2,2\nb,3,3\n", ["--by", "k"], "'y'"),  # a label that differs within a set
        ("k,x,y\na,1,1\nb,2,\n", [], "'y' of .* has 1 missing values"),
        ("k,x,y\na,1,1\nb,2,3\n", ["--by", "key"], "has no column 'key'"),
        ("k,x,y\na,1,1\nb,2,3\n", ["--set-columns", "x"], "Give its key with --by"),
        ("k,x,Y\na,1,1\nb,2,3\n", [], "has no column 'y'"),
    ],
)
def test_refused_tables(tmp_path: Path, rows: str, options: list[str], message: str, capsys) -> None:
    (tmp_path / "data.csv").write_text(rows)
    assert fit(tmp_path, "data.csv", "--label", "y", *options) == 1
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert re.search(message, err)
    assert not (tmp_path / "new").exists()


def test_unknown_model_option(folder: Path, tmp_path: Path, capsys) -> None:
    path = tmp_path / "f.yaml"
    path.write_text("model: {widht: 2}")
    assert fit(folder, "sets.parquet", "--label", "sales", "--features", str(path)) == 1
    assert "unknown key 'widht'. Did you mean 'width'?" in capsys.readouterr().err


def test_interrupted_training_is_saved_and_told(folder: Path, tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(cs.SetRegressor, "interrupted_", True)
    assert fit(folder, "sets.parquet", "--label", "sales", "--quiet") == 0
    assert "Interrupted: this is the best model so far." in capsys.readouterr().err
    assert cs.load(folder / "new").n_features_in == 6


def test_a_checkpoint_changes_nothing_and_is_removed(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--label", "sales", "--quiet", "--features", str(folder / "features.yaml")]
    assert fit(folder, "sets.parquet", *options) == 0
    expected = (folder / "new").read_bytes()
    assert fit(folder, "sets.parquet", *options, "--checkpoint", str(tmp_path / "a")) == 0
    assert (folder / "new").read_bytes() == expected
    assert not list(tmp_path.iterdir())
    (tmp_path / "a").write_text("notes")
    assert fit(folder, "sets.parquet", *options, "--checkpoint", str(tmp_path / "a")) == 1
    error = capsys.readouterr().err
    assert error.startswith("clearset: ")
    assert "remove this one to start anew" in error
    assert (tmp_path / "a").read_text() == "notes"


def test_a_checkpoint_stays_until_the_model_is_saved(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--label", "sales", "--quiet", "--features", str(folder / "features.yaml")]
    assert fit(folder, "sets.parquet", *options) == 0
    expected = (folder / "new").read_bytes()

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(cs.SetRegressor, "save", full)
        assert fit(folder, "sets.parquet", *options, "--checkpoint", str(tmp_path / "a")) == 1
    assert "No space left" in capsys.readouterr().err
    assert (tmp_path / "a").exists()
    assert fit(folder, "sets.parquet", *options, "--checkpoint", str(tmp_path / "a")) == 0
    assert (folder / "new").read_bytes() == expected
    assert not list(tmp_path.iterdir())
