"""The log of a model: its edits in order, each with what it has replaced."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from clearset.functions import Certificate
from clearset.models._verify import confirmed
from clearset.models.edits._curve_edits import Forbid
from clearset.models.edits._edit import Edit, EditRefusedError

if TYPE_CHECKING:
    from clearset.models._model import FunctionModel
    from clearset.models._semantic_model import SemanticModel
    from clearset.sets import Feature
    from clearset.tokens import TokenTable

AnyModel = TypeVar("AnyModel", bound="FunctionModel")


@dataclass(frozen=True)
class LoggedEdit:
    """An edit that was made, and all that is needed to undo it.

    Parameters
    ----------
    edit : Edit
        The edit.
    replaced : mapping
        What it has replaced, as plain data.
    certificate : Certificate
        That of the model before.
    """

    edit: Edit
    replaced: Mapping[str, Any]
    certificate: Certificate

    def __str__(self) -> str:
        return str(self.edit)

    def to_json(self) -> dict[str, Any]:
        """Return a dict that `json` can write and read back without loss."""
        certificate = self.certificate.to_json()
        return {"edit": self.edit.to_json(), "replaced": dict(self.replaced), "certificate": certificate}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> LoggedEdit:
        """Return what `to_json` wrote."""
        if not isinstance(document["replaced"], dict):
            raise TypeError(f"what an edit has replaced is {document['replaced']!r}")
        certificate = Certificate.from_json(document["certificate"])
        return cls(Edit.from_json(document["edit"]), document["replaced"], certificate)


def edits_to_json(log: Sequence[LoggedEdit]) -> dict[str, Any]:
    """Return the entry of a log in the document of an artifact; nothing where there are no edits."""
    return {"edits": [logged.to_json() for logged in log]} if log else {}


def edits_from_json(document: Mapping[str, Any], features: Sequence[Feature]) -> tuple[LoggedEdit, ...]:
    """Return the log in the document of an artifact; most have none."""
    log = tuple(map(LoggedEdit.from_json, document.get("edits", ())))
    if unknown := set(forbidden_features(log)) - {feature.name for feature in features}:
        raise ValueError(f"forbidden features are unknown: {sorted(unknown)}")
    return log


def forbidden_features(log: Sequence[LoggedEdit]) -> tuple[str, ...]:
    """Return the features that a model must not use, in the order they were forbidden, each once."""
    edits = [logged.edit for logged in log]
    return tuple(dict.fromkeys(edit.feature for edit in edits if isinstance(edit, Forbid)))


def edited(model: AnyModel, edit: Edit) -> AnyModel:
    """Return a model with one edit more, verified.

    Parameters
    ----------
    model : FunctionModel
        The model, which stays as it is.
    edit : Edit
        The edit.

    Returns
    -------
    FunctionModel
        The new model, with the edit in its log.
    """
    changed, replaced = edit.apply(model)
    logged = LoggedEdit(edit, replaced, model.certificate)
    result: AnyModel = replace(changed, edits=(*model.edits, logged))  # type: ignore[assignment]
    if result.function is model.function:
        return result  # nothing is promised of a token table: the certificate is that of the set function
    certificate = result.verify()
    failed = {check.constraint for check in certificate.checks if not check.holds}
    failed -= {check.constraint for check in model.certificate.checks if not check.holds}
    if failed:
        raise EditRefusedError(
            f"{edit}: this would break what was declared, {' and '.join(map(repr, sorted(failed)))}. Choose other "
            "values, or fit a model without this declaration."
        )
    return replace(result, certificate=certificate)


def with_true_certificate(model: AnyModel, certificate: Certificate) -> AnyModel:
    """Return a model with a certificate from a file, or with a new one if its parameters do not bear that out.

    Parameters
    ----------
    model : FunctionModel
        The model.
    certificate : Certificate
        What the file says.

    Returns
    -------
    FunctionModel
        The model, with a certificate that is true of its parameters.
    """
    unused = forbidden_features(model.edits)
    found = confirmed(certificate, model.function, model.binning, model.trusts, unused=unused)
    return replace(model, certificate=found)


def undone(model: AnyModel) -> AnyModel:
    """Return a model without its last edit, to the last bit as it was before.

    Parameters
    ----------
    model : FunctionModel
        A model with edits, which stays as it is.

    Returns
    -------
    FunctionModel
        The model before.
    """
    if not model.edits:
        raise EditRefusedError("There is no edit to undo: the model is as it was fitted.")
    *others, last = model.edits
    before = replace(last.edit.revert(model, last.replaced), edits=tuple(others))
    return with_true_certificate(before, last.certificate)  # type: ignore[return-value]


def with_new_table(model: SemanticModel, table: TokenTable) -> SemanticModel:
    """Return a model with another token table, on which its edits are made again.

    Parameters
    ----------
    model : SemanticModel
        The model.
    table : TokenTable
        The new table, without corrections; those of the model before its edits are carried over.

    Returns
    -------
    SemanticModel
        The model with that table; edits of tokens that the table lacks are left out of its log.
    """
    edits = [logged.edit for logged in model.edits]
    while model.edits:
        model = undone(model)
    model = replace(model, table=table.carrying(model.table))
    for edit in edits:
        token = getattr(edit, "token", None)
        if token is None or table.numbers_of([token])[0] >= 0:
            model = edited(model, edit)
    return model
