import os
import re
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import clearset as cs
from clearset.cli import main
from clearset.tuning._journal import open_journal


def tune(folder: Path, data: str, *options: str) -> int:
    common = ["--output", str(folder / "tuned"), "--epochs", "2", "--seed", "0", "--jobs", "1"]
    return main(["tune", str(folder / data), *common, *options])


@pytest.fixture
def sets(folder: Path, tmp_path: Path) -> Path:
    """Make a folder with the first 200 products."""
    table = pa.parquet.read_table(folder / "sets.parquet")[:200]
    pa.parquet.write_table(table, tmp_path / "sets.parquet")
    (tmp_path / "features.yaml").write_text(
        "features: [{name: star_rating, monotonic: increasing}, price]\nmodel: {keypoints: 6}"
    )
    return tmp_path


def test_from_table_to_model(sets: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = [
        "--label", "sales", "--features", str(sets / "features.yaml"), "--width", "1", "--budget", "4",
        "--storage", str(sets / "tuning.jsonl"), "--plot", str(sets / "tuning.png"),
    ]  # fmt: skip
    assert tune(sets, "sets.parquet", *options) == 0
    out, err = capsys.readouterr()
    assert "Regression of 'sales', because the label is a number: 200 sets" in out
    assert "Searching learning_rate, smoothness." in out  # the rest is named
    assert "Best of 4 trials:" in out
    assert "4/4 trials" in err
    shown = re.findall(r"^ +(\d+) +([\d.,e+]+) +[\d.]+  learning_rate", out, re.MULTILINE)
    assert len(shown) == 4
    scores = [float(score.replace(",", "")) for _, score in shown]
    assert sorted(scores) == scores
    assert (sets / "tuning.png").read_bytes().startswith(b"\x89PNG")
    model = cs.load(sets / "tuned")
    parameters = model.parameters
    named = [parameters[name] for name in ("keypoints", "width", "epochs", "random_state")]
    assert named == [6, 1, 2, 0]
    assert model.verify()
    chosen = dict(re.findall(r"^  (\w+) +(\S+)$", out[out.index("Chosen:") :], re.MULTILINE))
    assert set(chosen) == {"learning_rate", "smoothness"}
    assert parameters["learning_rate"] == pytest.approx(float(chosen["learning_rate"]), rel=1e-3)

    assert tune(sets, "sets.parquet", *options, "--budget", "5") == 0
    again = capsys.readouterr().out
    assert "Best of 5 trials:" in again
    assert tune(sets, "sets.parquet", *options, "--seed", "1") == 1
    assert "holds trials of another search" in capsys.readouterr().err


def test_a_storage_in_use(sets: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--label", "sales", "--quiet", "--width", "1", "--budget", "2", "--storage", str(sets / "tuning.jsonl")]
    with open_journal(sets / "tuning.jsonl"):
        content = (sets / "tuning.jsonl").read_bytes()
        assert tune(sets, "sets.parquet", *options) == 1
        assert (sets / "tuning.jsonl").read_bytes() == content
    err = capsys.readouterr().err
    assert err.startswith(f"clearset: '{sets / 'tuning.jsonl'}' is in use by another run (process {os.getpid()} on ")
    assert err.endswith("Wait until it has ended, or name another file to keep trials in.\n")
    assert err.count("\n") == 1
    assert not (sets / "tuned").exists()
    assert tune(sets, "sets.parquet", *options) == 0


def test_as_in_python(sets: Path) -> None:
    options = ["--label", "sales", "--budget", "3", "--quiet", "--width", "2"]
    assert tune(sets, "sets.parquet", *options) == 0
    table = pa.parquet.read_table(sets / "sets.parquet")
    model = cs.SetRegressor(epochs=2, width=2, random_state=0, n_jobs=1)
    X, y = table.drop_columns(["sales"]), table["sales"].to_numpy()
    space = {"learning_rate": (0.003, 0.3, "log"), "keypoints": (4, 30, "log"), "smoothness": (1.0, 1e4, "log")}
    tuning = cs.tune(model, X, y, budget=3, space=space, random_state=0, verbose=0)
    np.testing.assert_array_equal(cs.load(sets / "tuned").predict(X), tuning.best_estimator_.predict(X))


def test_items(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(0)
    rows = [rng.choice(list("abcdef"), rng.integers(1, 4), replace=False).tolist() for _ in range(200)]
    table = pa.table({"items": rows, "label": ["yes" if "a" in row else "no" for row in rows]})
    pa.parquet.write_table(table, tmp_path / "items.parquet")
    validation = ["--validation", str(tmp_path / "items.parquet"), "--scoring", "accuracy", "--quiet"]
    options = ["--label", "label", "--column", "items", "--tokens", "items", "--no-refine", "--budget", "3"]
    assert tune(tmp_path, "items.parquet", *options, *validation) == 0
    assert capsys.readouterr() == ("", "")
    model = cs.load(tmp_path / "tuned")
    assert model.predict([["a"], ["b", "c"]]).tolist() == ["yes", "no"]
    assert model.parameters["tokens"] == cs.Items()


def test_folds(sets: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--label", "sales", "--budget", "2", "--quiet", "--width", "2", "--folds", "3"]
    assert tune(sets, "sets.parquet", *options) == 0
    table = pa.parquet.read_table(sets / "sets.parquet")
    X, y = table.drop_columns(["sales"]), table["sales"].to_numpy()
    space = {"learning_rate": (0.003, 0.3, "log"), "keypoints": (4, 30, "log"), "smoothness": (1.0, 1e4, "log")}
    model = cs.SetRegressor(epochs=2, width=2, random_state=0, n_jobs=1)
    tuning = cs.tune(model, X, y, budget=2, folds=3, space=space, random_state=0, verbose=0)
    np.testing.assert_array_equal(cs.load(sets / "tuned").predict(X), tuning.best_estimator_.predict(X))
    assert tune(sets, "sets.parquet", *options, "--validation", str(sets / "sets.parquet")) == 1
    assert "validation_data and folds=3" in capsys.readouterr().err


def test_nothing_to_search(sets: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (sets / "all.yaml").write_text("model: {width: 1, keypoints: 5, lattice_size: 2, smoothness: 1.0}")
    options = ["--label", "sales", "--features", str(sets / "all.yaml"), "--learning-rate", "0.1"]
    assert tune(sets, "sets.parquet", *options) == 1
    assert "Everything that could be searched is named already" in capsys.readouterr().err


def test_an_unknown_scorer(sets: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert tune(sets, "sets.parquet", "--label", "sales", "--scoring", "r3") == 1
    err = capsys.readouterr().err
    assert "scoring is 'r3', which is no scorer" in err
    assert "'neg_mean_squared_error'" in err
    assert len(err) < 400


def test_without_the_extra(sets: Path, monkeypatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    assert tune(sets, "sets.parquet", "--label", "sales", "--quiet") == 1
    err = capsys.readouterr().err
    assert err.startswith("clearset: Tuning needs optuna")
    assert "pip install 'clearset[tune]'" in err
    assert err.count("\n") == 1
    assert not (sets / "tuned").exists()


@pytest.mark.parametrize("trial", [1, 3])
def test_interrupted(sets: Path, monkeypatch, capsys: pytest.CaptureFixture[str], trial: int) -> None:
    original, fits = cs.SetRegressor.fit, []

    def interrupted(self, *args, **kwargs):
        fits.append(self)
        original(self, *args, **kwargs)
        record = replace(self.model_.record, interrupted=len(fits) == trial)
        self.model_ = replace(self.model_, record=record)
        return self

    monkeypatch.setattr(cs.SetRegressor, "fit", interrupted)
    status = tune(sets, "sets.parquet", "--label", "sales", "--quiet")
    err = capsys.readouterr().err
    if trial == 1:
        assert (status, err) == (130, "clearset: interrupted.\n")
        assert not (sets / "tuned").exists()
    else:
        assert (status, err) == (0, "Interrupted: this is the best model so far.\n")
        assert cs.load(sets / "tuned").n_features_in == 6
