"""What ``predict`` and ``explain`` say of the sets that they have read."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

import clearset as cs
from clearset.cli import main

NAN = float("nan")
STARS = [[5.0, 4.0], [1.0], [2.0, 3.0, 1.0], [4.0]] * 10
SHOPS = [["a", "b"], ["a"], ["b", "b", "a"], ["b"]] * 10


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder with a model of numbers and categories, and one of items."""
    folder = tmp_path_factory.mktemp("models")
    sets = pa.table({"stars": STARS, "shop": SHOPS, "price": [1.0, 2.0, 3.0, 4.0] * 10})
    features = ["stars", cs.Feature("shop", kind="categorical"), "price", cs.SIZE]
    labels = [float(sum(stars)) for stars in STARS]
    cs.SetRegressor(features, epochs=1, random_state=0).fit(sets, labels).save(folder / "sets")
    items = cs.SemanticClassifier(cs.Items(), epochs=1, random_state=0)
    items.fit(pa.table({"shop": SHOPS}), ["x", "y", "x", "y"] * 10).save(folder / "items")
    return folder


def told(folder: Path, model: str, table: pa.Table, capsys, command: str = "predict", *options: str) -> str:
    pa.parquet.write_table(table, folder / "t.parquet")
    assert main([command, str(folder / model), str(folder / "t.parquet"), *options]) == 0
    err: str = capsys.readouterr().err
    return err


@pytest.mark.parametrize("command", ["predict", "explain"])
def test_numbers_and_categories(models: Path, command: str, capsys: pytest.CaptureFixture[str]) -> None:
    table = pa.table(
        {
            "stars": [[1.0, 2.0], [], [None, 3.0], [NAN], None],
            "shop": [["a", "new"], [], ["b", None], ["other"], None],
            "price": [1.0, 2.0, NAN, 3.0, None],
        }
    )
    assert told(models, "sets", table, capsys, command) == (
        "Read 5 sets: 2 without tokens; 3 with missing values (stars, shop, price); 2 with categories that training "
        "had not (shop).\n"
    )
    assert told(models, "sets", table, capsys, command, "--quiet") == ""
    assert told(models, "sets", table.slice(1, 1), capsys, command) == "Read 1 set: 1 without tokens.\n"


def test_nothing_to_tell(models: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = pa.table({"stars": STARS * 100, "shop": SHOPS * 100, "price": [1.0] * 4000})
    assert told(models, "sets", table, capsys) == "Read 4,000 sets.\n"


@pytest.mark.parametrize("command", ["predict", "explain"])
def test_items(models: Path, command: str, capsys: pytest.CaptureFixture[str]) -> None:
    table = pa.table({"shop": [["a", "new"], [], ["new"], None, ["newer", "new"], ["b"]]})
    assert told(models, "items", table, capsys, command) == (
        "Read 6 sets: 2 without items; 2 without a known token, for which the prediction is the usual one.\n"
    )


def test_joint_models(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    frame = pa.table({"shop": SHOPS, "price": [1.0, 2.0, 3.0, 4.0] * 10})
    engine = cs.SemanticFeatureEngine(cs.Items(), epochs=1)
    model = cs.JointModel({"shop": engine}, cs.SetRegressor(["price"], epochs=1), epochs=1, random_state=0)
    model.fit(frame, [1.0, 2.0, 3.0, 5.0] * 10).save(tmp_path / "joint")
    new = pa.table({"shop": [["a"], ["new"], []], "price": [1.0, None, 2.0]})
    assert told(tmp_path, "joint", new, capsys) == (
        "Read 3 sets: 1 with missing values (price); 1 without items (shop); 1 without a known token, for which the "
        "prediction is the usual one (shop).\n"
    )
