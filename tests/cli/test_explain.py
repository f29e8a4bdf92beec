import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import clearset as cs
from clearset.cli import main

LONG = ["--by", "product", "--set-columns", "price"]


@pytest.fixture(scope="module")
def baskets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder with baskets, some items of which are hostile, and a model of them."""
    folder = tmp_path_factory.mktemp("baskets")
    rows = ["bread;milk", "beer;\x1b[31mcrisps", "milk", "beer;<script>", ""] * 20
    table = pa.table({"items": rows, "kind": ["day", "night", "day", "night", "none"] * 20})
    pa.csv.write_csv(table, folder / "baskets.csv")
    options = ["--label", "kind", "--column", "items", "--tokens", "subsets:2", "--seed", "0", "--quiet"]
    arguments = ["fit", str(folder / "baskets.csv"), *options, "--output", str(folder / "model")]
    assert main([*arguments, "--epochs", "3"]) == 0
    return folder


def test_a_few_sets_are_printed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["explain", str(folder / "regressor"), str(folder / "long.csv"), *LONG]
    assert main([*arguments, "--sets", "2", "--top", "1"]) == 0
    out = capsys.readouterr().out
    model, table = cs.load(folder / "regressor"), pa.parquet.read_table(folder / "sets.parquet")
    expected = model.predict(table)
    explanation = model.explain(table.slice(0, 2))
    for number in range(2):
        head = f"product {number}: prediction {expected[number]:.4g}, base rate {explanation.base[number]:.4g}"
        assert head in out
    rows = [*explanation[0].tokens.to_pylist(), *explanation[0].of_sets.to_pylist()]
    largest = max(rows, key=lambda row: abs(row["contribution"]))
    rest = sum(row["contribution"] for row in rows) - largest["contribution"]
    first = out.split("\n\n")[0].splitlines()
    assert first[2].split()[0] == f"{largest['contribution']:+.4g}"
    assert first[3].split() == [f"{rest:+.4g}", str(len(rows) - 1), "others", "together"]


@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
@pytest.mark.parametrize(("data", "options"), [("sets.parquet", ["--by", "product"]), ("long.csv", LONG)])
def test_all_sets_are_written(folder: Path, tmp_path: Path, name: str, data: str, options: list[str]) -> None:
    out = tmp_path / name
    arguments = ["explain", str(folder / "regressor"), str(folder / data), *options]
    assert main([*arguments, "--output", str(out)]) == 0
    table = pa.csv.read_csv(out) if out.suffix == ".csv" else pa.parquet.read_table(out)
    explanation = cs.load(folder / "regressor").explain(pa.parquet.read_table(folder / "sets.parquet"))
    frame = explanation.to_frame(details=True)
    assert table.column_names == ["product", *frame.column_names[1:]]
    assert table["product"].to_pylist() == frame["set"].to_pylist()
    for column in ("star_rating", "contribution", "share"):
        np.testing.assert_allclose(table[column].to_numpy(), frame[column].to_numpy(), rtol=1e-9)
    assert table["without"].null_count == frame["without"].null_count


def test_json_has_effects_and_keys(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    arguments = ["explain", str(folder / "classifier"), str(folder / "classes.parquet"), "--by", "product"]
    assert main([*arguments, "--effects", "--output", str(out)]) == 0
    sets = json.loads(out.read_text("utf-8"))["sets"]
    assert [each["key"] for each in sets] == list(range(600))
    assert {each["label"] for each in sets} == {"low"}
    assert {row["feature"] for row in sets[0]["effects"]} == {"star_rating", "num_helpful", "price", "cs.SIZE"}


def test_items_and_classes(baskets: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["explain", str(baskets / "model"), str(baskets / "baskets.csv")]
    assert main([*arguments, "--sets", "5", "--label", "night"]) == 0
    out = capsys.readouterr().out
    assert out.count("prediction of night") == 5
    assert "\x1b" not in out
    assert "<script>" in out
    assert "no known token" in out
    assert main([*arguments, "--output", str(tmp_path / "out.csv")]) == 0
    table = pa.csv.read_csv(tmp_path / "out.csv", convert_options=pa.csv.ConvertOptions(strings_can_be_null=True))
    frame = cs.load(baskets / "model").explain([["bread", "milk"]]).tokens
    written = [row for row in table.to_pylist() if row["set"] == 0 and row["feature"] is None]
    assert [row["token"] for row in written] == [";".join(token) for token in frame["token"].to_pylist()]
    assert [row["covers"] for row in written] == [";".join(map(str, places)) for places in frame["covers"].to_pylist()]
    assert [row["statistics.count"] for row in written] == [20] * len(written)


def test_reasons_are_printed_and_written(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["explain", str(folder / "regressor"), str(folder / "sets.parquet"), "--by", "product"]
    expected = cs.load(folder / "regressor").explain(pa.parquet.read_table(folder / "sets.parquet"))
    assert main([*arguments, "--reasons", "2", "--sets", "3"]) == 0
    out = capsys.readouterr().out
    for row in expected[:3].reasons(2).to_pylist():
        assert f"  {row['rank']}. {row['reason']} ({row['contribution']:+.4g})" in out.splitlines()
    with_id = [*arguments, "--id", "sales", "--reasons", "1", "-o", str(tmp_path / "ids.parquet")]
    assert main(with_id) == 0
    assert pa.parquet.read_table(tmp_path / "ids.parquet").column_names[:2] == ["product", "sales"]
    assert main([*arguments, "--reasons", "1", "--raised", "-o", str(tmp_path / "reasons.csv")]) == 0
    written, reasons = pa.csv.read_csv(tmp_path / "reasons.csv"), expected.reasons(1, "raised")
    assert written.column_names == ["product", *reasons.column_names[1:]]
    assert written["reason"].to_pylist() == reasons["reason"].to_pylist()


def test_importance_is_printed_and_drawn(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["importance", str(folder / "regressor"), str(folder / "sets.parquet")]
    assert main(arguments) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    expected = cs.load(folder / "regressor").importance(pa.parquet.read_table(folder / "sets.parquet"))
    for row in expected.features.to_pylist():
        assert [row["feature"], f"{row['contribution']:.4g}"] in lines
    assert main([*arguments, "--permutation", "--target", "sales"]) == 0
    assert "what shuffling costs in R²" in capsys.readouterr().out
    assert main([*arguments, "-o", str(tmp_path / "importance.png")]) == 0
    assert (tmp_path / "importance.png").read_bytes()[:4] == b"\x89PNG"
    for wrong, message in (
        (["--target", "sales"], "Give both, or neither"),
        (["-o", str(tmp_path / "x.txt")], "is no picture"),
    ):
        assert main([*arguments, *wrong]) == 1
        assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--reasons", "3", "--output", "out.json"], "rows of a table"),
        (["--raised"], "Give their number"),
        (["--reasons", "3", "--top", "2"], "--top is 2, but of reasons --reasons says how many are named, 3. Leave"),
        (["--sets", "3", "--output", "out.csv"], "--sets says what is printed, but everything is written to 'out.csv'"),
        (["--top", "10", "--output", "out.csv"], "--top says what is printed, but everything is written to 'out.csv'"),
        (["--output", "out.xlsx"], "neither .csv, .parquet nor .json"),
        (["--effects"], "JSON only"),
        (["--label", "1"], "the model has no classes"),
        (["--column", "items"], "models of items"),
    ],
)
def test_what_cannot_be_done(
    folder: Path, options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", str(folder / "regressor"), str(folder / "sets.parquet"), *options]) == 1
    assert message in capsys.readouterr().err


def test_a_key_called_as_a_column(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = pa.parquet.read_table(folder / "sets.parquet").rename_columns({"product": "share"})
    pa.parquet.write_table(table, tmp_path / "t.parquet")
    arguments = ["explain", str(folder / "regressor"), str(tmp_path / "t.parquet"), "--by", "share"]
    assert main([*arguments, "--output", str(tmp_path / "out.csv")]) == 1
    assert "named 'share'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("label", "message"),
    [("nigth", "Did you mean 'night'?"), ("zz", "There are: day, night, none."), ("", "--label is ''")],
)
def test_unknown_classes(baskets: Path, capsys: pytest.CaptureFixture[str], label: str, message: str) -> None:
    assert main(["explain", str(baskets / "model"), str(baskets / "baskets.csv"), "--label", label]) == 1
    assert message in capsys.readouterr().err


def test_the_first_of_two_classes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["explain", str(folder / "classifier"), str(folder / "classes.parquet"), "--label"]
    assert main([*arguments, "high"]) == 1
    assert "speak for the second, 'low'" in capsys.readouterr().err
    assert main([*arguments, "low", "--sets", "1"]) == 0


def test_missing_keys_and_values_in_json(folder: Path, tmp_path: Path) -> None:
    table = pa.table(
        {
            "product": [1.0, float("nan"), None],
            "star_rating": [[5.0, float("nan")], [], [None]],
            "num_helpful": [[1.0, 2.0], [], [3.0]],
            "price": [1.0, float("nan"), None],
        }
    )
    pa.parquet.write_table(table, tmp_path / "sets.parquet")
    out = tmp_path / "out.json"
    arguments = ["explain", str(folder / "regressor"), str(tmp_path / "sets.parquet"), "--by", "product"]
    assert main([*arguments, "--output", str(out)]) == 0
    sets = json.loads(out.read_text("utf-8"), parse_constant=pytest.fail)["sets"]
    assert [each["key"] for each in sets] == [1.0, None, None]
    assert sets[0]["tokens"][1]["star_rating"] is None


def test_items_of_a_long_table(baskets: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = {"basket": [7, 7, 8], "items": ["bread;milk", "beer", ""]}
    pa.csv.write_csv(pa.table(rows), tmp_path / "long.csv")
    assert main(["explain", str(baskets / "model"), str(tmp_path / "long.csv"), "--by", "basket"]) == 0
    out = capsys.readouterr().out
    expected = cs.load(baskets / "model").explain([["bread", "milk", "beer"], []])
    assert f"basket 7: prediction of {expected.label[0]} {expected.prediction[0]:.4g}" in out
    assert f"basket 8: prediction of {expected.label[1]} {expected.prediction[1]:.4g}" in out


def test_nothing_that_is_read_is_replaced(baskets: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = (baskets / "baskets.csv").read_bytes()
    data = str(baskets / "baskets.csv")
    assert main(["explain", str(baskets / "model"), data, "--output", data]) == 1
    assert "it is what is read" in capsys.readouterr().err
    assert (baskets / "baskets.csv").read_bytes() == before


@pytest.mark.parametrize("by", [[], ["--by", "product"]])
def test_columns_are_copied(folder: Path, tmp_path: Path, by: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["explain", str(folder / "regressor"), str(folder / "sets.parquet"), *by, "--id", "sales"]
    assert main([*arguments, "--output", str(tmp_path / "out.parquet")]) == 0
    table = pa.parquet.read_table(tmp_path / "out.parquet")
    frame = pa.parquet.read_table(folder / "sets.parquet")
    assert table.column_names[:2] == [by[1] if by else "set", "sales"]
    numbers = table[by[1] if by else "set"].to_numpy()
    assert set(numbers) == set(range(600))
    assert table["sales"].to_pylist() == frame["sales"].to_numpy()[numbers].tolist()
    assert main([*arguments, "--output", str(tmp_path / "out.json")]) == 0
    sets = json.loads((tmp_path / "out.json").read_text("utf-8"))["sets"]
    found = [{token["sales"] for token in one["tokens"]} for one in sets]
    assert found == [{value} for value in frame["sales"].to_pylist()]
    capsys.readouterr()
    assert main([*arguments, "--sets", "1"]) == 0
    sales = frame["sales"][0].as_py()
    assert capsys.readouterr().out.startswith(f"product 0, sales {sales}: " if by else f"sales {sales:.4g}: ")


def test_columns_that_cannot_be_copied(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["explain", str(folder / "regressor"), str(folder / "sets.parquet"), "-o", str(tmp_path / "out.csv")]
    assert main([*arguments, "--id", "price"]) == 1
    assert "--id is 'price', but the explanation has a column of that name" in capsys.readouterr().err
    assert main([*arguments, "--id", "prise"]) == 1
    assert "has no column 'prise'. Did you mean 'price'?" in capsys.readouterr().err
