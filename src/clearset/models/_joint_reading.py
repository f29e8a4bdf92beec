"""Rows that a joint model has read: each engine its column, and the follow-on model their estimates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from clearset import display
from clearset.models._arrays import FloatArray, IntArray
from clearset.models._explanation import Explanation, joined
from clearset.models._joint_columns import estimates_table, names_of, part_of, read_frame
from clearset.models._joint_contributions import AddedByEngine, added_by
from clearset.models._joint_explanation import JointExplanation, put_together
from clearset.models._model import Reading
from clearset.models._scored_sets import ScoredSets
from clearset.runtime import contributions, worth_of_means
from clearset.sets import SetData, take_examples

if TYPE_CHECKING:
    from clearset.models._joint_model import FittedJointModel
    from clearset.models._set_model import SetReading
    from clearset.models._token_reading import TokenReading


class JointReading(Reading):
    """Rows that a `FittedJointModel` has read; what is asked of scored sets is of the follow-on model's.

    Parameters
    ----------
    model : FittedJointModel
        The model.
    X : frame
        The rows.
    most_tokens : int, optional
        The largest number of tokens of all columns together.

    Attributes
    ----------
    estimates : pyarrow.Table
        What the follow-on model reads.
    """

    def __init__(self, model: FittedJointModel, X: Any, most_tokens: int | None = None) -> None:
        frame, self.model, self.X = read_frame(X, model.engines), model, X
        self._engines: list[TokenReading] = []
        left = most_tokens
        for column, engine in model.engines.items():
            self._engines.append(engine.read(part_of(frame, column), left))
            left = None if left is None else left - self._engines[-1].n_tokens
        names = [feature.name for feature in model.binning.features]
        known = [reading.model.link.estimates(reading.outputs()) for reading in self._engines]
        if not model.dense_names:
            # Without a known token and without dense columns, there is nothing to be read.
            nothing = np.all([reading.found.counts == 0 for reading in self._engines], axis=0)
            known = [np.where(nothing[:, None], np.nan, estimates) for estimates in known]
        self.estimates = estimates_table(model.engines, known, frame, names)
        self._follow_on: SetReading = model.follow_on.read(self.estimates, left)
        own = 0 if model.follow_on.sets_of_one else self._follow_on.n_tokens
        self.n_tokens = own + sum(reading.n_tokens for reading in self._engines)

    def __len__(self) -> int:
        return len(self._follow_on)

    @property
    def of_engines(self) -> dict[str, TokenReading]:
        """What each engine has read, by the name of its columns."""
        return dict(zip(self.model.parts, self._engines, strict=False))

    @property
    def sets(self) -> SetData:
        """What the follow-on model has read."""
        return self._follow_on.sets

    def outputs(self) -> FloatArray:
        return self._follow_on.outputs()

    def scores(self) -> tuple[FloatArray, IntArray]:
        return self._follow_on.scores()

    def _pieces(self) -> Iterator[Any]:
        return self._follow_on._pieces()

    def _scored(self, piece: Any, label: Any) -> ScoredSets:
        return self._follow_on._scored(piece, label)

    def ranked_by_column(self, label: Any, n: int) -> pa.Table:
        if n < len(self):
            return JointReading(self.model, take_examples(self.X, np.arange(n))).ranked_by_column(label, n)
        parts = []
        for (name, reading), added in zip(self.of_engines.items(), self._added(label), strict=True):
            ranked = reading.ranked_tokens(np.abs(added.tokens[added.present]) / len(self))
            parts.append(ranked.add_column(1, "column", pa.array([name] * len(ranked), pa.string())))
        every = pa.concat_tables([part.replace_schema_metadata(None) for part in parts])
        return display.with_columns(every.sort_by([("contribution", "descending")]), self._in_order)

    def explain(self, label: Any, *, effects: bool, frames: str | None) -> JointExplanation:
        follow_on = self._follow_on.explain(label, effects=effects, frames=frames)
        engines = {
            column: _explained(reading, follow_on.label, effects=effects, frames=frames)
            for column, reading in zip(self.model.engines, self._engines, strict=True)
        }
        return put_together(follow_on, engines, self._added(label), self._in_order)

    def _added(self, label: Any) -> list[AddedByEngine]:
        """Return what each engine adds to the predictions."""
        scored = [self._follow_on._scored(piece, label) for piece in self._follow_on._pieces()]
        pieces = [(sets, worth_of_means(sets)) for sets in scored]
        found = [contributions(sets, worth).of_sets for sets, worth in pieces]
        engines = []
        for (column, engine), reading in zip(self.model.engines.items(), self._engines, strict=True):
            names = names_of(column, engine)
            estimates = {name: self.estimates[name].to_numpy() for name in names}
            added = {name: np.concatenate([of_sets[name][1] for of_sets in found]) for name in names}
            engines.append(added_by(engine, reading, pieces, estimates, added))
        return engines

    @property
    def _in_order(self) -> list[str]:
        """The engines whose tokens are words in their order."""
        return [name for name, reading in self.of_engines.items() if reading.model.table.tokenizer.in_order]


def _explained(reading: TokenReading, labels: Any, *, effects: bool, frames: str | None) -> Explanation:
    """Explain the estimates of an engine; of several classes each row's own, as ``(B,)`` labels say."""
    if labels is None or reading.model.link.n_outputs == 1:
        return reading.explain(None, effects=effects, frames=frames)
    chosen, places = np.unique(labels, return_inverse=True)
    whole = [reading.explain(label, effects=effects, frames=frames) for label in chosen.tolist()]
    rows = [np.flatnonzero(places == place) for place in range(len(chosen))]
    parts = [part.take(own) for part, own in zip(whole, rows, strict=True)]
    return joined(parts).take(np.argsort(np.concatenate(rows)))
