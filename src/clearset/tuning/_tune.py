"""The search for the options that do best on validation data."""

import time
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from clearset.estimators._parameters import check_integer, check_number, make_rng
from clearset.tuning._attempts import Attempt, Attempts
from clearset.tuning._data import read_examples
from clearset.tuning._domains import Domain, read_space
from clearset.tuning._journal import Finished, Journal
from clearset.tuning._metric import read_metric, tells_classes
from clearset.tuning._progress import progress_bar
from clearset.tuning._result import Trial, Tuning
from clearset.tuning._spaces import default_space
from clearset.tuning._words import exact_words, words


def tune(
    estimator: Any,
    X: Any,
    y: Any,
    validation_data: tuple[Any, Any] | None = None,
    budget: int = 30,
    *,
    space: Mapping[str, Any] | None = None,
    scoring: str | Callable[..., float] | None = None,
    sample_weight: Any = None,
    seconds: float | None = None,
    storage: str | Path | None = None,
    random_state: Any = None,
    verbose: int = 1,
) -> Tuning:
    """Search for the options that do best on validation data.

    The first trial is the estimator as given, so the best is never worse on the validation data than not tuning. The
    others are proposed by Optuna's tree-structured Parzen estimator. No setting is tried twice; where none is left,
    the search ends before its budget. A setting that cannot be fitted (ValueError, or training that diverges) is
    noted and passed over.

    Parameters
    ----------
    estimator
        One of this package, or any estimator or pipeline of scikit-learn's kind if `space` is given. It is not changed.
    X, y
        Examples and labels, as its `fit` takes them.
    validation_data
        ``(X, y)`` to compare settings on. None sets aside a random fifth of the examples, a tenth of 5000 and more, of
        every class alike. `fit` is given them as well where it takes ``validation_data``.
    budget
        Trials in all.
    space
        What is searched: parameters as ``set_params`` names them, each with a list of choices (any objects), or a range
        ``(low, high)`` or ``(low, high, "log")``; whole limits give whole numbers. All other parameters stay as given.
        None takes `clearset.tuning.default_space`, whatever the estimator's own values are.
    scoring
        The name of a scikit-learn scorer, or a function of model, X and y; higher is better. None takes the loss that
        the estimator minimises: log loss for classes (the error rate where there are no probabilities), and the mean
        squared error or what ``loss`` says for numbers.
    sample_weight
        One weight for each example, to fit with and, of those set aside, to score with.
    seconds
        Start no further trial after so long; one there always is.
    storage
        A file of JSON lines to keep trials in. The same call goes on where an earlier one stopped, and counts its
        trials; trials of another search are refused.
    random_state
        Seed of search and split, and of the estimator where its own is None. The same seed gives the same trials, in
        one go or resumed.
    verbose
        0 shows no progress bar.

    Returns
    -------
    Tuning
        The best estimator, fitted on what was trained on, and all trials. Ctrl-C ends the search with what it has
        found so far.

    Examples
    --------
    >>> import numpy as np
    >>> import clearset as cs
    >>> from sklearn.linear_model import Ridge
    >>> X = np.arange(40.0).reshape(20, 2)
    >>> tuning = cs.tune(Ridge(), X, X[:, 0], budget=5, space={"alpha": (0.01, 100.0, "log")}, random_state=0,
    ...                  verbose=0)
    >>> tuning.best_params_["alpha"] < 1.0, len(tuning.trials), tuning.metric
    (True, 5, 'mean squared error')
    """
    _check(estimator, {"budget": budget, "seconds": seconds})
    metric = read_metric(estimator, scoring, y)
    domains = read_space(default_space(estimator, X, y) if space is None else space, estimator)
    journal = Journal(storage)
    seed = _seed(random_state, journal)
    classes = tells_classes(estimator, y)
    training, validation = read_examples(X, y, sample_weight, validation_data, seed, stratify=classes)
    attempts = Attempts(_seeded(estimator, seed), training, validation, metric)
    journal.claim(
        {
            **_described(estimator, domains),
            "metric": metric.name,
            "seed": seed,
            "training": f"{len(training)} examples (labels {training.checksum():08x})",
            "validation": f"{len(validation)} examples (labels {validation.checksum():08x})",
        }
    )
    search = _Search(attempts, domains, journal, budget, seed)
    interrupted = search.run(seconds, verbose)
    return search.result(interrupted)


