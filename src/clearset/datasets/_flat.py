"""What generators and loaders share: sizes of sets, list columns, and the check of a count."""

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Seed = int | np.random.Generator | None


def make_generator(random_state: Seed) -> np.random.Generator:
    """Make the generator of a seed, or take the one given."""
    if isinstance(random_state, int | np.integer) and random_state < 0:
        raise ValueError(
            f"random_state must be None, a whole number of at least 0, or a generator; received {random_state}."
        )
    return np.random.default_rng(random_state)


def check_count(name: str, value: object) -> None:
    """Refuse everything but a positive whole number."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise TypeError(f"{name} must be a whole number, got {value!r} ({type(value).__name__}).")
    if value < 1:
        raise ValueError(f"{name} must be at least 1, got {value}.")


def offsets_of(sizes: Ints) -> Ints:
    """Where each set begins, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(sizes)])


def list_column(values: Floats, offsets: Ints) -> pa.ListArray:
    """Flat values as one list a set; NaN becomes null."""
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), pa.array(values, from_pandas=True))


def sets_of_names(names: pa.Array, codes: Ints, sizes: Ints) -> pa.ListArray:
    """Names as one list a set: `codes` number the names, one set after the other, `sizes` says how many each has."""
    return pa.ListArray.from_arrays(pa.array(offsets_of(sizes), pa.int32()), names.take(pa.array(codes)))
