"""Editing a model step by step, each step verified."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Self

from clearset import display
from clearset.models.edits._comparison import EditComparison, compared
from clearset.models.edits._curve_edits import Cap, Flatten, Forbid
from clearset.models.edits._edit import Edit
from clearset.models.edits._log import LoggedEdit, edited, undone
from clearset.models.edits._token_edits import DropToken, PinToken

if TYPE_CHECKING:
    from clearset.models._model import FunctionModel

Token = str | int | Iterable[str | int]


class Editor:
    """Changes a fitted model by hand, one edit after the other; made by `edit` of models and fitted estimators.

    Each edit makes a new model, which is verified at once: an edit that would break a declared constraint raises an
    `EditRefusedError` and changes nothing. The model that editing began with stays as it is. The new model holds the
    log of its edits, is saved with it, and shows it in its report; what each edit replaced is kept, so that `undo`
    gives the same bits as before, also after saving and loading.

    Parameters
    ----------
    model : FunctionModel
        The model to begin with.

    Attributes
    ----------
    original : FunctionModel
        The model that editing began with.
    model : FunctionModel
        The model after all edits.

    Examples
    --------
    >>> import clearset as cs
    >>> recipes = [["salt", "lime"], ["salt", "feta"], ["lime", "chili"], ["feta", "olives"]] * 10
    >>> cuisines = ["thai", "greek", "thai", "greek"] * 10
    >>> model = cs.SemanticClassifier(tokens=cs.Items(), random_state=0).fit(recipes, cuisines)
    >>> editor = model.edit().drop_token("chili").pin_token("salt", 0.9, label="thai")
    >>> editor
    Editor(SemanticModel, 2 edits):
      1. Token 'chili' dropped
      2. Token 'salt' pinned to 0.9 for 'thai'
    >>> model.token_table_.lookup("chili").count, editor.model.token_table_.lookup("chili")
    (10, None)
    >>> editor.undo().model.edits
    (LoggedEdit(...),)
    """

    def __init__(self, model: FunctionModel) -> None:
        self.original = self.model = model

    @property
    def edits(self) -> tuple[LoggedEdit, ...]:
        """The log of the model, with edits of before."""
        return self.model.edits

    def __repr__(self) -> str:
        lines = [f"  {place}. {logged}" for place, logged in enumerate(self.edits, 1)]
        head = f"Editor({type(self.model).__name__}, {display.counted(len(lines), 'edit')})"
        return "\n".join([f"{head}:", *lines]) if lines else head

    def apply(self, edit: Edit) -> Self:
        """Make an edit.

        Parameters
        ----------
        edit : Edit
            The edit, such as ``Cap("price", high=100)``.

        Returns
        -------
        self
            The editor.
        """
        self.model = edited(self.model, edit)
        return self

    def drop_token(self, token: Token) -> Self:
        """Take a token out of the token table: examples are read as if the model had never met it.

        Parameters
        ----------
        token : str, int, or iterable of these
            One item, or the items of the token.

        Returns
        -------
        self
            The editor.
        """
        return self.apply(DropToken(token))  # type: ignore[arg-type]

    def pin_token(self, token: Token, value: float, label: Any = None) -> Self:
        """Set the value of a token, in place of what was counted and learned.

        Parameters
        ----------
        token : str, int, or iterable of these
            One item, or the items of the token.
        value : float
            The mean label, or the share of a class, from 0 to 1.
        label : object, optional
            The class that it is the share of; by default the second of two. Of several classes it is needed.

        Returns
        -------
        self
            The editor.
        """
        return self.apply(PinToken(token, value, label))  # type: ignore[arg-type]

    def flatten(
        self,
        feature: str,
        low: float | None = None,
        high: float | None = None,
        *,
        categories: Sequence[Any] | None = None,
    ) -> Self:
        """Let a feature have the same effect at all values, at those between two, or in some categories.

        Parameters
        ----------
        feature : str
            Its name.
        low, high : float, optional
            Of a numeric feature, the ends of the flat part; by default its first and last keypoint.
        categories : sequence, optional
            Of a categorical feature, those that get the same effect; by default all.

        Returns
        -------
        self
            The editor.
        """
        return self.apply(Flatten(feature, low, high, None if categories is None else tuple(categories)))

    def cap(self, feature: str, low: float | None = None, high: float | None = None) -> Self:
        """Let the effect of a numeric feature stay, beyond a value, as it is there.

        Parameters
        ----------
        feature : str
            Its name.
        low, high : float, optional
            Below `low` the effect is that of `low`, above `high` that of `high`; at least one of them is needed.

        Returns
        -------
        self
            The editor.
        """
        return self.apply(Cap(feature, low, high))

    def forbid(self, feature: str) -> Self:
        """Let the model no longer use a feature; its certificate then says that the feature has no effect.

        Parameters
        ----------
        feature : str
            Its name.

        Returns
        -------
        self
            The editor.
        """
        return self.apply(Forbid(feature))

    def undo(self) -> Self:
        """Take the last edit back, also one that was made before this editing began.

        Returns
        -------
        self
            The editor, whose model has the same bits as before the edit.
        """
        self.model = undone(self.model)
        return self

    def compare(self, X: Any, y: Any = None) -> EditComparison:
        """Compare the model that editing began with and the model as it is now.

        Parameters
        ----------
        X : frame, SetData or array-like
            Examples, as for `fit`.
        y : array-like of shape (n,), optional
            Their labels.

        Returns
        -------
        EditComparison
            The predictions of both, which of them changed, and with labels the scores.
        """
        return compared(self.original, self.model, X, y)
