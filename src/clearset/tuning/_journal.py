"""Trials, kept by Optuna in memory or in a file, and the setting that it proposes next."""

import json
import math
import os
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from clearset.artifact import check_target, locked
from clearset.files import brief
from clearset.tuning._domains import Choices, Domain
from clearset.tuning._optional_packages import need
from clearset.tuning._summed_lines import SummedLines

if TYPE_CHECKING:
    import optuna

_NAME = "clearset"
_SEARCH = "search"
# Proposals for one trial: where all were tried before, one of those that are left is drawn.
_PROPOSALS = 10
# Draws from a range, which repeat themselves only where it has hardly any numbers.
_DRAWS = 50

Plain = dict[str, float]
"""A setting as plain numbers, see `Domain.plain`; the first trial's lacks what is outside of the space."""


@dataclass(frozen=True)
class Finished:
    """A trial that has ended: with a loss, or with an error."""

    plain: Plain
    loss: float | None
    seconds: float
    error: str | None


def _finished(trials: "Sequence[optuna.trial.FrozenTrial]") -> list[Finished]:
    """Return trials as Optuna has kept them."""
    return [
        Finished(trial.params, trial.value, trial.user_attrs["seconds"], trial.user_attrs["error"]) for trial in trials
    ]


@contextmanager
def open_journal(path: str | Path | None) -> "Iterator[Journal]":
    """Open the trials so far, in a file of JSON lines that is made if it does not exist, or in memory for None."""
    # No other run can open the file while the context lasts.
    if path is None:
        yield Journal(None)
        return
    path = Path(path)
    check_target(path)
    with locked(path, "name another file to keep trials in"):
        yield Journal(path)


