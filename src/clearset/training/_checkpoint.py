"""Checkpoints: what the trainings of a fit have reached, in one file, from which the same fit goes on."""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import numpy as np

from clearset.artifact import (
    Artifact,
    ArtifactError,
    check_target,
    clearset_version,
    locked,
    read_artifact,
    remove_file,
    write_artifact,
)
from clearset.engines import ResumableTrainer, State, processes
from clearset.files import brief
from clearset.training._epochs import Progress
from clearset.training._identity import Content, identity
from clearset.training._kept_training import KeptTraining, generator_state, put_generator_back

KIND = "checkpoint"
# The least seconds between two writes, and the share of the time that writing may take.
SECONDS, SHARE = 5.0, 0.05

_current: ContextVar["Checkpoint | None"] = ContextVar("checkpoint", default=None)


class Checkpoint:
    """The trainings of one fit, in the order in which they begin, and the generators that all randomness comes from.

    A fit is a function of its data, its parameters and its generators, and all of it but its epochs takes little time.
    So going on is running the same fit again: trainings that have ended return what they returned before, the one that
    was under way goes on from its last state, and each is told by its identity whether it is still the same.
    """

    def __init__(self, path: Path, fit: Mapping[str, str]) -> None:
        self.path, self.fit = path, dict(fit)
        self._generators: list[Any] = []
        self._trainings: list[KeptTraining] = []
        self._n_generators = self._n_trainings = 0  # how many have been asked for by this run of the fit
        self._written = self._took = 0.0
        self.is_open = True
        self._is_new = not path.exists()
        if not self._is_new:
            self._read()

    def _read(self) -> None:
        try:
            artifact = read_artifact(self.path)
        except ArtifactError as error:
            raise ArtifactError(f"{str(error).rstrip('.')}. {self._what_to_do}") from error
        if artifact.kind != KIND:
            raise ArtifactError(
                f"'{self.path}' is no checkpoint: it holds a {brief(artifact.kind)}. {self._what_to_do}"
            )
        try:
            before = {str(name): str(text) for name, text in artifact.document["fit"].items()}
            self._generators = list(artifact.document["generators"])
            self._trainings = [
                KeptTraining.of(document, _named(f"{number}.", artifact.arrays))
                for number, document in enumerate(artifact.document["trainings"])
            ]
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise self.damaged(error) from error
        for name in {**self.fit, **before}:
            then, now = before.get(name, "nothing"), self.fit.get(name, "nothing")
            if then != now:
                raise ValueError(
                    f"'{self.path}' is the checkpoint of another fit: {brief(name)} was {brief(then, 1500)}, and is "
                    f"now {brief(now, 1500)}. {self._what_to_do}"
                )

    def damaged(self, error: Exception) -> ArtifactError:
        """Return the error for a file whose content cannot be."""
        return ArtifactError(f"'{self.path}' is damaged: {brief(repr(error))}. {self._what_to_do}")

    @property
    def _what_to_do(self) -> str:
        return "It was left as it is. Name another file, or remove this one to start anew."

    def continue_generator(self, rng: np.random.Generator) -> None:
        """Put a generator that a fit begins with into the state in which it began."""
        number, self._n_generators = self._n_generators, self._n_generators + 1
        if number < len(self._generators):
            try:
                put_generator_back(rng, self._generators[number])
            except (KeyError, TypeError, ValueError, OverflowError) as error:
                raise ValueError(
                    f"'{self.path}' is the checkpoint of a fit with another generator, or is damaged. Use the "
                    f"random_state that it was begun with. {self._what_to_do}"
                ) from error
            return
        self._generators.append(generator_state(rng))
        self.write()

    def next_training(self, identity: Mapping[str, str]) -> KeptTraining:
        """Return what is known of the training that begins; raise a ValueError if it is another than before."""
        number, self._n_trainings = self._n_trainings, self._n_trainings + 1
        if number == len(self._trainings):
            self._trainings.append(KeptTraining(dict(identity)))
            if number == 0:
                self.write()  # from the beginning it is known which data the fit is of
        kept = self._trainings[number]
        changed = [name for name in {**kept.identity, **identity} if kept.identity.get(name) != identity.get(name)]
        if changed:
            raise ValueError(
                f"The data have changed since '{self.path}' was written: training {number + 1} of the fit differs in "
                f"{brief(', '.join(changed))}. Fit on the data that it was begun with. {self._what_to_do}"
            )
        return kept

    def forget_beginning(self) -> None:
        """Remove a file of this run that says nothing of the data yet: any other data would go with it."""
        if self._is_new and not self._trainings:
            remove_file(self.path)

    @property
    def is_due(self) -> bool:
        """Whether it is time to write again."""
        return time.monotonic() - self._written >= max(SECONDS, self._took / SHARE)

    def write(self) -> None:
        """Replace the file by one with all that is known now."""
        started, arrays = time.monotonic(), State()
        for number, kept in enumerate(self._trainings):
            arrays |= {f"{number}.{name}": array for name, array in kept.arrays.items()}
        document = {
            "fit": self.fit,
            "generators": self._generators,
            "trainings": [kept.document() for kept in self._trainings],
        }
        try:
            write_artifact(self.path, Artifact(KIND, document, arrays))
        except OSError as error:
            raise OSError(
                error.errno,
                f"Cannot write the checkpoint '{self.path}': {error.strerror or error}. What was written before is "
                "kept; once the file can be written, the same fit goes on from there",
            ) from error
        self._written = time.monotonic()
        self._took = self._written - started


