"""Explanations of joint models: what the follow-on model makes of the estimates, and where each of them comes from."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy.typing as npt

from clearset import display
from clearset.models._arrays import FloatArray, IntArray
from clearset.models._explanation import Explanation
from clearset.models._explanation_sequence import ExplanationSequence

Column = str | tuple[str, ...]


@dataclass(frozen=True, eq=False, repr=False)
class JointExplanation(ExplanationSequence):
    """Predictions of a joint model taken apart, one step after the other.

    ``len`` is the number of rows, ``explanation[i]`` the explanation of one of them, and ``explanation[i:j]`` that of
    several.

    Attributes
    ----------
    follow_on : Explanation
        The follow-on model's explanation: its features are the estimates and the dense columns, and each row is a set
        of one token.
    engines : mapping of str, or tuple of str, to Explanation
        Each engine's explanation of its column, by column: what the tokens add to the estimate. Of several classes it
        speaks of the class that is explained.

    Examples
    --------
    >>> import clearset as cs
    >>> import pyarrow as pa
    >>> words = [["oak", "ripe"], ["thin"], ["ripe"], ["thin", "oak"]]
    >>> wines = pa.table({"words": words * 10, "price": [9, 4, 8, 5] * 10})
    >>> engine = cs.SemanticFeatureEngine(tokens=cs.Items())
    >>> model = cs.JointModel({"words": engine}, cs.SetRegressor(epochs=20), random_state=0)
    >>> explanation = model.fit(wines, [92.5, 83.0, 91.0, 86.0] * 10).explain(wines[:2])
    >>> explanation
    JointExplanation(2 rows, engines: words)
    >>> explanation.follow_on.features
    ('words', 'price')
    >>> sorted(token for (token,) in explanation.engines["words"][0].tokens["token"].to_pylist())
    ['oak', 'ripe']
    """

    _counted: ClassVar[str] = "row"

    follow_on: Explanation
    engines: Mapping[Column, Explanation]

    @property
    def prediction(self) -> FloatArray:
        """``(B,)``: the predicted number, or the probability of the class that is explained."""
        return self.follow_on.prediction

    @property
    def label(self) -> npt.NDArray[Any] | None:
        """``(B,)``: that class; None where labels are numbers."""
        return self.follow_on.label

    def __len__(self) -> int:
        return len(self.follow_on)

    def take(self, places: IntArray) -> "JointExplanation":
        engines = {column: part.take(places) for column, part in self.engines.items()}
        return JointExplanation(self.follow_on.take(places), engines)

    def __repr__(self) -> str:
        names, rows = ", ".join(self.names), display.counted(len(self), "row")
        return f"JointExplanation({rows}, engines: {names[:60]}{'…' * (len(names) > 60)})"

    def _repr_html_(self) -> str:
        return display.joint_explanation_html(self)

    @property
    def names(self) -> list[str]:
        """What the engines are called: by their columns."""
        return ["_".join(columns_of(column)) for column in self.engines]

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain data that JSON can hold.

        Returns
        -------
        dict
            ``follow_on``, and ``engines`` by name.
        """
        engines = dict(zip(self.names, (part.to_json() for part in self.engines.values()), strict=True))
        return {"follow_on": self.follow_on.to_json(), "engines": engines}


def columns_of(column: Column) -> tuple[str, ...]:
    """Return the names of an engine's columns.

    Parameters
    ----------
    column : str or tuple of str
        The name of its column, or the names of its columns.

    Returns
    -------
    tuple of str
        The names.
    """
    return (column,) if isinstance(column, str) else tuple(column)
