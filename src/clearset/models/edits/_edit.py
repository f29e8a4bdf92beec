"""What an edit is: a change of a model that can be written down, made, and taken back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import MISSING, asdict, fields
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from clearset.models._model import FunctionModel


class EditRefusedError(ValueError):
    """An edit cannot be made: the model lacks what it names, or would break a declared constraint.

    Examples
    --------
    >>> import clearset as cs
    >>> recipes, cuisines = [["salt", "lime"], ["salt", "feta"]] * 20, ["thai", "greek"] * 20
    >>> editor = cs.SemanticClassifier(cs.Items(), random_state=0).fit(recipes, cuisines).edit()
    >>> try:
    ...     editor.drop_token("saffron")
    ... except cs.EditRefusedError:
    ...     print("the model does not know saffron")
    the model does not know saffron
    """


class Edit(ABC):
    """A change of a model; subclasses are data classes of plain values, and `str` puts them in words."""

    kind: ClassVar[str]
    """The name of the kind of edit, as in files, and of the method of `Editor` that makes it."""
    kinds: ClassVar[dict[str, type[Edit]]] = {}
    """All kinds of edits by name."""

    def __init_subclass__(cls) -> None:
        if "kind" in vars(cls):
            Edit.kinds[cls.kind] = cls

    @abstractmethod
    def apply(self, model: FunctionModel) -> tuple[FunctionModel, dict[str, Any]]:
        """Return the changed model, not yet verified, and as plain data what the change has replaced.

        Parameters
        ----------
        model : FunctionModel
            The model, which stays as it is.

        Returns
        -------
        model : FunctionModel
            The changed model.
        replaced : dict
            What `revert` needs, ready for JSON.
        """

    @abstractmethod
    def revert(self, model: FunctionModel, replaced: Mapping[str, Any]) -> FunctionModel:
        """Return the model as it was before the edit, to the last bit.

        Parameters
        ----------
        model : FunctionModel
            What `apply` has made.
        replaced : mapping
            What `apply` has replaced.

        Returns
        -------
        FunctionModel
            The model before.
        """

    def to_json(self) -> dict[str, Any]:
        """Return the kind and the values as plain data."""
        return {"kind": self.kind, **{name: _plain(value) for name, value in asdict(self).items()}}  # type: ignore[call-overload]

    @staticmethod
    def from_json(document: Mapping[str, Any]) -> Edit:
        """Return the edit that `to_json` described.

        Parameters
        ----------
        document : mapping
            ``kind``, and the values of an edit of this kind.

        Returns
        -------
        Edit
            The edit.
        """
        if not isinstance(document, Mapping):
            raise TypeError(f"An edit is a mapping with its kind; received {document!r}.")
        values = dict(document)
        kind = values.pop("kind", None)
        if not isinstance(kind, str) or kind not in Edit.kinds:
            raise ValueError(f"The kind of an edit is {kind!r}; there are: {', '.join(Edit.kinds)}.")
        known: Any = fields(Edit.kinds[kind])  # type: ignore[arg-type]
        names = [field.name for field in known]
        missing = [field.name for field in known if field.default is MISSING and field.name not in values]
        wrong = [f"{name!r} is missing" for name in missing]
        wrong += [f"{name!r} is not among them" for name in values if name not in names]
        if wrong:
            raise ValueError(f"An edit of the kind {kind!r} has {', '.join(map(repr, names))}; {', '.join(wrong)}.")
        try:
            return Edit.kinds[kind](**values)
        except TypeError as error:
            raise ValueError(f"An edit of the kind {kind!r} cannot be made of {values!r} ({error}).") from None


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
