"""The estimators of this package as the tasks use them, and the spaces of their options."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from clearset.experiments._task import Method

SIX = ("mean_label", "count", "size", "whole", "items", "tokens")
"""The features of the paper's experiments."""
AS_PAPER: dict[str, Any] = {"features": SIX, "refine": False}
NETWORK_SPACE: dict[str, Any] = {
    "width": (16, 128, "log"),
    "learning_rate": (3e-4, 1e-2, "log"),
    "weight_decay": (1e-6, 1e-1, "log"),
}
EMBEDDING_SPACE: dict[str, Any] = NETWORK_SPACE | {"embedding": (16, 128, "log"), "combiner": ["sum", "mean"]}
SUPPORT_SPACE: dict[str, Any] = {"gamma": (0.01, 1.0, "log"), "alpha": (1e-3, 10.0, "log")}


def model(kind: Any, seed: int, **options: Any) -> Any:
    """Return an estimator of this package for a seed, on one thread."""
    return kind(**options, random_state=seed, n_jobs=1)


def network(kind: Any, seed: int, *, epochs: int = 40, patience: int = 6, **options: Any) -> Any:
    """Return a network whose number of epochs, at most `epochs`, is chosen on validation data."""
    return model(kind, seed, epochs=epochs, patience=patience, **options)


def engines(
    kind: Any,
    name: str,
    inputs: str,
    options: Mapping[str, Any],
    paper: Mapping[int, Mapping[str, float]],
    space: Mapping[str, Any] | None = None,
) -> list[Method]:
    """Return a Semantic Feature Engine (SFE) for each width of `paper`, which holds the paper's figures by width."""
    methods = []
    for width, figures in paper.items():
        make = partial(model, kind, **options, width=width)
        methods.append(Method(f"SFE, {name}, width {width}", make, inputs, space or {}, figures))
    return methods


def deep_sets(kind: Any, tokens: str, paper: Mapping[str, float], *, large: bool = False) -> Method:
    """Return Deep Sets on one of the task's inputs; large ones have millions of tokens, so that epochs are few."""
    options = {"epochs": 15, "patience": 3} if large else {}
    space = NETWORK_SPACE | {"width": (16, 64, "log")} if large else NETWORK_SPACE
    return Method(f"Deep Sets, {tokens}", partial(network, kind, **options), tokens, space, paper)
