"""Several processes fit what one process fits."""

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import clearset as cs
from clearset.engines import OneProcess, processes

pytest.importorskip("torch", reason="several processes need torch")

SCRIPT = Path(__file__).with_name("fit_together.py")
SOURCE = Path(cs.__file__).parent.parent


def write_sets(folder, n, classes=0, seed=0):
    """Write n sets to three files, those with the smallest labels first: shares of processes are not alike."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(0, 12, n)
    offsets = pa.array(np.concatenate([[0], np.cumsum(sizes)]), pa.int32())
    x0, x1 = rng.normal(size=(2, sizes.sum()))
    x1[rng.random(len(x1)) < 0.1] = np.nan
    shop = rng.choice(["town", "web", "fair"], len(x0))
    means = np.bincount(np.repeat(np.arange(n), sizes), np.tanh(x0) * (shop != "web"), n) / np.maximum(sizes, 1)
    label = means + 0.1 * rng.normal(size=n)
    columns = {"x0": x0, "x1": x1, "shop": shop}
    lists = {name: pa.ListArray.from_arrays(offsets, pa.array(values)) for name, values in columns.items()}
    table = pa.table({**lists, "label": label, "weight": rng.integers(0, 3, n).astype(float)}).take(np.argsort(label))
    if classes:
        ranks = np.arange(n) * classes // n
        table = table.set_column(3, "label", pa.array(ranks))
    for number, start in enumerate(range(0, n, -(-n // 3))):
        pq.write_table(table.slice(start, -(-n // 3)), folder / f"{number}.parquet", row_group_size=500)


def run(n_processes, folder, path, **parameters):
    start = [sys.executable]
    if n_processes > 1:
        start += ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(n_processes)]
    command = [*start, str(SCRIPT), str(folder), str(path), json.dumps(parameters)]
    environment = {"PYTHONPATH": str(SOURCE), "PATH": "/usr/bin:/bin", "OMP_NUM_THREADS": "1"}
    return subprocess.run(  # noqa: S603 (this very interpreter)
        command, env=environment, capture_output=True, text=True, timeout=240, check=False
    )


def fitted(n_processes, folder, path, **parameters):
    done = run(n_processes, folder, path, **parameters)
    assert done.returncode == 0, done.stderr[-3000:]
    return np.load(path)


@pytest.mark.parametrize(("n_processes", "classes"), [(2, 0), (4, 3)])
def test_double_precision(tmp_path, n_processes, classes):
    folder = tmp_path / "sets"
    folder.mkdir()
    write_sets(folder, 12_000, classes)
    parameters = {"random_state": 0, "epochs": 5, "width": 2, "classifies": bool(classes)}
    alone = fitted(1, folder, tmp_path / "alone.npz", **parameters)
    together = fitted(n_processes, folder, tmp_path / "together.npz", **parameters)
    assert len(together["losses"]) == len(alone["losses"])
    for name in alone:
        np.testing.assert_allclose(together[name], alone[name], rtol=1e-9, atol=1e-9)


def test_few_sets_are_left_of_those_that_were_read(tmp_path):
    """A third of the sets have weight 0, so that one process would add up the gradients of the others at once."""
    folder = tmp_path / "sets"
    folder.mkdir()
    write_sets(folder, 1_560)
    parameters = {"random_state": 0, "epochs": 2}
    alone = fitted(1, folder, tmp_path / "alone.npz", **parameters)
    together = fitted(2, folder, tmp_path / "together.npz", **parameters)
    for name in alone:
        np.testing.assert_allclose(together[name], alone[name], rtol=1e-9, atol=1e-9)


def test_packed_sets_in_single_precision(tmp_path):
    folder = tmp_path / "sets"
    folder.mkdir()
    write_sets(folder, 64_000)
    parameters = {"random_state": 0, "epochs": 1, "batch_size": 512}
    alone = fitted(1, folder, tmp_path / "alone.npz", **parameters)
    together = fitted(2, folder, tmp_path / "together.npz", **parameters)
    for name in alone:
        np.testing.assert_allclose(together[name], alone[name], rtol=1e-5, atol=1e-5)


def test_a_process_that_dies_ends_the_others(tmp_path):
    folder = tmp_path / "sets"
    folder.mkdir()
    write_sets(folder, 20_000)
    begin = time.monotonic()
    done = run(2, folder, tmp_path / "x.npz", random_state=0, epochs=100_000, early_stopping=False, die=1)
    assert done.returncode != 0
    assert time.monotonic() - begin < 120  # torch alone takes seconds to start; without an error it would be minutes
    assert not (tmp_path / "x.npz").exists()


def test_alone_there_is_one_process():
    assert isinstance(processes(), OneProcess)


def test_data_in_memory_are_refused(monkeypatch):
    monkeypatch.setattr("clearset.estimators._streams.processes", lambda: type("Two", (), {"rank": 0, "count": 2})())
    with pytest.raises(ValueError, match="in 2 processes, but its data are in memory"):
        cs.SetRegressor().fit(np.zeros((10, 2)), np.arange(10.0))
    with pytest.raises(ValueError, match="counted by one"):
        cs.SemanticRegressor().fit([["a"]] * 10, np.arange(10.0))
