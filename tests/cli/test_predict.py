import csv
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import clearset as cs
from clearset.cli import main

LONG = ["--by", "product", "--set-columns", "price"]


@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
@pytest.mark.parametrize(("data", "options"), [("sets.parquet", ["--by", "product"]), ("long.csv", LONG)])
def test_regression(folder: Path, tmp_path: Path, name: str, data: str, options: list[str]) -> None:
    out = tmp_path / name
    assert main(["predict", str(folder / "regressor"), str(folder / data), "--output", str(out), *options]) == 0
    table = pa.csv.read_csv(out) if out.suffix == ".csv" else pa.parquet.read_table(out)
    assert table.column_names == ["product", "prediction"]
    assert table["product"].to_pylist() == list(range(600))
    expected = cs.load(folder / "regressor").predict(pa.parquet.read_table(folder / "sets.parquet"))
    np.testing.assert_allclose(table["prediction"].to_numpy(), expected, rtol=1e-9)


def test_key_and_label_may_stay_in_the_table(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, data = str(folder / "plain"), str(folder / "long.csv")
    options = ["--label", "sales", "--epochs", "2", "--quiet", "--output", model]
    assert main(["fit", data, *LONG, *options]) == 0
    assert main(["predict", model, data, *LONG]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 601
    assert main(["verify", model, data, *LONG]) == 0


def test_classes_on_standard_output(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["predict", str(folder / "classifier"), str(folder / "classes.parquet")]) == 0
    header, *rows = csv.reader(capsys.readouterr().out.splitlines())
    assert header == ["prediction", "proba_high", "proba_low"]
    assert len(rows) == 600
    for name, high, low in rows:
        assert float(high) + float(low) == pytest.approx(1)
        assert name == ("high" if float(high) > float(low) else "low")


def test_a_missing_feature_is_named(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = pa.parquet.read_table(folder / "sets.parquet").drop_columns(["price"])
    pa.parquet.write_table(table, tmp_path / "t.parquet")
    assert main(["predict", str(folder / "regressor"), str(tmp_path / "t.parquet")]) == 1
    assert "price" in capsys.readouterr().err


def test_a_foreign_file_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["predict", str(folder / "features.yaml"), str(folder / "sets.parquet")]) == 1
    assert "is not a clearset artifact" in capsys.readouterr().err


def test_columns_are_copied(folder: Path, tmp_path: Path) -> None:
    table = pa.parquet.read_table(folder / "sets.parquet")
    named = table.append_column("when", pa.array([f"day {place}" for place in range(600)]))
    pa.parquet.write_table(named, tmp_path / "named.parquet")
    out = tmp_path / "out.parquet"
    command = ["predict", str(folder / "regressor"), str(tmp_path / "named.parquet"), "--output", str(out)]
    assert main([*command, "--id", "when", "--id", "sales"]) == 0
    found = pa.parquet.read_table(out)
    assert found.column_names == ["when", "sales", "prediction"]
    assert found.select(["when", "sales"]).equals(named.select(["when", "sales"]))
    assert main([*command, "--by", "product", "--id", "when", "--id", "product"]) == 0
    assert pa.parquet.read_table(out).column_names == ["product", "when", "prediction"]


def test_columns_of_a_long_table_are_copied(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["predict", str(folder / "regressor"), str(folder / "long.csv"), *LONG, "--id"]
    assert main([*command, "sales"]) == 0
    header, *rows = csv.reader(capsys.readouterr().out.splitlines())
    assert header == ["product", "sales", "prediction"]
    sales = pa.parquet.read_table(folder / "sets.parquet")["sales"].to_pylist()
    assert [float(row[1]) for row in rows] == sales
    assert main([*command, "star_rating"]) == 1
    assert "Column 'star_rating' is not constant within the set" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--id", "prise"], "has no column 'prise'. Did you mean 'price'?"),
        (["--id", "star_rating"], "'star_rating' of .* holds lists"),
        (["--id", "prediction"], "'prediction' of .* is named as a column of the predictions is. Rename it."),
        (["--by", "proba_low"], "'proba_low' of .* is named as a column of the predictions is. Rename it."),
        (["--id", "prediction_2", "--top", "2"], "'prediction_2' of .* is named as"),
    ],
)
def test_columns_that_cannot_be_copied(folder: Path, options: list[str], message: str, capsys) -> None:
    assert main(["predict", str(folder / "classifier"), str(folder / "classes.parquet"), *options]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert re.search(message, err)