class _Search:
    """A search under way."""

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
        """Go on until the budget, the time or the space is spent; True if an interrupt came first."""
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
        """Make one more trial; False where no setting is left."""
        if number == 0:
            inside = {name: domain.plain(self.first[name]) for name, domain in self.domains.items()}
            plain = {name: value for name, value in inside.items() if value is not None}
            attempt = self.attempts.fit({})
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
        """Give the values of the parameters that are searched."""
        if number == 0:
            return self.first
        return {name: domain.value(plain[name]) for name, domain in self.domains.items()}

    def _ranked(self) -> list[tuple[float, int]]:
        """Give the losses and numbers of the trials that have one, the best first."""
        found = enumerate(self.journal.trials())
        return sorted((trial.loss, number) for number, trial in found if trial.loss is not None)

    def _summary(self) -> str:
        if not (ranked := self._ranked()):
            return ""
        metric, (loss, number) = self.attempts.metric, ranked[0]
        return f"best {metric.name} {metric.loss(loss):.4g} (trial {number})"

    def result(self, interrupted: bool) -> Tuning:
        """Give what was found; the best trial of an earlier process is fitted again."""
        trials, metric, path = self.journal.trials(), self.attempts.metric, self.journal.path
        if not (ranked := self._ranked()):
            again = f" Remove '{path}' to search anew." if path else ""
            raise ValueError(
                f"None of {len(trials)} trials could be fitted. The first: {trials[0].error}{again}"
            )
        loss, number = ranked[0]
        params = self._setting(number, trials[number].plain)
        if self.best is None:
            self.best = self.attempts.fit(params if number else {})
            if self.best.error is not None:
                raise ValueError(f"The best trial, {number}, cannot be fitted again: {self.best.error}")
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
                Trial(
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


def _check(estimator: Any, numbers: dict[str, Any]) -> None:
    if isinstance(estimator, type) or not (hasattr(estimator, "fit") and hasattr(estimator, "get_params")):
        raise TypeError(
            f"estimator must be an estimator, such as SetRegressor(); received {estimator!r}, which has no parameters "
            "and fit of its own."
        )
    check_integer(numbers, "budget", 1)
    if numbers["seconds"] is not None:
        check_number(numbers, "seconds", 0.0, float("inf"))


def _seed(random_state: Any, journal: Journal) -> int:
    """Give the seed asked for, or else that of the trials in the file, or any."""
    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool):
        return int(random_state)
    if random_state is None and journal.search is not None:
        return int(journal.search["seed"])
    return int(make_rng(random_state).integers(2**31 - 1))


def _seeded(estimator: Any, seed: int) -> Any:
    """Give a copy whose seeds are set, so that settings differ by themselves and not by chance."""
    copy = clone(estimator)
    unset = [
        name
        for name, value in copy.get_params(deep=True).items()
        if name.rpartition("__")[2] == "random_state" and value is None
    ]
    return copy.set_params(**dict.fromkeys(unset, seed))


def _described(estimator: Any, domains: Mapping[str, Domain]) -> dict[str, str]:
    """Describe a search, in words that another process would use as well."""
    without = ("n_jobs", "verbose")  # they change no result
    given = {
        f"parameter {name}": exact_words(value)
        for name, value in estimator.get_params(deep=True).items()
        if name.rpartition("__")[2] not in without
    }
    space = {f"space of {name}": exact_words(domain) for name, domain in domains.items()}
    return {"estimator": type(estimator).__name__, **given, **space}
