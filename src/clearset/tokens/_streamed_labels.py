"""Labels and weights of examples that come in batches, kept in scratch files."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from clearset.sets import Labels, Task, read_labels, read_weights
from clearset.tokens._codes import BoolArray, Coded, Float64, Int32
from clearset.tokens._counted_examples import CountedExamples
from clearset.tokens._counting import full_classes, prior_contributions, prior_from_sums
from clearset.tokens._exact_sums import ExactSums, Extent, sums_by_channel
from clearset.tokens._mining import contributions_of
from clearset.tokens._scratch import Place, ScratchNumbers, nowhere

_ROWS_AT_ONCE = 1 << 18
_MOST_CLASSES = 100  # as in `read_labels`


class StreamedLabels:
    """Labels and weights of examples, read batch by batch; examples of weight 0 are left out.

    Parameters
    ----------
    task : {"auto", "classes", "number"}
        Whether labels are classes or a number, as in `TokenTable.build`.
    place : callable
        Returns where a file of a name is to stay; None makes it one without a name.

    Examples
    --------
    >>> import pyarrow as pa
    >>> labels = StreamedLabels("auto")
    >>> labels.add(pa.chunked_array([["thai", "greek"]]), None)
    >>> labels.add(pa.chunked_array([["thai"]]), None)
    >>> labels.n_rows, labels.totals().prior.round(2).tolist()
    (3, [0.33, 0.67])
    """

    def __init__(self, task: str, place: Place = nowhere) -> None:
        if task not in ("auto", "classes", "number"):
            raise ValueError(f"task is {task!r}; choose 'auto', 'classes' or 'number'.")
        self._task, self._place = task, place
        self._names: dict[str, int] = {}  # classes that are strings, in the order they came
        self._values: ScratchNumbers | None = None
        self._weights: ScratchNumbers | None = None
        self._distinct: npt.NDArray[Any] | None = None  # of classes that are no strings
        self._observed: npt.NDArray[Any] | None = None  # those of them that have weight, or numbers of the strings
        self._measured = task == "number"
        self.n_rows = 0

    def add(self, y: pa.ChunkedArray, sample_weight: pa.ChunkedArray | None) -> BoolArray | None:
        """Take the labels of a batch; return which of its examples have weight, None for all."""
        labels = read_labels(y, len(y), "number" if self._task == "number" else "classes")
        weights = read_weights(sample_weight, len(y))
        kept = None if weights is None or weights.all() else weights > 0
        values = labels.values
        if labels.classes is not None:
            values = self._of_classes(labels, kept)
        if kept is not None and weights is not None:
            values, weights = values[kept], weights[kept]
        if self._values is None:
            self._values = ScratchNumbers(values.dtype, self._place("labels"))
        self._values.append(values)
        if weights is not None:
            self._weights = self._weights or ScratchNumbers(np.float64, self._place("weights"))
            self._weights.append(weights)
        self.n_rows += len(values)
        return kept

    def _of_classes(self, labels: Labels, kept: BoolArray | None) -> npt.NDArray[Any]:
        """Note the classes of a batch; return its labels, or numbers of them where they are strings."""
        assert labels.classes is not None  # noqa: S101
        classes, codes = labels.classes, labels.values
        if classes.dtype.kind == "U":
            numbers = [self._names.setdefault(name, len(self._names)) for name in classes.tolist()]
            values: npt.NDArray[Any] = np.array(numbers, np.int32)[codes]
            self._observed = _united(self._observed, values if kept is None else values[kept])
            return values
        values = classes[codes]
        if self._task == "auto" and classes.dtype.kind != "b" and not self._measured:
            self._measured = bool((classes != np.floor(classes)).any())
        if not self._measured:
            self._distinct = _united(self._distinct, classes)
            self._observed = _united(self._observed, values if kept is None else values[kept])
            self._measured = self._task == "auto" and len(self._distinct) > _MOST_CLASSES
        return values

    def kept(self) -> tuple[dict[str, ScratchNumbers | npt.NDArray[Any] | None], dict[str, Any]]:
        """Return all that was read, as numbers by name and JSON values."""
        numbers: dict[str, ScratchNumbers | npt.NDArray[Any] | None] = {
            "labels": self._values,
            "weights": self._weights,
            "distinct": self._distinct,
            "observed": self._observed,
        }
        return numbers, {"names": list(self._names), "measured": self._measured, "n_rows": self.n_rows}

    @classmethod
    def of_kept(cls, task: str, numbers: Mapping[str, ScratchNumbers], document: Mapping[str, Any]) -> "StreamedLabels":
        """Return the labels of what `kept` returned."""
        labels = cls(task)
        labels._values, labels._weights = numbers.get("labels"), numbers.get("weights")
        labels._distinct, labels._observed = (
            numbers[name].read() if name in numbers else None for name in ("distinct", "observed")
        )
        labels._names = {name: number for number, name in enumerate(document["names"])}
        labels._measured, labels.n_rows = bool(document["measured"]), int(document["n_rows"])
        return labels

    @property
    def task(self) -> Task:
        """Whether labels are classes or a number; known when all batches were added."""
        return "number" if self._measured else "classes"

    def totals(self) -> "Totals":
        """Return what all labels together tell: classes, prior, and what each example adds to sums."""
        classes: npt.NDArray[Any] | None = None
        codes_of: Callable[[npt.NDArray[Any]], npt.NDArray[Any]] = _as_numbers
        if not self._measured and self._names:
            names = np.array(list(self._names))
            chosen = np.zeros(len(names), np.bool_)
            chosen[self._observed] = True
            classes = np.sort(names[chosen])
            codes = np.searchsorted(classes, names).astype(np.int32)
            codes_of = codes.__getitem__
        elif not self._measured and self._observed is not None:
            observed = classes = self._observed
            codes_of = lambda values: np.searchsorted(observed, values).astype(np.int32)  # noqa: E731
        return Totals.of(lambda start, stop: self._rows(start, stop, classes, codes_of), self.n_rows)

    def _rows(
        self,
        start: int,
        stop: int,
        classes: npt.NDArray[Any] | None,
        codes_of: Callable[[npt.NDArray[Any]], npt.NDArray[Any]],
    ) -> CountedExamples:
        """Return the labels and weights of some examples, as examples without items."""
        assert self._values is not None  # noqa: S101
        weights = None if self._weights is None else self._weights.read(start, stop)
        return without_items(Labels(codes_of(self._values.read(start, stop)), classes), weights)


class Totals(NamedTuple):
    """What all labels and weights of a stream tell together."""

    rows: Callable[[int, int], CountedExamples]  # the examples from one row to another, without their items
    n_rows: int
    classes: npt.NDArray[Any] | None
    prior: Float64 | float
    exact: ExactSums | None = None  # splits what examples add; None where they are only counted

    @classmethod
    def of(cls, rows: Callable[[int, int], CountedExamples], n_rows: int) -> "Totals":
        """Pass over labels and weights for the prior, then for the extent of what examples add."""
        exact = ExactSums.of(
            Extent.joined(
                Extent.of(prior_contributions(piece.labels, piece.weights)) for piece in _pieces(rows, n_rows)
            )
        )
        classes: npt.NDArray[Any] | None = None
        sums: Any = 0.0
        for piece in _pieces(rows, n_rows):
            codes = None
            if piece.labels.classes is not None:
                classes, codes = full_classes(piece.labels)
            n_classes = 1 if classes is None else len(classes)
            sums = sums + sums_by_channel(
                exact.split(prior_contributions(piece.labels, piece.weights)), codes, n_classes
            )
        totals = cls(rows, n_rows, classes, prior_from_sums(exact.join(sums), classes))
        added = (totals._adding(piece)[1] for piece in _pieces(rows, n_rows))
        extents = [Extent.of(contributions) for contributions in added if contributions is not None]
        return totals._replace(exact=ExactSums.of(Extent.joined(extents))) if extents else totals

    @property
    def n_channels(self) -> int:
        """The number of classes; 1 for a number."""
        return 1 if self.classes is None else len(self.classes)

    @property
    def n_parts(self) -> int:
        """The number of parts that an example adds to sums; 0 where examples are only counted."""
        return 0 if self.exact is None else len(self.exact.columns)

    @property
    def centre(self) -> float | None:
        """The number that is subtracted from labels; None for classes."""
        return float(self.prior) if self.classes is None else None

    def channels_and_parts(self, start: int, stop: int) -> tuple[Int32, Float64 | None]:
        """Return the channels of some examples and the parts of what they add to sums."""
        channels, added = self._adding(self.rows(start, stop))
        return channels, None if self.exact is None or added is None else self.exact.split(added)

    def _adding(self, piece: CountedExamples) -> tuple[Int32, Float64 | None]:
        if self.classes is None:
            channels = np.zeros(len(piece), np.int32)
            return channels, contributions_of(piece.weights, piece.labels.values - self.prior)
        return full_classes(piece.labels)[1], contributions_of(piece.weights, None)


def _pieces(rows: Callable[[int, int], CountedExamples], n_rows: int) -> Iterator[CountedExamples]:
    for start in range(0, n_rows, _ROWS_AT_ONCE):
        yield rows(start, min(start + _ROWS_AT_ONCE, n_rows))


def _as_numbers(values: npt.NDArray[Any]) -> Float64:
    return values.astype(np.float64) + 0.0


def without_items(labels: Labels, weights: Float64 | None) -> CountedExamples:
    """Return labels and weights as examples without items."""
    none = Coded(np.zeros(0, np.int32), np.zeros(len(labels.values) + 1, np.int64))
    return CountedExamples(pa.array([], pa.large_string()), none, labels, weights)


def _united(known: npt.NDArray[Any] | None, more: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.unique(more) if known is None else np.union1d(known, more)
