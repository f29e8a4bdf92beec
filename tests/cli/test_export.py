from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest

import clearset as cs
from clearset import runtime
from clearset.cli import main


@pytest.mark.parametrize(("name", "options"), [("sales.runtime", []), ("sales", ["--format", "runtime"])])
def test_runtime(folder: Path, tmp_path: Path, name: str, options: list[str], capsys) -> None:
    assert main(["export", str(folder / "regressor"), str(tmp_path / name), *options]) == 0
    assert name in capsys.readouterr().out
    sets = pyarrow.parquet.read_table(folder / "sets.parquet")
    expected = cs.load(folder / "regressor").predict(sets)
    np.testing.assert_allclose(runtime.load(tmp_path / name).predict(sets.to_pydict()), expected, rtol=1e-10)


@pytest.mark.parametrize(
    ("name", "message"),
    [("sales.txt", "End its name with one of .h, .onnx, .runtime, .sql"), ("regressor", "does not tell")],
)
def test_endings_that_tell_no_format(folder: Path, tmp_path: Path, name: str, message: str, capsys) -> None:
    assert main(["export", str(folder / "regressor"), str(tmp_path / name)]) == 1
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_onnx(folder: Path, tmp_path: Path, capsys) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    outputs = []
    for options in ([], ["--predictions"]):
        assert main(["export", str(folder / "regressor"), str(tmp_path / "sales.onnx"), *options]) == 0
        outputs.append({each.name for each in onnxruntime.InferenceSession(tmp_path / "sales.onnx").get_outputs()})
    assert outputs[1] == {"prediction"} < outputs[0]
    assert main(["export", str(folder / "regressor"), str(tmp_path / "sales.runtime"), "--predictions"]) == 1
    assert "are for ONNX, not for runtime" in capsys.readouterr().err


def test_sql(folder: Path, tmp_path: Path, capsys) -> None:
    options = ["--dialect", "sqlite", "--table", "reviews", "--key", "product", "--sets", "products"]
    assert main(["export", str(folder / "regressor"), str(tmp_path / "sales.sql"), *options]) == 0
    places = {"table": "reviews", "key": "product", "sets": "products"}
    assert (tmp_path / "sales.sql").read_text() == str(cs.load(folder / "regressor").to_sql("sqlite", **places))
    for output, given, message in (
        ("sales.sql", [], "Give --dialect"),
        ("sales.runtime", ["--table", "reviews"], "are for SQL, not for runtime"),
    ):
        assert main(["export", str(folder / "regressor"), str(tmp_path / output), *given]) == 1
        assert message in capsys.readouterr().err


def test_sql_of_a_model_that_reads_places(folder: Path, tmp_path: Path, capsys) -> None:
    sets = pyarrow.parquet.read_table(folder / "sets.parquet")
    model = cs.SetRegressor(["star_rating", cs.PLACE], epochs=1, random_state=0).fit(sets, np.arange(len(sets)))
    model.save(tmp_path / "places")
    export = ["export", str(tmp_path / "places"), str(tmp_path / "places.sql"), "--dialect", "sqlite"]
    assert main([*export, "--order", "day"]) == 0
    assert (tmp_path / "places.sql").read_text() == str(model.to_sql("sqlite", order="day"))
    assert 'ORDER BY t."day"' in (tmp_path / "places.sql").read_text()
    capsys.readouterr()
    assert main(export) == 1
    assert "rows of a table have no order" in capsys.readouterr().err


def test_c(folder: Path, tmp_path: Path) -> None:
    assert main(["export", str(folder / "regressor"), str(tmp_path / "sales.h")]) == 0
    assert "model_score(" in (tmp_path / "sales.h").read_text()


def test_the_model_is_not_overwritten(folder: Path, capsys) -> None:
    before = (folder / "regressor").read_bytes()
    assert main(["export", str(folder / "regressor"), str(folder / "regressor"), "--format", "runtime"]) == 1
    assert (folder / "regressor").read_bytes() == before


def test_joint_models(tmp_path: Path, capsys) -> None:
    frame = pyarrow.table({"words": [["a"], ["b"]] * 30, "price": [1.0, 2.0] * 30})
    engine = cs.SemanticFeatureEngine(tokens=cs.Items(), epochs=1)
    cs.JointModel({"words": engine}, cs.SetRegressor(["price"], epochs=1)).fit(frame, [0.0, 1.0] * 30).save(
        tmp_path / "joint.clearset"
    )
    assert main(["export", str(tmp_path / "joint.clearset"), str(tmp_path / "joint.runtime")]) == 1
    assert "A joint model is not written for clearset.runtime" in capsys.readouterr().err
