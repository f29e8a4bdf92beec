"""What ``clearset fit`` prints about a model."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from clearset.cli._token_lines import strongest, token_lines
from clearset.models import FittedJointModel, Model, SemanticModel

_TOKENS_SHOWN = 10


def summary(
    estimator: Any, y: npt.NDArray[Any], weights: npt.NDArray[Any] | None, held_out: tuple[Any, Any] | None
) -> Iterator[str]:
    """Yield lines: what was chosen, how good it is on training labels and held-out data, and the strongest tokens."""
    model = estimator.as_model()
    if model.semantic:
        tried = len(model.choices)
        yield f"Chose {model.setting}{f' (of {tried} settings tried)' if tried > 1 else ''}."
    if isinstance(model, FittedJointModel):
        for name, part in model.parts.items():
            if isinstance(part, SemanticModel):
                yield f"{name}: chose {part.setting}."
        yield f"Joint training lowered the validation loss by {model.gain:.4g}."
    yield f"{len(model.record.history)} epochs{_loss(model, y, weights)}."
    if held_out is not None:
        what = "R\u00b2" if model.link.classes is None else "accuracy"
        yield f"On validation data: {what} {estimator.score(*held_out):.4f}."
    if model.semantic:
        table = model.table
        share = table.classes is not None and table.means.ndim == 1
        of = f" (mean: the share of {table.classes[1]!s})" if share else ""
        yield f"\n{table}. Tokens that say most{of}:"
        yield from token_lines(table, strongest(table, _TOKENS_SHOWN))


def _loss(model: Model, y: npt.NDArray[Any], weights: npt.NDArray[Any] | None) -> str:
    record = model.record
    if not record.history:
        return ""
    losses = [epoch["validation_loss"] for epoch in record.history if epoch.get("validation_loss") is not None]
    said = f"best validation loss {min(losses):.4g}" if losses else f"training loss {record.history[-1]['loss']:.4g}"
    constant = _loss_of_a_constant(model.link.loss, y, weights)
    beside = "" if constant is None else f" (a constant: {constant:.4g})"
    return f", {said}{beside}"


def _loss_of_a_constant(loss: str, y: npt.NDArray[Any], weights: npt.NDArray[Any] | None) -> float | None:
    """Return the loss of the best constant prediction, for losses where it has a simple formula."""
    if loss == "squared_error":
        return float(np.average((y - np.average(y, weights=weights)) ** 2, weights=weights))
    if loss == "log_loss":
        shares = np.bincount(np.unique(y, return_inverse=True)[1], weights=weights)
        shares = shares[shares > 0] / shares.sum()
        return float(-(shares * np.log(shares)).sum())
    return None
