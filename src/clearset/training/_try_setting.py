"""One setting tried out: a token table, its statistics without each fold, and a set function on top."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from clearset.engines import CROSSED_BLOCK_TOKENS, engine
from clearset.functions import Link, Loss
from clearset.sets import CrossedPositions, Feature, FileRows, Trust
from clearset.tokens import (
    KIND,
    AnyOccurrences,
    Corrections,
    Occurrences,
    OwnTokenizer,
    Reading,
    Setting,
    Statistics,
    StoredOccurrences,
    Tokenizer,
    TokenPlacer,
    TokenReader,
    TokenRows,
    TokenTable,
    cross_fit,
    read_details,
    table_of_rows,
)
from clearset.training._alone import with_share_of_one
from clearset.training._epochs import Report
from clearset.training._examples import LabelledExamples, Sources
from clearset.training._fit_tokens import FittedTokens, TokenTask, fit_tokens
from clearset.training._one_thread import on_one_thread
from clearset.training._options import Options
from clearset.training._placed_tokens import TokenExamples
from clearset.training._shrinkage import SHRINKAGES, choose_shrinkage

FloatArray = npt.NDArray[np.float64]

# Corrections, tokens x classes, that are learned at most; the most frequent tokens have them.
MOST_CORRECTIONS = 4_000_000
# A table of rows in files takes one part in so many of the memory.
PIECES = 80


@dataclass(frozen=True, eq=False)
class Plan:
    """What all settings of a fit share."""

    classes: npt.NDArray[Any] | None  # the classes of the labels, or None for a number
    table: TokenTable | None  # A token table made elsewhere, or None to make one of the training examples
    features: tuple[Feature, ...] | None  # the features of the set function; None for the usual ones of the setting
    trusts: tuple[Trust, ...]  # which feature says how far to trust which
    details: tuple[str, ...]  # columns that tell something of each item of an example
    loss: Loss  # what to minimise
    parameters: Mapping[str, Any]  # the estimator's parameters
    shrinkage: float  # examples of the prior that every mean is mixed with; NaN to choose by the labels
    threads: int  # threads of everything that can use several
    max_memory: float = float("inf")  # bytes that tokens may take, where examples are in files

    @property
    def task(self) -> str:
        """What the table's labels are: classes, or a number."""
        if self.table is not None:
            return self.table.task
        return "number" if self.classes is None else "classes"

    def features_of(self, setting: Setting) -> tuple[Feature, ...]:
        """Return the features of the set function: those asked for, or the usual ones."""
        if self.features is not None:
            return self.features
        task = self.task
        plain = ["count", "entropy", "items", "tokens"] if task == "classes" else ["count", "items", "tokens"]
        if not _single(setting.tokens):
            plain.insert(1, "size")
        value = Feature("log_odds" if task == "classes" else "mean_label", monotonic="increasing")
        kind = [KIND] if setting.tokens.kinds else []
        return (value, *map(Feature, plain), *kind, *map(Feature, self.details))


@dataclass(frozen=True, eq=False)
class Trial:
    """A setting and what came of it."""

    setting: Setting  # what was tried
    reader: TokenReader  # reads examples with the table of the training examples, learned corrections included
    fitted: FittedTokens  # the set function
    features: tuple[Feature, ...]  # of the set function
    # the training and the validation examples, with what they may know of their tokens, out of fold
    examples: TokenExamples

    @property
    def table(self) -> TokenTable:
        """The token table."""
        return self.reader.table

    @property
    def n_training(self) -> int:
        """The number of training examples."""
        return self.fitted.n_training

    @property
    def loss(self) -> float:
        """The loss on validation data, or without any on the training data."""
        return self.fitted.loss

    @property
    def _placer(self) -> TokenPlacer:
        examples = self.examples
        return TokenPlacer(self.fitted.binning, examples.rows, examples.corrected, np.float64)

    def positions_out_of_fold(self) -> CrossedPositions:
        """Place the tokens of the training examples, by tables without their folds, and of validation examples."""
        return self._placer.place(self.examples.occurrences.whole())

    def outputs_out_of_fold(self, threads: int) -> FloatArray:
        """Return the outputs for the examples of `positions_out_of_fold`."""
        # The set function itself has seen the labels of the training examples.
        placer, pieces = self._placer, self.examples.occurrences.pieces(CROSSED_BLOCK_TOKENS)
        return np.concatenate(
            [engine().outputs(self.fitted.function, placer.place(piece), threads) for piece in pieces]
        )

    def found(self, X: Any, threads: int) -> Occurrences:
        """Find the tokens of examples in memory that this trial has not seen."""
        return replace(self.reader, out_of_fold=()).find(X, threads=threads)

    def outputs(self, X: Any, threads: int, link: Link | None = None) -> FloatArray:
        """Return the outputs for examples that this trial has not seen; a link says what is expected of nothing."""
        if isinstance(X, FileRows):
            return np.concatenate([self.outputs(table, threads, link) for table in X.tables(PIECES)])
        found = self.found(X, threads)
        positions = replace(self.reader, out_of_fold=()).placer(self.fitted.binning).place(found)
        outputs = engine().outputs(self.fitted.function, positions, threads)
        if link is None:
            return outputs
        nothing = link.outputs_of(self.fitted.nothing)
        return replace(link, nothing=nothing).with_nothing(outputs, found.counts == 0)


