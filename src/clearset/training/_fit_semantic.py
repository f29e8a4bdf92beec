"""How an estimator learns from its examples: which validate, which fold each is in, and which settings are tried."""

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import isnan
from typing import Any

import numpy as np
import numpy.typing as npt

from clearset.sets import FileRows
from clearset.tokens import (
    WHOLE,
    Filter,
    Items,
    Setting,
    Tokenizer,
    as_tokenizer,
    check_filters,
    read_column,
    read_details,
)
from clearset.training._choose_setting import (
    are_phrases,
    are_phrases_in_files,
    choose,
    for_more_examples,
    largest_size,
    smallest_tokens,
    smallest_tokens_in_files,
    with_pairs,
)
from clearset.training._examples import LabelledExamples, Sources
from clearset.training._pairs_of_items import gain_of_pairs
from clearset.training._progress import progress_bar
from clearset.training._split import deal, hold_out
from clearset.training._try_setting import PIECES, Plan, Trial, try_setting

# The largest tokens that are tried where none are named.
LARGEST_TRIED = 3
# Of lists, as far as the examples that choose have no more tokens of this size, together: they are tried in seconds.
MOST_TRIED = 2_000_000
# Training examples by which settings are chosen, at most; the one chosen is then trained on all.
MOST_TO_CHOOSE_BY = 12_000
# Many weak effects of pairs show only among more: where there are so many times as many examples, which have no more
# pairs than these, pairs are taken if they lower the loss by this share of it.
MORE, MOST_IN_PAIRS = 4.0, 20_000_000
MOST_TO_ASK, GAIN_OF_PAIRS = 20_000, 0.002


def tokens_of(parameters: Mapping[str, Any], X: Any) -> Tokenizer:
    """Return the tokenizer asked for, or the smallest tokens of the examples."""
    if parameters["tokens"] is not None:
        return as_tokenizer(parameters["tokens"])
    return smallest_tokens_in_files(X) if isinstance(X, FileRows) else smallest_tokens(X)


def filters_of(parameters: Mapping[str, Any], default: tuple[Filter, ...]) -> tuple[Filter, ...]:
    """Return the filters asked for, or a default."""
    return default if parameters["filters"] is None else check_filters(parameters["filters"])


