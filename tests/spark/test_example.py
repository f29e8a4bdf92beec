"""The example job, as people run it."""

import os
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import clearset as cs

ROOT = Path(__file__).parents[2]


def test_spark_submit_runs_the_example(spark, tmp_path):
    pyspark = pytest.importorskip("pyspark")
    submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    path = os.pathsep.join([str(ROOT / "src"), *filter(None, sys.path)])
    environment = os.environ | {"PYSPARK_PYTHON": sys.executable, "PYTHONPATH": path}
    settings = {"ui.enabled": "false", "sql.shuffle.partitions": "2", "sql.adaptive.enabled": "false"}
    options = [part for name, value in settings.items() for part in ("--conf", f"spark.{name}={value}")]
    command = [str(submit), "--master", "local[2]", *options, str(ROOT / "examples" / "spark_job.py"), str(tmp_path)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == 0, done.stderr[-2000:]
    assert "of the cuisines are predicted" in done.stdout
    predictions = pq.read_table(tmp_path / "predictions")
    assert len(predictions) == 3000
    model = cs.load(tmp_path / "model.clearset")
    assert predictions["prediction"].to_pylist() == model.predict(predictions.select(["items"])).tolist()
    explained = pq.read_table(tmp_path / "explanations")
    assert len(set(explained["recipe"].to_pylist())) == 100
    table = cs.TokenTable.load(tmp_path / "tokens.parquet")
    assert min(table.counts) >= 20
