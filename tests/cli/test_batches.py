"""Commands that read folders, and files in batches, do what they do with files in memory."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import clearset as cs
from clearset.cli import main

ITEMS = [["salt", "lime"], ["salt"], [], ["lime", "salt", "chili"], None, ["feta", "two\nlines"]] * 20


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the same rows as one file and as a folder, and a model of them."""
    folder = tmp_path_factory.mktemp("batches")
    rng = np.random.default_rng(0)
    labels = ["thai" if row and "lime" in row else "greek" for row in ITEMS]
    numbers = pa.array(rng.normal(size=len(ITEMS)))
    texts = [None if row is None else " ; ".join(row) for row in ITEMS]
    columns = {"id": np.arange(len(ITEMS)), "items": ITEMS, "texts": texts, "cuisine": labels, "weight": numbers}
    table = pa.table(columns | {"weight": pa.array(rng.uniform(0.5, 2, len(ITEMS)))})
    pq.write_table(table, folder / "data.parquet")
    (folder / "parts").mkdir()
    for place, (start, stop) in enumerate([(0, 50), (50, 51), (51, len(ITEMS))]):
        pq.write_table(table.slice(start, stop - start), folder / "parts" / f"{place}.parquet")
    model = cs.SemanticClassifier(tokens=cs.Items(), random_state=0, epochs=3)
    model.fit(table.select(["items"]), labels).save(folder / "model")
    return folder


@pytest.mark.parametrize("column", ["items", "texts"])
@pytest.mark.parametrize("source", [["parts"], ["data.parquet", "--max-memory", "64MB"]])
def test_table_build(data: Path, source: list[str], column: str, capsys: pytest.CaptureFixture[str]) -> None:
    name, *options = source
    if column == "texts":
        options += ["--separator", ";"]
    common = ["--column", column, "--label", "cuisine", "--tokens", "subsets:2", "--min-count", "2"]
    common += ["--weight", "weight", "-o"]
    assert main(["table", "build", str(data / name), *common, str(data / "streamed.parquet"), *options]) == 0
    assert "without its examples" in capsys.readouterr().out
    separator = ["--separator", ";"] if column == "texts" else []
    whole = ["table", "build", str(data / "data.parquet"), *common, str(data / "whole.parquet"), *separator]
    assert main(whole) == 0
    found, expected = (cs.TokenTable.load(data / f"{each}.parquet") for each in ("streamed", "whole"))
    assert len(expected) > 3
    assert found.to_arrow().equals(expected.to_arrow())


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_predict(data: Path, kind: str) -> None:
    for source, name in (("parts", "streamed"), ("data.parquet", "whole")):
        output = str(data / f"{name}.{kind}")
        assert main(["predict", str(data / "model"), str(data / source), "-o", output, "--id", "id", "--quiet"]) == 0
    found, expected = ((data / f"{each}.{kind}") for each in ("streamed", "whole"))
    if kind == "csv":
        assert found.read_bytes() == expected.read_bytes()
        assert len(found.read_text().splitlines()) == len(ITEMS) + 1
    else:
        assert pq.read_table(found).equals(pq.read_table(expected))
    assert not list(data.glob(".*"))


def test_predict_to_standard_output(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outputs = []
    for source in ("parts", "data.parquet"):
        assert main(["predict", str(data / "model"), str(data / source), "--quiet"]) == 0
        outputs.append(capsys.readouterr().out)
    assert outputs[0] == outputs[1]


@pytest.mark.parametrize("reasons", [[], ["--reasons", "2"]])
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_explain(data: Path, kind: str, reasons: list[str]) -> None:
    for source, name in (("parts", "streamed"), ("data.parquet", "whole")):
        output = str(data / f"{name}.{kind}")
        command = ["explain", str(data / "model"), str(data / source), "-o", output, "--id", "id", "--quiet"]
        assert main([*command, *reasons]) == 0
    found, expected = ((data / f"{each}.{kind}") for each in ("streamed", "whole"))
    if kind == "csv":
        assert found.read_bytes() == expected.read_bytes()
    else:
        assert pq.read_table(found).equals(pq.read_table(expected))


def test_explain_prints_the_first_sets(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outputs = []
    for source in ("parts", "data.parquet"):
        assert main(["explain", str(data / "model"), str(data / source), "--sets", "2", "--quiet"]) == 0
        outputs.append(capsys.readouterr().out)
    assert outputs[0] == outputs[1]


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["predict", "model", "parts", "--by", "nothing"], "no column 'nothing'"),
        (["predict", "model", "parts", "--delimiter", ";"], "--delimiter is for CSV files"),
        (["predict", "model", "parts", "--max-memory", "much"], "max_memory is 'much'"),
        (["explain", "model", "parts", "-o", "all.json"], "JSON is written whole"),
        (["predict", "model", "parts", "-o", "out.csv", "--column", "cuisines"], "Did you mean 'cuisine'"),
    ],
)
def test_refused(data: Path, command: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    names = {"model", "parts", "all.json", "out.csv"}
    assert main([str(data / each) if each in names else each for each in command]) != 0
    assert message in " ".join(capsys.readouterr().err.split())
    assert not (data / "out.csv").exists()
