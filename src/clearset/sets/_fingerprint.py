"""What tells data from other data: a hash of their content, the same however they are read."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ._categories import Category
from ._offsets import FloatArray

if TYPE_CHECKING:
    from ._set_data import SetData

# Rows are hashed in so many parts of about the same number, so that several processes can share them.
_PARTS = 16


@dataclass(frozen=True)
class DataColumn:
    """A column of data.

    Parameters
    ----------
    name : str
        Its name; empty where it has none.
    kind : {"numeric", "categorical", "strings", "other"}
        What it holds.
    of : {"token", "set"}
        Whether there is a value for each token, or one for each set.
    """

    name: str
    kind: str
    of: str


@dataclass(frozen=True)
class Fingerprint:
    """A hash of the content of sets, and how many there are.

    Data have the same fingerprint whether they come as a frame (pandas, polars, Arrow), as arrays or from files, in
    whatever pieces, by one process or by several.

    Parameters
    ----------
    sha256 : str
        The hash, of 64 hexadecimal digits.
    n_sets : int
        The number of sets.
    n_tokens : int
        The number of tokens of all sets; of strings the number of items.
    columns : tuple of DataColumn
        The columns, by name.

    Examples
    --------
    >>> from clearset.sets import SetData
    >>> sets = SetData([5, 4, 1], offsets=[0, 2, 3], feature_names=["stars"])
    >>> sets.fingerprint().n_tokens
    3
    >>> sets.fingerprint() == sets[[1, 0]].fingerprint()
    False
    """

    sha256: str
    n_sets: int
    n_tokens: int
    columns: tuple[DataColumn, ...]

    def with_labels(
        self, labels: npt.NDArray[Any], weights: FloatArray, classes: npt.NDArray[Any] | None = None
    ) -> Fingerprint:
        """Return the fingerprint of the sets with their labels and weights.

        Parameters
        ----------
        labels : ndarray of shape (n_sets,)
            Numbers, or codes of classes.
        weights : ndarray of shape (n_sets,)
            The weights; ones where none are given.
        classes : ndarray, optional
            What codes stand for.
        """
        names = None if classes is None else np.asarray(classes).tolist()
        known = (
            digest(in_one_form(labels)),
            digest(in_one_form(weights)),
            digest(json.dumps(names, default=str).encode()),
        )
        return replace(self, sha256=digest(bytes.fromhex(self.sha256), *known).hex())

    def to_json(self) -> dict[str, Any]:
        """Return the fingerprint as JSON values."""
        return {**asdict(self), "columns": [asdict(column) for column in self.columns]}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Fingerprint:
        """Make a fingerprint of JSON values."""
        told = Fingerprint(**{**document, "columns": tuple(DataColumn(**column) for column in document["columns"])})
        texts = [told.sha256, *(text for column in told.columns for text in (column.name, column.kind, column.of))]
        counts = [told.n_sets, told.n_tokens]
        if not all(isinstance(text, str) for text in texts) or not all(type(count) is int for count in counts):
            raise TypeError("a fingerprint holds something else than texts and whole numbers")
        return told


def fingerprint_of(
    digests: Iterable[bytes | npt.NDArray[np.uint8]], n_sets: int, n_tokens: int, columns: Iterable[DataColumn]
) -> Fingerprint:
    """Return the fingerprint of sets whose content has these digests."""
    ordered = tuple(sorted(columns, key=lambda column: column.name))
    described = json.dumps([n_sets, n_tokens, [[column.name, column.kind, column.of] for column in ordered]])
    return Fingerprint(digest(digest(described.encode()), *digests).hex(), n_sets, n_tokens, ordered)


class SetHashes:
    """Hashes of sets that come piece by piece.

    Parameters
    ----------
    n_sets : int
        The number of all sets, those of other processes included.
    """

    def __init__(self, n_sets: int) -> None:
        self._ends = [-(-part * n_sets // _PARTS) for part in range(_PARTS + 1)]
        self._hashes: dict[int, dict[str, Any]] = {}

    def add(self, first: int, piece: SetData) -> None:
        """Add sets, the first of which has this number; pieces come in order."""
        for part, (start, stop) in enumerate(zip(self._ends[:-1], self._ends[1:], strict=True)):
            low, high = max(start, first), min(stop, first + len(piece))
            if low < high:
                hashes = self._hashes.setdefault(part, {})
                for name, content in _contents(piece[low - first : high - first]):
                    hashes.setdefault(name, hashlib.sha256()).update(content)

    def digests(self) -> npt.NDArray[np.uint8]:
        """Return a digest of each part that has sets, one after the other."""
        parts = (
            digest(*(each for name in sorted(hashes) for each in (digest(name.encode()), hashes[name].digest())))
            for _, hashes in sorted(self._hashes.items())
        )
        return np.frombuffer(b"".join(parts), np.uint8)


def digest(*parts: bytes | npt.NDArray[Any]) -> bytes:
    """Return the SHA-256 of bytes that follow each other."""
    found = hashlib.sha256()
    for part in parts:
        found.update(part.data if isinstance(part, np.ndarray) else part)
    return found.digest()


def in_one_form(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return numbers as bytes that are the same for the same numbers: there is one zero, and one missing value."""
    numbers = values.astype("<f8") + 0.0
    numbers[np.isnan(numbers)] = np.nan
    return numbers


def _contents(sets: SetData) -> Iterator[tuple[str, npt.NDArray[Any]]]:
    yield "", sets.sizes.astype("<i8")
    for name in (*sets.feature_names, *sets.set_feature_names):
        values, _ = sets.column(name)
        known = sets.categories.get(name)
        yield f"of {name}", in_one_form(values) if known is None else _hashed_categories(values, known)


def _hashed_categories(codes: FloatArray, known: Sequence[Category]) -> npt.NDArray[np.uint64]:
    """Return a number for each category: which code it has depends on what else is read with it."""
    numbers = [int.from_bytes(digest(json.dumps(each).encode())[:8], "little") for each in known]
    missing = np.isnan(codes)
    return np.array([*numbers, 0], "<u8")[np.where(missing, len(known), codes).astype(np.intp)]
