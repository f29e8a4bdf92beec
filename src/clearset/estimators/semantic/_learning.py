"""How an estimator learns from its examples: which validate, which fold each is in, and which settings are tried."""

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from clearset.estimators._progress import progress_bar
from clearset.estimators.semantic._choose import choose, smallest_tokens
from clearset.estimators.semantic._details import read_details
from clearset.estimators.semantic._setting import Setting
from clearset.estimators.semantic._sources import Rows, Sources, deal, hold_out
from clearset.estimators.semantic._trial import Plan, Trial, try_setting
from clearset.tokens import MinCount, Tokeniser, as_tokeniser
from clearset.tokens._filters import Filter, check_filters

# The largest tokens that are tried where none are named.
LARGEST_TRIED = 3
# Training examples by which settings are chosen, at most; the one chosen is then trained on all.
MOST_TO_CHOOSE_BY = 12_000


def tokens_of(options: Mapping[str, Any], X: Any) -> Tokeniser:
    """Give the tokeniser asked for, or the smallest tokens of the examples."""
    return smallest_tokens(X) if options["tokens"] is None else as_tokeniser(options["tokens"])


def filters_of(options: Mapping[str, Any], default: tuple[Filter, ...]) -> tuple[Filter, ...]:
    """Give the filters asked for, or a default."""
    return default if options["filters"] is None else check_filters(options["filters"])


@dataclass(frozen=True, eq=False)
class Learning:
    """One fit's examples, and what it may do with them.

    Attributes
    ----------
    rows, groups
        The examples, and the group of each, if there are groups.
    plan
        What all settings share; its options are the estimator's parameters.
    rng
        Everything random comes from here.
    """

    rows: Rows
    groups: npt.NDArray[Any] | None
    plan: Plan
    rng: np.random.Generator

    def split(self, held: Rows | None) -> tuple[Sources, npt.NDArray[np.int64]]:
        """Split the examples, unless others are held to validate; also give their order, training first."""
        rows, groups, options = self.rows, self.groups, self.plan.options
        n_folds = 0 if self.plan.table is not None else min(int(options["cross_fit"] or 0), len(rows))
        if groups is not None and len(np.unique(groups)) < n_folds:
            raise ValueError(
                f"groups has {len(np.unique(groups))} distinct values, but cross_fit={n_folds} needs so many."
            )
        order = np.arange(len(rows))
        if held is None and options["early_stopping"]:
            stratify = self.plan.classes is not None
            fraction = options["validation_fraction"]
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
        """Give the examples outside and inside of each of some folds."""
        folds = self._deal(self.rows, self.groups, min(n_folds, len(self.rows)))
        for fold in np.unique(folds):
            yield np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)

    def _dealt(self, rows: Rows, groups: npt.NDArray[Any] | None) -> Sources:
        """Deal examples to folds, where the table is made of them."""
        n_folds = min(int(self.plan.options["cross_fit"] or 0), len(rows))
        if self.plan.table is not None or n_folds < 2:
            return Sources(rows, None, None, 0)
        if groups is not None:
            # Validation may have taken some. Examples of a single group that is left are dealt one by one.
            n_groups = len(np.unique(groups))
            n_folds, groups = (min(n_folds, n_groups), groups) if n_groups > 1 else (n_folds, None)
        return Sources(rows, None, self._deal(rows, groups, n_folds), n_folds)

    def _deal(self, rows: Rows, groups: npt.NDArray[Any] | None, n_folds: int) -> npt.NDArray[np.int64]:
        return deal(rows.labels, groups, n_folds, self.rng, classes=self.plan.classes is not None)

    def choose(self, sources: Sources) -> tuple[Trial, list[tuple[Setting, float]]]:
        """Try the settings that the parameters leave open."""
        plan, options = self.plan, self.plan.options
        given = options["tokens"] is not None or plan.table is not None
        if plan.table is not None:
            tokens, filters = plan.table.tokeniser, plan.table.filters
        else:
            tokens = tokens_of(options, read_details(sources.training.X, plan.details)[0])
            filters = filters_of(options, () if given else (MinCount(2),))
        first = Setting(
            tokens,
            filters,
            cover=given if options["cover"] is None else bool(options["cover"]),
            width=options["width"] or 1,
            refine=0 if options["refine"] is None else int(options["refine"]),
            shrinkage=plan.shrinkage,
            details=plan.details,
        )
        free = self._free(given) if sources.validation is not None else frozenset()
        if len(free) > 1:
            sources = sources.sampled(MOST_TO_CHOOSE_BY, self.rng)
        seeds = self.rng.integers(2**31 - 1, size=2)

        def attempt(setting: Setting, start: Trial | None) -> Trial:
            # All settings start from the same seed, so that they differ by themselves and not by chance.
            return self.attempt(setting, sources, np.random.default_rng(seeds), start=start)

        trial, losses = choose(first, free=free, largest=LARGEST_TRIED, attempt=attempt)
        if options["verbose"] and len(losses) > 1:
            print(f"chose {trial.setting}", file=sys.stderr)
        return trial, losses

    def _free(self, given: bool) -> frozenset[str]:
        """Say what of a setting the parameters leave open."""
        options = self.plan.options
        free = {"pull"} if options["refine"] is not None else {"pull", "refine"}
        if not given:
            free |= {"tokens"} | {name for name in ("filters", "cover", "width") if options[name] is None}
        return frozenset(free)

    def attempt(self, setting: Setting, sources: Sources, rng: np.random.Generator, **how: Any) -> Trial:
        """Try a setting, with a progress bar where one is asked for."""
        with progress_bar({**self.plan.options, "restarts": 1}) as on_epoch:
            return try_setting(setting, self.plan, sources, rng, on_epoch=on_epoch, **how)
