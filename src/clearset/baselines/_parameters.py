"""Checks of the baselines' parameters, all before any work."""

from collections.abc import Sequence
from typing import Any

from clearset.estimators._parameters import check_choice, check_integer, check_number, check_threads


def check_network_parameters(parameters: dict[str, Any], losses: Sequence[str]) -> None:
    """Raise the error that says what is wrong with the parameters of a network, if something is."""
    if parameters["loss"] is not None:
        check_choice(parameters, "loss", losses)
    for name in ("width", "hidden_layers", "embedding", "min_count"):
        if name in parameters:
            check_integer(parameters, name, 1)
    if "combiner" in parameters:
        check_choice(parameters, "combiner", ("sum", "mean"))
    for name in ("epochs", "patience"):
        check_integer(parameters, name, 1)
    if parameters["batch_size"] != "auto":
        check_integer(parameters, "batch_size", 1, hint=" (or 'auto')")
    check_integer(parameters, "verbose", 0)
    check_number(parameters, "learning_rate", 0.0, float("inf"))
    check_number(parameters, "validation_fraction", 0.0, 1.0)
    if parameters["weight_decay"] != 0 or isinstance(parameters["weight_decay"], bool):
        check_number(parameters, "weight_decay", 0.0, float("inf"))
    if not isinstance(parameters["early_stopping"], bool):
        raise ValueError(f"early_stopping must be True or False; received {parameters['early_stopping']!r}.")
    check_threads(parameters["n_jobs"])


def check_kernel_parameters(parameters: dict[str, Any]) -> None:
    """Raise the error that says what is wrong with the parameters of a kernel machine, if something is."""
    if not (isinstance(parameters["gamma"], str) and parameters["gamma"] == "auto"):
        try:
            check_number(parameters, "gamma", 0.0, float("inf"))
        except ValueError as error:
            raise ValueError(str(error).replace("must be", "must be 'auto' or", 1)) from None
    check_number(parameters, "alpha", 0.0, float("inf"))
    check_integer(parameters, "max_exact", 0)
    check_integer(parameters, "n_landmarks", 1)
    check_threads(parameters["n_jobs"])
