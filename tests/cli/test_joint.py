"""Commands that fit a joint model, or are given a saved one: they take it, or say in one line that they do not."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import clearset as cs
from clearset.cli import main
from clearset.models import FittedJointModel


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


def test_explain_importance_report_and_card(folder: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    model, data = str(folder / "model"), str(folder / "data.csv")
    frame, fitted = pa.parquet.read_table(folder / "data.parquet"), cs.load(folder / "model")
    assert main(["explain", model, data, "-o", str(tmp_path / "e.parquet")]) == 0
    found = pa.parquet.read_table(tmp_path / "e.parquet")
    wanted = fitted.explain(frame).to_frame(details=True)
    wanted = wanted if isinstance(wanted, pa.Table) else pa.Table.from_pandas(wanted)
    assert found.column_names == wanted.column_names
    assert found["contribution"].to_pylist() == wanted["contribution"].to_pylist()
    assert main(["explain", model, data, "-o", str(tmp_path / "e.json"), "--effects"]) == 0
    document = json.loads((tmp_path / "e.json").read_text())
    assert len(document["sets"]) == len(document["engines"]["items"]["sets"]) == 120
    capsys.readouterr()
    assert main(["explain", model, data, "--sets", "1", "--top", "50"]) == 0
    assert "items: " in (said := capsys.readouterr().out)
    assert "text: estimate" in said
    assert main(["explain", model, data, "--reasons", "2", "--quiet"]) == 0
    assert main(["importance", model, data]) == 0
    assert "text: thin" in capsys.readouterr().out
    assert main(["report", model, str(folder / "data.parquet"), "-o", str(tmp_path / "a.html")]) == 0
    assert '"parts":{"items"' in (tmp_path / "a.html").read_text()
    capsys.readouterr()
    assert main(["card", model]) == 0
    assert capsys.readouterr().out == fitted.card().to_markdown()
    assert main(["export", model, str(tmp_path / "a.onnx")]) == 1
    assert "not written as ONNX as one file" in capsys.readouterr().err


@pytest.fixture(scope="module")
def lamps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder with one table of items, texts, categories and numbers, as CSV and as Parquet."""
    folder, rng = tmp_path_factory.mktemp("lamps"), np.random.default_rng(0)
    words = ["great", "light", "bad", "broken", "oak", "lamp"]
    items = [rng.choice(list("abcd"), rng.integers(1, 4), replace=False).tolist() for _ in range(240)]
    texts = [" ".join(rng.choice(words, rng.integers(3, 6))) for _ in range(240)]
    prices = rng.uniform(size=240)
    shops = [("x", "y", "z")[row % 3] for row in range(240)]
    worth = np.array([("a" in row) + ("great" in text) for row, text in zip(items, texts, strict=True)]) + prices
    rows = {"review": texts, "shop": shops, "price": prices, "good": np.where(worth > 1.3, "good", "bad")}
    pa.parquet.write_table(pa.table({**rows, "items": items}), folder / "data.parquet")
    pa.csv.write_csv(pa.table({**rows, "items": [";".join(row) for row in items]}), folder / "data.csv")
    return folder


@pytest.mark.parametrize("data", ["data.parquet", "data.csv"])
def test_fit_of_all_columns(lamps: Path, data: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["fit", str(lamps / data), "--label", "good", "--joint", "--seed", "0", "-o", str(tmp_path / "m")]
    assert main([*command, "--validation", str(lamps / data), "--checkpoint", str(tmp_path / "c")]) == 0
    said = capsys.readouterr().out
    for line in ("  features        price, shop", "  label           good", "review: chose NGrams"):
        assert line in said
    uses = next(line for line in said.splitlines() if line.startswith("  items or texts"))
    assert set(uses.replace(",", " ").split()[3:]) == {"items", "review"}
    model, frame = cs.load(tmp_path / "m"), pa.parquet.read_table(lamps / "data.parquet")
    assert {str(engine.table.tokenizer)[:5] for engine in model.engines.values()} <= {"Items", "Subse", "NGram"}
    assert model.score(frame, frame["good"]) > 0.85
    assert main(["predict", str(tmp_path / "m"), str(lamps / data), "-o", str(tmp_path / "p.parquet")]) == 0
    found = pa.parquet.read_table(tmp_path / "p.parquet")["prediction"].to_pylist()
    assert found == model.predict(frame).tolist()


def test_fit_of_named_columns(lamps: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    features = tmp_path / "features.yaml"
    features.write_text("features: [{name: price, monotonic: increasing}]\nmodel: {keypoints: 5}\n")
    options = ["--label", "good", "--column", "items", "--column", "review", "--features", str(features)]
    command = ["fit", str(lamps / "data.parquet"), *options, "--epochs", "3", "--min-count", "4", "--seed", "0"]
    assert main([*command, "-o", str(tmp_path / "m")]) == 0
    assert "shop: not named by --column" in capsys.readouterr().out
    model = cs.load(tmp_path / "m")
    assert [feature.monotonic for feature in model.binning.features] == ["increasing"] * 3
    assert model.follow_on.parameters["epochs"] == 3
    assert [str(engine.setting.filters) for engine in model.engines.values()] == ["(MinCount(4),)"] * 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--joint", "--tokens", "items"], "--tokens is for a model of one column"),
        (["--joint", "--refine"], "--refine is for a model of one column"),
        (["--joint", "--max-memory", "1GB"], "--max-memory is for fits in files"),
        (["--joint", "--ignore", "nothing"], "no column 'nothing'"),
        (["--joint", "--ignore", "items,review"], "no column of lists of strings or of texts"),
        (["--column", "items", "--column", "nothing"], "nothing"),
    ],
)
def test_fits_that_cannot_be(
    lamps: Path, options: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["fit", str(lamps / "data.parquet"), "--label", "good", *options, "-o", str(tmp_path / "m")]
    assert main(command) == 1
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_tune(lamps: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("optuna")
    command = ["tune", str(lamps / "data.parquet"), "--label", "good", "--joint", "--epochs", "5", "--seed", "0"]
    assert main([*command, "--budget", "2", "-o", str(tmp_path / "m")]) == 0
    said = capsys.readouterr().out
    assert "Searching learning_rate, follow_on__width" in said
    assert "follow_on__epochs" not in said
    assert isinstance(cs.load(tmp_path / "m"), FittedJointModel)


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
