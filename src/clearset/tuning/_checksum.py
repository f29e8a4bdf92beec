"""A checksum of examples, so that trials of other examples are not mistaken for trials of these."""

import zlib
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa

from clearset.sets import SetData, exact_words, take_examples

# The most rows of Python objects and frames that count, evenly spread; of arrays all count.
_ROWS = 5000


def checksum(X: Any) -> int:
    """Return the checksum of examples in any form; it is the same in every process.

    Examples
    --------
    >>> checksum([["salt"], ["salt", "lime"]]) == checksum([["salt"], ["lime", "salt"]])
    False
    """
    if isinstance(X, SetData):
        names = [*X.feature_names, *X.set_feature_names, X.categories]
        return _of_parts([X.values, X.offsets, X.set_values, np.array(repr(names))])
    if hasattr(X, "tocsr"):  # a sparse matrix
        X = X.tocsr()
        return _of_parts([X.data, X.indices, X.indptr, np.array(X.shape)])
    if isinstance(X, np.ndarray) and X.dtype != object:
        return _of_parts([X])
    n = len(X)
    if n > _ROWS:
        X = take_examples(X, np.linspace(0, n - 1, _ROWS).astype(np.int64))
    return zlib.crc32(exact_words(_plain(X)).encode(errors="surrogatepass"))


def _of_parts(arrays: Iterable[np.ndarray]) -> int:
    found = 0
    for array in arrays:
        found = zlib.crc32(f"{array.dtype}{array.shape}".encode(), found)
        found = zlib.crc32(np.ascontiguousarray(array).view(np.uint8).data if array.size else b"", found)
    return found


def _plain(X: Any) -> Any:
    """Return examples as Python lists, whose texts are complete."""
    if isinstance(X, pa.Array | pa.ChunkedArray | pa.Table | pa.RecordBatch):
        return X.to_pylist()
    data = nw.from_native(X, allow_series=True, pass_through=True)
    if isinstance(data, nw.DataFrame):
        return [(name, _plain(data[name].to_list())) for name in data.columns]
    if isinstance(data, nw.Series):
        return _plain(data.to_list())
    if isinstance(X, np.ndarray):
        return _plain(X.tolist())
    if isinstance(X, list | tuple):
        return [_plain(value) for value in X]
    if isinstance(X, AbstractSet):  # in another order in every process
        return sorted(map(repr, X))
    return X
