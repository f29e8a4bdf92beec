"""Explanations of joint models: what tokens and dense columns add to the predictions, and how both steps make them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from clearset import display
from clearset.models._arrays import IntArray
from clearset.models._explanation import Explanation
from clearset.models._explanation_columns import numbers
from clearset.models._joint_columns import Column, columns_of
from clearset.models._joint_contributions import AddedByEngine

_TOKEN = pa.list_(pa.string())


@dataclass(frozen=True, eq=False, repr=False)
class JointExplanation(Explanation):
    """Predictions of a joint model taken apart: into what each token and each dense column adds.

    It is an `Explanation` of the rows, whose frames, reasons and figures it has. The contributions of a row's tokens
    and features add up to the prediction less the base rate of the follow-on model. Tokens have the ``column`` of their
    engine, and their ``score`` is what they add to its estimate. The features of rows are the dense columns, those that
    engines read of whole sets, such as ``review: items``, and the estimates themselves, such as ``review: estimate``:
    what they add because an engine's base rate is not what its estimates are on average. A row whose token and column
    are null is what all features together add beyond their own.

    ``len`` is the number of rows, ``explanation[i]`` the explanation of one of them, and ``explanation[i:j]`` that of
    several.

    Attributes
    ----------
    prediction, base, label, output, aggregate : ndarray of shape (B,) or (B, width)
        Of the follow-on model's explanation, as of any other.
    tokens : pyarrow.Table
        One row for each token of each engine and for each token of the follow-on model, or for what its features add
        together.
    of_sets : pyarrow.Table
        One row for each feature of each row; ``score`` is null.
    features : tuple of str
        The features of the follow-on model.
    rho : mapping of object to ndarray
        Rho's curve of the follow-on model.
    effects : pyarrow.Table, optional
        What a change of one feature of the follow-on model would do, or None if it was not asked for.
    frames : {"pandas", "polars", "pyarrow"}, optional
        The library of the frames that `to_frame` returns: that of X. By default pandas, if it is installed.
    follow_on : Explanation
        The follow-on model's explanation: its features are the estimates and the dense columns.
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
    >>> frame = explanation[0].to_frame()
    >>> sorted(token[0] for token in frame["token"].to_pylist() if token)
    ['oak', 'ripe']
    >>> total = sum(frame["contribution"].to_pylist())
    >>> bool(abs(explanation.base[0] + total - explanation.prediction[0]) < 1e-9)
    True
    >>> explanation.follow_on.features
    ('words', 'price')
    """

    _counted: ClassVar[str] = "row"
    _owners: ClassVar[tuple[str, ...]] = ("set", "label", "column")

    follow_on: Explanation = field(kw_only=True)
    engines: Mapping[Column, Explanation] = field(kw_only=True)

    def take(self, places: IntArray) -> JointExplanation:
        taken = super().take(places)
        assert isinstance(taken, JointExplanation)  # noqa: S101
        engines = {column: part.take(places) for column, part in self.engines.items()}
        return replace(taken, follow_on=self.follow_on.take(places), engines=engines)

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
            ``follow_on``, and ``engines`` by name; and of the whole ``features``, ``rho`` and ``sets``, as of other
            explanations.
        """
        engines = dict(zip(self.names, (part.to_json() for part in self.engines.values()), strict=True))
        return {"follow_on": self.follow_on.to_json(), "engines": engines, **super().to_json()}


def put_together(
    follow_on: Explanation,
    engines: Mapping[Column, Explanation],
    added: Sequence[AddedByEngine],
    in_order: Sequence[str],
) -> JointExplanation:
    """Put the explanations of both steps together, with what each engine adds to the predictions.

    `in_order` names the engines whose tokens are words in their order.
    """
    names = ["_".join(columns_of(column)) for column in engines]
    parts = list(zip(names, engines.values(), added, strict=True))
    tokens = [_tokens_of_engine(name, part, one, follow_on.label) for name, part, one in parts]
    every = _by_set(pa.concat_tables([*tokens, _own_tokens(follow_on)], promote_options="default"))
    sizes, sets = np.abs(every["contribution"].to_numpy()), every["set"].to_numpy()
    totals = np.bincount(sets, sizes, minlength=len(follow_on))[sets]
    every = every.append_column("share", pa.array(sizes / np.where(totals > 0, totals, 1.0)))
    fields = {name: getattr(follow_on, name) for name in ("prediction", "base", "label", "output", "aggregate", "rho")}
    return JointExplanation(
        **fields,
        tokens=display.with_columns(every.append_column("without", pa.nulls(len(every), pa.float64())), in_order),
        of_sets=_by_set(pa.concat_tables([*_of_engines(len(follow_on), parts), _dense(follow_on, added)])),
        features=follow_on.features,
        effects=follow_on.effects,
        frames=follow_on.frames,
        follow_on=follow_on,
        engines=engines,
    )


def _tokens_of_engine(name: str, part: Explanation, added: AddedByEngine, labels: Any) -> pa.Table:
    rows = part.tokens
    columns: dict[str, Any] = {"set": rows["set"]}
    if labels is not None:
        columns["label"] = pa.array(labels[rows["set"].to_numpy()])
    columns |= {"column": pa.array([name] * len(rows), pa.string()), "token": rows["token"].cast(_TOKEN)}
    return pa.table({**columns, "score": rows["contribution"], "contribution": added.tokens})


def _own_tokens(follow_on: Explanation) -> pa.Table:
    """Return the follow-on model's own tokens, named by their features; of rows, what these add together."""
    rows, count = follow_on.tokens, len(follow_on.tokens)
    columns: dict[str, Any] = {name: rows[name] for name in ("set", "label") if name in rows.column_names}
    columns |= {"column": pa.nulls(count, pa.string()), "token": display.feature_lists(follow_on).cast(_TOKEN)}
    columns |= {"score": pa.nulls(count, pa.float64()), "contribution": rows["contribution"]}
    return pa.table(columns | {name: rows[name] for name in follow_on.features if name not in columns})


def _of_engines(n: int, parts: Sequence[tuple[str, Explanation, AddedByEngine]]) -> Iterator[pa.Table]:
    """Yield the rows of the features of whole sets that engines read, and of what they estimate."""
    for name, part, one in parts:
        of_sets = part.of_sets
        for feature, amounts in one.of_sets.items():
            values = of_sets.filter(pc.equal(of_sets["feature"], feature))["value"]
            yield _rows(np.arange(n), pa.array([f"{name}: {feature}"] * n, pa.string()), values, amounts)
        estimates = numbers(part.prediction).cast(pa.string())
        yield _rows(np.arange(n), pa.array([f"{name}: estimate"] * n, pa.string()), estimates, one.rest)


def _dense(follow_on: Explanation, added: Sequence[AddedByEngine]) -> pa.Table:
    """Return the rows of the follow-on model's features of whole sets that are no estimates."""
    rows, estimated = follow_on.of_sets, [name for one in added for name in one.names]
    rows = rows.filter(pc.invert(pc.is_in(rows["feature"], pa.array(estimated, pa.string()))))
    return _rows(rows["set"], rows["feature"], rows["value"], rows["contribution"])


def _rows(sets: Any, features: Any, values: Any, amounts: Any) -> pa.Table:
    scores = pa.nulls(len(sets), pa.float64())
    return pa.table({"set": sets, "feature": features, "value": values, "score": scores, "contribution": amounts})


def _by_set(table: pa.Table) -> pa.Table:
    """Return the rows set after set, those of a set in the order in which they are."""
    return table.take(pa.array(np.argsort(table["set"].to_numpy(), kind="stable"))).combine_chunks()
