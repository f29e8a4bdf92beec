"""What edits change: a model before and after them, on the same examples."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from clearset import display
from clearset.models._churn import Churn, churn
from clearset.models._explanation_columns import in_library
from clearset.sets import library_of

if TYPE_CHECKING:
    from clearset.models._model import FunctionModel

# Numbers that differ by less than this share of their standard deviation are the same: with one more keypoint, values
# between the others are rounded in another way.
_SAME = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class EditComparison:
    """The predictions of a model before and after edits.

    ``churn`` says more of how they differ: how many changed for the better and for the worse, and by how much.

    Attributes
    ----------
    edits : tuple of str
        The edits, in words.
    metric : {"accuracy", "R²"}
        What `scores` are.
    scores : (float, float) or None
        The score before and after; None without labels.
    before : ndarray of shape (n,)
        The predictions before.
    after : ndarray of shape (n,)
        The predictions after.
    churn : Churn
        How they differ.
    frames : {"pandas", "polars", "pyarrow"}, optional
        The library that `to_frame` makes its frame of; by default pandas, if it is installed.

    Examples
    --------
    >>> import clearset as cs
    >>> recipes, cuisines = [["salt", "lime"], ["salt", "feta"]] * 20, ["thai", "greek"] * 20
    >>> editor = cs.SemanticClassifier(cs.Items(), random_state=0).fit(recipes, cuisines).edit().drop_token("salt")
    >>> comparison = editor.compare(recipes, cuisines)
    >>> comparison.metric, comparison.scores, comparison.churn.changed
    ('accuracy', (1.0, 1.0), 0.0)
    """

    edits: tuple[str, ...]
    metric: str
    scores: tuple[float, float] | None
    before: npt.NDArray[Any]
    after: npt.NDArray[Any]
    churn: Churn
    frames: str | None = None

    @property
    def changed(self) -> float:
        """The share of examples whose prediction changed."""
        return self.churn.changed

    @property
    def rows(self) -> npt.NDArray[np.int64]:
        """The row numbers of these examples, the largest change first."""
        return self.churn.rows

    def __repr__(self) -> str:
        changed = f"{len(self.rows):,} of {len(self.before):,} predictions ({self.changed:.2%})"
        lines = [f"EditComparison: {display.counted(len(self.edits), 'edit')} changed {changed}"]
        if self.scores is not None:
            lines.append(f"{self.metric}: {self.scores[0]:.4g} before, {self.scores[1]:.4g} after")
        lines += [f"{words}: {value}" for words, value in _differences(self.churn).items()]
        return "\n  ".join(lines)

    def _repr_html_(self) -> str:
        return display.edit_comparison_html(self)

    def to_frame(self) -> Any:
        """Return the examples whose prediction changed, the largest change first.

        Returns
        -------
        pandas.DataFrame, polars.DataFrame or pyarrow.Table
            ``row``, ``before`` and ``after``, in a frame as X was.
        """
        rows = self.rows
        table = pa.table({"row": pa.array(rows), "before": pa.array(self.before[rows]), "after": self.after[rows]})
        return in_library(table, self.frames)


def compared(before: FunctionModel, after: FunctionModel, X: Any, y: Any) -> EditComparison:
    """Compare a model before and after edits on examples, with their labels or None."""
    shared = sum(1 for _ in takewhile(lambda pair: pair[0] is pair[1], zip(before.edits, after.edits, strict=False)))
    edits = *(f"{logged}: undone" for logged in before.edits[shared:][::-1]), *map(str, after.edits[shared:])
    tolerance, predictions = None, (before.predict(X), after.predict(X))
    if before.link.classes is None:
        tolerance = _SAME * float(np.std(predictions[0]))
    return EditComparison(
        edits,
        "R²" if before.link.classes is None else "accuracy",
        None if y is None else (before.score(X, y), after.score(X, y)),
        *predictions,
        churn(before, after, X, y, tolerance=tolerance),
        library_of(X),
    )


def _differences(found: Churn) -> dict[str, str]:
    """Return how predictions differ, in words."""
    named = {
        "mean difference of probabilities": found.probability_difference,
        "mean absolute difference": found.mean_difference,
    }
    said = {words: f"{value:.4g}" for words, value in named.items() if value is not None}
    if found.wins is not None and found.losses is not None:
        said["for the better and for the worse"] = f"{found.wins:.2%} and {found.losses:.2%}"
    return said