@dataclass(frozen=True, eq=False)
class Learning:
    """One fit's examples, and what it may do with them."""

    rows: LabelledExamples  # the examples
    groups: npt.NDArray[Any] | None  # the group of each example; examples of a group are never separated
    plan: Plan  # what all settings share; its parameters are those of the estimator
    rng: np.random.Generator  # everything random comes from here

    def split(self, held: LabelledExamples | None) -> tuple[Sources, npt.NDArray[np.int64]]:
        """Split the examples, unless others are held to validate; also return their order, training first."""
        rows, groups, parameters = self.rows, self.groups, self.plan.parameters
        n_folds = 0 if self.plan.table is not None else min(int(parameters["cross_fit"] or 0), len(rows))
        if groups is not None and len(np.unique(groups)) < n_folds:
            raise ValueError(
                f"groups has {len(np.unique(groups))} distinct values, but cross_fit={n_folds} needs so many."
            )
        order = np.arange(len(rows))
        if held is None and parameters["early_stopping"]:
            stratify = self.plan.classes is not None
            fraction = parameters["validation_fraction"]
            training, validation = hold_out(rows.labels, groups, fraction, self.rng, stratify=stratify)
            order = np.concatenate([training, validation])
            if len(validation):
                held, rows = rows.take(validation), rows.take(training)
                groups = None if groups is None else groups[training]
        return replace(self._dealt(rows, groups), validation=held), order

    def without_validation(self, chosen: npt.NDArray[np.int64] | None = None) -> Sources:
        """Deal examples to folds, all of them or some; none validates."""
        if chosen is None:
            return self._dealt(self.rows, self.groups)
        return self._dealt(self.rows.take(chosen), None if self.groups is None else self.groups[chosen])

    def folds(self, n_folds: int) -> Iterator[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]]:
        """Return the examples outside and inside of each of some folds."""
        folds = self._deal(self.rows, self.groups, min(n_folds, len(self.rows)))
        for fold in np.unique(folds):
            yield np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)

    def _dealt(self, rows: LabelledExamples, groups: npt.NDArray[Any] | None) -> Sources:
        """Deal examples to folds, where the table is made of them."""
        n_folds = min(int(self.plan.parameters["cross_fit"] or 0), len(rows))
        if self.plan.table is not None or n_folds < 2:
            return Sources(rows, None, None, 0)
        if groups is not None:
            # Validation may have taken some. Examples of a single group that is left are dealt one by one.
            n_groups = len(np.unique(groups))
            n_folds, groups = (min(n_folds, n_groups), groups) if n_groups > 1 else (n_folds, None)
        return Sources(rows, None, self._deal(rows, groups, n_folds), n_folds)

    def _deal(self, rows: LabelledExamples, groups: npt.NDArray[Any] | None, n_folds: int) -> npt.NDArray[np.uint8]:
        folds = deal(rows.labels, groups, n_folds, self.rng, classes=self.plan.classes is not None)
        return folds.astype(np.uint8)

    def choose(self, sources: Sources) -> tuple[Trial, list[tuple[Setting, float]]]:
        """Try the settings that the parameters leave open."""
        plan, parameters = self.plan, self.plan.parameters
        given = parameters["tokens"] is not None or plan.table is not None
        if plan.table is not None:
            tokens, filters = plan.table.tokenizer, plan.table.filters
        else:
            X = sources.training.X
            items = X.without(plan.details) if isinstance(X, FileRows) else read_details(X, plan.details)[0]
            tokens = tokens_of(parameters, items)
            filters = filters_of(parameters, ())
        first = Setting(
            tokens,
            filters,
            cover=given if parameters["cover"] is None else bool(parameters["cover"]),
            width=parameters["width"] or 1,
            refine=0 if parameters["refine"] is None else int(parameters["refine"]),
            shrinkage=1.0 if given and isnan(plan.shrinkage) else plan.shrinkage,
            details=plan.details,
        )
        free = self._free(given) if sources.validation is not None else frozenset()
        if free - ({"pull"} if not first.refine else set()):
            sources = sources.sampled(MOST_TO_CHOOSE_BY, self.rng)
        phrases = "tokens" in free and isinstance(tokens, Items) and self._may_take_words(sources.training.X)
        seeds = self.rng.integers(2**31 - 1, size=2)

        def attempt(setting: Setting, start: Trial | None, rival: Trial | None) -> Trial:
            # All settings start from the same seed, so that they differ by themselves and not by chance.
            return self.attempt(setting, sources, np.random.default_rng(seeds), start=start, rival=rival)

        largest = self._largest(tokens, sources.training) if "tokens" in free else 1
        trial, losses = choose(first, free=free, largest=largest, attempt=attempt, phrases=phrases)
        if parameters["verbose"] and len(losses) > 1:
            print(f"chose {trial.setting}", file=sys.stderr)
        return trial, losses

    def for_more(self, trial: Trial, sources: Sources) -> Setting:
        """Return the setting of a trial for all examples, where it was chosen by some."""
        open_filters = self.plan.parameters["filters"] is None and self.plan.parameters["tokens"] is None
        share = len(sources.training) / max(trial.n_training, 1)
        if not open_filters:
            return trial.setting
        setting = trial.setting
        if share >= MORE and self._gains_by_pairs(trial, sources):
            setting = with_pairs(replace(setting, width=self.plan.parameters["width"] or 1))
        return for_more_examples(setting, share)

    def _gains_by_pairs(self, trial: Trial, sources: Sources) -> bool:
        """Return whether more examples than have chosen single items say that pairs are better."""
        plan, setting, examples = self.plan, trial.setting, sources.training
        asked = [plan.parameters[name] for name in ("cover", "refine")]
        one_output = plan.classes is None or len(plan.classes) == 2
        if not isinstance(setting.tokens, Items) or not one_output:
            return False
        if any(value is not None for value in asked) or plan.loss.name not in ("log_loss", "squared_error"):
            return False
        if self._largest(setting.tokens, examples, MOST_IN_PAIRS) < 2:
            return False
        chosen = np.sort(self.rng.permutation(len(examples))[:MOST_TO_ASK])
        some = examples.take(chosen).in_memory()
        if isinstance(some.X, FileRows):
            return False
        return gain_of_pairs(trial, some, plan.loss.name, len(examples), plan.threads) > GAIN_OF_PAIRS

    def _largest(self, tokens: Tokenizer, examples: LabelledExamples, most: int = MOST_TRIED) -> int:
        """Return the size of the largest tokens that are tried: of long lists there would be too many."""
        if not isinstance(tokens, Items):
            return LARGEST_TRIED
        X = examples.X
        columns = [
            read_column(read_details(part, self.plan.details)[0])
            for part in (X.tables(PIECES) if isinstance(X, FileRows) else [X])
        ]
        sizes = [np.diff(column.offsets) for column in columns if column.offsets is not None]
        return largest_size(np.concatenate(sizes), most, LARGEST_TRIED) if sizes else LARGEST_TRIED

    def _may_take_words(self, X: Any) -> bool:
        """Return whether items are phrases, and nothing asked for needs them to be the only tokens."""
        features = self.plan.features or ()
        if self.plan.details or any(feature.name == WHOLE for feature in features):
            return False
        return are_phrases_in_files(X) if isinstance(X, FileRows) else are_phrases(X)

    def _free(self, given: bool) -> frozenset[str]:
        """Return what of a setting the parameters leave open."""
        parameters = self.plan.parameters
        free = {"pull"} if parameters["refine"] is not None else {"pull", "refine"}
        if not given:
            free |= {"tokens"} | {name for name in ("filters", "width") if parameters[name] is None}
        return frozenset(free)

    def attempt(self, setting: Setting, sources: Sources, rng: np.random.Generator, **how: Any) -> Trial:
        """Try a setting, with a progress bar where one is asked for."""
        with progress_bar({**self.plan.parameters, "restarts": 1}) as on_epoch:
            return try_setting(setting, self.plan, sources, rng, on_epoch=on_epoch, **how)