class Keeper:
    """Keeps one training in the checkpoint of its fit: what `run_epochs` tells of it, and goes on from."""

    def __init__(
        self, checkpoint: Checkpoint, kept: KeptTraining, trainer: ResumableTrainer[Any], rng: np.random.Generator
    ) -> None:
        self._checkpoint, self._kept, self._trainer, self._rng = checkpoint, kept, trainer, rng

    def resume(self, progress: Progress[Any]) -> bool:
        """Go on from what is kept of the training, if something is; return whether it has ended."""
        try:
            self._kept.put_back(self._trainer, self._rng, progress)
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise self._checkpoint.damaged(error) from error
        return self._kept.ended

    def reached(self, progress: Progress[Any]) -> None:
        """Take note that the next epoch may begin; write it now and then."""
        if self._checkpoint.is_due:
            self._kept.keep(self._trainer, self._rng, progress)
            self._checkpoint.write()

    def ended(self, progress: Progress[Any]) -> None:
        """Take note that the training has ended."""
        self._kept.ended = True
        self._kept.keep(self._trainer, self._rng, progress)
        if not self._kept.is_finite:
            raise FloatingPointError(
                "Training has diverged: its result is not finite. Use a smaller learning_rate, and remove the "
                f"checkpoint '{self._checkpoint.path}'."
            )
        if self._checkpoint.is_due:
            self._checkpoint.write()

    def interrupted(self) -> None:
        """Leave the file as it is from now on: what follows an interrupt is not what would have followed without."""
        self._checkpoint.is_open = False


@contextmanager
def checkpointed(path: str | os.PathLike[str] | None, fit: Mapping[str, str]) -> Iterator[None]:
    """Keep what the trainings within this context reach in a file, or go on from it; remove it when all is done.

    Parameters
    ----------
    path : path-like or None
        The file; None keeps nothing.
    fit : mapping of str to str
        What tells the fit from others, but for its data: the estimator and its parameters.
    """
    if path is None:
        yield
        return
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"checkpoint must be the path of a file; received {path!r}.")
    if processes().count > 1:
        raise ValueError(
            f"checkpoint is for fits in one process; this is one of {processes().count}. Leave it out, or use one."
        )
    check_target(path)
    with locked(Path(path), "name another file"):
        checkpoint = Checkpoint(Path(path), {**fit, "the version of clearset": clearset_version()})
        token = _current.set(checkpoint)
        try:
            yield
        except (Exception, KeyboardInterrupt):
            checkpoint.forget_beginning()
            raise
        finally:
            _current.reset(token)
        if checkpoint.is_open:
            remove_file(checkpoint.path)


def continued(rng: np.random.Generator) -> np.random.Generator:
    """Return a generator in the state in which the fit that is under way began with it, if it has a checkpoint."""
    checkpoint = _current.get()
    if checkpoint is not None and checkpoint.is_open:
        checkpoint.continue_generator(rng)
    return rng


def keeper(
    trainer: ResumableTrainer[Any], rng: np.random.Generator, parts: Callable[[], Mapping[str, Iterable[Content]]]
) -> Keeper | None:
    """Return what keeps a training, or None if the fit that is under way has no checkpoint.

    Parameters
    ----------
    trainer : ResumableTrainer
        The training, before its first epoch.
    rng : Generator
        Its generator.
    parts : callable
        Returns all that its result follows from beside trainer and generator, as `identity` takes it.
    """
    checkpoint = _current.get()
    if checkpoint is None or not checkpoint.is_open:
        return None
    how = {"the engine": [type(trainer).__name__], "the generator": [str(generator_state(rng))]}
    return Keeper(checkpoint, checkpoint.next_training(identity({**parts(), **how})), trainer, rng)


def _named(beginning: str, arrays: State) -> State:
    """Return the arrays whose names begin with a text, by what follows it."""
    return {name.removeprefix(beginning): array for name, array in arrays.items() if name.startswith(beginning)}
