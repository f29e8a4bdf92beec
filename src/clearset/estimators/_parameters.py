"""Checks of the estimators' parameters, all before any work."""

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

OPTIMIZERS = ("adam", "adagrad")
CONSTRAINTS = ("project", "light_touch")
LATTICES = ("auto", "full", "ensemble")
DEVICES = ("auto", "cpu")

# Rho's lattice has 2 ** width vertices.
MAX_WIDTH = 12


def check_parameters(parameters: dict[str, Any], losses: Sequence[str]) -> None:
    """Raise the error that says what is wrong with an estimator's parameters, if something is."""
    check_choice(parameters, "loss", losses)
    check_choice(parameters, "optimizer", OPTIMIZERS)
    check_choice(parameters, "constraints", CONSTRAINTS)
    check_choice(parameters, "lattices", LATTICES)
    check_choice(parameters, "device", DEVICES)
    check_integer(parameters, "width", 1, MAX_WIDTH)
    for name in ("keypoints", "rho_keypoints", "lattice_size"):
        check_integer(parameters, name, 2, 1000)
    for name in ("epochs", "patience", "restarts"):
        check_integer(parameters, name, 1)
    if parameters["batch_size"] != "auto":
        check_integer(parameters, "batch_size", 1, hint=" (or 'auto')")
    check_integer(parameters, "verbose", 0)
    check_number(parameters, "learning_rate", 0.0, float("inf"))
    check_number(parameters, "validation_fraction", 0.0, 1.0)
    if parameters["smoothness"] != 0 or isinstance(parameters["smoothness"], bool):
        check_number(parameters, "smoothness", 0.0, float("inf"))
    if "quantile" in parameters:
        check_number(parameters, "quantile", 0.0, 1.0)
    for name in ("early_stopping", "warm_start"):
        if not isinstance(parameters[name], bool):
            raise ValueError(f"{name} must be True or False; received {parameters[name]!r}.")
    check_threads(parameters["n_jobs"])


def check_threads(n_jobs: Any) -> None:
    """Raise an error unless `n_jobs` says how many threads to take."""
    whole = isinstance(n_jobs, int | np.integer) and not isinstance(n_jobs, bool)
    if n_jobs is not None and (not whole or n_jobs == 0):
        raise ValueError(
            f"n_jobs must be None, a positive number of threads, or -1 for all cores; received {n_jobs!r}."
        )


def make_rng(random_state: Any) -> np.random.Generator:
    """Make the generator that everything random of a fit comes from."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    try:
        state = check_random_state(random_state)
    except ValueError:
        raise ValueError(
            f"random_state must be None, a whole number from 0 to {2**32 - 1}, or a generator; received "
            f"{random_state!r}."
        ) from None
    return np.random.default_rng(state.randint(2**31 - 1))


def count_threads(n_jobs: int | None) -> int:
    """Give the number of threads: all cores for None and -1, all but one for -2, and so on.

    None follows ``OMP_NUM_THREADS`` where it is set, as it is in joblib's workers.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if n_jobs is None:
        limit = os.environ.get("OMP_NUM_THREADS", "")
        return min(cores, int(limit)) if limit.isdigit() and int(limit) else cores
    return int(n_jobs) if n_jobs > 0 else max(1, cores + 1 + int(n_jobs))


def check_choice(parameters: dict[str, Any], name: str, allowed: Sequence[str]) -> None:
    """Raise an error unless a parameter is one of the allowed names."""
    value = parameters[name]
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, allowed))}; received {value!r}.")


def check_integer(
    parameters: dict[str, Any], name: str, low: int, high: int | None = None, hint: str = ""
) -> None:
    """Raise an error unless a parameter is a whole number within its limits."""
    value = parameters[name]
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or value < low or (high is not None and value > high):
        limits = f"at least {low}" if high is None else f"from {low} to {high}"
        raise ValueError(f"{name} must be a whole number {limits}{hint}; received {value!r}.")


def check_number(parameters: dict[str, Any], name: str, low: float, high: float) -> None:
    """Raise an error unless a parameter is a number strictly between its limits."""
    value = parameters[name]
    number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if not number or not low < value < high:
        raise ValueError(f"{name} must be a number above {low:g} and below {high:g}; received {value!r}.")
