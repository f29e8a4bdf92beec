"""Where a model is from: the data that it was fitted on, versions, and what its author says of it."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from clearset.artifact import clearset_version
from clearset.sets import Fingerprint

if TYPE_CHECKING:
    from clearset.models._model import Model

AnyModel = TypeVar("AnyModel", bound="Model")


@dataclass(frozen=True)
class Origin:
    """Where a model is from; models of files that do not tell it have one that knows nothing.

    Parameters
    ----------
    data : Fingerprint, optional
        The sets, labels and weights that it was fitted on.
    table_data : Fingerprint, optional
        Other examples that its token table was made anew of since.
    versions : mapping of str to str, optional
        The versions of clearset, Python and numpy that fitted it.
    notes : str, optional
        What its author says of it.
    """

    data: Fingerprint | None = None
    table_data: Fingerprint | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    notes: str | None = None

    @classmethod
    def of(cls, data: Fingerprint) -> Origin:
        """Return the origin of a model that is fitted now."""
        versions = {"clearset": clearset_version(), "numpy": np.__version__, "python": platform.python_version()}
        return cls(data, versions=versions)

    def to_json(self) -> dict[str, Any]:
        """Return what is known as JSON values."""
        data = {name: getattr(self, name) for name in ("data", "table_data")}
        described = {name: None if each is None else each.to_json() for name, each in data.items()}
        return {**described, "versions": dict(self.versions), "notes": self.notes}

    @classmethod
    def from_json(cls, document: Mapping[str, Any] | None) -> Origin:
        """Make an origin of JSON values; files of earlier versions have none."""
        if document is None:
            return cls()
        data, table_data = (
            None if document[name] is None else Fingerprint.from_json(document[name]) for name in ("data", "table_data")
        )
        versions, notes = document["versions"], document["notes"]
        texts = [*versions, *versions.values(), *([] if notes is None else [notes])]
        if not all(isinstance(text, str) for text in texts):
            raise TypeError("versions or notes are no texts")
        return cls(data, table_data, versions, notes)


def with_notes(model: AnyModel, notes: str | None) -> AnyModel:
    """Return a model whose author says this of it; None leaves what was said."""
    if notes is None:
        return model
    if not isinstance(notes, str):
        raise TypeError(f"notes is a {type(notes).__name__}; give a text.")
    return replace(model, origin=replace(model.origin, notes=notes))  # type: ignore[type-var]
