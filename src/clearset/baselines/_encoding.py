"""Sets as plain numbers: standardised, one column a category, missing values marked."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from clearset.sets import Category, Feature, IntArray, SetData, offsets_from_sizes, places_of_codes, sorted_categories

Floats = npt.NDArray[np.floating[Any]]


class TokenValues(NamedTuple):
    """The ``(T, F)`` values of the tokens of all sets, and the ``(B + 1,)`` offsets; no set is empty."""

    values: Floats
    offsets: IntArray


@dataclass(frozen=True)
class _FeatureColumns:
    """What one feature becomes: a standardised number or a 0/1 for each category, and whether a value is missing."""

    name: str
    centre: float
    scale: float
    categories: tuple[Category, ...] | None
    gaps: bool  # whether values were missing in training

    @property
    def width(self) -> int:
        return (1 if self.categories is None else len(self.categories)) + self.gaps

    @property
    def missing(self) -> Floats:
        """What a missing value becomes: zeros, and a 1 in the column of missing values."""
        row = np.zeros(self.width)
        row[self.width - self.gaps :] = 1.0
        return row


@dataclass(frozen=True)
class Encoding:
    """How sets become numbers, learned from training sets by `Encoding.fit`.

    A numeric feature has one column, with mean 0 and variance 1 over the training tokens; a categorical one has a
    column of 0 and 1 for each category seen in training. A missing value is 0 in these; a feature that was missing
    somewhere in training has one more column, which is 1 where it is missing. A category never seen counts as missing,
    and the token of an empty set has every token feature missing.

    Parameters
    ----------
    columns : tuple
        What each feature becomes.

    Examples
    --------
    >>> import numpy as np
    >>> from clearset.baselines import Encoding
    >>> from clearset.sets import Feature, SetData
    >>> sets = SetData([1.0, 3.0], offsets=[0, 2, 2], feature_names=["stars"])
    >>> encoding = Encoding.fit(sets, [Feature("stars")], np.ones(2))
    >>> encoding.tokens(sets, np.float64).values
    array([[-1.,  0.],
           [ 1.,  0.],
           [ 0.,  1.]])
    >>> encoding.means(sets)
    array([[0., 0.],
           [0., 1.]])
    """

    columns: tuple[_FeatureColumns, ...]

    @classmethod
    def fit(cls, sets: SetData, features: Sequence[Feature], weights: Floats) -> "Encoding":
        """Learn means, deviations and categories from the sets whose weight is not 0."""
        return cls(tuple(_learn(sets, feature, weights) for feature in features))

    @property
    def n_columns(self) -> int:
        """F, the number of columns."""
        return sum(columns.width for columns in self.columns)

    def tokens(self, sets: SetData, dtype: npt.DTypeLike) -> TokenValues:
        """Return the values of every token; those of whole sets stand at each of their tokens."""
        sizes = np.maximum(sets.sizes, 1)
        offsets = offsets_from_sizes(sizes)
        values = np.empty((int(offsets[-1]), self.n_columns), dtype)
        added = offsets[:-1][sets.sizes == 0]
        present: Any = slice(None)
        if len(added):
            present = np.ones(len(values), dtype=bool)
            present[added] = False
        for columns, where in self._places():
            block, per_set = _block(columns, sets)
            if per_set:
                values[:, where] = np.repeat(block, sizes, axis=0)
            else:
                values[present, where] = block
                values[added, where] = columns.missing
        return TokenValues(values, offsets)

    def means(self, sets: SetData) -> npt.NDArray[np.float64]:
        """Return the ``(B, F)`` means over each set's tokens."""
        means = np.empty((len(sets), self.n_columns))
        empty = sets.sizes == 0
        # Empty sets take no place among the tokens: without them sets begin where the ones before end.
        starts, sizes = sets.offsets[:-1][~empty], sets.sizes[~empty]
        for columns, where in self._places():
            block, per_set = _block(columns, sets)
            if per_set:
                means[:, where] = block
            else:
                if len(starts):
                    means[~empty, where] = np.add.reduceat(block, starts, axis=0) / sizes[:, None]
                means[empty, where] = columns.missing
        return means

    def _places(self) -> Iterator[tuple[_FeatureColumns, slice]]:
        """Yield what each feature becomes, and its place among all columns."""
        start = 0
        for columns in self.columns:
            yield columns, slice(start, start + columns.width)
            start += columns.width


def standard_scale(values: Floats, weights: Floats) -> tuple[float, float]:
    """Return mean and standard deviation; 1 for the latter where values do not vary."""
    if not len(values):
        return 0.0, 1.0
    centre = float(np.average(values, weights=weights))
    spread = float(np.abs(values - centre).max())
    if spread <= 1e-14 * abs(centre):
        return centre, 1.0
    # Divided first: the squares of very large or small values would leave the range of floats.
    return centre, spread * float(np.sqrt(np.average(((values - centre) / spread) ** 2, weights=weights)))


def _learn(sets: SetData, feature: Feature, weights: Floats) -> _FeatureColumns:
    values, per_set = sets.column(feature.name)
    sizes = sets.sizes
    weight = weights * np.maximum(sizes, 1) if per_set else np.repeat(weights, sizes)
    missing, counts = np.isnan(values), weight > 0
    gaps = bool((missing & counts).any()) or (not per_set and bool((weights[sizes == 0] > 0).any()))
    seen = counts & ~missing
    if not seen.all():
        values, weight = values[seen], weight[seen]
    if feature.kind == "categorical":
        names = sets.categories[feature.name]
        observed = {names[code] for code in np.unique(values).astype(np.intp)}
        return _FeatureColumns(feature.name, 0.0, 1.0, sorted_categories(feature.name, observed, set()), gaps)
    return _FeatureColumns(feature.name, *standard_scale(values, weight), None, gaps)


def _block(columns: _FeatureColumns, sets: SetData) -> tuple[Floats, bool]:
    """Return the columns of one feature, a row for each token, or for each set where it is one of whole sets."""
    values, per_set = sets.column(columns.name)
    missing = np.isnan(values)
    if columns.categories is None:
        block = np.empty((len(values), columns.width))
        block[:, 0] = (values - columns.centre) / columns.scale
        block[missing, 0] = 0.0
        if columns.gaps:
            block[:, 1] = missing
    else:
        table = places_of_codes(columns.name, columns.categories, sets.categories[columns.name])
        places = table[np.where(missing, len(table) - 1, values).astype(np.intp)]
        block = np.zeros((len(values), len(columns.categories) + 1))
        block[np.arange(len(values)), places] = 1.0
        block = block[:, : columns.width]
    return block, per_set