@on_one_thread
def try_setting(
    setting: Setting,
    plan: Plan,
    sources: Sources,
    rng: np.random.Generator,
    *,
    start: Trial | None = None,
    rival: Trial | None = None,
    shown: FittedTokens | None = None,
    on_epoch: Report | None = None,
) -> Trial:
    """Make the table of a setting and train a set function on it."""
    # `start` is a trial of the same setting but for refinement, to go on from. A trial that stays behind its `rival`,
    # of another setting, is given up. Where an earlier one has `shown` after which epochs each stage is best, training
    # ends there.
    features = plan.features_of(setting)
    if start is None:
        table, out_of_fold = _table(setting, plan, sources)
        names = [feature.name for feature in features]
        unknown = isnan(setting.shrinkage)
        shrinkage = SHRINKAGES[0] if unknown else setting.shrinkage
        reader = TokenReader(table, names, setting.cover, shrinkage, plan.details, out_of_fold)
        occurrences = _read(reader, sources, plan.threads)
        if unknown:
            if sources.folds is not None:
                labels, weights = sources.training.labels, sources.training.weights
                reader = choose_shrinkage(reader, occurrences, labels, weights, plan.loss, rng)
            setting = replace(setting, shrinkage=reader.shrinkage)
    else:
        plain = replace(start.reader.table, corrections=None)
        reader, occurrences = replace(start.reader, table=plain), start.examples.occurrences
    corrected = _corrected(reader.table, reader.rows, setting.refine)
    examples = _labelled(sources, occurrences, reader, corrected)
    task = TokenTask(
        features,
        plan.trusts,
        plan.loss,
        plan.parameters["batch_size"],
        Options.of(plan.parameters, plan.threads, width=setting.width),
        _unit(features[0].name, reader.table, sources.training),
        setting.pull,
        _neutral(features[0].name, plan, sources.training),
        plan.max_memory,
    )
    fitted = fit_tokens(
        task,
        examples,
        rng,
        start=None if start is None else start.fitted,
        rival=None if rival is None else rival.fitted,
        shown=shown,
        on_epoch=on_epoch,
    )
    amounts = fitted.function.corrections
    if amounts is None:
        setting = replace(setting, refine=0)  # no epoch of refinement was better than none
    else:
        tokens = np.flatnonzero(corrected >= 0).astype(np.int32)
        corrections = Corrections(features[0].name, reader.shrinkage, tokens, amounts)
        reader = replace(reader, table=replace(reader.table, corrections=corrections))
    if plan.table is None and plan.loss.name not in ("absolute_error", "quantile"):
        # The intervals of the table are those of the mean of these very labels.
        link = Link(plan.loss.name, plan.classes)
        function = with_share_of_one(fitted.function, fitted.binning, reader, link)
        fitted = replace(fitted, function=function)
    return Trial(setting, reader, fitted, features, examples)


