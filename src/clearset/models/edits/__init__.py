"""Edits: changes of a model by hand, verified, logged, and undone to the last bit."""

from clearset.models.edits._comparison import EditComparison
from clearset.models.edits._curve_edits import Cap, Flatten, Forbid
from clearset.models.edits._edit import Edit, EditRefusedError
from clearset.models.edits._editor import Editor
from clearset.models.edits._log import LoggedEdit, with_new_table
from clearset.models.edits._token_edits import DropToken, PinToken

__all__ = [
    "Cap",
    "DropToken",
    "Edit",
    "EditComparison",
    "EditRefusedError",
    "Editor",
    "Flatten",
    "Forbid",
    "LoggedEdit",
    "PinToken",
    "with_new_table",
]
