"""What explanations of sets and of rows have in common: they are counted, chosen and shown alike."""

import reprlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from os import PathLike
from typing import Any, ClassVar, Self

import numpy as np

from clearset import display
from clearset.models._arrays import IntArray


class ExplanationSequence(ABC):
    """Explanations of several predictions."""

    _counted: ClassVar[str]
    """What each of them explains, as a noun."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def take(self, places: IntArray) -> Self:
        """Return the explanations at some places.

        Parameters
        ----------
        places : ndarray of int64
            Their numbers, in the order wanted.

        Returns
        -------
        Explanation or JointExplanation
            These explanations, which are counted from 0 again.
        """

    @abstractmethod
    def _repr_html_(self) -> str: ...

    def __iter__(self) -> Iterator[Self]:
        return (self[number] for number in range(len(self)))

    def __getitem__(self, number: int | slice) -> Self:
        return self.take(_chosen_places(number, len(self), self._counted))

    def to_html(self, path: str | PathLike[str] | None = None) -> str:
        """Return the explanation as HTML, and write it to a file if a path is given.

        Parameters
        ----------
        path : path-like, optional
            Where to; an existing file is replaced only once the new one is complete.

        Returns
        -------
        str
            The HTML.
        """
        html = self._repr_html_()
        if path is not None:
            display.write_page("Explanation", html, path)
        return html


def _chosen_places(number: Any, n: int, what: str) -> IntArray:
    """Return the places, of n, that a whole number or a slice between brackets stands for."""
    try:
        found = range(n)[number]
    except IndexError:
        held = f"there {'is' if n == 1 else 'are'} {display.counted(n, what)}"
        raise IndexError(f"There is no {what} {number}: {held}, counted from 0.") from None
    except TypeError:
        raise TypeError(
            f"Choose a {what} by a whole number, such as [0], or several by a slice, such as [:3]; received "
            f"{reprlib.repr(number)}."
        ) from None
    return np.arange(n)[number] if isinstance(number, slice) else np.array([found])
