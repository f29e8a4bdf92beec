"""One setting tried out: a token table, its statistics without each fold, and a set function on top."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from clearset.estimators.semantic._crossing import Crossing, Occurrences
from clearset.estimators.semantic._details import Details, read_details
from clearset.estimators.semantic._fit import Examples, Fitted, fit_aggregation
from clearset.estimators.semantic._rows import TokenRows
from clearset.estimators.semantic._setting import Setting
from clearset.estimators.semantic._sources import Rows, Sources
from clearset.setfunction import Loss, RefinedSetFunction
from clearset.sets import Feature, Trust
from clearset.tokens import Corrections, Found, Labels, Statistics, TokenTable, cross_fit

# Corrections, tokens x classes, that are learned at most; the most frequent tokens have them.
MOST_CORRECTIONS = 4_000_000


@dataclass(frozen=True, eq=False)
class Plan:
    """What all settings of a fit share.

    Attributes
    ----------
    classes
        The classes of the labels, or None for a number.
    table
        A token table made elsewhere, or None to make one of the training examples.
    features, trusts
        Of the set function; None for the usual ones of the setting.
    details
        Columns that tell something of each item of an example.
    loss, options
        What to minimise and how.
    shrinkage
        Examples of the prior that every mean is mixed with.
    threads
        Of everything that has some.
    """

    classes: npt.NDArray[Any] | None
    table: TokenTable | None
    features: tuple[Feature, ...] | None
    trusts: tuple[Trust, ...]
    details: tuple[str, ...]
    loss: Loss
    options: Mapping[str, Any]
    shrinkage: float
    threads: int

    def features_of(self, setting: Setting) -> tuple[Feature, ...]:
        """Give the features of the set function: those asked for, or the usual ones."""
        if self.features is not None:
            return self.features
        task = self.table.task if self.table is not None else ("number" if self.classes is None else "classes")
        plain = ["count", "entropy", "items", "tokens"] if task == "classes" else ["count", "items", "tokens"]
        if not setting.tokens.of_one_item:
            plain.insert(1, "size")
        value = Feature("log_odds" if task == "classes" else "mean_label", monotonic="increasing")
        return (value, *map(Feature, plain), *map(Feature, self.details))


@dataclass(frozen=True, eq=False)
class Trial:
    """A setting and what came of it.

    Attributes
    ----------
    setting
        What was tried.
    table
        Made of the training examples, with learned corrections.
    fitted
        The set function.
    features
        Of the set function.
    training_crossing, training, validation
        How the training examples were read, and the tokens of both: what is out of fold is known from here only.
    """

    setting: Setting
    table: TokenTable
    fitted: Fitted
    features: tuple[Feature, ...]
    crossing: Crossing
    occurrences: Occurrences

    @property
    def loss(self) -> float:
        """The loss on validation data, or without any on the training data."""
        return self.fitted.progress.best_loss


def try_setting(
    setting: Setting,
    plan: Plan,
    sources: Sources,
    rng: np.random.Generator,
    on_epoch: Callable[[dict[str, float]], None] | None = None,
) -> Trial:
    """Make the table of a setting and train a set function on it."""
    table, out_of_fold = _table(setting, plan, sources)
    features = plan.features_of(setting)
    rows = TokenRows.of(table, out_of_fold, [feature.name for feature in features], plan.shrinkage)
    views = None if sources.folds is None else sources.folds + 1
    parts = [occurrences(table, out_of_fold, setting.cover, sources.training.X, views, plan.details, plan.threads)]
    labelled = [sources.training]
    if sources.validation is not None:
        X = sources.validation.X
        parts.append(occurrences(table, out_of_fold, setting.cover, X, None, plan.details, plan.threads))
        labelled.append(sources.validation)
    joined = _joined(parts)
    sizes = np.cumsum([len(part) for part in labelled])
    examples = Examples(
        joined,
        np.concatenate([part.labels for part in labelled]),
        np.concatenate([part.weights for part in labelled]),
        np.arange(sizes[0]),
        np.arange(sizes[0], sizes[-1]),
    )
    corrected = _corrected(table, rows, setting.refine)
    fitted = fit_aggregation(
        examples,
        rows,
        corrected,
        features,
        plan.trusts,
        loss=plan.loss,
        options={**plan.options, "width": setting.width},
        unit=_unit(features[0].name, table, sources.training),
        threads=plan.threads,
        rng=rng,
        on_epoch=on_epoch,
    )
    if isinstance(fitted.model, RefinedSetFunction):
        table = replace(
            table,
            corrections=Corrections(
                features[0].name,
                plan.shrinkage,
                np.flatnonzero(corrected >= 0).astype(np.int32),
                fitted.model.corrections.detach().numpy().copy(),
            ),
        )
    crossing = Crossing(fitted.binning, rows, corrected, np.float64)
    return Trial(setting, table, fitted, features, crossing, joined)


def _table(setting: Setting, plan: Plan, sources: Sources) -> tuple[TokenTable, Sequence[Statistics]]:
    if plan.table is not None:
        return plan.table, ()
    training = sources.training
    task = "number" if plan.classes is None else "classes"
    X, _ = read_details(training.X, plan.details)
    labels = training.labels if plan.classes is None else plan.classes[training.labels.astype(np.intp)]
    weights = None if (training.weights == 1).all() else training.weights
    shared = {"task": task, "threads": plan.threads}
    if sources.folds is None:
        return TokenTable.build(X, labels, setting.tokens, setting.filters, sample_weight=weights, **shared), ()
    return cross_fit(
        X, labels, setting.tokens, setting.filters, sources.folds, sources.n_folds, weights, **shared
    )