def _read(reader: TokenReader, sources: Sources, threads: int) -> AnyOccurrences:
    """Find the tokens of the training examples, by what is known without their folds, and of validation examples."""
    views = None if sources.folds is None else sources.folds + np.uint8(1)
    parts = [(sources.training.X, views)]
    if sources.validation is not None:
        parts.append((sources.validation.X, None))
    if not any(isinstance(X, FileRows) for X, _ in parts):
        return Occurrences.joined([reader.find(X, views, threads) for X, views in parts])
    stored = StoredOccurrences(Reading(reader.sizes, reader.rows.n_tokens), reader.details)
    for X, views in parts:
        first = 0
        for table in X.tables(PIECES) if isinstance(X, FileRows) else [X]:
            last = first + len(table)
            stored.append(reader.find(table, None if views is None else views[first:last], threads))
            first = last
    return stored


def _labelled(
    sources: Sources, occurrences: AnyOccurrences, reader: TokenReader, corrected: npt.NDArray[np.int32]
) -> TokenExamples:
    labelled = [part for part in (sources.training, sources.validation) if part is not None]
    n_training, n = len(labelled[0]), sum(map(len, labelled))
    return TokenExamples(
        occurrences,
        reader.rows,
        Reading(reader.sizes, reader.rows.n_tokens),
        corrected,
        np.concatenate([part.labels for part in labelled]) if len(labelled) > 1 else labelled[0].labels,
        np.concatenate([part.weights for part in labelled]) if len(labelled) > 1 else labelled[0].weights,
        np.arange(n_training),
        np.arange(n_training, n),
    )


def _table(setting: Setting, plan: Plan, sources: Sources) -> tuple[TokenTable, Sequence[Statistics]]:
    if plan.table is not None:
        return plan.table, ()
    training = sources.training
    weights = None if (training.weights == 1).all() else training.weights
    labels = training.as_labels(plan.classes)
    if isinstance(training.X, FileRows):
        rows, how = training.X.without(plan.details), (setting.tokens, setting.filters)
        return table_of_rows(rows, labels, weights, *how, sources.folds, sources.n_folds, threads=plan.threads)
    if sources.folds is None:
        return build_table(setting, training, plan), ()
    X, _ = read_details(training.X, plan.details)
    return cross_fit(
        X, labels, setting.tokens, setting.filters, sources.folds, sources.n_folds, weights, threads=plan.threads
    )


def build_table(setting: Setting, rows: LabelledExamples, plan: Plan) -> TokenTable:
    """Make the token table of all these examples."""
    weights = None if (rows.weights == 1).all() else rows.weights
    labels = rows.as_labels(plan.classes)
    if isinstance(rows.X, FileRows):
        X = rows.X.without(plan.details)
        return table_of_rows(X, labels, weights, setting.tokens, setting.filters, threads=plan.threads)[0]
    X, _ = read_details(rows.X, plan.details)
    return TokenTable.build(X, labels, setting.tokens, setting.filters, sample_weight=weights, threads=plan.threads)


def _corrected(table: TokenTable, rows: TokenRows, refine: int) -> npt.NDArray[np.int32]:
    """Choose and count the tokens that get a correction: the small ones, of too many the most frequent."""
    chosen = np.flatnonzero(table.sizes <= refine)
    most = MOST_CORRECTIONS // rows.values.shape[1]
    if len(chosen) > most:
        chosen = np.sort(chosen[np.argsort(-table.counts[chosen], kind="stable")[:most]])
    corrected = np.full(rows.n_tokens, -1, np.int32)
    corrected[chosen] = np.arange(len(chosen), dtype=np.int32)
    return corrected


def _unit(value: str, table: TokenTable, training: LabelledExamples) -> float:
    """Return the scale of a meaningful difference of values."""
    if value == "log_odds":
        return 1.0
    if table.classes is not None:
        return 0.1
    mean, spread = Loss("squared_error").scaling(training.labels, training.weights)
    return max(spread, 1e-12 * abs(mean))  # of labels that are all the same, the spread says nothing


def _neutral(value: str, plan: Plan, training: LabelledExamples) -> float:
    """Return the value of a token that makes no difference."""
    if value == "log_odds":
        return 0.0
    if plan.classes is not None and len(plan.classes) > 2:
        return 1.0 / len(plan.classes)
    return float(np.average(training.labels, weights=training.weights))


def _single(tokens: Tokenizer) -> bool:
    """Return whether every token is one item."""
    if isinstance(tokens, OwnTokenizer):
        return False
    return tokens.joining(pa.array([], pa.large_string())).max_items == 1
