"""Where every token stands between the keypoints of its features, also if its first one has a value for each class."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ._offsets import IntArray, gather, runs_of_sets


@dataclass(frozen=True, eq=False, repr=False)
class Positions:
    """Slot and fraction of every token in every feature; every set has at least one token.

    Parameters
    ----------
    slots : (D, T) int32 array
        Keypoint at or below the value, the category, or the feature's last slot for "missing".
    fractions : (D, T) float32 or float64 array
        How far the value stands from its keypoint to the next one, in [0, 1).
    offsets : (B+1,) int64 array
        Where the tokens of each set begin.

    Examples
    --------
    >>> import numpy as np
    >>> from clearset.sets import Positions
    >>> slots = np.array([[0, 1, 2]], dtype=np.int32)
    >>> positions = Positions(slots, np.zeros((1, 3), dtype=np.float32), np.array([0, 1, 3]))
    >>> positions.take(np.array([1, 0])).slots
    array([[1, 2, 0]], dtype=int32)
    """

    slots: npt.NDArray[np.int32]
    fractions: npt.NDArray[np.floating]
    offsets: IntArray

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __repr__(self) -> str:
        return f"Positions({len(self)} sets, {self.n_tokens} tokens, {len(self.slots)} features)"

    @property
    def n_tokens(self) -> int:
        """Number of tokens of all sets together."""
        return int(self.slots.shape[1])

    def take(self, sets: npt.NDArray[np.integer]) -> "Positions":
        """Return the sets with the given indices, in that order."""
        tokens, offsets = gather(self.offsets, sets)
        return Positions(self.slots.take(tokens, axis=1), self.fractions.take(tokens, axis=1), offsets)


@dataclass(frozen=True, eq=False, repr=False)
class CrossedPositions:
    """Sets of tokens crossed with classes: only the first feature differs between the classes of one token.

    Every set has at least one token. Tokens x classes are never written out.

    Parameters
    ----------
    slots : ndarray of shape (D - 1, T), int32
        As in `Positions`, for all features but the first.
    fractions : ndarray of shape (D - 1, T), float32 or float64
        As in `Positions`, for all features but the first.
    offsets : ndarray of shape (B + 1,), int64
        Where the tokens of each set begin.
    rows : ndarray of shape (T,), int32
        The token's row of `values`; -1 where its value is missing, for every class.
    corrected : ndarray of shape (T,), int32
        The token's row in the table of corrections; -1 where it has none.
    values : ndarray of shape (R, C)
        The first feature for each class, counted from its first keypoint.
    keypoints : ndarray of shape (V,)
        Of the first feature, counted from the first of them.

    Examples
    --------
    >>> import numpy as np
    >>> from clearset.sets import CrossedPositions
    >>> crossed = CrossedPositions(
    ...     slots=np.empty((0, 3), np.int32),
    ...     fractions=np.empty((0, 3)),
    ...     offsets=np.array([0, 2, 3]),
    ...     rows=np.array([0, 1, -1], np.int32),
    ...     corrected=np.full(3, -1, np.int32),
    ...     values=np.array([[0.0, 10.0], [5.0, 25.0]]),
    ...     keypoints=np.array([0.0, 10.0]),
    ... )
    >>> crossed
    CrossedPositions(2 sets, 3 tokens, 1 features, 2 classes)
    >>> crossed.take(np.array([1, 0])).rows
    array([-1,  0,  1], dtype=int32)
    """

    slots: npt.NDArray[np.int32]
    fractions: npt.NDArray[np.floating]
    offsets: IntArray
    rows: npt.NDArray[np.int32]
    corrected: npt.NDArray[np.int32]
    values: npt.NDArray[np.floating]
    keypoints: npt.NDArray[np.floating]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __repr__(self) -> str:
        counts = f"{len(self)} sets, {self.n_tokens} tokens, {len(self.slots) + 1} features"
        return f"CrossedPositions({counts}, {self.n_classes} classes)"

    @property
    def n_tokens(self) -> int:
        """Number of tokens of all sets together."""
        return len(self.rows)

    @property
    def n_classes(self) -> int:
        """Number of classes, C."""
        return int(self.values.shape[1])

    def take(self, sets: npt.NDArray[np.integer]) -> "CrossedPositions":
        """Return the sets with the given indices, in that order; the table of values is shared."""
        tokens, offsets = gather(self.offsets, sets)
        return CrossedPositions(
            self.slots.take(tokens, axis=1),
            self.fractions.take(tokens, axis=1),
            offsets,
            self.rows[tokens],
            self.corrected[tokens],
            self.values,
            self.keypoints,
        )


@dataclass(frozen=True, eq=False, repr=False)
class CrossedBlocks:
    """Sets of tokens crossed with classes that are placed between keypoints only some at a time, in single precision.

    Parameters
    ----------
    place : callable
        ``place(start, stop)`` returns the `CrossedPositions` of a run of sets.
    offsets : ndarray of shape (B + 1,), int64
        Where the tokens of each set begin; a set without any has none here, and one in its positions.
    n_classes : int
        Number of classes, C.
    room : float, default=0
        Bytes of memory that positions may take that are kept because they are needed again.
    """

    place: Callable[[int, int], CrossedPositions]
    offsets: IntArray
    n_classes: int
    room: float = 0.0

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __repr__(self) -> str:
        return f"CrossedBlocks({len(self)} sets, {self.n_tokens} tokens, {self.n_classes} classes)"

    @property
    def n_tokens(self) -> int:
        """Number of tokens of all sets together."""
        return int(self.offsets[-1])

    def blocks(self, n_tokens: int) -> Iterator[tuple[int, int]]:
        """Cut the sets into runs of about so many tokens."""
        return runs_of_sets(self.offsets, n_tokens)

    def between(self, start: int, stop: int) -> CrossedPositions:
        """Return a run of sets."""
        return self.place(start, stop)

    def positions(self) -> CrossedPositions:
        """Return all sets."""
        return self.place(0, len(self))
