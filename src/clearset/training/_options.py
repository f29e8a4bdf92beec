"""What a fit of a set function is told by the parameters of an estimator."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from clearset.engines import Schedule


@dataclass(frozen=True)
class Options:
    """The form of a set function and how to train it; the fields are the estimators' parameters of the same names."""

    width: int
    keypoints: int
    rho_keypoints: int
    smoothness: float | str  # or "auto"
    optimizer: str
    constraints: str
    learning_rate: float
    epochs: int
    patience: int | None
    threads: int
    lattices: str = "full"
    lattice_size: int | str = "auto"
    restarts: int = 1
    device: str = "auto"

    @classmethod
    def of(cls, parameters: Mapping[str, Any], threads: int, **further: Any) -> "Options":
        """Take the fields out of an estimator's parameters; without early stopping there is no patience."""
        given = {field.name: parameters[field.name] for field in fields(cls) if field.name in parameters}
        if not parameters["early_stopping"]:
            given["patience"] = None
        return cls(**{**given, "threads": threads, **further})

    def schedule(self, batch_size: int, **further: Any) -> Schedule:
        """Return the schedule of a training."""
        given = {
            name: getattr(self, name)
            for name in ("learning_rate", "epochs", "patience", "threads", "optimizer", "constraints")
        }
        return Schedule(**{**given, "batch_size": batch_size, **further})


def choose_epochs(wanted: int | str, n_sets: int, batch_size: int) -> int:
    """Return the epochs asked for, or as many as make 2,000 steps.

    They are at least 40 and at most 1,000, or ten times the sets where these are fewer: few are soon learned by heart.

    Examples
    --------
    >>> [choose_epochs("auto", n_sets, 32) for n_sets in (30, 160, 640, 5000)]
    [300, 400, 100, 40]
    """
    if wanted == "auto":
        return max(min(2000 // -(-n_sets // batch_size), 10 * n_sets, 1000), 40)
    return int(wanted)


def choose_batch_size(wanted: int | str | None, n_sets: int, *, share: int, largest: int) -> int:
    """Return the sets of one step: those asked for, or one in ``share`` of all, from 32 to ``largest``.

    Examples
    --------
    >>> choose_batch_size("auto", 6400, share=64, largest=1024), choose_batch_size("auto", 640, share=64, largest=1024)
    (100, 32)
    """
    if wanted is None or wanted == "auto":
        return min(max(n_sets // share, 32), largest)
    return int(wanted)
