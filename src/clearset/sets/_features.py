"""Declarations of features: kind, direction and shape."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from graphlib import CycleError, TopologicalSorter
from operator import index
from typing import Any, Literal

from ._built_in import BUILT_IN, SIZE
from ._categories import Category, as_category
from ._short_repr import short_repr

Direction = Literal["increasing", "decreasing"]


@dataclass(frozen=True, repr=False)
class Feature:
    """A declared feature of the tokens or of the sets.

    Parameters
    ----------
    name : str
        The column, or a built-in feature: `SIZE`, the number of tokens of the set, `PLACE` or `PLACE_FROM_START`, the
        place of the token counted from the end or the start of its list.
    monotonic : {"increasing", "decreasing"} or sequence of (lower, higher) pairs, optional
        Direction in which the prediction may move with the feature. For a categorical feature: pairs of
        categories, the second of which may never lower the prediction against the first.
    kind : {"numeric", "categorical"}, default="numeric"
        How values are read. Strings need "categorical".
    keypoints : int, optional
        Number of keypoints of the calibrator, at least 2. By default the estimator's.
    bounds : (low, high), optional
        First and last keypoint; either may be None, for the observed extreme. Values outside are clamped.
    shape : {"convex", "concave"}, optional
        Shape of the calibrator.
    lattice_size : int, optional
        Number of lattice vertices along the feature, at least 2. By default the estimator's.

    Examples
    --------
    >>> from clearset.sets import Feature
    >>> Feature("word_count", bounds=(0, 500)).bounds
    (0.0, 500.0)
    >>> Feature("store", kind="categorical", monotonic=[("flea_market", "flagship")]).pairs
    (('flea_market', 'flagship'),)
    >>> Feature("star_rating", monotonic="increasing")
    Feature('star_rating', monotonic='increasing')

    Where the order of tokens means something, as that of visits, their place is a feature; 0 is the last one:

    >>> import pyarrow as pa
    >>> import clearset as cs
    >>> visits = pa.table({"pain": [[1.0, 5.0], [5.0, 1.0], [2.0], [3.0, 2.0, 4.0]] * 10})
    >>> model = cs.SetRegressor(["pain", cs.Feature(cs.PLACE, keypoints=3)], random_state=0)
    >>> model.fit(visits, [5.0, 1.0, 2.0, 4.0] * 10).explain(visits[:1]).tokens["cs.PLACE"].to_pylist()
    [1.0, 0.0]
    """

    name: str
    _: KW_ONLY
    monotonic: Direction | Sequence[tuple[Category, Category]] | None = None
    kind: Literal["numeric", "categorical"] = "numeric"
    keypoints: int | None = None
    bounds: tuple[float | None, float | None] | None = None
    shape: Literal["convex", "concave"] | None = None
    lattice_size: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise TypeError(f"A feature's name is a string; received {self.name!r}. Rename the column.")
        if not self.name:
            raise ValueError(
                "A feature's name is empty. Give the name of a column, or SIZE, PLACE or PLACE_FROM_START."
            )
        self._one_of("kind", ("numeric", "categorical"))
        if self.kind == "categorical":
            self._check_categorical()
        else:
            self._one_of("monotonic", ("increasing", "decreasing", None))
        self._one_of("shape", ("convex", "concave", None))
        self._set("keypoints", self._at_least_two("keypoints", self.keypoints))
        self._set("lattice_size", self._at_least_two("lattice_size", self.lattice_size))
        self._set("bounds", self._checked_bounds())

    __repr__ = short_repr

    @property
    def direction(self) -> Literal[-1, 0, 1]:
        """1 if declared increasing, by name or by pairs of categories; -1 if declared decreasing; else 0."""
        if not self.monotonic:
            return 0
        return -1 if self.monotonic == "decreasing" else 1

    @property
    def pairs(self) -> tuple[tuple[Category, Category], ...]:
        """The (lower, higher) pairs of categories; empty for a numeric feature."""
        if self.monotonic is None or isinstance(self.monotonic, str):
            return ()
        return tuple((lower, higher) for lower, higher in self.monotonic)

    def _set(self, field: str, value: object) -> None:
        object.__setattr__(self, field, value)

    def _one_of(self, field: str, allowed: tuple[str | None, ...]) -> None:
        value = getattr(self, field)
        if not (value is None or isinstance(value, str)) or value not in allowed:
            hint = ""
            if field == "monotonic" and not isinstance(value, str):
                hint = " Pairs of categories need kind='categorical'."
            choices = ", ".join(map(repr, allowed))
            raise ValueError(f"Feature {self.name!r} has {field}={value!r}, but {field} is one of {choices}.{hint}")

    def _at_least_two(self, field: str, value: Any) -> int | None:
        if value is None:
            return None
        try:
            number = None if isinstance(value, bool) else index(value)
        except TypeError:
            number = None
        if number is None:
            raise TypeError(f"Feature {self.name!r} has {field}={value!r}, but {field} is an int or None.")
        if number < 2:
            raise ValueError(f"Feature {self.name!r} has {field}={value!r}, but at least 2 are needed.")
        return number

    def _checked_bounds(self) -> tuple[float | None, float | None] | None:
        if self.bounds is None:
            return None
        try:
            low, high = (None if end is None else float(end) for end in self.bounds)
        except (TypeError, ValueError):
            raise TypeError(
                f"Feature {self.name!r} has bounds={self.bounds!r}, but bounds is a pair (low, high) of "
                "numbers, either of which may be None."
            ) from None
        if any(end is not None and not math.isfinite(end) for end in (low, high)):
            raise ValueError(
                f"Feature {self.name!r} has bounds={self.bounds!r}, but bounds are finite. Use None for the "
                "observed extreme."
            )
        if low is not None and high is not None and not low < high:
            raise ValueError(f"Feature {self.name!r} has bounds={self.bounds!r}, but low must be below high.")
        return low, high

    def _check_categorical(self) -> None:
        if self.name in BUILT_IN:
            what = "the tokens of a set" if self.name == SIZE else "the place of a token"
            raise ValueError(f"{self.name} is a number, {what}. Leave out kind='categorical'.")
        for field in ("keypoints", "bounds", "shape"):
            if (value := getattr(self, field)) is not None:
                raise ValueError(
                    f"Feature {self.name!r} is categorical and has {field}={value!r}, which only a numeric "
                    f"feature can have. Leave {field} out, or declare it kind='numeric'."
                )
        if self.monotonic is not None:
            self._set("monotonic", self._checked_pairs(self.monotonic) or None)

    def _checked_pairs(self, pairs: Any) -> tuple[tuple[Category, Category], ...]:
        if isinstance(pairs, str) or not isinstance(pairs, Iterable):
            raise ValueError(
                f"Feature {self.name!r} is categorical and has monotonic={pairs!r}. Give pairs of categories "
                "(lower, higher), or declare it kind='numeric'."
            )
        found: dict[tuple[Category, Category], None] = {}
        order: TopologicalSorter[Category] = TopologicalSorter()
        for pair in pairs:
            if isinstance(pair, str) or not isinstance(pair, Sequence) or len(pair) != 2:
                raise ValueError(
                    f"Feature {self.name!r} has {pair!r} in monotonic, which is not a pair (lower, higher)."
                )
            lower, higher = map(as_category, pair)
            if lower == higher:
                raise ValueError(f"Feature {self.name!r} orders category {lower!r} below itself.")
            found[lower, higher] = None
            order.add(higher, lower)
        try:
            order.prepare()
        except CycleError as error:
            cycle = " < ".join(map(repr, error.args[1]))
            raise ValueError(
                f"Feature {self.name!r} orders its categories in a cycle: {cycle}. Remove one of the pairs."
            ) from None
        return tuple(found)


def feature_columns(features: Iterable[Feature]) -> list[str]:
    """Return the names of the features that have a column, which built-in ones have not."""
    return [feature.name for feature in features if feature.name not in BUILT_IN]
