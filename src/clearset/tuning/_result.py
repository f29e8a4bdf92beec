"""What a search has found."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypedDict

import pyarrow as pa

from clearset.display import tuning_html
from clearset.tuning._domains import Domain, is_number
from clearset.tuning._value_texts import number_words, words

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class TrialRecord(TypedDict):
    """One trial: its number, the parameters searched, its score (None if it failed), and why it failed."""

    number: int
    params: dict[str, Any]
    score: float | None
    seconds: float
    state: str
    error: str | None


@dataclass(frozen=True, eq=False, repr=False)
class Tuning:
    """What `tune` has found.

    Attributes
    ----------
    best_estimator_ : estimator
        The estimator of the best trial, fitted on the training examples; with folds on all examples. To train on the
        validation data too: ``clone(tuning.best_estimator_).fit(X, y)``.
    best_params_ : dict
        The values of the parameters searched, in the best trial.
    best_score_ : float
        The score of the best trial.
    best_trial_ : int
        The number of the best trial.
    trials : list of dict
        A record of each: ``number``, ``params``, ``score``, ``seconds``, ``state`` ("complete" or "failed"), ``error``.
        The first is the estimator as given.
    metric : str
        The name of the score.
    higher_is_better : bool
        Whether a higher score is better.
    interrupted_ : bool
        Whether an interrupt (Ctrl-C) ended the search early.
    domains : dict
        The domain of each parameter searched.

    Examples
    --------
    >>> import clearset as cs
    >>> from sklearn.linear_model import Ridge
    >>> X, y = [[1.0], [2.0], [3.0], [4.0]] * 5, [1.0, 2.0, 3.0, 4.0] * 5
    >>> tuning = cs.tune(Ridge(), X, y, budget=3, space={"alpha": [0.1, 10.0]}, random_state=0, verbose=0)
    >>> tuning.to_frame().column_names
    ['number', 'score', 'seconds', 'state', 'error', 'param_alpha']
    >>> tuning.best_params_
    {'alpha': 0.1}
    """

    best_estimator_: Any
    best_params_: dict[str, Any]
    best_score_: float
    best_trial_: int
    trials: list[TrialRecord]
    metric: str
    higher_is_better: bool
    interrupted_: bool
    domains: dict[str, Domain] = field(repr=False)

    def __repr__(self) -> str:
        chosen = ", ".join(f"{name}={words(value)}" for name, value in self.best_params_.items())
        return (
            f"Tuning({type(self.best_estimator_).__name__}: {self.metric} {number_words(self.best_score_)} in trial "
            f"{self.best_trial_} of {len(self.trials)}, {chosen})"
        )

    def _repr_html_(self) -> str:
        return tuning_html(self)

    def ranked(self) -> list[TrialRecord]:
        """Return the complete trials, the best first."""
        scored = [(trial["score"], trial) for trial in self.trials if trial["score"] is not None]
        sign = -1.0 if self.higher_is_better else 1.0
        return [trial for _, trial in sorted(scored, key=lambda pair: sign * pair[0])]

    def to_frame(self) -> pa.Table:
        """Return one row for each trial, as an Arrow table.

        ``number``, ``score``, ``seconds``, ``state``, ``error``, and a column ``param_...`` for each parameter that was
        searched: numbers if all values are, else texts.
        """
        kinds = {
            "number": pa.int64(),
            "score": pa.float64(),
            "seconds": pa.float64(),
            "state": pa.string(),
            "error": pa.string(),
        }
        records: list[dict[str, Any]] = [dict(trial) for trial in self.trials]
        columns = {name: pa.array([record[name] for record in records], kind) for name, kind in kinds.items()}
        for name in self.best_params_:
            values = [trial["params"][name] for trial in self.trials]
            plain = all(value is None or is_number(value) for value in values)
            columns[f"param_{name}"] = pa.array(values if plain else [words(value) for value in values])
        return pa.table(columns)

    def plot(self) -> "Figure":
        """Draw the scores, trial by trial and against each parameter that was searched.

        Returns
        -------
        matplotlib.figure.Figure
            Not shown; save it with ``figure.savefig("tuning.png")``.
        """
        from clearset.tuning._plot import plot

        return plot(self)
