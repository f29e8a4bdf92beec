"""Examples of strings and texts that a model has read: their tokens, and what is known of each."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from clearset import display
from clearset.engines import engine, engine_on
from clearset.models._arrays import FloatArray, IntArray
from clearset.models._explain import assemble
from clearset.models._explanation import Explanation, joined
from clearset.models._explanation_columns import column_names, numbers
from clearset.models._model import Reading
from clearset.models._scored_sets import category_names
from clearset.models._scored_tokens import ScoredTokens
from clearset.sets import CrossedPositions
from clearset.tokens import PER_SET, Occurrences, TokenTable, covered, read_details

if TYPE_CHECKING:
    from clearset.models._semantic_model import SemanticModel

# Scores are kept of about this many tokens x classes at a time, so that memory stays bounded.
PIECE_SCORES = 2_000_000


class TokenReading(Reading):
    """Examples that a `SemanticModel` has read, and the tokens found in them."""

    def __init__(self, model: "SemanticModel", X: Any, most_tokens: int | None = None) -> None:
        self.model, self.X = model, X
        self.found = model.reader.find(X, threads=model.threads, most=most_tokens)
        self.n_tokens = len(self.found.rows)

    def __len__(self) -> int:
        return len(self.found.counts)

    @cached_property
    def positions(self) -> CrossedPositions:
        """Where the tokens stand between keypoints."""
        return self.model.placer.place(self.found)

    def outputs(self) -> FloatArray:
        model = self.model
        applies = engine_on(model.parameters.get("device", "cpu"))
        outputs = applies.outputs(model.refined_function, self.positions, model.threads)
        return model.link.with_nothing(outputs, self.found.counts == 0)

    def scores(self) -> tuple[FloatArray, IntArray]:
        model = self.model
        scores = engine().scores(model.refined_function, self.positions, model.threads)
        return scores, self.positions.offsets

    def _pieces(self) -> Iterator[Occurrences]:
        return self.found.pieces(PIECE_SCORES // self.model.reader.rows.values.shape[1])

    def _scored(self, piece: Occurrences, label: Any) -> ScoredTokens:
        model = self.model
        positions = model.placer.place(piece)
        return ScoredTokens(model, positions, piece.counts, model.reader.rows.values, label)

    def ranked_tokens(self, parts: FloatArray) -> pa.Table:
        """Add up what tokens have, as often as they occur, the largest sum first; the first tokens have some."""
        seen, places, counts = np.unique(self.found.found.tokens[: len(parts)], return_inverse=True, return_counts=True)
        sums = np.bincount(places, parts, minlength=len(seen))
        order = np.argsort(-sums, kind="stable")
        spelled = self.model.table.spelled(seen[order])
        return self._named(pa.table({"token": spelled, "contribution": sums[order], "sets": counts[order]}))

    def explain(self, label: Any, *, effects: bool, frames: str | None) -> Explanation:
        if not len(self):
            raise ValueError("X holds 0 sample(s), that is, no examples, while a minimum of 1 is required.")
        model, found = self.model, self.found
        items, _ = read_details(self.X, model.setting.details)
        spelled, covers = model.table.spelled(found.found.tokens), covered(model.table, items, found.found)
        parts, start = [], 0
        for piece in self._pieces():
            n_tokens = len(piece.rows)
            sets = self._scored(piece, label)
            known = sets.present
            places = pa.array(np.cumsum(known) - 1, mask=~known)
            columns = sets.columns[sets.set_of][known]
            further = {
                "estimate": numbers(sets.estimate),
                "refined": numbers(sets.refined),
                "statistics": _statistics(model.table, piece.found.tokens, columns).take(places),
                "covers": covers.slice(start, n_tokens).take(places),
            }
            tokens = spelled.slice(start, n_tokens).take(places)
            values = self._features(piece, sets)
            parts.append(assemble(sets, tokens, values, further, effects=effects, frames=frames))
            start += n_tokens
        explanation = joined(parts)
        return replace(explanation, tokens=self._named(explanation.tokens))

    def _named(self, table: pa.Table) -> pa.Table:
        """Note in a table of tokens whether their items are words in their order."""
        return display.with_order(table) if self.model.table.tokenizer.in_order else table

    def _features(self, piece: Occurrences, sets: ScoredTokens) -> dict[str, pa.Array]:
        """Return the features of every token by name; details that are called as a column of the frame are marked."""
        binning = self.model.binning
        features = [feature.name for feature in binning.features]
        columns = [numbers(sets.refined)]
        for name, categories in zip(features[1:], binning.categories[1:], strict=True):
            if name in PER_SET:
                values = piece.of_sets(name)[sets.set_of]
            else:
                values = np.full(len(sets.present), np.nan)
                values[sets.present] = self.of_tokens(piece, name)
            if categories is None:
                columns.append(numbers(values))
            else:
                places = pa.array(np.nan_to_num(values, nan=0.0).astype(np.int64), mask=np.isnan(values))
                columns.append(category_names(categories).take(places))
        return dict(zip(column_names(features, " (detail)"), columns, strict=True))

    def of_tokens(self, piece: Occurrences, name: str) -> FloatArray:
        """Return a plain feature of tokens, ``(T,)``: the token's own, or one that it has in its example."""
        own = self.model.reader.rows.own
        return own[name][piece.rows] if name in own else piece.of_tokens(name)


def _statistics(table: TokenTable, tokens: npt.NDArray[Any], columns: IntArray) -> pa.Array:
    """Return what the table knows of tokens: examples, mean label or share of the class, and its 95% interval."""
    stated = {"count": pa.array(table.counts[tokens])}
    for name, values in zip(("mean", "low", "high"), (table.means, *table.intervals), strict=True):
        stated[name] = numbers(values[tokens] if values.ndim == 1 else values[tokens, columns])
    return pa.StructArray.from_arrays(list(stated.values()), list(stated))
