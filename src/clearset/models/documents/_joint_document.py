"""What a document says of joint models alone: its engines, and how tokens lead to the predictions of some rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clearset import display
from clearset.models._joint_columns import part_of, read_frame
from clearset.models.documents import _document
from clearset.sets import number, take_examples

if TYPE_CHECKING:
    from clearset.models._joint_explanation import JointExplanation
    from clearset.models._joint_model import FittedJointModel
    from clearset.models.documents._shown_examples import ShownExamples

_MOST_ROWS, _MOST_PARTS, _MOST_CHARACTERS = 25, 25, 80


def joint_document(model: FittedJointModel, data: ShownExamples | None) -> dict[str, Any]:
    """Describe the engines, each as a document of its own, and some rows, if there are data.

    Parameters
    ----------
    model : FittedJointModel
        The model.
    data : ShownExamples or None
        Rows that it has read.

    Returns
    -------
    dict
        ``parts``, the document of each engine by name, ``gain``, and ``rows``: what tokens and features add.
    """
    shown: dict[Any, Any] = dict.fromkeys(model.engines)
    if data is not None:
        # Histograms of some rows are enough, and engines show the examples that the whole shows.
        some = np.union1d(data.chosen, np.arange(min(len(data), _document.MOST_RANKED_SETS)))
        frame = read_frame(take_examples(data.X, some), model.engines)
        shown = {column: engine.examples(part_of(frame, column)) for column, engine in model.engines.items()}
    names = [name for name, part in model.parts.items() if part is not model.follow_on]
    parts = {
        name: _document.described_model(engine, shown[column]) | {"title": name}
        for name, (column, engine) in zip(names, model.engines.items(), strict=True)
    }
    rows = [] if data is None else _rows(model, data)
    return {"parts": parts, "gain": number(model.gain), "rows": rows}


def _rows(model: FittedJointModel, data: ShownExamples) -> list[dict[str, Any]]:
    """Return the rows that are shown, and what tokens and features add to the prediction of each."""
    chosen = data.chosen[:_MOST_ROWS]
    if not len(chosen):
        return []
    explanation = model.explain(take_examples(data.X, chosen))
    return [{"name": data.name(row), **_row(one)} for row, one in zip(chosen.tolist(), explanation, strict=True)]


def _row(one: JointExplanation) -> dict[str, Any]:
    texts = [*display.token_texts(one, _MOST_CHARACTERS), *display.set_feature_texts(one, _MOST_CHARACTERS)]
    amounts = np.concatenate([table["contribution"].to_numpy() for table in (one.tokens, one.of_sets)])
    order = np.argsort(-np.abs(amounts), kind="stable")
    kept, rest = order[:_MOST_PARTS], order[_MOST_PARTS:]
    adds = [{"name": texts[place], "contribution": number(amounts[place], 8)} for place in kept.tolist()]
    if len(rest):
        adds.append({"name": f"{len(rest):,} others", "contribution": number(amounts[rest].sum(), 8)})
    return {
        "label": None if one.label is None else str(one.label[0]),
        "base": number(one.base[0], 8),
        "prediction": number(one.prediction[0], 8),
        "adds": adds,
    }
