"""Edits of a token table: drop a token, pin its value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from math import isfinite
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from clearset.models.edits._edit import Edit, EditRefusedError
from clearset.sets import unknown_name
from clearset.tokens import (
    Corrections,
    TokenRow,
    TokenTable,
    correction_of,
    token_values,
    values_of_means,
    with_correction,
    with_token,
    without_token,
)

if TYPE_CHECKING:
    from clearset.models._model import FunctionModel
    from clearset.models._semantic_model import SemanticModel

# Items whose spelling is compared with that of an unknown one.
_MOST_COMPARED = 20_000


class _TokenEdit(Edit):
    """An edit of what the token table says of one token."""

    token: tuple[str, ...]

    def _spelled(self) -> str:
        return f"Token {' + '.join(map(repr, self.token))}"

    def _find(self, model: FunctionModel) -> tuple[SemanticModel, int]:
        """Return the model as one with a token table, and the number of the token in it."""
        if not model.semantic:
            raise EditRefusedError(f"{self}: the model has no token table. Edit one of its features.")
        semantic = cast("SemanticModel", model)
        number = int(semantic.table.numbers_of([self.token])[0])
        if number < 0:
            raise EditRefusedError(_unknown(semantic.table, self.token))
        return semantic, number


@dataclass(frozen=True)
class DropToken(_TokenEdit):
    """The token leaves the token table: examples are read as if the model had never met it.

    With a cover, examples fall back on the smaller tokens that it has shadowed. ``lift`` of larger tokens, which
    compares them with their items, takes an item that was dropped for an unknown one.

    Parameters
    ----------
    token : str or sequence of str
        One item, or the items of the token.

    Examples
    --------
    >>> from clearset.models.edits import DropToken
    >>> str(DropToken(["lime", "salt"]))
    "Token 'lime' + 'salt' dropped"
    """

    kind: ClassVar[str] = "drop_token"

    token: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "token", _items(self.token))

    def __str__(self) -> str:
        return f"{self._spelled()} dropped"

    def apply(self, model: FunctionModel) -> tuple[FunctionModel, dict[str, Any]]:
        semantic, number = self._find(model)
        row = TokenRow.of(semantic.table, number)
        return replace(semantic, table=without_token(semantic.table, number)), row.to_json()

    def revert(self, model: FunctionModel, replaced: Mapping[str, Any]) -> FunctionModel:
        semantic = cast("SemanticModel", model)
        return replace(semantic, table=with_token(semantic.table, TokenRow.from_json(replaced)))


@dataclass(frozen=True)
class PinToken(_TokenEdit):
    """The value of a token is what people say, in place of what was counted and learned.

    Parameters
    ----------
    token : str or sequence of str
        One item, or the items of the token.
    value : float
        The mean label, or the share of a class among the examples with the token, from 0 to 1. Beyond the values that
        the model was trained on it counts as the nearest of these.
    label : object, optional
        The class that it is the share of; by default the second of two. Of several classes it is needed, and the values
        for the others stay.

    Examples
    --------
    >>> from clearset.models.edits import PinToken
    >>> str(PinToken("salt", 0.3, label="thai"))
    "Token 'salt' pinned to 0.3 for 'thai'"
    """

    kind: ClassVar[str] = "pin_token"

    token: tuple[str, ...]
    value: float
    label: Any = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "token", _items(self.token))
        value: Any = self.value
        if isinstance(value, bool) or not isinstance(value, Real):
            raise TypeError(f"value is {value!r}; give a number: a mean label, or a share from 0 to 1.")
        if not isfinite(value):
            raise ValueError(f"value is {value!r}; give a finite number.")
        object.__setattr__(self, "value", float(value))
        if isinstance(self.label, np.generic):
            object.__setattr__(self, "label", self.label.item())

    def __str__(self) -> str:
        of = "" if self.label is None else f" for {self.label!r}"
        return f"{self._spelled()} pinned to {self.value:.10g}{of}"

    def apply(self, model: FunctionModel) -> tuple[FunctionModel, dict[str, Any]]:
        semantic, number = self._find(model)
        table, name = semantic.table, semantic.binning.features[0].name
        column, mean = self._wanted(table)
        shrinkage = semantic.setting.shrinkage
        counted = token_values(table, table.statistics.take(np.array([number])), name, shrinkage)
        before = correction_of(table, number)
        amounts = np.zeros(counted.shape[1]) if before is None else np.array(before)
        wanted = values_of_means(table, np.full(counted.shape, mean), name)
        amounts[column] = (wanted - counted)[0, column]
        replaced = {
            "correction": None if before is None else list(before),
            "corrections": table.corrections is not None,
        }
        if table.corrections is None:
            empty = Corrections(name, shrinkage, np.zeros(0, np.int32), np.zeros((0, len(amounts))))
            table = replace(table, corrections=empty)
        return replace(semantic, table=with_correction(table, number, amounts)), replaced

    def revert(self, model: FunctionModel, replaced: Mapping[str, Any]) -> FunctionModel:
        semantic, number = self._find(model)
        if not replaced["corrections"]:
            return replace(semantic, table=replace(semantic.table, corrections=None))
        return replace(semantic, table=with_correction(semantic.table, number, replaced["correction"]))

    def _wanted(self, table: TokenTable) -> tuple[int, float]:
        """Return the column of values that is meant, and the mean label or share that it is to stand for."""
        if table.classes is None:
            if self.label is not None:
                raise EditRefusedError(f"{self}: the labels are numbers, so there are no classes. Leave label out.")
            return 0, self.value
        if not 0.0 <= self.value <= 1.0:
            raise EditRefusedError(f"{self}: the labels are classes, so the value is a share from 0 to 1.")
        classes = table.classes.tolist()
        if self.label is None and len(classes) > 2:
            raise EditRefusedError(
                f"{self}: there are {len(classes)} classes. Name the one it is the share of by label."
            )
        if self.label is not None and self.label not in classes:
            raise EditRefusedError(unknown_name("Class", self.label, classes))
        if len(classes) == 2:
            return 0, 1.0 - self.value if self.label == classes[0] else self.value
        return classes.index(self.label), self.value


def _items(token: Any) -> tuple[str, ...]:
    items = (token,) if isinstance(token, str | int) else tuple(token) if isinstance(token, Iterable) else ()
    if not items or not all(isinstance(item, str | int) and not isinstance(item, bool) for item in items):
        raise TypeError(f"token is {token!r}; give an item, or a list of the items of one token.")
    return tuple(map(str, items))


def _unknown(table: TokenTable, token: tuple[str, ...]) -> str:
    """Say that a table lacks a token, and what it has instead."""
    message = f"Token {' + '.join(map(repr, token))} is not in the token table."
    if len(token) > 1:
        single = table.numbers_of([[item] for item in token])
        known = [repr(item) for item, number in zip(token, single, strict=True) if number >= 0]
        return f"{message} Of its items, tokens of their own are: {', '.join(known) or 'none'}."
    close = get_close_matches(token[0], table.vocabulary.slice(0, _MOST_COMPARED).to_pylist(), n=3)
    return f"{message} Did you mean {' or '.join(map(repr, close))}?" if close else message
