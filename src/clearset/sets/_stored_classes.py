"""Classes in files: labels, and the type of array they are kept in."""

from typing import Any

import numpy as np
import numpy.typing as npt

# One long label makes all of them long.
_MOST_BYTES = 1 << 28


def read_classes(labels: Any, dtype: Any) -> npt.NDArray[Any]:
    """Return classes of a file; raise a ValueError or TypeError unless they are distinct, sorted and of their type.

    Parameters
    ----------
    labels : list
        The labels.
    dtype : str
        The type of the array that they were in.

    Examples
    --------
    >>> from clearset.sets import read_classes
    >>> read_classes(["greek", "thai"], "<U5")
    array(['greek', 'thai'], dtype='<U5')
    """
    if not isinstance(labels, list) or not isinstance(dtype, str):
        raise TypeError("classes are a list of labels of a type")
    wanted = np.dtype(dtype)
    if wanted.kind not in "biufUO" or wanted.itemsize * len(labels) > _MOST_BYTES:
        raise ValueError(f"{len(labels)} classes are of type {wanted}")
    types = {"U": str, "O": str | int | float}.get(wanted.kind, int | float)
    if not all(isinstance(label, types) for label in labels):
        raise TypeError(f"classes of type {wanted} hold labels of other types")
    classes = np.array(labels, wanted)
    if (wanted.kind == "f" and not np.isfinite(classes).all()) or not np.array_equal(np.unique(classes), classes):
        raise ValueError("the classes are not different labels in order")
    return classes
