"""How baselines read sets of tokens with features."""

from collections.abc import Sequence
from typing import Any

from clearset.baselines._labels import Baseline
from clearset.estimators import checked_sets, read_training_sets
from clearset.sets import Feature, SetData, read_more_sets


class ReadsSets(Baseline):
    """A baseline on sets of tokens with features."""

    features: Sequence[str | Feature] | None

    features_: tuple[Feature, ...]
    sets_of_one_: bool

    def _read(self, X: Any, *, reset: bool) -> SetData:
        """Read sets; with ``reset`` they settle which features there are."""
        if not reset:
            return read_more_sets(
                checked_sets(self, X, reset=False), self.features_, sets_of_one=self.sets_of_one_
            )
        sets, self.features_, _ = read_training_sets(self, X, self.features, ())
        self.sets_of_one_ = bool((sets.sizes == 1).all())
        return sets

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
