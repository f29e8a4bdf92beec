"""Explanations: predictions taken apart into what each token adds."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from clearset import display
from clearset.models._arrays import FloatArray, IntArray
from clearset.models._explanation_columns import in_library, renumbered, rows_of_sets, with_rows_of_sets
from clearset.models._explanation_sequence import ExplanationSequence
from clearset.models._reasons import reasons_of

# The fields of an explanation that tell of each set.
_OF_SETS = ("prediction", "base", "label", "output", "aggregate", "tokens", "of_sets", "effects")


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(ExplanationSequence):
    """Predictions for B sets taken apart: from the base rate to the prediction, token by token.

    The base rate is the average prediction for the training sets. The contributions of a set's tokens (`tokens`) and of
    its features (`of_sets`) are in the unit of the prediction, and add up to the prediction less the base rate. Each
    counts by the distance of its score from that of the base rate, times what a unit of the mean score is worth on the
    way from there to the prediction; `docs/explanations.md` tells how that is found. A token that scores above the base
    rate never lowers the prediction.

    ``len`` is the number of sets, ``explanation[i]`` the explanation of one of them, and ``explanation[i:j]`` that of
    several.

    Attributes
    ----------
    prediction : ndarray of shape (B,)
        The predicted number, or the probability of the class that is explained (with the hinge loss, which
        knows no probabilities, the output).
    base : ndarray of shape (B,)
        The base rate: the average prediction, of the class that is explained.
    label : ndarray of shape (B,), or None
        The class that is explained; None where labels are numbers.
    output : ndarray of shape (B,)
        The output of rho, before it becomes a probability or a mean. Of a set without a known token it is what is
        usual, whatever rho makes of it.
    aggregate : ndarray of shape (B, width)
        The mean score, as distance from that of the base rate.
    tokens : pyarrow.Table
        One row for each token, an Arrow table with the columns that `to_frame` names.
    of_sets : pyarrow.Table
        One row for each feature of each whole set: ``set``, ``feature``, its ``value`` as text, what it adds to the
        mean ``score``, and its ``contribution``.
    features : tuple of str
        The names of the columns of `tokens` that are features.
    rho : mapping of object to ndarray
        Rho's curve if the width is 1, for each label that is explained (None where labels are numbers): ``(n, 2)``
        points, a mean score, as distance from that of the base rate, and the output it gives. Empty for larger widths.
    effects : pyarrow.Table, optional
        What a change of one feature would do, or None if it was not asked for: a row for each token of each set and
        feature. ``worst`` and ``best`` are the values, among the present one and the feature's keypoints, with the
        lowest and the highest prediction, which ``prediction_worst`` and ``prediction_best`` hold; for categorical
        features see ``worst_category`` and ``best_category``. ``token`` counts the tokens of a set from 0. A feature
        of whole sets is changed for all tokens at once, in a row whose token is null. Of several classes, the value
        that a token table knows is changed only for the class that is explained.
    frames : {"pandas", "polars", "pyarrow"}, optional
        The library of the frames that `to_frame` returns: that of X. By default pandas, if it is installed.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import clearset as cs
    >>> products = pa.table({"stars": [[5, 4], [1], [5, 5, 5], [2, 3]]})
    >>> model = cs.SetRegressor(["stars"], random_state=0).fit(products, [120.0, 20.0, 180.0, 60.0])
    >>> explanation = model.explain(products)
    >>> explanation
    Explanation(4 sets, 8 tokens)
    >>> explanation.to_frame()["stars"].to_pylist()
    [5.0, 4.0, 1.0, 5.0, 5.0, 5.0, 2.0, 3.0]
    >>> explanation[2]
    Explanation(1 set, 3 tokens)
    >>> explanation[-2:]
    Explanation(2 sets, 5 tokens)
    """

    _counted: ClassVar[str] = "set"
    _owners: ClassVar[tuple[str, ...]] = ("set", "label")

    prediction: FloatArray
    base: FloatArray
    label: npt.NDArray[Any] | None
    output: FloatArray
    aggregate: FloatArray
    tokens: pa.Table
    of_sets: pa.Table
    features: tuple[str, ...]
    rho: Mapping[Any, FloatArray]
    effects: pa.Table | None = None
    frames: str | None = None

    def __len__(self) -> int:
        return len(self.prediction)

    def take(self, places: IntArray) -> "Explanation":
        def chosen(part: Any) -> Any:
            return rows_of_sets(part, places) if isinstance(part, pa.Table) else part[places]

        return replace(self, **{name: chosen(part) for name, part in self._parts().items()})

    def _parts(self) -> dict[str, Any]:
        """Return the fields that tell of each set, but for those that are None."""
        parts = {name: getattr(self, name) for name in _OF_SETS}
        return {name: part for name, part in parts.items() if part is not None}

    def __repr__(self) -> str:
        column = self.tokens["token"]
        n_tokens = len(column) - column.null_count
        return f"Explanation({display.counted(len(self), 'set')}, {display.counted(n_tokens, 'token')})"

    def _repr_html_(self) -> str:
        return display.explanation_html(self)

    def to_frame(self, *, details: bool = False) -> Any:
        """Return a row for each token and for each feature of a whole set.

        The frame is of pandas or polars, as X was; where X was neither, of pandas if it is installed, and otherwise an
        Arrow table.

        ``set`` is the number of the set. ``token`` is the number of the token in it or, where tokens are made of items,
        the list of these. Where labels are classes, ``label`` is the one that the row speaks of. ``score`` is phi of
        the token, as distance from the score of the base rate, features of the set taken as they are on average; of
        several classes it is what the token says in log-odds of the class against all others.
        ``contribution`` is what the token adds to the prediction, in its unit; with the base rate, the contributions of
        a set add up to its prediction. A row whose token is null is of a ``feature`` of the whole set, whose
        ``value`` is told as text; one without either stands for a set without tokens. Where every set has one token,
        all features have such rows, and that of the token is what they add together. With a width above 1, scores are
        lists.

        Parameters
        ----------
        details : bool, default=False
            Whether to add all other columns. The features of tokens, which are there anyway unless tokens are made of
            items, come as phi reads them, null where missing, and each once more as ``... (calibrated)``: what its
            calibrator makes of it. Where tokens are made of items, ``estimate`` is the value that the table has counted
            for the token, and ``refined`` the same with the learned correction; ``statistics`` is what the table knows
            of the label where the token occurs, and ``covers`` lists the places, from 0, of the items that it covers.
            ``share`` is the absolute size of a contribution among those of the set's tokens. ``without`` is the
            prediction for the set without the token, null for the only one; a token that is made of items goes alone,
            the items of the set stay.

        Returns
        -------
        pandas.DataFrame, polars.DataFrame or pyarrow.Table
            The rows.
        """
        table = with_rows_of_sets(self.tokens, self.of_sets)
        if not details:
            of_items = pa.types.is_list(table["token"].type) or pa.types.is_large_list(table["token"].type)
            own = () if of_items else self.features
            names = [*self._owners, "token", "feature", "value", *own, "score", "contribution"]
            table = table.select([name for name in names if name in table.column_names])
        return in_library(table, self.frames)

    def reasons(self, k: int = 3, direction: str = "lowered") -> Any:
        """Return for each set the tokens and features of the set that lowered, or raised, its prediction most.

        They are compared with the base rate: what lowered a prediction is why it is not higher. Of several classes, all
        is said of the probability of the class that is explained.

        Parameters
        ----------
        k : int, default=3
            The largest number of reasons of a set; there are fewer where fewer tokens and features go that way.
        direction : {"lowered", "raised"}, default="lowered"
            Which way.

        Returns
        -------
        pandas.DataFrame, polars.DataFrame or pyarrow.Table
            A row for each reason: the ``set``, the ``label`` that is explained where labels are classes, the ``rank``
            from 1, the ``reason`` as text, and its ``contribution``. The library is that of `to_frame`.

        Examples
        --------
        >>> import clearset as cs
        >>> recipes = [["salt", "lime"], ["salt", "feta"], ["lime", "chili"], ["feta", "olives"]] * 10
        >>> model = cs.SemanticClassifier(tokens=cs.Items(), features=["log_odds"], random_state=0)
        >>> explanation = model.fit(recipes, ["thai", "greek"] * 20).explain([["feta", "lime", "salt"]])
        >>> explanation.reasons(1)["reason"].tolist(), explanation.reasons(1, "raised")["reason"].tolist()
        (['feta'], ['lime'])
        """
        return in_library(reasons_of(self, k, direction), self.frames)

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain data that JSON can hold; what is missing or not finite is None.

        Returns
        -------
        dict
            ``features``, ``rho``, and ``sets`` with their tokens, features of the set (``of_set``) and effects.
        """
        labels = np.full(len(self), None) if self.label is None else self.label
        columns = {
            "label": labels, "prediction": self.prediction, "base": self.base, "output": self.output,
            "aggregate": self.aggregate,
        }  # fmt: skip
        rows = zip(*(column.tolist() for column in columns.values()), strict=True)
        sets: list[dict[str, Any]] = [
            dict(zip(columns, row, strict=True)) | {"tokens": [], "of_set": []} for row in rows
        ]
        for row in self.tokens.to_pylist():
            row.pop("label", None)
            sets[row.pop("set")]["tokens"].append(row)
        for row in self.of_sets.to_pylist():
            sets[row.pop("set")]["of_set"].append(row)
        if self.effects is not None:
            for one in sets:
                one["effects"] = []
            for row in self.effects.to_pylist():
                for end in ("worst", "best"):
                    category = row.pop(f"{end}_category", None)
                    row[end] = row[end] if category is None else category
                sets[row.pop("set")]["effects"].append(row)
        curves = [{"label": label, "points": points} for label, points in self.rho.items()]
        document: dict[str, Any] = _plain({"features": self.features, "rho": curves, "sets": sets})
        return document

    def plot(self, number: int = 0, **options: Any) -> Any:
        """Draw what each token adds to the prediction for one set, as a matplotlib figure.

        Parameters
        ----------
        number : int, default=0
            Which set.
        **options : object
            As for `clearset.display.plot_waterfall`.

        Returns
        -------
        matplotlib.figure.Figure
            The figure.
        """
        return display.plot_waterfall(self[number], **options)


def joined(parts: Sequence[Explanation]) -> Explanation:
    """Put the explanations of sets that follow each other together; each counts its sets from 0."""
    if len(parts) == 1:
        return parts[0]
    starts = np.cumsum([0, *(len(part) for part in parts[:-1])]).tolist()
    curves: dict[Any, FloatArray] = {}
    for part in parts:
        curves |= part.rho
    fields: dict[str, Any] = {"rho": {label: curves[label] for label in sorted(curves)}}
    for name in parts[0]._parts():
        pieces = [getattr(part, name) for part in parts]
        if isinstance(pieces[0], pa.Table):
            tables = [renumbered(table, start) for table, start in zip(pieces, starts, strict=True)]
            fields[name] = pa.concat_tables(tables).combine_chunks()
        else:
            fields[name] = np.concatenate(pieces)
    return replace(parts[0], **fields)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value
