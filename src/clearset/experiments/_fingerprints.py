"""Fingerprints, which tell results of other data or methods apart."""

import zlib
from dataclasses import astuple
from typing import Any

import numpy as np
import pyarrow as pa

from clearset import __version__
from clearset.datasets import Labelled, PuzzleData
from clearset.experiments._task import Effort, Method, Task
from clearset.sets import exact_words


def of_method(task: Task, method: Method, data: str, effort: Effort) -> str:
    """Return a checksum of what a method's results depend on: its options, the data, the effort, and the version."""
    described = exact_words([*task.describe(method), data, astuple(effort), __version__])
    return f"{zlib.crc32(described.encode()):08x}"


def of_data(task: Task, folder: Any) -> str:
    """Return a checksum of a task's data; raise an error if they are missing."""
    checksum = 0
    for loader in task.loaders:
        loaded = loader(folder)
        parts = (loaded.training, loaded.test) if isinstance(loaded, PuzzleData) else (loaded,)
        for part in parts:
            checksum = _add(checksum, part)
    return f"{checksum:08x}"


def _add(checksum: int, data: Labelled) -> int:
    labels = data.y if data.y.dtype.kind in "iufb" else data.y.astype(np.str_)
    checksum = zlib.crc32(labels.tobytes(), checksum)
    columns = data.X.columns if isinstance(data.X, pa.Table) else [data.X]
    for column in columns:
        chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
        for buffer in (buffer for chunk in chunks for buffer in chunk.buffers() if buffer is not None):
            checksum = zlib.crc32(buffer, checksum)
    return checksum
