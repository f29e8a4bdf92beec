"""The flat form of sets: token values, offsets, and the values of whole sets beside them."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ._built_in import BUILT_IN, built_in_column
from ._categories import Category
from ._fingerprint import DataColumn, Fingerprint, SetHashes, fingerprint_of
from ._offsets import FloatArray, IntArray, gather
from ._unknown_names import unknown_name

# What is done with sets piece by piece needs memory for so many tokens.
PIECE_TOKENS = 100_000


class SetData:
    """Sets in flat form: the tokens of all sets one after the other, never padded.

    Parameters
    ----------
    values : array-like of shape (T, D)
        Token values; NaN is missing. One-dimensional where there is one token feature.
    offsets : array-like of shape (B + 1,)
        Set b holds the tokens `offsets[b]` up to `offsets[b + 1]`.
    feature_names : sequence of str
        Names of the D token features.
    set_values : array-like of shape (B, E), optional
        Values of whole sets. One-dimensional where there is one set feature.
    set_feature_names : sequence of str, default=()
        Names of the E set features.
    categories : mapping from name to categories, optional
        Features whose values are codes, that is, places in the given categories.

    Examples
    --------
    >>> from clearset.sets import SetData
    >>> data = SetData([5, 4, 1], offsets=[0, 2, 3], feature_names=["stars"])
    >>> data
    SetData(2 sets, 3 tokens, features=['stars'])
    >>> data[0].values
    array([[5.],
           [4.]])
    """

    first = 0  # the number of the first set, as of any source of sets

    def __init__(
        self,
        values: npt.ArrayLike,
        offsets: npt.ArrayLike,
        feature_names: Sequence[str],
        *,
        set_values: npt.ArrayLike | None = None,
        set_feature_names: Sequence[str] = (),
        categories: Mapping[str, Sequence[Category]] | None = None,
    ) -> None:
        self.feature_names = _names(feature_names, "feature_names")
        self.set_feature_names = _names(set_feature_names, "set_feature_names")
        matrix = _matrix(values, self.feature_names, "values")
        self.offsets = _offsets(offsets, len(matrix))
        self._tokens = list(matrix.T)
        if set_values is None:
            set_values = np.empty((len(self), 0))
        set_matrix = _matrix(set_values, self.set_feature_names, "set_values")
        if len(set_matrix) != len(self):
            raise ValueError(f"set_values has {len(set_matrix)} rows, but there are {len(self)} sets.")
        self._sets = list(set_matrix.T)
        self.categories = {name: tuple(found) for name, found in (categories or {}).items()}
        self._check()

    @classmethod
    def of_columns(
        cls,
        tokens: Mapping[str, FloatArray],
        offsets: IntArray,
        sets: Mapping[str, FloatArray],
        categories: Mapping[str, Sequence[Category]],
    ) -> "SetData":
        """Return sets of float64 columns, one for each token feature and each set feature, without copying them."""
        for name, column in tokens.items():
            if len(column) != offsets[-1]:
                raise ValueError(
                    f"Feature {name!r} holds {len(column)} values, but its lists end at {offsets[-1]}: the data are "
                    "damaged. Write them anew."
                )
        data = object.__new__(cls)
        data.feature_names, data.set_feature_names = tuple(tokens), tuple(sets)
        data._tokens, data._sets, data.offsets = list(tokens.values()), list(sets.values()), offsets
        data.categories = {name: tuple(found) for name, found in categories.items()}
        data._check()
        return data

    @property
    def values(self) -> FloatArray:
        """Token values, ``(T, D)``."""
        return _stacked(self._tokens, self.n_tokens)

    @property
    def set_values(self) -> FloatArray:
        """Values of whole sets, ``(B, E)``."""
        return _stacked(self._sets, len(self))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __repr__(self) -> str:
        per_set = f", set_features={list(self.set_feature_names)}" if self.set_feature_names else ""
        return f"SetData({len(self)} sets, {self.n_tokens} tokens, features={list(self.feature_names)}{per_set})"

    def __getitem__(self, key: Any) -> "SetData":
        """Return the chosen sets: an int, a slice, an array of ints or a boolean mask."""
        if isinstance(key, tuple) and len(key) == 2 and key[1] is Ellipsis:
            key = key[0]  # as scikit-learn indexes what has a shape
        if isinstance(key, slice):
            start, stop, step = key.indices(len(self))
            if step == 1:
                return self._between(start, max(start, stop))
            return self._gathered(np.arange(start, stop, step))
        chosen = np.asarray(key)
        if chosen.ndim == 0 and chosen.dtype.kind in "iu":
            number = int(chosen)
            if not -len(self) <= number < len(self):
                raise IndexError(f"There is no set {number}: there are {len(self)} sets.")
            start = number % len(self)
            return self._between(start, start + 1)
        if chosen.ndim != 1 or (chosen.dtype.kind not in "iub" and chosen.size):
            raise TypeError(
                "Sets are chosen by an int, a slice, a one-dimensional array of ints or a boolean mask; "
                f"received {type(key).__name__}."
            )
        if chosen.dtype.kind == "b":
            if len(chosen) != len(self):
                raise IndexError(f"The mask has {len(chosen)} entries, but there are {len(self)} sets.")
            return self._gathered(np.flatnonzero(chosen))
        chosen = chosen.astype(np.int64)
        if chosen.size and not (-len(self) <= chosen.min() and chosen.max() < len(self)):
            raise IndexError(f"Sets {chosen.min()} to {chosen.max()} were asked for: there are {len(self)} sets.")
        return self._gathered(np.where(chosen < 0, chosen + len(self), chosen))

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of sets and of features: scikit-learn splits what has a shape by indexing it."""
        return len(self), len(self.feature_names) + len(self.set_feature_names)

    @property
    def n_tokens(self) -> int:
        """Number of tokens of all sets together."""
        return int(self.offsets[-1])

    @property
    def sizes(self) -> IntArray:
        """Number of tokens of each set."""
        return self.offsets[1:] - self.offsets[:-1]

    def column(self, name: str) -> tuple[FloatArray, bool]:
        """Return the values of a feature, and whether there is one per set (else one per token)."""
        if name in BUILT_IN:
            return built_in_column(name, self.offsets)
        if name in self.feature_names:
            return self._tokens[self.feature_names.index(name)], False
        if name in self.set_feature_names:
            return self._sets[self.set_feature_names.index(name)], True
        raise ValueError(unknown_name("Feature", name, (*self.feature_names, *self.set_feature_names)))

    @property
    def n_read(self) -> int:
        """Number of sets that `pieces` yields."""
        return len(self)

    def is_of_sets(self, name: str) -> bool:
        """Return whether a feature has one value for each set (else one for each token)."""
        return self.column(name)[1]

    def sizes_known(self, names: Sequence[str]) -> IntArray:
        """Return the sizes of the sets; 0 where the only token has no value of any of these features."""
        unknown = self.sizes == 1
        if not unknown.all():
            return self.sizes
        for name in names:
            if name not in BUILT_IN and unknown.any():
                unknown = unknown & np.isnan(self.column(name)[0])
        return np.where(unknown, 0, self.sizes)

    def pieces(self, n_tokens: int = PIECE_TOKENS) -> Iterator["SetData"]:
        """Cut the sets into runs of about so many tokens, at least one set each."""
        start = 0
        while start < len(self):
            stop = int(np.searchsorted(self.offsets, self.offsets[start] + n_tokens, side="right")) - 1
            stop = min(max(stop, start + 1), len(self))
            yield self[start:stop]
            start = stop

    def fingerprint(self) -> Fingerprint:
        """Return a hash of the sets, which is the same from wherever they were read."""
        hashes, first = SetHashes(len(self)), 0
        for piece in self.pieces():
            hashes.add(first, piece)
            first += len(piece)
        kinds = {True: "categorical", False: "numeric"}
        named = [(name, "token") for name in self.feature_names] + [(name, "set") for name in self.set_feature_names]
        columns = [DataColumn(name, kinds[name in self.categories], of) for name, of in named]
        return fingerprint_of([hashes.digests()], len(self), self.n_tokens, columns)

    def _between(self, start: int, stop: int) -> "SetData":
        offsets = self.offsets[start : stop + 1]
        tokens = slice(offsets[0], offsets[-1])
        return self._part(lambda column: column[tokens], offsets - offsets[0], lambda column: column[start:stop])

    def _gathered(self, sets: IntArray) -> "SetData":
        tokens, offsets = gather(self.offsets, sets)
        return self._part(lambda column: column[tokens], offsets, lambda column: column[sets])

    def _part(
        self,
        of_tokens: Callable[[FloatArray], FloatArray],
        offsets: IntArray,
        of_sets: Callable[[FloatArray], FloatArray],
    ) -> "SetData":
        # A part of checked data needs no second check.
        part = object.__new__(SetData)
        part.feature_names, part.set_feature_names = self.feature_names, self.set_feature_names
        part._tokens, part._sets = list(map(of_tokens, self._tokens)), list(map(of_sets, self._sets))
        part.offsets, part.categories = offsets, self.categories
        return part

    def _check(self) -> None:
        names = (*self.feature_names, *self.set_feature_names)
        if not self.feature_names:
            raise ValueError("feature_names is empty, but sets need at least one token feature.")
        if len(set(names)) < len(names):
            twice = [name for place, name in enumerate(names) if name in names[:place]]
            raise ValueError(f"The name {twice[0]!r} is used twice. Give every feature its own name.")
        for name in BUILT_IN:
            if name in names:
                raise ValueError(f"The name {name!r} is reserved for a built-in feature. Rename the feature.")
        with np.errstate(over="ignore", invalid="ignore"):
            # A finite sum has finite parts only, and is quicker to find.
            sums = [float(np.add.reduce(values)) for values in (*self._tokens, *self._sets)]
        for name in (name for name, total in zip(names, sums, strict=True) if not math.isfinite(total)):
            values, per_set = self.column(name)
            if (infinite := np.isinf(values)).any():
                place = int(np.argmax(infinite))
                number = place if per_set else int(np.searchsorted(self.offsets, place, side="right")) - 1
                raise ValueError(
                    f"Feature {name!r} holds {values[place]} in set {number} (counted from 0), but only "
                    "finite numbers and missing values (NaN, null) are allowed. Clip it, or make it missing."
                )
        for name, categories in self.categories.items():
            self._check_codes(name, categories)

    def _check_codes(self, name: str, categories: tuple[Category, ...]) -> None:
        if len(set(categories)) != len(categories):
            raise ValueError(f"The categories of feature {name!r} are not distinct.")
        codes, _ = self.column(name)
        codes = codes[~np.isnan(codes)]
        wrong = (codes < 0) | (codes >= len(categories)) | (codes != np.floor(codes))
        if wrong.any():
            raise ValueError(
                f"Feature {name!r} holds {codes[np.argmax(wrong)]}, but with categories its values are codes "
                f"from 0 to {len(categories) - 1}, or NaN."
            )


