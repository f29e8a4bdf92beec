"""What matters overall: features and tokens ranked by what they add to predictions, or by what shuffling them costs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from clearset import display
from clearset.models._arrays import FloatArray, IntArray
from clearset.models._explanation_columns import in_library
from clearset.models._scored_sets import ScoredSets
from clearset.runtime import Worth, contributions, worth_of_means

if TYPE_CHECKING:
    from clearset.models._model import Model, Reading

# What the link makes of outputs, and so the unit of contributions.
_UNITS = {"identity": "prediction", "exp": "prediction", "margin": "margin"}
_WAYS = ("within", "between")


@dataclass(frozen=True, eq=False, repr=False)
class Importance:
    """Features, and tokens that are made of items, by how much they matter; the most important first.

    Attributes
    ----------
    features : pyarrow.Table
        ``feature``, and ``contribution``: the mean over the sets of the absolute size of what the feature adds to the
        prediction. By permutation, ``within`` and ``between`` in its place: what it costs to shuffle the feature among
        the tokens of each set, and among those of all sets.
    tokens : pyarrow.Table, or None
        ``token``, ``contribution``: the same mean for the token, which adds nothing where it does not occur, and
        ``sets``: how many sets have it; of joint models also the ``column`` of its engine. None where tokens have
        features in place of names, and by permutation.
    unit : str
        What the numbers are of: ``"prediction"``, ``"probability"`` or ``"margin"``; by permutation with labels
        ``"accuracy"`` or ``"R²"``.
    n_sets : int
        The number of sets.
    frames : {"pandas", "polars", "pyarrow"}, optional
        The library of the frames that `to_frame` returns; by default pandas, if it is installed.

    Examples
    --------
    >>> import clearset as cs
    >>> recipes = [["salt", "lime"], ["salt", "feta"], ["lime", "chili"], ["feta", "olives"]] * 10
    >>> model = cs.SemanticClassifier(tokens=cs.Items(), random_state=0).fit(recipes, ["thai", "greek"] * 20)
    >>> importance = model.importance(recipes)
    >>> importance
    Importance(5 features, 5 tokens, 40 sets)
    >>> importance.features["feature"][0].as_py()
    'log_odds'
    """

    features: pa.Table
    tokens: pa.Table | None
    unit: str
    n_sets: int
    frames: str | None = None

    def __repr__(self) -> str:
        parts = [display.counted(len(self.features), "feature")]
        if self.tokens is not None:
            parts.append(display.counted(len(self.tokens), "token"))
        return f"Importance({', '.join([*parts, display.counted(self.n_sets, 'set')])})"

    # The function takes the importance as its first argument.
    plot = display.plot_importance

    def to_frame(self, of: str = "features") -> Any:
        """Return the features or the tokens, in a frame as X was.

        Parameters
        ----------
        of : {"features", "tokens"}, default="features"
            Which.

        Returns
        -------
        pandas.DataFrame, polars.DataFrame or pyarrow.Table
            The rows, the most important first.
        """
        if of not in ("features", "tokens"):
            raise ValueError(f"of is {of!r}; choose 'features' or 'tokens'.")
        table = self.features if of == "features" else self.tokens
        if table is None:
            raise ValueError("There are no tokens to rank: they have features and no names, or features were shuffled.")
        return in_library(table, self.frames)


def importance_by_contribution(
    model: Model, reading: Reading, label: Any, frames: str | None, most: int | None = None
) -> Importance:
    """Rank features and tokens by the mean absolute size of their contributions; more sets than `most` are not read."""
    _check_some(reading)
    names = [feature.name for feature in model.binning.features]
    sizes, n_sets, of_tokens = dict.fromkeys(names, 0.0), 0, []
    for sets in reading.scored(label):
        worth = worth_of_means(sets)
        for name, parts in _feature_contributions(sets, worth).items():
            sizes[name] += float(np.abs(parts).sum())
        if model.semantic:
            of_tokens.append(np.abs(contributions(sets, worth).tokens[sets.present]))
        n_sets += len(sets.sizes)
        if most is not None and n_sets >= most:
            break
    table = pa.table({"feature": names, "contribution": np.array([sizes[name] for name in names]) / n_sets})
    found = np.concatenate(of_tokens) / n_sets if of_tokens else None
    tokens = reading.ranked_by_column(label, n_sets) if found is None else reading.ranked_tokens(found)
    unit = _UNITS.get(model.link.name, "probability")
    return Importance(_ranked(table, "contribution"), tokens, unit, n_sets, frames)


def _feature_contributions(sets: ScoredSets, worth: Worth) -> dict[str, FloatArray]:
    """Return what each feature adds to the predictions, ``(B,)``, of tokens and of whole sets alike.

    It is what the feature adds to the scores, compared with what they would be if it were as it is on average. Features
    act together, so that these need not add up.
    """
    factors, found = worth.to_prediction * sets.weights, {}
    for place, feature in enumerate(sets.binning.features):
        change = sets.total(sets.as_they_are - sets.usual_scores(place))
        # A set without tokens has none whose features could add anything.
        there = True if sets.per_set[place] else sets.counts > 0
        found[feature.name] = (change * worth.to_log_odds).sum(axis=(1, 2)) * factors * there
    return found


def importance_by_permutation(
    model: Model, reading: Reading, y: Any, label: Any, repeats: int, rng: np.random.Generator, frames: str | None
) -> Importance:
    """Rank features by what shuffling them within and between sets costs: in score, or without labels in change."""
    _check_some(reading)
    n_sets = len(reading)
    labels = None if y is None else model.read_labels(y, n_sets)
    pieces = list(reading.scored(label))
    now = np.concatenate([piece.told for piece in pieces])
    columns = np.concatenate([piece.columns for piece in pieces])

    def cost(outputs: FloatArray) -> float:
        if labels is not None:
            return model.score_of(now, labels) - model.score_of(outputs, labels)
        rows = np.arange(n_sets)
        change = model.link.estimates(outputs)[rows, columns] - model.link.estimates(now)[rows, columns]
        return float(np.abs(change).mean())

    names = [feature.name for feature in model.binning.features]
    costs = {way: np.zeros(len(names)) for way in _WAYS}
    for way in _WAYS:
        for place in range(len(names)):
            if way == "within" and all(piece.per_set[place] for piece in pieces):
                continue  # a feature of the whole set is the same for all of its tokens
            for _ in range(repeats):
                shuffled = [piece.reordered(place, order) for piece, order in _orders(pieces, place, way, rng)]
                costs[way][place] += cost(np.concatenate(shuffled)) / repeats
    table = pa.table({"feature": names, **costs})
    unit = _UNITS.get(model.link.name, "probability")
    if labels is not None:
        unit = "R²" if model.link.classes is None else "accuracy"
    return Importance(_ranked(table, "between"), None, unit, n_sets, frames)


def _orders(
    pieces: list[ScoredSets], place: int, way: str, rng: np.random.Generator
) -> Iterator[tuple[ScoredSets, IntArray]]:
    """Return each piece with the token that each of its tokens gets the feature of."""
    for piece in pieces:
        n_tokens = len(piece.set_of)
        order: npt.NDArray[Any]
        if way == "within":
            order = np.lexsort((rng.random(n_tokens), piece.set_of))
        elif piece.per_set[place]:
            order = piece.offsets[:-1][rng.permutation(len(piece.sizes))][piece.set_of]
        else:
            # Where a set has no tokens, there is nothing to shuffle.
            order, present = np.arange(n_tokens), np.flatnonzero(piece.present)
            order[present] = rng.permutation(present)
        yield piece, order


def _check_some(reading: Reading) -> None:
    if not len(reading):
        raise ValueError("X holds no sets, and nothing can be ranked by them. Give at least one.")


def _ranked(table: pa.Table, column: str) -> pa.Table:
    return table.take(pc.sort_indices(table, [(column, "descending")]))
