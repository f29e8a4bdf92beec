"""A search that is running: trial after trial, until budget, time or space is used up."""

import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from clearset.tuning._domains import Domain
from clearset.tuning._fit_setting import FittedSetting, SettingFitter
from clearset.tuning._journal import Finished, Journal
from clearset.tuning._result import TrialRecord, Tuning
from clearset.tuning._value_texts import number_words, words


@dataclass(eq=False)
class Search:
    """Trials of settings, each written down as it ends."""

    fitter: SettingFitter
    domains: Mapping[str, Domain]
    journal: Journal
    budget: int
    seed: int
    best: FittedSetting | None = None

    @cached_property
    def first(self) -> dict[str, Any]:
        """The setting of the first trial: the estimator as given."""
        given = self.fitter.estimator.get_params(deep=True)
        return {name: given[name] for name in self.domains}

    def run(self, seconds: float | None, verbose: int) -> bool:
        """Run trials until the budget, the time or the space is used up; return True if an interrupt came first."""
        start = time.monotonic()
        n = len(self.journal.trials())
        with _progress_bar(verbose, self.budget, n) as show:
            show(n, self._summary())
            try:
                while n < self.budget:
                    late = seconds is not None and time.monotonic() - start >= seconds
                    if (late and n > 0) or not self._step(n):
                        break
                    n += 1
                    show(n, self._summary())
            except KeyboardInterrupt:
                if not self._ranked():
                    raise
                return True
        return False

    def _step(self, number: int) -> bool:
        """Run one more trial; return False if no setting is left."""
        if number == 0:
            inside = {name: domain.plain(self.first[name]) for name, domain in self.domains.items()}
            plain = {name: value for name, value in inside.items() if value is not None}
            fitted = self.fitter.fit({})
            if fitted.error is not None:
                # An error in the data would recur in every trial.
                raise ValueError(f"The estimator as given cannot be fitted: {fitted.error}") from fitted.cause
        else:
            proposed = self.journal.propose(self.domains, self.seed)
            if proposed is None:
                return False
            plain = proposed
            fitted = self.fitter.fit(self._setting(number, plain))
        ranked = self._ranked()
        trial = Finished(plain, fitted.loss, fitted.seconds, fitted.error)
        said = {name: words(value) for name, value in self._setting(number, plain).items()}
        self.journal.add(trial, self.domains, said)
        if fitted.loss is not None and (not ranked or fitted.loss < ranked[0][0]):
            self.best = fitted
        return True

    def _setting(self, number: int, plain: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values of the parameters that are searched."""
        if number == 0:
            return self.first
        return {name: domain.value(plain[name]) for name, domain in self.domains.items()}

    def _ranked(self) -> list[tuple[float, int]]:
        """Return the losses and numbers of the trials that have one, the best first."""
        found = enumerate(self.journal.trials())
        return sorted((trial.loss, number) for number, trial in found if trial.loss is not None)

    def _summary(self) -> str:
        if not (ranked := self._ranked()):
            return ""
        metric, (loss, number) = self.fitter.metric, ranked[0]
        return f"best {metric.name} {number_words(metric.loss(loss))} (trial {number})"

    def result(self, interrupted: bool) -> Tuning:
        """Return what was found; the best trial is fitted again if its model was not kept."""
        trials, metric, path = self.journal.trials(), self.fitter.metric, self.journal.path
        loss, number = self._ranked()[0]
        params = self._setting(number, trials[number].plain)
        if self.best is None or self.best.model is None:
            self.best = self.fitter.refit(params if number else {})
            if self.best.error is not None:
                where = "on all examples" if self.fitter.folded else "again"
                raise ValueError(f"The best trial, {number}, cannot be fitted {where}: {self.best.error}")
        self.best.repeat_warnings()
        if interrupted:
            later = " The same call goes on from there." if path else ""
            warnings.warn(
                f"Tuning was interrupted after {len(trials)} of {self.budget} trials. The best so far is kept.{later}",
                stacklevel=3,
            )
        return Tuning(
            best_estimator_=self.best.model,
            best_params_=params,
            best_score_=metric.loss(loss),
            best_trial_=number,
            trials=[
                TrialRecord(
                    number=place,
                    params=self._setting(place, trial.plain),
                    score=None if trial.loss is None else metric.loss(trial.loss),
                    seconds=trial.seconds,
                    state="failed" if trial.loss is None else "complete",
                    error=trial.error,
                )
                for place, trial in enumerate(trials)
            ],
            metric=metric.name,
            higher_is_better=metric.higher_is_better,
            interrupted_=interrupted,
            domains=dict(self.domains),
        )


@contextmanager
def _progress_bar(verbose: int, budget: int, done: int) -> Iterator[Callable[[int, str], None]]:
    """Show on standard error how many trials have ended, and the best so far; nothing where not verbose."""
    if not verbose:
        yield lambda _done, _text: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("tune"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("trials"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[text]}", markup=False),
    )
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task("tune", total=budget, completed=done, text="")
        yield lambda done, text: progress.update(task, completed=done, text=text)
