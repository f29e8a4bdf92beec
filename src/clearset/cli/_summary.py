"""What ``clearset fit`` says of a model."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from clearset.cli._token_lines import strongest, token_lines

_TOKENS_SHOWN = 10


def summary(
    model: Any, y: npt.NDArray[Any], weights: npt.NDArray[Any] | None, held_out: tuple[Any, Any] | None
) -> Iterator[str]:
    """Give lines: what was chosen, how good it is, and the tokens that say most.

    Parameters
    ----------
    model
        Fitted.
    y, weights
        The labels it was fitted on, and their weights.
    held_out
        ``(X, y)`` of a table to validate on, if there is one.
    """
    of_items = hasattr(model, "token_table_")
    if of_items:
        tried = len(model.choices_)
        yield f"Chose {model.setting_}{f' (of {tried} settings tried)' if tried > 1 else ''}."
    yield f"{len(model.history_)} epochs{_loss(model, y, weights)}."
    if held_out is not None:
        what = "accuracy" if hasattr(model, "classes_") else "R\u00b2"
        yield f"On validation data: {what} {model.score(*held_out):.4f}."
    if of_items:
        table = model.token_table_
        share = table.classes is not None and table.means.ndim == 1
        of = f" (mean: the share of {table.classes[1]!s})" if share else ""
        yield f"\n{table}. Tokens that say most{of}:"
        yield from token_lines(table, strongest(table, _TOKENS_SHOWN))


def _loss(model: Any, y: npt.NDArray[Any], weights: npt.NDArray[Any] | None) -> str:
    losses = [
        epoch["validation_loss"] for epoch in model.history_ if epoch.get("validation_loss") is not None
    ]
    if not losses:
        return ""
    constant = _loss_of_a_constant(model.loss_, y, weights) if hasattr(model, "loss_") else None
    beside = "" if constant is None else f" (a constant: {constant:.4g})"
    return f", best validation loss {min(losses):.4g}{beside}"


def _loss_of_a_constant(loss: str, y: npt.NDArray[Any], weights: npt.NDArray[Any] | None) -> float | None:
    """Give the loss of the best constant, to compare with, where it is easily said."""
    if loss == "squared_error":
        return float(np.average((y - np.average(y, weights=weights)) ** 2, weights=weights))
    if loss == "log_loss":
        shares = np.bincount(np.unique(y, return_inverse=True)[1], weights=weights)
        shares = shares[shares > 0] / shares.sum()
        return float(-(shares * np.log(shares)).sum())
    return None
