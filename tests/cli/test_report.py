from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pytest

from clearset.cli import main


def metrics_in(path: Path) -> bool:
    return '"quality":{' in path.read_text()


def test_a_report_without_data(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "report.html"
    assert main(["report", str(folder / "regressor"), "-o", str(path)]) == 0
    assert str(path) in capsys.readouterr().out
    assert not metrics_in(path)


@pytest.mark.parametrize("data", [["sets.parquet"], ["long.csv", "--by", "product", "--set-columns", "price"]])
def test_a_report_on_data(folder: Path, tmp_path: Path, data: list[str]) -> None:
    path = tmp_path / "report.html"
    arguments = [str(folder / "regressor"), str(folder / data[0]), *data[1:], "--label", "sales"]
    assert main(["report", *arguments, "-o", str(path)]) == 0
    assert metrics_in(path)


def test_a_report_of_items(tmp_path: Path) -> None:
    baskets = pa.table({"items": ["beer;crisps", "milk", "beer", "milk;bread"] * 15, "late": [1, 0, 1, 0] * 15})
    pa.csv.write_csv(baskets, tmp_path / "baskets.csv")
    model, path = tmp_path / "model", tmp_path / "report.html"
    common = ["--label", "late", "--column", "items", "--tokens", "items", "--epochs", "2", "--quiet"]
    assert main(["fit", str(tmp_path / "baskets.csv"), *common, "--output", str(model)]) == 0
    arguments = [str(model), str(tmp_path / "baskets.csv"), "--label", "late", "-o", str(path)]
    assert main(["report", *arguments]) == 0
    assert metrics_in(path)


@pytest.mark.parametrize("name", ["report.pdf", "report.html.zip", "report.json"])
def test_other_kinds_of_files(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    assert main(["report", str(folder / "regressor"), "-o", str(tmp_path / name)]) == 1
    assert "would hold HTML. End its name with .html" in capsys.readouterr().err
    assert not (tmp_path / name).exists()
    for other in ("report", "r.HTM"):
        assert main(["report", str(folder / "regressor"), "-o", str(tmp_path / other)]) == 0


def test_options_for_data_need_data(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(folder / "regressor"), "--label", "sales"]) == 1
    assert "no DATA" in capsys.readouterr().err


def test_a_title(folder: Path, tmp_path: Path) -> None:
    assert main(["report", str(folder / "regressor"), "-o", str(tmp_path / "r.html"), "--title", "Sales & <b>"]) == 0
    page = (tmp_path / "r.html").read_text()
    assert '"title":"Sales \\u0026 \\u003cb\\u003e"' in page


def test_keys_are_names(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    long = [str(folder / "long.csv"), "--by", "product", "--set-columns", "price"]
    assert main(["report", str(folder / "regressor"), *long, "-o", str(path)]) == 0
    text = path.read_text(encoding="utf-8")
    assert '"name":"product ' in text
    assert "Example 0" not in text
