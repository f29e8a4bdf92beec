"""The passes of a build over files: made, or taken from the folder where they were kept when they were finished."""

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from clearset.tokens._build_folder import BuildFolder
from clearset.tokens._codes import Mined
from clearset.tokens._scratch import Place, nowhere
from clearset.tokens._stored_rows import StoredRows
from clearset.tokens._streamed_labels import StreamedLabels
from clearset.tokens._vocabulary import as_bytes

Vocabulary = Callable[[int], pa.LargeStringArray]
"""Returns the items that are in at least so many examples, from rare to frequent."""


class KeptPasses:
    """What passes leave; without a folder, all of them are made.

    Parameters
    ----------
    folder : BuildFolder, optional
        Where finished passes are kept.
    """

    def __init__(self, folder: BuildFolder | None = None) -> None:
        self._folder = folder
        self.place: Place = nowhere if folder is None else folder.place

    def first(
        self, task: str, read: Callable[[], tuple[StreamedLabels, Vocabulary]]
    ) -> tuple[StreamedLabels, Vocabulary]:
        """Return the labels, and the vocabulary, which is kept with them once it is asked for."""
        folder = self._folder
        if folder is None:
            return read()
        if (known := folder.known("first_pass")) is not None:
            text, begins = (pa.py_buffer(known[0][name].read()) for name in ("text", "begins"))
            strings = pa.LargeStringArray.from_buffers(len(known[0]["begins"]) - 1, begins, text)
            return StreamedLabels.of_kept(task, *known), lambda _least: strings
        labels, vocabulary = read()

        def kept(least: int) -> pa.LargeStringArray:
            strings = vocabulary(least)
            numbers, values = labels.kept()
            text, begins = as_bytes(strings)
            text, begins = text[begins[0] : begins[-1]], begins - begins[0]
            folder.keep("first_pass", {**numbers, "text": text, "begins": begins}, values)
            return strings

        return labels, kept

    def mined(self, store: Callable[[], StoredRows], mine: Callable[[StoredRows], Mined]) -> Mined:
        """Return the tokens of rows, which need not be stored again if they have been mined."""
        folder = self._folder
        if folder is None:
            return mine(store())
        known: Any = folder.known("mined")
        if known is not None:
            arrays = {name: known[0][f"mined_{name}"].read() for name in Mined._fields}
            return Mined(**{**arrays, "sums": arrays["sums"].reshape(known[1]["shape"])})
        if (known := folder.known("second_pass")) is not None:
            rows = StoredRows.of_kept(*known)
        else:
            rows = store()
            folder.keep("second_pass", *rows.kept())
        mined = mine(rows)
        arrays = {f"mined_{name}": array for name, array in mined._asdict().items()}
        folder.keep("mined", arrays, {"shape": mined.sums.shape})
        return mined
