"""Semantic fits on an NVIDIA GPU and on the processor beside it: seconds, and the loss on new examples."""

from __future__ import annotations

import hashlib
import platform
import time
import warnings
from typing import Any

import numpy as np
import pyarrow as pa
import torch

import clearset as cs
from benchmarks._results import write_table
from clearset.engines import available_engines

ITEMS, DISTINCT, CLASSES = 10, 20_000, 3
SIZES, BATCHES = (30_000, 500_000), ("auto", 65_536)
NEW = 50_000
TEXT = f"""
Sets of {ITEMS} of {DISTINCT:,} items with {CLASSES} classes; items in 20 sets and more are tokens, with corrections and
five folds, at most 10 epochs. Counting and finding tokens and the strength of corrections, chosen on 12,000 sets, are
part of `seconds`. `loss`: log loss on {NEW:,} new sets. `again`: whether a second fit has the same bits.
"""


def examples(n: int, seed: int) -> tuple[pa.Table, np.ndarray]:
    """Draw sets of items, and classes that go with effects of the items."""
    effects = np.random.default_rng(0).normal(size=(DISTINCT, CLASSES))
    rng = np.random.default_rng(seed)
    codes = np.minimum(rng.zipf(1.2, (n, ITEMS)) - 1, DISTINCT - 1)
    labels = (effects[codes].sum(axis=1) / 2 + rng.gumbel(size=(n, CLASSES))).argmax(axis=1)
    names = pa.array([f"item {number}" for number in range(DISTINCT)])
    offsets = pa.array(np.arange(n + 1, dtype=np.int32) * ITEMS)
    rows = pa.ListArray.from_arrays(offsets, names.take(pa.array(codes.ravel())))
    return pa.table({"items": rows}), labels


def fitted(device: str, batch_size: Any, data: tuple[pa.Table, np.ndarray]) -> tuple[Any, float]:
    """Return the fitted model, and its seconds."""
    options: dict[str, Any] = {"tokens": cs.Items(), "filters": [cs.MinCount(20)], "refine": 1, "epochs": 10}
    model = cs.SemanticClassifier(**options, batch_size=batch_size, device=device, random_state=0)
    start = time.perf_counter()
    model.fit(*data)
    return model, time.perf_counter() - start


def bits(model: Any) -> str:
    """Return what tells models apart."""
    corrections = model.token_table_.corrections
    parts = [*model.set_function_.tables.values(), *([] if corrections is None else [corrections.amounts])]
    return hashlib.sha256(b"".join(np.ascontiguousarray(part).tobytes() for part in parts)).hexdigest()


def main() -> None:
    """Print the table and write it down."""
    warnings.simplefilter("ignore")
    devices = [device for device in ("cuda", "cpu") if device == "cpu" or device in available_engines()]
    new, labels = examples(NEW, 1)
    rows = []
    for n in SIZES:
        data = examples(n, 2)
        for batch_size in BATCHES:
            for device in devices:
                if n == SIZES[0]:
                    fitted(device, batch_size, data)  # compiles
                model, seconds = fitted(device, batch_size, data)
                again = bits(fitted(device, batch_size, data)[0]) == bits(model) if n == SIZES[0] else None
                start = time.perf_counter()
                known = model.predict_proba(new)
                predicting = time.perf_counter() - start
                loss = -np.log(known[np.arange(NEW), labels]).mean()
                same = "" if again is None else "yes" if again else "no"
                rows.append((f"{n:,}", batch_size, device, f"{seconds:.1f}", f"{predicting:.2f}", f"{loss:.4f}", same))
                print(rows[-1], flush=True)
    where = f"{torch.cuda.get_device_name()}, CUDA {torch.version.cuda}, " if "cuda" in devices else ""
    header = ("sets", "batch_size", "device", "seconds", f"to predict {NEW:,}", "loss", "again")
    text = TEXT.strip() + f"\n{where}{platform.system()}."
    write_table("semantic_gpu", "Semantic fits on an NVIDIA GPU", text, header, rows)


if __name__ == "__main__":
    main()
