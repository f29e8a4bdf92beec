"""Rows that touch different columns can be treated together: groups of such rows."""

import numpy as np
import numpy.typing as npt


def colour_rows(indices: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
    """Return a colour for each row, greedily, so that rows that share a column differ."""
    # A row joins the first colour in which no earlier row has one of its columns. Rows of a colour that wait for no
    # earlier one are found at once, so that lattices take a few vector operations, whatever their size.
    count = len(indices)
    colours = np.full(count, -1, dtype=np.int64)
    size = int(indices.max(initial=-1)) + 1
    remaining, colour = np.arange(count), 0
    while remaining.size:
        candidates = remaining
        taken = np.zeros(size, dtype=bool)
        while candidates.size:
            touched = indices[candidates]
            first = np.full(size, count)
            np.minimum.at(first, touched, candidates[:, None])
            chosen = (first[touched] == candidates[:, None]).all(axis=1)
            colours[candidates[chosen]] = colour
            taken[touched[chosen]] = True
            candidates = candidates[~taken[touched].any(axis=1)]
        remaining = remaining[colours[remaining] < 0]
        colour += 1
    return colours
