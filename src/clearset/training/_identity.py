"""What tells a training from any other: hashes of all that its result follows from, part by part."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
import numpy.typing as npt

from clearset.engines import TrainingSets
from clearset.functions import SetFunction
from clearset.sets import Binning, CrossedBlocks, CrossedPositions, PackedSets, Positions

# Entries of packed sets that are hashed at once: those of a scratch file are mapped into memory a part at a time.
_AT_ONCE = 1 << 22

Content = npt.NDArray[Any] | str


def identity(parts: Mapping[str, Iterable[Content]]) -> dict[str, str]:
    """Return a hash of each part of what a training is given.

    Parameters
    ----------
    parts : mapping of str to iterable of ndarray or str
        Arrays and texts, by what a message calls them.

    Returns
    -------
    dict of str to str
        The hashes, as hexadecimal digits.

    Examples
    --------
    >>> import numpy as np
    >>> from clearset.training._identity import identity
    >>> identity({"labels": [np.array([1.0])]}) == identity({"labels": [np.array([2.0])]})
    False
    """
    return {name: _digest(contents) for name, contents in parts.items()}


def of_sets(data: TrainingSets | None, name: str, unit: str = "") -> dict[str, Iterable[Content]]:
    """Return the parts that labelled sets are; `name` says which sets they are, `unit` is that of their labels."""
    if data is None:
        return {}
    which: list[Content] = [] if data.chosen is None else [data.chosen]
    if data.lanes is not None:
        which += [data.lanes.of_sets, str(data.lanes.number)]
    return {
        f"the labels {name}": [data.targets, unit],
        f"the weights {name}": [data.weights],
        f"the sets {name}": _chained(which, of_positions(data.positions)),
    }


def of_positions(positions: Positions | CrossedPositions | PackedSets | CrossedBlocks) -> Iterator[Content]:
    """Yield where tokens stand."""
    if isinstance(positions, CrossedBlocks):
        for start, stop in positions.blocks(_AT_ONCE // 16):
            block = positions.between(start, stop)
            yield from (block.slots, block.fractions, block.offsets, block.rows, block.corrected)
            if not start:
                yield from (block.values, block.keypoints)
        return
    if not isinstance(positions, PackedSets):
        yield from (getattr(positions, field.name) for field in fields(positions))
        return
    yield from (positions.offsets, positions.first_slots, positions.bits)
    for start in range(0, len(positions.packed), _AT_ONCE):
        yield positions.packed[start : start + _AT_ONCE]


def of_functions(functions: Sequence[SetFunction]) -> Iterator[Content]:
    """Yield the tables of set functions, and their corrections."""
    for function in functions:
        yield str(function.layout)
        yield from function.tables.values()
        if function.corrections is not None:
            yield function.corrections


def of_binning(binning: Binning) -> Iterator[Content]:
    """Yield the features, their keypoints and categories."""
    yield str(binning.features)
    for keypoints, categories in zip(binning.keypoints, binning.categories, strict=True):
        yield str(categories) if keypoints is None else keypoints


def _chained(first: Iterable[Content], second: Iterable[Content]) -> Iterator[Content]:
    yield from first
    yield from second


def _digest(contents: Iterable[Content]) -> str:
    found = hashlib.blake2b(digest_size=20)
    for content in contents:
        if isinstance(content, str):
            found.update(f"text {len(content)}:".encode() + content.encode())
            continue
        array = np.ascontiguousarray(content)
        found.update(f"{array.dtype.str} {array.shape}:".encode())
        found.update(array.reshape(-1).view(np.uint8).data)
    return found.hexdigest()
