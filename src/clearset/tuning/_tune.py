"""The search for the options that do best on validation data."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier

from clearset.estimators import MAX_FOLDS, Number, Whole, make_rng
from clearset.sets import exact_words, refuse_files
from clearset.tuning._default_spaces import declared_in_full, default_space
from clearset.tuning._domains import Domain, read_space
from clearset.tuning._examples import Folds, read_examples, read_labels_of
from clearset.tuning._fit_setting import SettingFitter
from clearset.tuning._journal import Journal, open_journal
from clearset.tuning._metric import read_metric, tells_classes
from clearset.tuning._result import Tuning
from clearset.tuning._search import Search


def tune(
    estimator: Any,
    X: Any,
    y: Any,
    validation_data: tuple[Any, Any] | None = None,
    budget: int = 30,
    *,
    folds: int | None = None,
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
    others are proposed by Optuna's tree-structured Parzen estimator. No setting is tried twice: if proposals repeat
    themselves, one of the remaining settings is drawn, and if none is left, the search ends before its budget. A
    setting that cannot be fitted (ValueError, or training that diverges) is recorded and passed over; if it is the
    estimator as given, its error is raised.

    Parameters
    ----------
    estimator : estimator
        One of this package, or any estimator or pipeline of scikit-learn's kind if `space` is given. It is not changed.
    X : object
        The examples, as its `fit` takes them.
    y : array-like of shape (n,)
        One label for each example.
    validation_data : tuple (X, y), optional
        Examples and labels to compare settings on. None sets aside a random fifth of the examples, a tenth of 5000 and
        more, of every class alike. `fit` is given them as well where it takes ``validation_data``.
    budget : int, default=30
        The number of trials in all.
    folds : int, optional
        Compare settings by cross-validation instead, for few examples, where the result of one split is mostly chance.
        The examples are dealt at random to so many folds, 2 to 31, of every class alike; each setting is fitted without
        each fold and scored on it, and its score is the mean of the folds' scores by their size (or weight). The best
        setting is then fitted on all examples. `fit` is given no validation data.
    space : mapping of str to list or tuple, optional
        What is searched: parameters as ``set_params`` names them, each with a list of choices (any objects), or a range
        ``(low, high)`` or ``(low, high, "log")``; whole limits give whole numbers. All other parameters stay as given.
        None takes `clearset.tuning.default_space`, whatever the estimator's own values are.
    scoring : str or callable, optional
        The name of a scikit-learn scorer, or a function of model, X and y; higher is better. None takes the loss that
        the estimator minimises: log loss for classes (the error rate where there are no probabilities), and the mean
        squared error or what ``loss`` says for numbers.
    sample_weight : array-like of shape (n,), optional
        One weight for each example, to fit with and, of those set aside, to score with if `scoring` takes weights.
    seconds : float, optional
        The time after which no further trial is started; there is always one.
    storage : path-like, optional
        A file of JSON lines to keep trials in. The same call goes on where an earlier one stopped, and counts its
        trials; trials of another search, or of other examples, are refused, and so is a file that another run is
        using. No file is written to but a new one, or that of a search.
    random_state : int, numpy.random.RandomState, numpy.random.Generator or None, default=None
        The seed of search and split, and of the estimator where its own is None. The same seed gives the same trials,
        in one go or resumed.
    verbose : int, default=1
        Whether to show a progress bar: 1 shows one, 0 does not.

    Returns
    -------
    Tuning
        The best estimator, fitted on the training examples (with folds, on all examples), and all trials. Ctrl-C ends
        the search with the best found so far.

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
    _check(estimator, budget, seconds, folds, validation_data)
    refuse_files(X)
    estimator = declared_in_full(estimator, X, y)
    y = read_labels_of(y, "y", classes=is_classifier(estimator))
    metric = read_metric(estimator, scoring, y)
    if storage is not None and "<lambda>" in metric.name:
        raise ValueError(
            "scoring is a lambda, which trials in storage cannot be told apart by. Give the function a name by def, or "
            "leave storage out."
        )
    domains = read_space(default_space(estimator, X, y) if space is None else space, estimator)
    with open_journal(storage) as journal:
        seed = _seed(random_state, journal)
        classes = tells_classes(estimator, y)
        training, held = read_examples(X, y, sample_weight, validation_data, folds, seed, stratify=classes)
        fitter = SettingFitter(_seeded(estimator, seed), training, held, metric)
        if journal.path is not None:
            by = {"folds": len(held)} if isinstance(held, Folds) else {"validation": held.fingerprint()}
            journal.claim(
                {
                    **_described(estimator, domains),
                    "metric": metric.name,
                    "seed": seed,
                    "training": training.fingerprint(),
                    **by,
                },
                domains,
            )
        search = Search(fitter, domains, journal, budget, seed)
        interrupted = search.run(seconds, verbose)
        return search.result(interrupted)


def _check(estimator: Any, budget: Any, seconds: Any, folds: Any, validation_data: Any) -> None:
    if isinstance(estimator, type) or not (hasattr(estimator, "fit") and hasattr(estimator, "get_params")):
        raise TypeError(
            f"estimator must be an estimator, such as SetRegressor(); received {estimator!r}, which has no parameters "
            "and fit of its own."
        )
    Whole(1).check("budget", budget)
    if seconds is not None:
        Number().check("seconds", seconds)
    if folds is not None:
        Whole(2, MAX_FOLDS).check("folds", folds)
        if validation_data is not None:
            raise ValueError(
                f"Settings are compared on validation data or by folds; received validation_data and folds={folds}. "
                "Leave one out."
            )


def _seed(random_state: Any, journal: Journal) -> int:
    """Return the seed asked for, or else that of the trials in the file, or a random one."""
    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool):
        make_rng(random_state)  # refuses what no seed can be
        return int(random_state)
    if random_state is None and journal.search is not None:
        return int(journal.search["seed"])
    return int(make_rng(random_state).integers(2**31 - 1))


def _seeded(estimator: Any, seed: int) -> Any:
    """Return a copy whose seeds are set, so that settings do not differ by chance."""
    copy = clone(estimator)
    unset = [
        name
        for name, value in copy.get_params(deep=True).items()
        if name.rpartition("__")[2] == "random_state" and value is None
    ]
    return copy.set_params(**dict.fromkeys(unset, seed))


def _described(estimator: Any, domains: Mapping[str, Domain]) -> dict[str, str]:
    """Describe a search by texts that are the same in every process."""
    without = ("n_jobs", "verbose")  # they change no result
    given = {
        f"parameter {name}": exact_words(value)
        for name, value in estimator.get_params(deep=True).items()
        if name.rpartition("__")[2] not in without
    }
    space = {f"space of {name}": exact_words(domain) for name, domain in domains.items()}
    return {"estimator": type(estimator).__name__, **given, **space}
