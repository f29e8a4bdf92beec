"""Examples with their labels, and how they are split."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from clearset.datasets._arguments import Seed, make_generator
from clearset.sets import take_examples


class Labelled(NamedTuple):
    """Examples and their labels: a pair, so that ``model.fit(*data)`` and ``validation_data=data`` both work.

    Attributes
    ----------
    X : pyarrow.Array, pyarrow.ChunkedArray, pyarrow.Table, SetData, array or list
        One entry or row an example.
    y : ndarray
        One label an example.

    Examples
    --------
    >>> import numpy as np, pyarrow as pa
    >>> from clearset.datasets import Labelled
    >>> data = Labelled(pa.array([["salt"], ["miso", "salt"], []]), np.array([0, 1, 0]))
    >>> data
    Labelled(3 examples; X: list<item: string>, y: int64)
    >>> data.take([1]).X.to_pylist()
    [['miso', 'salt']]
    """

    X: Any
    y: npt.NDArray[Any]

    @property
    def n(self) -> int:
        """The number of examples (``len`` is that of the pair, 2)."""
        return len(self.y)

    def take(self, rows: npt.ArrayLike) -> "Labelled":
        """Return the examples with these row numbers, in this order."""
        places = np.asarray(rows, dtype=np.int64)
        return Labelled(take_examples(self.X, places), self.y[places])

    def split(self, shares: Sequence[float] = (0.7, 0.1, 0.2), random_state: Seed = 0) -> "tuple[Labelled, ...]":
        """Split at random.

        Parameters
        ----------
        shares : sequence of float, default=(0.7, 0.1, 0.2)
            The share of each part; together they are 1. Sizes are rounded down, and the last part gets the rest.
        random_state : int, Generator or None, default=0
            The seed; None gives another split at every call.

        Returns
        -------
        tuple of Labelled
            As many parts as shares; within each the examples keep their order.

        Examples
        --------
        >>> import numpy as np, pyarrow as pa
        >>> from clearset.datasets import Labelled
        >>> data = Labelled(pa.array(["a", "b", "c", "d", "e"]), np.arange(5))
        >>> [part.n for part in data.split((0.5, 0.5))]
        [2, 3]
        """
        if len(shares) == 0 or min(shares) <= 0 or not np.isclose(sum(shares), 1):
            raise ValueError(
                f"shares must be positive and add up to 1, such as (0.7, 0.1, 0.2); received {tuple(shares)}."
            )
        ends = np.cumsum([int(share * self.n) for share in shares[:-1]], dtype=np.int64)
        if np.diff(ends, prepend=0, append=self.n).min() < 1:
            raise ValueError(
                f"{self.n} examples are too few for the shares {tuple(shares)}: a part would be empty. Use more "
                "examples, or larger shares."
            )
        order = make_generator(random_state).permutation(self.n)
        return tuple(self.take(np.sort(part)) for part in np.split(order, ends))

    def __repr__(self) -> str:
        kind = getattr(self.X, "type", type(self.X).__name__)
        if hasattr(self.X, "column_names"):
            kind = f"columns {', '.join(self.X.column_names)}"
        return f"Labelled({self.n:,} examples; X: {kind}, y: {self.y.dtype})"
