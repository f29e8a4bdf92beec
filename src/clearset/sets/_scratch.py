"""Arrays in files that nobody else sees and that are gone when the process ends."""

import mmap
import os
import shutil
import tempfile
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt


class ScratchArray:
    """A one-dimensional array in a scratch file, of which parts are mapped into memory when they are read.

    The file has no name and takes no room once the array is gone, however the process ends.

    Parameters
    ----------
    length : int
        The number of entries, 0 at first.
    dtype : dtype
        Their type.

    Examples
    --------
    >>> import numpy as np
    >>> from clearset.sets import ScratchArray
    >>> array = ScratchArray(1000, np.uint32)
    >>> array[10:12] = np.array([5, 6], np.uint32)
    >>> np.asarray(array[9:13])
    array([0, 5, 6, 0], dtype=uint32)
    """

    def __init__(self, length: int, dtype: npt.DTypeLike) -> None:
        self._length, self.dtype = length, np.dtype(dtype)
        folder, needed = tempfile.gettempdir(), length * self.dtype.itemsize
        free = shutil.disk_usage(folder).free
        if needed > free:
            raise OSError(
                f"A scratch file needs {needed / 1e9:.1f} GB, but '{folder}' has {free / 1e9:.1f} GB left. Set TMPDIR "
                "to a folder with more room, or allow more memory: max_memory."
            )
        self._file, path = tempfile.mkstemp(prefix="clearset-")
        weakref.finalize(self, os.close, self._file)
        Path(path).unlink()
        os.ftruncate(self._file, needed)

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, part: slice) -> npt.NDArray[Any]:
        start, stop, _ = part.indices(self._length)
        if start >= stop:
            return np.empty(0, self.dtype)
        begin = start * self.dtype.itemsize
        aligned = begin - begin % mmap.ALLOCATIONGRANULARITY
        length = stop * self.dtype.itemsize - aligned
        window = mmap.mmap(self._file, length, offset=aligned, prot=mmap.PROT_READ, flags=mmap.MAP_SHARED)
        window.madvise(mmap.MADV_WILLNEED)
        return np.frombuffer(window, self.dtype, stop - start, begin - aligned)

    def __setitem__(self, part: slice, values: npt.NDArray[Any]) -> None:
        start, stop, _ = part.indices(self._length)
        if len(values) != max(stop - start, 0):
            raise ValueError(f"{len(values)} values do not fit into {stop - start} places.")
        data, at = np.ascontiguousarray(values, self.dtype).view(np.uint8).data, start * self.dtype.itemsize
        while len(data):  # a call writes 2 GB at most
            written = os.pwrite(self._file, data, at)
            data, at = data[written:], at + written


def scratch_array(length: int, dtype: npt.DTypeLike, most_bytes: int) -> "npt.NDArray[Any] | ScratchArray":
    """Return an array in memory, or one in a scratch file if it would take more bytes than these."""
    if length * np.dtype(dtype).itemsize <= most_bytes:
        return np.empty(length, dtype)
    return ScratchArray(length, dtype)
