"""Checks of what every projection is given."""

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


def members(values: npt.ArrayLike, size: int | None = None) -> Array:
    """Return a float64 copy of ``values (N, size)``, one member of the batch a row."""
    array = np.array(values, dtype=np.float64, order="C")
    if array.ndim != 2 or (size is not None and array.shape[1] != size):
        expected = "(N, n)" if size is None else f"(N, {size})"
        raise ValueError(
            f"Values have shape {array.shape}, but a projection takes {expected}, one member a row. "
            "Reshape a single vector with values[None, :]."
        )
    if not np.isfinite(array).all():
        raise ValueError("Values hold NaN or infinity, which have no projection. Remove them first.")
    return array


def check_bounds(lower: float, upper: float) -> None:
    """Raise unless ``lower <= upper``; infinities stand for no bound."""
    if not (lower <= upper and lower < np.inf and upper > -np.inf):
        raise ValueError(
            f"The lower bound is {lower} and the upper bound is {upper}: no value lies between them. "
            "Give lower <= upper, with -inf or inf for no bound."
        )