def _stacked(columns: list[FloatArray], n_rows: int) -> FloatArray:
    stacked = np.empty((n_rows, len(columns)), order="F")
    for place, column in enumerate(columns):
        stacked[:, place] = column
    return stacked


def _names(names: Sequence[str], argument: str) -> tuple[str, ...]:
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise TypeError(f"{argument} is a sequence of strings; received {names!r}.")
    return tuple(str(name) for name in names)


def _matrix(values: npt.ArrayLike, names: tuple[str, ...], argument: str) -> FloatArray:
    array = np.asarray(values)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{argument} holds {array.dtype} values, but only real numbers are allowed.")
    if array.ndim == 1 and len(names) == 1:
        array = array[:, np.newaxis]
    if array.ndim != 2 or array.shape[1] != len(names):
        raise ValueError(
            f"{argument} has shape {array.shape}, but there are {len(names)} names {list(names)}: its shape "
            f"must be (rows, {len(names)})."
        )
    # Everything downstream goes feature by feature, so features are contiguous.
    return np.asarray(array, dtype=np.float64, order="F")


def _offsets(offsets: npt.ArrayLike, n_tokens: int) -> IntArray:
    array = np.asarray(offsets)
    if array.dtype.kind not in "iu" or array.ndim != 1 or not len(array):
        raise TypeError(
            f"offsets is a one-dimensional array of B + 1 ints; received dtype {array.dtype} and shape {array.shape}."
        )
    array = array.astype(np.int64)
    if array[0] != 0 or array[-1] != n_tokens:
        raise ValueError(
            f"offsets runs from {array[0]} to {array[-1]}, but must begin with 0 and end with the number of "
            f"tokens, {n_tokens}."
        )
    if (falls := np.diff(array) < 0).any():
        place = int(np.argmax(falls))
        raise ValueError(f"offsets falls from {array[place]} to {array[place + 1]} at set {place}.")
    return array
