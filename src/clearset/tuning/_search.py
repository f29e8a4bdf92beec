"""A search that is running: trial after trial, until budget, time or space is used up."""

import time
import warnings
from collections.abc import Mapping
from typing import Any

from clearset.tuning._attempts import Attempt, Attempts
from clearset.tuning._domains import Domain
from clearset.tuning._journal import Finished, Journal
from clearset.tuning._progress import progress_bar
from clearset.tuning._result import TrialRecord, Tuning
from clearset.tuning._words import number_words, words


class Search:
    """Trials of settings, each written down as it ends."""

    def __init__(
        self, attempts: Attempts, domains: Mapping[str, Domain], journal: Journal, budget: int, seed: int
    ) -> None:
        self.attempts = attempts
        self.domains = domains
        self.journal = journal
        self.budget = budget
        self.seed = seed
        self.best: Attempt | None = None
        given = attempts.estimator.get_params(deep=True)
        self.first = {name: given[name] for name in domains}

    def run(self, seconds: float | None, verbose: int) -> bool:
        """Run trials until the budget, the time or the space is used up; return True if an interrupt came first."""
        start = time.monotonic()
        n = len(self.journal.trials())
        with progress_bar(verbose, self.budget, n) as show:
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
            attempt = self.attempts.fit({})
            if attempt.error is not None:
                # An error in the data would recur in every trial.
                raise ValueError(
                    f"The estimator as given cannot be fitted: {attempt.error}"
                ) from attempt.cause
        else:
            proposed = self.journal.propose(self.domains, self.seed)
            if proposed is None:
                return False
            plain = proposed
            attempt = self.attempts.fit(self._setting(number, plain))
        ranked = self._ranked()
        trial = Finished(plain, attempt.loss, attempt.seconds, attempt.error)
        said = {name: words(value) for name, value in self._setting(number, plain).items()}
        self.journal.add(trial, self.domains, said)
        if attempt.loss is not None and (not ranked or attempt.loss < ranked[0][0]):
            self.best = attempt
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
        metric, (loss, number) = self.attempts.metric, ranked[0]
        return f"best {metric.name} {number_words(metric.loss(loss))} (trial {number})"

    def result(self, interrupted: bool) -> Tuning:
        """Return what was found; the best trial is fitted again if its model was not kept."""
        trials, metric, path = self.journal.trials(), self.attempts.metric, self.journal.path
        loss, number = self._ranked()[0]
        params = self._setting(number, trials[number].plain)
        if self.best is None or self.best.model is None:
            self.best = self.attempts.refit(params if number else {})
            if self.best.error is not None:
                where = "on all examples" if self.attempts.folded else "again"
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
