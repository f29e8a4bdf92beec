"""Explanations of joint models: what the follow-on model makes of the estimates, and where each of them comes from."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
import numpy.typing as npt

from clearset.estimators._display import chosen_places, counted, display
from clearset.estimators._explanation import Explanation, joined
from clearset.estimators.semantic._engine import SemanticFeatureEngine
from clearset.estimators.semantic._joint_examples import Column, columns_of
from clearset.estimators.semantic._sources import take_examples

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class JointExplanation:
    """Predictions of a joint model taken apart, one step after the other.

    ``len`` is the number of rows, ``explanation[i]`` the explanation of one of them, and ``explanation[i:j]`` that of
    several.

    Attributes
    ----------
    follow_on
        The follow-on model's explanation: its features are the estimates and the dense columns, and each row is a set
        of one token.
    engines
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
    >>> sorted(token for (token,) in explanation.engines["words"][0].to_frame()["token"].to_pylist())
    ['oak', 'ripe']
    """

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

    def __iter__(self) -> Iterator["JointExplanation"]:
        return (self[number] for number in range(len(self)))

    def __getitem__(self, number: int | slice) -> "JointExplanation":
        places = chosen_places(number, len(self), "row")
        engines = {column: part.take(places) for column, part in self.engines.items()}
        return JointExplanation(self.follow_on.take(places), engines)

    def __repr__(self) -> str:
        names = ", ".join(self.names)
        return (
            f"JointExplanation({counted(len(self), 'row')}, engines: {names[:60]}{'…' * (len(names) > 60)})"
        )

    @property
    def names(self) -> list[str]:
        """What the engines are called: by their columns."""
        return ["_".join(columns_of(column)) for column in self.engines]

    def to_json(self) -> dict[str, Any]:
        """Give everything as plain data that JSON can hold: ``follow_on``, and ``engines`` by name."""
        engines = dict(zip(self.names, (part.to_json() for part in self.engines.values()), strict=True))
        return {"follow_on": self.follow_on.to_json(), "engines": engines}

    def to_html(self, path: str | PathLike[str] | None = None) -> str:
        """Give the explanation as HTML, and write it to a file if a path is given.

        Parameters
        ----------
        path
            Where to; an existing file is replaced only once the new one is complete.
        """
        html: str = display().joint_explanation_html(self, path)
        return html

    def _repr_html_(self) -> str:
        return self.to_html()


def explain_engine(
    engine: SemanticFeatureEngine, part: Any, labels: npt.NDArray[Any] | None, *, effects: bool
) -> Explanation:
    """Explain the estimates of an engine; of several classes each row's own, as ``(B,)`` labels say."""
    if labels is None or len(getattr(engine, "classes_", ())) <= 2:
        return engine.explain(part, effects=effects)
    chosen, places = np.unique(labels, return_inverse=True)
    rows = [np.flatnonzero(places == place) for place in range(len(chosen))]
    parts = [
        engine.explain(take_examples(part, own), label, effects=effects)
        for own, label in zip(rows, chosen.tolist(), strict=True)
    ]
    return joined(parts).take(np.argsort(np.concatenate(rows)))
