"""One setting tried out: a token table, its statistics without each fold, and a set function on top."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from clearset.estimators.semantic._crossing import Crossing, Occurrences
from clearset.estimators.semantic._details import details_of_tokens, read_details
from clearset.estimators.semantic._fit import Examples, Fitted, fit_aggregation, outputs_of
from clearset.estimators.semantic._rows import TokenRows
from clearset.estimators.semantic._setting import Setting
from clearset.estimators.semantic._sources import Rows, Sources
from clearset.frozen import say_prior
from clearset.setfunction import Loss, RefinedSetFunction
from clearset.sets import Feature, Trust
from clearset.tokens import Corrections, Found, OwnTokeniser, Statistics, Tokeniser, TokenTable, cross_fit

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

    @property
    def task(self) -> str:
        """What the table's labels are: classes, or a number."""
        if self.table is not None:
            return self.table.task
        return "number" if self.classes is None else "classes"

    def features_of(self, setting: Setting) -> tuple[Feature, ...]:
        """Give the features of the set function: those asked for, or the usual ones."""
        if self.features is not None:
            return self.features
        task = self.task
        plain = ["count", "entropy", "items", "tokens"] if task == "classes" else ["count", "items", "tokens"]
        if not _single(setting.tokens):
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
    rows, corrected, occurrences
        What the training and the validation examples may know of their tokens, out of fold.
    """

    setting: Setting
    table: TokenTable
    fitted: Fitted
    features: tuple[Feature, ...]
    rows: TokenRows
    corrected: npt.NDArray[np.int32]
    occurrences: Occurrences

    @property
    def n_training(self) -> int:
        """The number of training examples."""
        return self.fitted.n_training

    @property
    def loss(self) -> float:
        """The loss on validation data, or without any on the training data."""
        return self.fitted.loss

    def outputs_out_of_fold(self, threads: int) -> npt.NDArray[np.float64]:
        """Give the outputs for the training examples, by tables without their folds, and for validation examples.

        The set function itself has seen the labels of the training examples.
        """
        crossing = Crossing(self.fitted.binning, self.rows, self.corrected, np.float64)
        return outputs_of(self.fitted.model, crossing.cross(self.occurrences), threads)

    def outputs(self, X: Any, loss: str, threads: int) -> npt.NDArray[np.float64]:
        """Give the outputs for examples that this trial has not seen."""
        table, setting = self.table, self.setting
        found = occurrences(table, (), setting.cover, X, None, setting.details, threads)
        crossing = Crossing.of_table(self.fitted.binning, table, setting.shrinkage)
        outputs = outputs_of(self.fitted.model, crossing.cross(found), threads)
        return say_prior(outputs, found.counts, table.prior, loss)


def try_setting(
    setting: Setting,
    plan: Plan,
    sources: Sources,
    rng: np.random.Generator,
    *,
    start: Trial | None = None,
    stops: Sequence[int] = (),
    on_epoch: Callable[[dict[str, float]], None] | None = None,
) -> Trial:
    """Make the table of a setting and train a set function on it.

    Parameters
    ----------
    setting, plan, sources
        What to try, what all settings share, and what there is to learn from.
    rng
        Everything random comes from here.
    start
        The trial of the same setting without refinement, to go on from.
    stops
        Epochs after which to stop each stage of training, where an earlier trial has shown them.
    on_epoch
        Called after every epoch.
    """
    if start is not None:
        corrected = _corrected(start.table, start.rows, setting.refine)
        return _trained(
            setting,
            plan,
            sources,
            start.table,
            start.rows,
            start.occurrences,
            corrected,
            rng,
            start.fitted,
            stops,
            on_epoch,
        )
    table, out_of_fold = _table(setting, plan, sources)
    features = plan.features_of(setting)
    rows = TokenRows.of(table, out_of_fold, [feature.name for feature in features], plan.shrinkage)
    views = None if sources.folds is None else sources.folds + 1
    parts = [
        occurrences(table, out_of_fold, setting.cover, sources.training.X, views, plan.details, plan.threads)
    ]
    if sources.validation is not None:
        X = sources.validation.X
        parts.append(occurrences(table, out_of_fold, setting.cover, X, None, plan.details, plan.threads))
    corrected = _corrected(table, rows, setting.refine)
    return _trained(
        setting, plan, sources, table, rows, _joined(parts), corrected, rng, None, stops, on_epoch
    )


def _trained(
    setting: Setting,
    plan: Plan,
    sources: Sources,
    table: TokenTable,
    rows: TokenRows,
    found: Occurrences,
    corrected: npt.NDArray[np.int32],
    rng: np.random.Generator,
    start: Fitted | None,
    stops: Sequence[int],
    on_epoch: Callable[[dict[str, float]], None] | None,
) -> Trial:
    labelled = [part for part in (sources.training, sources.validation) if part is not None]
    sizes = np.cumsum([len(part) for part in labelled])
    examples = Examples(
        found,
        np.concatenate([part.labels for part in labelled]),
        np.concatenate([part.weights for part in labelled]),
        np.arange(sizes[0]),
        np.arange(sizes[0], sizes[-1]),
    )
    features = plan.features_of(setting)
    fitted = fit_aggregation(
        examples,
        rows,
        corrected,
        features,
        plan.trusts,
        loss=plan.loss,
        options={**plan.options, "width": setting.width, "pull": setting.pull},
        unit=_unit(features[0].name, table, sources.training),
        threads=plan.threads,
        rng=rng,
        start=start,
        stops=stops,
        on_epoch=on_epoch,
    )
    if setting.refine and not isinstance(fitted.model, RefinedSetFunction):
        setting = replace(setting, refine=0)  # no epoch of refinement was better than none
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
    return Trial(setting, table, fitted, features, rows, corrected, found)


def _table(setting: Setting, plan: Plan, sources: Sources) -> tuple[TokenTable, Sequence[Statistics]]:
    if plan.table is not None:
        return plan.table, ()
    training = sources.training
    if sources.folds is None:
        return build_table(setting, training, plan), ()
    X, _ = read_details(training.X, plan.details)
    weights = None if (training.weights == 1).all() else training.weights
    labels = training.as_labels(plan.classes)
    return cross_fit(
        X,
        labels,
        setting.tokens,
        setting.filters,
        sources.folds,
        sources.n_folds,
        weights,
        threads=plan.threads,
    )


def build_table(setting: Setting, rows: Rows, plan: Plan) -> TokenTable:
    """Make the token table of all these examples."""
    X, _ = read_details(rows.X, plan.details)
    weights = None if (rows.weights == 1).all() else rows.weights
    labels = rows.as_labels(plan.classes)
    return TokenTable.build(
        X, labels, setting.tokens, setting.filters, sample_weight=weights, threads=plan.threads
    )


def occurrences(
    table: TokenTable,
    out_of_fold: Sequence[Statistics],
    cover: bool,
    X: Any,
    views: npt.NDArray[np.int64] | None,
    details: Sequence[str],
    threads: int,
) -> Occurrences:
    """Find the tokens of examples.

    Parameters
    ----------
    table, out_of_fold
        What is known of tokens; the rows of a view stand after those of the view before.
    cover
        Whether larger tokens shadow smaller ones.
    X
        The examples.
    views
        What each example may know: 0 for all of the table, fold + 1 for what is known without a fold. None: all.
    details
        Columns of details.
    threads
        Threads.
    """
    items, columns = read_details(X, details)
    encoded = table.encode(items)
    found = table.find(encoded, cover=cover, views=views, threads=threads)
    n_tokens = max([len(table), *map(len, out_of_fold)])
    rows = found.tokens.astype(np.int64)
    if views is not None:
        rows += n_tokens * np.repeat(views, np.diff(found.offsets))
    # Tokens that pass only without a fold are numbered after those of the table.
    sizes = (out_of_fold[0] if len(out_of_fold) else table.statistics).sizes
    told = details_of_tokens(table, items, columns, found)
    return Occurrences(found, rows, sizes[found.tokens], encoded.n_items, told)


def _joined(parts: Sequence[Occurrences]) -> Occurrences:
    if len(parts) == 1:
        return parts[0]
    offsets, start = [np.zeros(1, np.int64)], 0
    for part in parts:
        offsets.append(part.found.offsets[1:] + start)
        start += int(part.found.offsets[-1])
    return Occurrences(
        Found(np.concatenate([part.found.tokens for part in parts]), np.concatenate(offsets)),
        np.concatenate([part.rows for part in parts]),
        np.concatenate([part.sizes for part in parts]),
        np.concatenate([part.n_items for part in parts]),
        {name: np.concatenate([part.details[name] for part in parts]) for name in parts[0].details},
    )


def _corrected(table: TokenTable, rows: TokenRows, refine: int) -> npt.NDArray[np.int32]:
    """Choose and count the tokens that get a correction: the small ones, of too many the most frequent."""
    chosen = np.flatnonzero(table.sizes <= refine)
    most = MOST_CORRECTIONS // rows.values.shape[1]
    if len(chosen) > most:
        chosen = np.sort(chosen[np.argsort(-table.counts[chosen], kind="stable")[:most]])
    corrected = np.full(rows.n_tokens, -1, np.int32)
    corrected[chosen] = np.arange(len(chosen), dtype=np.int32)
    return corrected


def _unit(value: str, table: TokenTable, training: Rows) -> float:
    """Say how large a difference of values is worth speaking of."""
    if value == "log_odds":
        return 1.0
    if table.classes is not None:
        return 0.1
    _, spread = Loss("squared_error").scaling(training.labels, training.weights)
    return spread


def _single(tokens: Tokeniser) -> bool:
    """Tell whether every token is one item."""
    if isinstance(tokens, OwnTokeniser):
        return False
    return tokens.joining(pa.array([], pa.large_string())).max_items == 1
