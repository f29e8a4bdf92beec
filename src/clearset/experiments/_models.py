"""The estimators of this package as the tasks use them, and the spaces of their options."""

from typing import Any

SIX = ("mean_label", "count", "size", "whole", "items", "tokens")
"""The features of the paper's experiments."""
NETWORK_SPACE: dict[str, Any] = {
    "width": (16, 128, "log"),
    "learning_rate": (3e-4, 1e-2, "log"),
    "weight_decay": (1e-6, 1e-1, "log"),
}
# For data of millions of tokens.
LARGE: dict[str, Any] = {"epochs": 15, "patience": 3}
LARGE_SPACE: dict[str, Any] = NETWORK_SPACE | {"width": (16, 64, "log")}
EMBEDDING_SPACE: dict[str, Any] = NETWORK_SPACE | {"embedding": (16, 128, "log"), "combiner": ["sum", "mean"]}
SUPPORT_SPACE: dict[str, Any] = {"gamma": (0.01, 1.0, "log"), "alpha": (1e-3, 10.0, "log")}


def network(kind: Any, seed: int, *, epochs: int = 40, patience: int = 6, **options: Any) -> Any:
    """Return a network whose number of epochs, at most `epochs`, is chosen on validation data."""
    return kind(**options, epochs=epochs, patience=patience, random_state=seed, n_jobs=1)


def model(kind: Any, seed: int, **options: Any) -> Any:
    """Return any other estimator of this package."""
    return kind(**options, random_state=seed, n_jobs=1)
