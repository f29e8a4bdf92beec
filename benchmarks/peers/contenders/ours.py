"""clearset itself, through its public estimators and with nothing but what a user would hand over."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.peers._data import NumericSets, read_items, read_numeric
from benchmarks.peers.contenders._measure import Job, Result, answer, cpu_of, latency, measured, quality_of_classes, r2


def _frame(data: NumericSets) -> pa.Table:
    """One row a set, one list column a feature."""
    offsets = pa.array(data.offsets, pa.int32())
    columns = [pa.ListArray.from_arrays(offsets, pa.array(np.ascontiguousarray(column))) for column in data.values.T]
    return pa.table(columns, names=[f"x{feature}" for feature in range(data.n_features)])


@contextmanager
def epochs_timed(result: Result) -> Iterator[None]:
    """Put the time in the native kernels into `result`: that of all epochs."""
    from clearset.engines import _native_trainer

    trainer, epoch = _native_trainer.NativeTrainer, _native_trainer.NativeTrainer.epoch
    result["kernels"] = 0.0

    def timed(self: Any) -> float:
        begun = time.perf_counter()
        loss = epoch(self)
        result["kernels"] += time.perf_counter() - begun
        return loss

    trainer.epoch = timed  # type: ignore[method-assign]
    try:
        yield
    finally:
        trainer.epoch = epoch  # type: ignore[method-assign]


def numeric(job: Job) -> Result:
    """Fit sets of numeric tokens; or measure the predictions of a model that is fitted already."""
    begun = time.perf_counter()
    import clearset as cs

    regressor = cs.SetRegressor
    result: Result = {"import": time.perf_counter() - begun}
    train, test = read_numeric(job["data"], "train"), read_numeric(job["data"], "test")
    predicting = job["measure"] == "predict"
    frame, y = _frame(train), train.y
    result["input_mb"] = frame.nbytes / 2**20
    model = regressor(
        [cs.Feature("x0", monotonic="increasing"), *(f"x{feature}" for feature in range(1, train.n_features))],
        job["width"],
        lattices="full",
        batch_size=job["batch_size"],
        epochs=1 if predicting else job["epochs"],
        early_stopping=False,
        n_jobs=job["threads"],
        random_state=0,
    )
    if predicting:
        model.fit(frame.slice(0, 1_000), y[:1_000])
        small = test.head(int(np.flatnonzero(np.diff(test.offsets) == 10)[0]) + 1)
        one = _frame(small).slice(len(small.y) - 1)
        result["tokens_per_cpu"] = train.n_tokens / cpu_of(lambda: model.predict(frame))
        result |= latency(lambda: model.predict(one))
        return result
    model.fit(frame.slice(0, 200), y[:200])  # as peers do a step before the clock runs
    n_tokens = train.n_tokens
    train = train.head(0)  # the others are in the frame
    with measured(result), epochs_timed(result):
        model.fit(frame, y)
    result["kernel_share"] = result["kernels"] / result["wall"]
    result["epochs"] = job["epochs"]
    result["tokens_per_cpu"] = n_tokens * job["epochs"] / result["cpu"]
    result["r2"] = r2(test.y, model.predict(_frame(test)))
    return result


def items(job: Job) -> Result:
    """Fit sets of items with the defaults; or measure the prediction of one set."""
    begun = time.perf_counter()
    import clearset as cs

    classifier = cs.SemanticClassifier
    result: Result = {"import": time.perf_counter() - begun}
    train, test = read_items(job["data"], "train"), read_items(job["data"], "test")
    result["input_mb"] = train.items.nbytes / 2**20
    model = classifier(n_jobs=job["threads"], random_state=0)
    with measured(result):
        model.fit(train.items, train.y)
    result["setting"] = str(model.setting_)
    if job["measure"] == "predict":
        one = [next(items for items in test.items.to_pylist() if len(set(items)) == 10)]
        result |= latency(lambda: model.predict(one))
        return result
    shares = np.zeros((len(test.y), job["classes"]))
    shares[:, model.classes_] = model.predict_proba(test.items)
    return result | quality_of_classes(test.y, shares)


if __name__ == "__main__":
    answer(lambda job: items(job) if "classes" in job else numeric(job), ("clearset", "numpy", "scikit-learn"))
