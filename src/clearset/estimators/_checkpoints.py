"""Fits that are kept in a checkpoint: what tells one from another."""

import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

from clearset.estimators._parameter_rules import is_auto
from clearset.sets import exact_words
from clearset.training import checkpointed

# They change no bit of what is fitted.
_WITHOUT_EFFECT = ("n_jobs", "verbose", "max_memory")


def kept_in(checkpoint: str | os.PathLike[str] | None, estimator: Any) -> AbstractContextManager[None]:
    """Return a context in which trainings are kept in a checkpoint, or go on from it; see `SetEstimator.fit`.

    Parameters
    ----------
    checkpoint : path-like or None
        The file; None keeps nothing.
    estimator : estimator
        What is fitted. A joint model is made of others, which are its `declared_parts`.

    Returns
    -------
    context manager
        The context.
    """
    parts: Mapping[str, Any] = getattr(estimator, "declared_parts", {})
    if checkpoint is None:
        return checkpointed(None, {})
    if "cuda" in (getattr(part, "device", None) for part in (estimator, *parts.values())):
        raise ValueError(
            "checkpoint is for fits on the CPU; device is 'cuda'. Use device='cpu', or leave checkpoint out."
        )
    described = _described(estimator, "", ("engines", "follow_on") if hasattr(estimator, "declared_parts") else ())
    for name, part in parts.items():
        described |= {name: "chosen by the data"} if is_auto(part) else _described(part, f" of {name}", ())
    return checkpointed(checkpoint, described)


def _described(estimator: Any, ending: str, without: Sequence[str]) -> dict[str, str]:
    """Return the name and the parameters of an estimator as texts, which are the same in every process."""
    given = {
        f"{name}{ending}": exact_words(value)
        for name, value in estimator.get_params(deep=False).items()
        if name not in (*_WITHOUT_EFFECT, *without)
    }
    return {f"the estimator{ending}": type(estimator).__name__, **given}
