"""What models and explanations need to be shown: who draws them, and words for what they hold."""

import importlib
import reprlib
from typing import Any

import numpy as np
import numpy.typing as npt


def display() -> Any:
    """Give `clearset.explain`, which draws models and writes HTML.

    It stands above the estimators and knows them, so that they fetch it only when something is to be drawn; they
    work without it.
    """
    return importlib.import_module("clearset.explain")


def counted(n: int, what: str) -> str:
    """Say how many there are of something whose plural ends in s."""
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"


def chosen_places(number: Any, n: int, what: str) -> npt.NDArray[np.int64]:
    """Give the places, of n, that a whole number or a slice between brackets stands for."""
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
