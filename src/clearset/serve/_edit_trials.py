"""Edits that people try on the served model, which stays as it is."""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from clearset.models import Editor, Model
from clearset.models.documents import ShownExamples
from clearset.models.edits import Edit
from clearset.serve._errors import InconsistentError, TooLargeError
from clearset.serve._json_columns import kind_of
from clearset.sets import number, take_examples

MOST_EDITS = 20
_LONGEST_EDIT = 10_000
_MOST_COMPARED = 20_000
_MOST_CHANGES = 20


def edited(model: Model, edits: Any) -> Editor:
    """Make the edits of a request, on a new model; raise an error for what is none, or too much, or refused."""
    if not isinstance(edits, list):
        raise ValueError(f"'edits' must be a list of edits; received {kind_of(edits)}.")
    if len(edits) > MOST_EDITS:
        raise TooLargeError(f"'edits' has {len(edits):,} edits. Send {MOST_EDITS} at most.")
    if any(len(json.dumps(each)) > _LONGEST_EDIT for each in edits):
        raise TooLargeError(f"An edit has more than {_LONGEST_EDIT:,} characters. Name fewer things in it.")
    editor = model.edit()
    try:
        for each in edits:
            editor.apply(Edit.from_json(each))
    except (TypeError, ValueError) as error:
        raise InconsistentError(str(error)) from error
    return editor


def described(editor: Editor, examples: ShownExamples | None) -> dict[str, Any]:
    """Describe a model after edits: its log, its certificate, and what changes on the first of the examples."""
    certificate = editor.model.certificate
    found: dict[str, Any] = {
        "edits": [str(logged) for logged in editor.edits],
        "checks": len(certificate.checks),
        "holds": bool(certificate),
    }
    if examples is None or not len(examples) or not editor.model.predicts:
        return found
    rows = np.arange(min(len(examples), _MOST_COMPARED))
    y = None if examples.y is None else np.asarray(examples.y)[rows]
    compared = editor.compare(take_examples(examples.X, rows), y)
    changed = compared.rows[:_MOST_CHANGES].tolist()
    pairs = _plain(compared.before[changed]), _plain(compared.after[changed])
    return found | {
        "comparison": {
            "n": len(rows),
            "n_changed": len(compared.rows),
            "metric": compared.metric,
            "scores": None if compared.scores is None else [number(score) for score in compared.scores],
            "examples": [
                {"row": row, "name": examples.name(row), "before": before, "after": after}
                for row, before, after in zip(changed, *pairs, strict=True)
            ],
        }
    }


def _plain(predictions: Any) -> Sequence[Any]:
    return [number(each, 6) if isinstance(each, float) else str(each) for each in predictions.tolist()]