class Journal:
    """The trials so far, see `open_journal`.

    Only trials that have ended are written, so that a process that is killed leaves nothing unfinished, and what comes
    next is a function of the trials before it and the seed: a resumed search continues as if it had not stopped.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        need("optuna")
        import optuna

        with _quiet():
            storage = optuna.storages.InMemoryStorage() if self.path is None else _open(self.path)
            make = optuna.load_study if storage.get_all_studies() else optuna.create_study
            self._study = make(study_name=_NAME, storage=storage)

    @property
    def search(self) -> dict[str, Any] | None:
        """What the trials are of, as `claim` recorded it."""
        search: dict[str, Any] | None = self._study.user_attrs.get(_SEARCH)
        return search

    def claim(self, search: Mapping[str, Any], names: Collection[str]) -> None:
        """Record what distinguishes this search, of parameters by `names`; raise ValueError if the file has another."""
        if self.search is None or not self.trials():
            self._study.set_user_attr(_SEARCH, dict(search))
            return
        for name in sorted({*self.search, *search}):
            before, now = self.search.get(name, "nothing"), search.get(name, "nothing")
            if before != now:
                raise ValueError(
                    f"'{self.path}' holds trials of another search: {name} was {before}, and is now {now}. Use "
                    "another file, or remove this one to start anew."
                )
        # Only the first trial may lack parameters. Files had no lock once, and two runs each wrote their first.
        if any({*trial.plain} != {*names} for trial in self.trials()[1:]):
            raise ValueError(
                f"'{self.path}' holds trials that several runs at once have mixed up, and cannot be gone on with. Use "
                "another file, or remove this one to start anew."
            )

    def trials(self) -> list[Finished]:
        """Return the trials that have ended, in order."""
        return _finished(self._study.get_trials(deepcopy=False))

    def add(self, trial: Finished, domains: Mapping[str, Domain], said: Mapping[str, str]) -> None:
        """Write a trial, with its parameters as texts for people who read the file."""
        from optuna.trial import TrialState, create_trial

        spread = _distributions(domains)
        with _quiet():
            self._study.add_trial(
                create_trial(
                    # As a pruned trial the search learns from a failure; one that failed it would forget.
                    state=TrialState.PRUNED if trial.loss is None else TrialState.COMPLETE,
                    value=trial.loss,
                    params=dict(trial.plain),
                    distributions={name: spread[name] for name in trial.plain},
                    user_attrs={"seconds": trial.seconds, "error": trial.error, "said": dict(said)},
                )
            )

    def propose(self, domains: Mapping[str, Domain], seed: int) -> Plain | None:
        """Return a setting that was not tried yet; None if none is left."""
        import optuna
        from optuna.samplers import RandomSampler, TPESampler

        known, spread = self._study.get_trials(deepcopy=False), _distributions(domains)
        trials = [trial for trial in known if trial.params.keys() == domains.keys()]
        with _quiet():
            # Asking leaves a trial behind, so it is done aside.
            aside = optuna.create_study()
            aside.add_trials(trials)
            for attempt in range(_PROPOSALS + _DRAWS):
                state = int(np.random.SeedSequence([seed, len(known), attempt]).generate_state(1)[0])
                if attempt < _PROPOSALS:
                    aside.sampler = TPESampler(seed=state, multivariate=True, constant_liar=False)
                elif all(domain.size for domain in domains.values()):
                    return _untried([trial.params for trial in trials], domains, state)
                else:
                    aside.sampler = RandomSampler(seed=state)
                params: Plain = aside.ask(spread).params
                if not any(trial.params == params for trial in trials):
                    return params
        return None


def _untried(tried: Sequence[Plain], domains: Mapping[str, Domain], seed: int) -> Plain | None:
    """Draw one of the settings of a finite space that were not tried; None if there is none."""
    # Settings are numbered, so that only those tried are enumerated.
    sizes = [domain.size or 1 for domain in domains.values()]
    numbers = set()
    for plain in tried:
        number = 0
        for (name, domain), size in zip(domains.items(), sizes, strict=True):
            number = number * size + domain.place(plain[name])
        numbers.add(number)
    left = math.prod(sizes) - len(numbers)
    if not left:
        return None
    drawn = int(np.random.default_rng(seed).integers(min(left, 2**62)))
    for number in sorted(numbers):
        drawn += number <= drawn
    chosen: Plain = {}
    for name, domain in reversed(list(domains.items())):
        drawn, place = divmod(drawn, domain.size or 1)
        chosen[name] = domain.at(place)
    return {name: chosen[name] for name in domains}


def _open(path: Path) -> "optuna.storages.BaseStorage":
    from optuna.storages import JournalStorage

    try:
        if path.exists() and path.stat().st_size:
            # A line that was being written when its process ended would make the next one unreadable.
            content = path.read_bytes()
            if not _is_begun(content):
                _check_first_line(path)
            if not content.endswith(b"\n"):
                os.truncate(path, content.rfind(b"\n") + 1)
        # Optuna's own files are locked in a way that outlasts a killed process; here the whole file is locked.
        lines: Any = SummedLines(path)
        storage = JournalStorage(lines)
        for study in storage.get_all_studies():  # reads all lines
            _finished(storage.get_all_trials(study._study_id))
    # Optuna trusts its files, and answers damaged ones with errors of many kinds, failed assertions among them.
    except Exception as error:
        raise ValueError(
            f"'{path}' is no file of a search, or it is damaged ({brief(error)}). Name another file, or a new one."
        ) from error
    return storage


def _is_begun(content: bytes) -> bool:
    """Return whether this is the beginning of the first line that a search writes, and no more."""
    begins = b'{"op_code":0,"worker_id":"'
    return b"\n" not in content and content[: len(begins)] == begins[: len(content)]


def _check_first_line(path: Path) -> None:
    """Raise an error unless a file begins as a search does; nothing is ever written to any other."""
    with path.open("rb") as file:
        line = file.readline()
    if not line.endswith(b"\n") or json.loads(line)["study_name"] != _NAME:
        raise ValueError("the first line names no search")


def _distributions(domains: Mapping[str, Domain]) -> "dict[str, optuna.distributions.BaseDistribution]":
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    def spread(domain: Domain) -> "optuna.distributions.BaseDistribution":
        if isinstance(domain, Choices):
            return CategoricalDistribution(range(len(domain.values)))
        if domain.whole:
            return IntDistribution(int(domain.low), int(domain.high), log=domain.log)
        return FloatDistribution(domain.low, domain.high, log=domain.log)

    return {name: spread(domain) for name, domain in domains.items()}


@contextmanager
def _quiet() -> Iterator[None]:
    """Suppress Optuna's log, and its warnings that some parts are experimental."""
    import optuna

    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            yield
    finally:
        optuna.logging.set_verbosity(before)
