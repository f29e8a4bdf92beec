"""Built-in features, which need no column: they follow from where sets begin and end."""

from typing import Final

import numpy as np

from ._offsets import FloatArray, IntArray

SIZE: Final = "cs.SIZE"
"""Reserved name of the built-in set feature M(x), the number of tokens of a set. It needs no column."""

PLACE: Final = "cs.PLACE"
"""Reserved name of the built-in token feature that counts from the end of a list: 0 is the last token.

It is for tokens whose order means something, such as visits over time, and needs no column. A model that reads it is a
function of lists, no longer of sets: predictions depend on the order of tokens.
"""

PLACE_FROM_START: Final = "cs.PLACE_FROM_START"
"""Reserved name of the built-in token feature that counts from the start of a list: 0 is the first token.

Otherwise it is like `PLACE`.
"""

PLACES: Final = (PLACE, PLACE_FROM_START)
"""The built-in features that depend on the order of tokens."""

BUILT_IN: Final = {SIZE: "size", PLACE: "place", PLACE_FROM_START: "place_from_start"}
"""The built-in features, and what files and pages call them."""


def built_in_column(name: str, offsets: IntArray) -> tuple[FloatArray, bool]:
    """Return the values of a built-in feature, and whether there is one per set (else one per token)."""
    sizes = offsets[1:] - offsets[:-1]
    if name == SIZE:
        return sizes.astype(np.float64), True
    tokens = np.arange(offsets[-1], dtype=np.float64)
    if name == PLACE_FROM_START:
        return np.subtract(tokens, np.repeat(offsets[:-1], sizes), out=tokens), False
    return np.subtract(np.repeat(offsets[1:] - 1, sizes), tokens, out=tokens), False
