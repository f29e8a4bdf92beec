"""Checks of the arguments of generators and loaders."""

import numpy as np

Seed = int | np.random.Generator | None


def make_generator(random_state: Seed) -> np.random.Generator:
    """Make the generator of a seed, or return the one given."""
    if isinstance(random_state, int | np.integer) and random_state < 0:
        raise ValueError(
            f"random_state must be None, a whole number of at least 0, or a generator; received {random_state}."
        )
    return np.random.default_rng(random_state)


def check_count(name: str, value: object) -> None:
    """Raise an error unless a value is a positive whole number."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise TypeError(f"{name} must be a whole number, got {value!r} ({type(value).__name__}).")
    if value < 1:
        raise ValueError(f"{name} must be at least 1, got {value}.")
