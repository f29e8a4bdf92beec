"""List columns of Arrow, made of flat values."""

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from clearset.sets import offsets_from_sizes

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def list_column(values: Floats, offsets: Ints) -> pa.ListArray:
    """Return flat values as one list for each set; NaN becomes null."""
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), pa.array(values, from_pandas=True))


def sets_of_names(names: pa.Array, codes: Ints, sizes: Ints) -> pa.ListArray:
    """Return names as one list for each set, by the codes of the sets' names one after the other."""
    offsets = pa.array(offsets_from_sizes(sizes), pa.int32())
    return pa.ListArray.from_arrays(offsets, names.take(pa.array(codes)))
