"""What a checkpoint holds of one training: how far it has come, and all that it goes on from."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from clearset.engines import ResumableTrainer, State
from clearset.functions import SetFunction
from clearset.training._epochs import Progress

# Numbers that these generators draw together.
MT19937_NUMBERS, PHILOX_NUMBERS = 624, 4

AnyFunctions = SetFunction | list[SetFunction]


@dataclass(eq=False)
class KeptTraining:
    """One training of a fit, between two of its epochs or at its end."""

    identity: dict[str, str]  # hashes of all that its result follows from
    ended: bool = False
    best_epoch: int = 0
    falling_epoch: int = 0
    generator: dict[str, Any] = field(default_factory=dict)  # the state of the training's generator
    # ``history`` (a row for each epoch, NaN where there is no validation), ``losses``, ``best.…`` and ``state.…``
    arrays: State = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """Return everything but the arrays, as JSON values."""
        return {
            "identity": self.identity,
            "ended": self.ended,
            "best_epoch": self.best_epoch,
            "falling_epoch": self.falling_epoch,
            "generator": self.generator,
        }

    @classmethod
    def of(cls, document: Mapping[str, Any], arrays: State) -> "KeptTraining":
        """Return the training that a file holds; raise a KeyError, TypeError or ValueError if there is none."""
        identity = {str(name): str(text) for name, text in document["identity"].items()}
        kept = cls(
            identity,
            bool(document["ended"]),
            int(document["best_epoch"]),
            int(document["falling_epoch"]),
            dict(document["generator"]),
            arrays,
        )
        if kept.ended and not arrays:
            raise ValueError("a training has ended, but has no result")
        if arrays and (
            arrays["history"].ndim != 2 or arrays["history"].shape[1] != 3 or arrays["losses"].shape != (2,)
        ):
            raise ValueError("the losses of a training have another shape")
        if not kept.is_finite:
            raise ValueError("a training has numbers that are not finite")
        return kept

    @property
    def is_finite(self) -> bool:
        """Whether all numbers are that results follow from."""
        followed = (
            array
            for name, array in self.arrays.items()
            # The level of smoothness is NaN until the first step.
            if name.startswith(("best.", "state.")) and not name.endswith("level")
        )
        return all(np.isfinite(array).all() for array in followed)

    def keep(self, trainer: ResumableTrainer[Any], rng: np.random.Generator, progress: Progress[Any]) -> None:
        """Hold a copy of what has been reached; of a training that has ended the trainer's state is not needed."""
        losses = [
            [entry.get(name, np.nan) for name in ("epoch", "loss", "validation_loss")] for entry in progress.history
        ]
        arrays = {
            "history": np.array(losses, np.float64).reshape(-1, 3),
            "losses": np.array([progress.best_loss, progress.falling_loss]),
            **{f"best.{name}": np.array(table) for name, table in _tables(progress.best).items()},
        }
        if not self.ended:
            arrays |= {f"state.{name}": array for name, array in trainer.state().items()}
        self.best_epoch, self.falling_epoch = progress.best_epoch, progress.falling_epoch
        self.generator, self.arrays = generator_state(rng), arrays

    def put_back(self, trainer: ResumableTrainer[Any], rng: np.random.Generator, progress: Progress[Any]) -> None:
        """Bring a new training of the same identity to where this one was."""
        if not self.arrays:
            return
        best = {name: self.arrays[f"best.{name}"].copy() for name in _tables(progress.best)}
        for name, table in _tables(progress.best).items():
            if best[name].shape != table.shape or best[name].dtype != table.dtype:
                raise ValueError(f"'best.{name}' has another shape or type than in this training")
        history = self.arrays["history"]
        if not (history[:, 0] == np.arange(1.0, len(history) + 1.0)).all():
            raise ValueError("the history of a training has other epochs")
        if not np.isfinite(history[:, : 3 if trainer.validates else 2]).all():
            raise ValueError("the history of a training has losses that are not finite")
        if not self.ended:
            parts = ((name.partition(".")[::2], array) for name, array in self.arrays.items())
            trainer.resume({name: array for (kind, name), array in parts if kind == "state"})
        put_generator_back(rng, self.generator)
        progress.best = _with_tables(progress.best, best)
        progress.best_loss, progress.falling_loss = map(float, self.arrays["losses"])
        progress.best_epoch, progress.falling_epoch = self.best_epoch, self.falling_epoch
        progress.history = [_entry(row, validates=trainer.validates) for row in self.arrays["history"].tolist()]


def _entry(row: list[float], *, validates: bool) -> dict[str, float]:
    epoch, loss, validation_loss = row
    entry = {"epoch": epoch, "loss": loss}
    return {**entry, "validation_loss": validation_loss} if validates else entry


def _tables(best: AnyFunctions) -> State:
    """Return tables and corrections of one function or of several, by name."""
    named: State = {}
    for number, function in enumerate(best if isinstance(best, list) else [best]):
        named |= {f"{number}.{name}": table for name, table in function.tables.items()}
        if function.corrections is not None:
            named[f"{number}.corrections"] = function.corrections
    return named


def _with_tables(best: AnyFunctions, tables: Mapping[str, npt.NDArray[Any]]) -> AnyFunctions:
    """Return functions with other tables and corrections, named as by `_tables`."""
    if isinstance(best, list):
        return [_one_with(function, str(number), tables) for number, function in enumerate(best)]
    return _one_with(best, "0", tables)


def _one_with(function: SetFunction, number: str, tables: Mapping[str, npt.NDArray[Any]]) -> SetFunction:
    own = function.with_tables({name: tables[f"{number}.{name}"] for name in function.tables})
    if function.corrections is None:
        return own
    return replace(own, corrections=tables[f"{number}.corrections"])


def generator_state(rng: np.random.Generator) -> dict[str, Any]:
    """Return the state of a generator as JSON values."""
    state: dict[str, Any] = _plain(rng.bit_generator.state)
    return state


def put_generator_back(rng: np.random.Generator, state: Mapping[str, Any]) -> None:
    """Put a generator into a state; raise a KeyError, TypeError or ValueError if it is one of another kind."""
    state = _like(rng.bit_generator.state, state)
    # Where the next number stands in a block of them; numpy reads there, whether the block is as long or not.
    for place, block in ((state["state"].get("pos"), MT19937_NUMBERS), (state.get("buffer_pos"), PHILOX_NUMBERS)):
        if place is not None and not 0 <= place <= block:
            raise ValueError(f"the next number of a generator is number {place} of {block}")
    rng.bit_generator.state = state


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def _like(template: Any, value: Any) -> Any:
    """Return JSON values with the types of a template."""
    if isinstance(template, Mapping):
        return {name: _like(each, value[name]) for name, each in template.items()}
    if not isinstance(template, np.ndarray):
        return value
    array = np.array(value, template.dtype)
    if array.shape != template.shape:
        raise ValueError(f"an array of a generator has the shape {array.shape}, not {template.shape}")
    return array
