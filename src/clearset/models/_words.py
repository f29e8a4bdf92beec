"""Words for what models and explanations hold."""

import reprlib
from typing import Any

import numpy as np
import numpy.typing as npt


def counted(n: int, what: str) -> str:
    """Return a number with its noun, whose plural ends in s.

    Parameters
    ----------
    n : int
        The number.
    what : str
        The noun in the singular.

    Returns
    -------
    str
        Such as ``"2 sets"``.
    """
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"


def chosen_places(number: Any, n: int, what: str) -> npt.NDArray[np.int64]:
    """Return the places, of n, that a whole number or a slice between brackets stands for."""
    try:
        found = range(n)[number]
    except IndexError:
        held = f"there {'is' if n == 1 else 'are'} {counted(n, what)}"
        raise IndexError(f"There is no {what} {number}: {held}, counted from 0.") from None
    except TypeError:
        raise TypeError(
            f"Choose a {what} by a whole number, such as [0], or several by a slice, such as [:3]; received "
            f"{reprlib.repr(number)}."
        ) from None
    return np.arange(n)[number] if isinstance(number, slice) else np.array([found])
