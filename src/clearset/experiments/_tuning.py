"""The search for the options of a method, and its outcome as plain data."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from clearset.experiments._task import Effort, Method, Task, sample
from clearset.tuning import tune, words


def tuned(task: Task, method: Method, folder: Any, effort: Effort) -> dict[str, Any]:
    """Search a method's space on the first split; return the options found, the score and the trials."""
    parts = task.inputs[method.inputs](folder, 0, effort.examples)
    training = sample(parts.training, effort.to_tune)
    held = None if parts.validation is None else tuple(sample(parts.validation, effort.to_tune // 3))
    tuning = tune(
        method.make(0), *training, held, effort.budget, space=method.space, folds=None if held else task.folds,
        scoring=task.scoring, random_state=0, verbose=0,
    )  # fmt: skip
    # The first trial is the estimator as it was made, whose options need not be in the space.
    best = tuning.best_params_ if tuning.best_trial_ else {}
    return {
        "options": {name: as_plain(value) for name, value in best.items()},
        "metric": tuning.metric,
        "score": tuning.best_score_,
        "trials": len(tuning.trials),
        "seconds": sum(trial["seconds"] for trial in tuning.trials),
    }


def as_plain(value: Any) -> Any:
    """Return an option as JSON can hold it: numbers and texts as they are, anything else as text."""
    if isinstance(value, np.generic):
        value = value.item()
    return value if isinstance(value, bool | int | float | str | None) else words(value)


def as_options(space: Mapping[str, Any], plain: Mapping[str, Any]) -> dict[str, Any]:
    """Turn plain options back into those of the space."""
    options = {}
    for name, said in plain.items():
        limits = space.get(name, [])
        options[name] = said if isinstance(limits, tuple) else _choice(limits, said)
    return options


def _choice(choices: list[Any], said: Any) -> Any:
    for choice in choices:
        if as_plain(choice) == said:
            return choice
    raise ValueError(f"The results hold the option {said!r}, which is no longer searched. Run with --fresh.")
