"""Commands that are given a saved joint model: they take it, or say in one line that they do not."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import clearset as cs
from clearset.cli import main


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder with the same data as lists and as CSV, and a model."""
    folder, rng = tmp_path_factory.mktemp("joint"), np.random.default_rng(0)
    items = [rng.choice(["oak", "ripe", "thin", "NA"], rng.integers(1, 3)).tolist() for _ in range(120)]
    texts, prices = [" ".join(row) for row in items], rng.uniform(size=120)
    rows = {"id": range(120), "text": texts, "price": prices}
    frame = pa.table({**rows, "items": items})
    pa.parquet.write_table(frame, folder / "data.parquet")
    pa.csv.write_csv(pa.table({**rows, "items": [";".join(row) for row in items]}), folder / "data.csv")
    engines = {"items": cs.SemanticFeatureEngine(cs.Items()), "text": cs.SemanticFeatureEngine(cs.NGrams(1))}
    for part in engines.values():
        part.set_params(epochs=2, n_jobs=1)
    follow_on = cs.SetClassifier(["price"], epochs=2, n_jobs=1)
    labels = np.array(["high", "low", "mid"])[np.arange(120) % 3]
    cs.JointModel(engines, follow_on, epochs=1, random_state=0).fit(frame, labels).save(folder / "model")
    return folder


@pytest.mark.parametrize("data", ["data.parquet", "data.csv"])
def test_predict(folder: Path, data: str, tmp_path: Path) -> None:
    command = ["predict", str(folder / "model"), str(folder / data), "-o", str(tmp_path / "out.parquet")]
    assert main([*command, "--by", "id"] if data == "data.parquet" else command) == 0
    found, frame = pa.parquet.read_table(tmp_path / "out.parquet"), pa.parquet.read_table(folder / "data.parquet")
    model = cs.load(folder / "model")
    assert found["prediction"].to_pylist() == model.predict(frame).tolist()
    assert found["proba_low"].to_pylist() == model.predict_proba(frame)[:, 1].tolist()
    assert ("id" in found.column_names) == (data == "data.parquet")


def test_verify(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", str(folder / "model")]) == 0
    assert capsys.readouterr().out == f"{cs.load(folder / 'model').verify()}\n"
    assert main(["verify", str(folder / "model"), str(folder / "data.csv")]) == 1
    assert "Leave DATA out" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["explain", "report", "serve", "serve --compare"])
def test_what_does_not_take_it_says_so(
    folder: Path, command: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    name, model, data = command.split()[0], str(folder / "model"), str(folder / "data.parquet")
    given = {"explain": [data], "report": ["-o", str(tmp_path / "a.html")], "serve": ["--port", "0"]}[name]
    if "--compare" in command:
        given += ["--compare", model, "--data", data]
        cs.SetRegressor(epochs=1).fit([[0.0], [1.0]], [0.0, 1.0]).save(tmp_path / "plain")
    served = str(tmp_path / "plain") if "--compare" in command else model
    assert main([name, served, *given]) == 1
    said = capsys.readouterr().err
    assert (
        said == f"clearset: '{model}' holds a JointModel, which only 'predict' and 'verify' take. Use it in Python.\n"
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [(["--column", "items"], "a JointModel has several"), (["--top", "4"], "the model knows 3 classes")],
)
def test_options_that_do_not_fit(
    folder: Path, given: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["predict", str(folder / "model"), str(folder / "data.csv"), *given]) == 1
    assert message in capsys.readouterr().err


def test_a_missing_column_is_named(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    frame = pa.parquet.read_table(folder / "data.parquet")
    for name in ("items", "price"):
        pa.parquet.write_table(frame.drop_columns(name), tmp_path / "data.parquet")
        assert main(["predict", str(folder / "model"), str(tmp_path / "data.parquet")]) == 1
        assert repr(name) in capsys.readouterr().err
