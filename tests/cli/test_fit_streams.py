"""``clearset fit`` of folders, and of files within a limit of memory."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import clearset as cs
from clearset.cli import _training_data, main
from clearset.models import SetModel


@pytest.fixture
def parts(folder: Path, tmp_path: Path) -> Path:
    """Make a folder of the reviews in three files."""
    table = pq.read_table(folder / "sets.parquet")
    (tmp_path / "parts").mkdir()
    for number in range(3):
        path = tmp_path / "parts" / f"{number}.parquet"
        pq.write_table(table.slice(200 * number, 200), path, row_group_size=64)
    return tmp_path / "parts"


def fit(data: Path, *options: str, output: str = "model") -> int:
    where = str(data.parent / output)
    return main(["fit", str(data), "--output", where, "--epochs", "2", "--seed", "0", *options])


def tables(path: Path) -> bytes:
    model = cs.load(path)
    assert isinstance(model, SetModel)
    return b"".join(np.asarray(table).tobytes() for table in model.function.tables.values())


@pytest.mark.parametrize("declared", [True, False])
def test_a_folder_gives_the_model_of_its_rows(folder: Path, parts: Path, declared: bool) -> None:
    features = ["--features", str(folder / "features.yaml")] if declared else []
    common = ["--label", "sales", "--quiet", *features]
    assert fit(parts, *common, output="folder") == 0
    one = parts.parent / "one.parquet"
    one.write_bytes((folder / "sets.parquet").read_bytes())
    assert fit(one, *common, output="whole") == 0
    assert fit(one, *common, "--max-memory", "300MB", output="limited") == 0
    expected = tables(parts.parent / "whole")
    assert tables(parts.parent / "folder") == tables(parts.parent / "limited") == expected
    rows = pq.read_table(one)
    predictions = [cs.load(parts.parent / name).predict(rows) for name in ("folder", "whole")]
    np.testing.assert_array_equal(*predictions)


def test_what_is_said(parts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert fit(parts, "--label", "sales", "--ignore", "price") == 0
    out, err = capsys.readouterr()
    assert "Regression of 'sales', because the label is a number: 600 sets." in out
    assert "features of tokens  star_rating" in out
    assert "price: named by --ignore" in out
    assert "2 epochs, training loss" in out
    assert "warning: 'product' is a feature, but looks like a key" in err


def test_validation_weights_and_classes(folder: Path, parts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = pq.read_table(folder / "classes.parquet")
    table = table.append_column("weight", pa.array(np.arange(600) % 3))
    for path in parts.iterdir():
        path.unlink()
    for number in range(2):
        pq.write_table(table.slice(300 * number, 300), parts / f"{number}.parquet")
    common = ["--label", "level", "--weight", "weight", "--validation", str(folder / "classes.parquet")]
    assert fit(parts, *common, output="folder") == 0
    assert "On validation data: accuracy" in capsys.readouterr().out
    pq.write_table(table, parts.parent / "one.parquet")
    assert fit(parts.parent / "one.parquet", *common, output="whole") == 0
    assert tables(parts.parent / "folder") == tables(parts.parent / "whole")
    # A folder can be validated on as well, whatever is trained on.
    held_out = ["--label", "level", "--weight", "weight", "--validation", str(parts)]
    assert fit(parts.parent / "one.parquet", *held_out, output="folder") == 0
    assert fit(parts.parent / "one.parquet", *held_out[:-1], str(parts.parent / "one.parquet"), output="whole") == 0
    assert tables(parts.parent / "folder") == tables(parts.parent / "whole")


def test_values_that_are_the_same_at_first_are_features(parts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the first rows are looked at; that a column tells nothing there says nothing."""
    monkeypatch.setattr(_training_data, "_FIRST_ROWS", 10)
    for path in parts.iterdir():
        path.unlink()
    rng = np.random.default_rng(0)
    later = np.where(np.arange(300) < 20, 1.0, rng.normal(size=300))
    missing = pa.array(rng.normal(size=300), mask=np.arange(300) < 20)
    title = pa.array([None] * 20 + ["a title"] * 280)
    label = pa.array(rng.normal(size=300))
    table = pa.table({"later": later, "missing": missing, "title": title, "y": label})
    pq.write_table(table, parts / "rows.parquet")
    assert fit(parts, "--label", "y", "--quiet") == 0
    assert [feature.name for feature in cs.load(parts.parent / "model").binning.features] == ["later", "missing"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--by", "product"], "--by is for one file that is read into memory, but '{}' is a folder"),
        (["--set-columns", "price"], "--set-columns is for one file"),
        (["--column", "words"], "Column 'words' is unknown. There are: 'product'"),
        (["--column", "product", "--by", "product"], "--by is for one file that is read into memory"),
        (["--delimiter", ";"], "--delimiter is for one file"),
        (["--max-memory", "much"], "max_memory is 'much'; give a number of bytes or a text such as '2GB'"),
        (["--label", "sale"], "'{}' has no column 'sale'. Did you mean 'sales'?"),
        (["--weight", "wait"], "'{}' has no column 'wait'"),
        (["--ignore", "prize"], "'{}' has no column 'prize'"),
        (["--label", "star_rating"], "Column 'star_rating' of '{}' holds lists"),
    ],
)
def test_refused(parts: Path, options: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert fit(parts, "--label", "sales", *options) == 1
    err = capsys.readouterr().err
    assert err.startswith("clearset: ")
    assert message.format(parts) in err
    assert not (parts.parent / "model").exists()


def test_limits_are_for_parquet(folder: Path, parts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    csv = parts.parent / "long.csv"
    csv.write_bytes((folder / "long.csv").read_bytes())
    assert fit(csv, "--label", "sales", "--max-memory", "1GB") == 1
    assert "are for Parquet files" in capsys.readouterr().err
    assert fit(csv, "--label", "sales", "--by", "product", "--max-memory", "1GB") == 1
    assert "--by is for one file that is read into memory" in capsys.readouterr().err


def test_folders_without_rows_or_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "parts").mkdir()
    assert fit(tmp_path / "parts", "--label", "y") == 1
    assert "holds no Parquet files" in capsys.readouterr().err
    pq.write_table(
        pa.table({"x": pa.array([], pa.float64()), "y": pa.array([], pa.float64())}), tmp_path / "parts/a.parquet"
    )
    assert fit(tmp_path / "parts", "--label", "y") == 1
    assert "has no rows" in capsys.readouterr().err


def test_tune_takes_files_only(parts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tune", str(parts), "--label", "sales", "--output", str(parts.parent / "model")]) == 1
    assert f"tune reads data into memory, but '{parts}' is a folder" in capsys.readouterr().err
