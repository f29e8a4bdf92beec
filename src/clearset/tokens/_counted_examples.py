"""Examples as codes, in a form that does not depend on the order they came in."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from clearset.sets import Labels, join_classes, read_labels, read_weights
from clearset.tokens._codes import Coded, Float64, Int64
from clearset.tokens._tokenizers import Tokenizer
from clearset.tokens._vocabulary import alphabetical_ranks, encode, places_in, unique_sorted

_MULTIPLIERS = (0x9E3779B97F4A7C15, 0xD1B54A32D192ED03)  # odd, with well mixed bits


@dataclass(frozen=True)
class CountedExamples:
    """Items, labels and weights of examples; weights of None stand for ones."""

    vocabulary: pa.LargeStringArray
    coded: Coded
    labels: Labels
    weights: Float64 | None = None

    @classmethod
    def read(
        cls, X: Any, y: Any, tokenizer: Tokenizer, task: str = "auto", sample_weight: Any = None
    ) -> "CountedExamples":
        """Read examples as the tokenizer takes them apart; `canonical` leaves out those of weight 0."""
        parts = tokenizer.parts(X)
        if not len(parts):
            raise ValueError("X holds 0 sample(s), that is, no examples, while a minimum of 1 is required.")
        vocabulary, coded = encode(parts)
        if not tokenizer.in_order:
            coded = unique_sorted(coded, len(vocabulary))
        labels = read_labels(y, len(parts), task)
        return cls(vocabulary, coded, labels, read_weights(sample_weight, len(parts)))

    def __len__(self) -> int:
        return self.coded.n_rows

    def __add__(self, other: "CountedExamples") -> "CountedExamples":
        """Return the examples of both; they may have different classes, but not numbers and classes."""
        if self.labels.task != other.labels.task:
            raise ValueError(
                f"Labels are {self.labels.task} on one side and {other.labels.task} on the other. Build both with the "
                "same task=."
            )
        joined = pa.concat_arrays([self.vocabulary, other.vocabulary]).unique()
        codes = places_in(other.vocabulary, joined)[other.coded.codes]
        offsets = np.concatenate([self.coded.offsets, other.coded.offsets[1:] + self.coded.offsets[-1]])
        coded = Coded(np.concatenate([self.coded.codes, codes]), offsets)
        weights = None
        if self.weights is not None or other.weights is not None:
            weights = np.concatenate([_ones(self), _ones(other)])
        return CountedExamples(joined, coded, _join_labels(self.labels, other.labels), weights)

    def canonical(self, tokenizer: Tokenizer) -> tuple["CountedExamples", Int64]:
        """Return the same examples in the one order that all orders of them lead to, and the rows taken in it."""
        # The vocabulary goes from rare to frequent items (ties by the string), right sides of pairs last. Examples are
        # sorted by a hash of 128 bits of their items, then label and weight: those that tie are the same, so that sums
        # over them have the same bits in whatever order examples came. Examples of weight 0 are left out.
        rows = np.arange(len(self)) if self.weights is None else np.flatnonzero(self.weights)
        if not len(rows):
            raise ValueError("All weights are 0, so that there are no examples. Give some of them weight.")
        vocabulary, coded = _rare_first(self.vocabulary, self.coded.take(rows), tokenizer)
        coded = coded if tokenizer.in_order else unique_sorted(coded, len(vocabulary))
        labels = _observed(self.labels._replace(values=self.labels.values[rows]))
        weights = None if self.weights is None else self.weights[rows]
        keys = [labels.values, *(_hash_rows(coded, multiplier) for multiplier in _MULTIPLIERS)]
        order = np.lexsort(keys if weights is None else [weights, *keys])
        canonical = CountedExamples(
            vocabulary,
            coded.take(order),
            labels._replace(values=labels.values[order]),
            None if weights is None else weights[order],
        )
        return canonical, rows[order]


def _ones(examples: CountedExamples) -> Float64:
    return np.ones(len(examples)) if examples.weights is None else examples.weights


def _join_labels(a: Labels, b: Labels) -> Labels:
    if a.classes is None or b.classes is None:
        return Labels(np.concatenate([a.values, b.values]), None)
    classes = join_classes(a.classes, b.classes)
    codes = [np.searchsorted(classes, a.classes)[a.values], np.searchsorted(classes, b.classes)[b.values]]
    return Labels(np.concatenate(codes).astype(np.int32), classes, a.declared or b.declared)


def _observed(labels: Labels) -> Labels:
    """Leave out classes that no example has, unless they are declared."""
    if labels.classes is None or labels.declared:
        return labels
    seen, codes = np.unique(labels.values, return_inverse=True)
    return Labels(codes.astype(np.int32), labels.classes[seen])


def rare_first(vocabulary: pa.LargeStringArray, counts: Int64, tokenizer: Tokenizer) -> Int64:
    """Return the places of items in the order of a table's vocabulary."""
    keys: list[npt.NDArray[Any]] = [alphabetical_ranks(vocabulary), counts, tokenizer.ranks(vocabulary)]
    order: Int64 = np.lexsort(keys)
    return order


def _rare_first(
    vocabulary: pa.LargeStringArray, coded: Coded, tokenizer: Tokenizer
) -> tuple[pa.LargeStringArray, Coded]:
    once = unique_sorted(coded, len(vocabulary)) if tokenizer.in_order else coded
    counts = np.bincount(once.codes, minlength=len(vocabulary))
    order = rare_first(vocabulary, counts, tokenizer)
    order = order[counts[order] > 0]
    new_codes = np.zeros(len(vocabulary), np.int32)
    new_codes[order] = np.arange(len(order), dtype=np.int32)
    return vocabulary.take(pa.array(order)), Coded(new_codes[coded.codes], coded.offsets)


def _hash_rows(coded: Coded, multiplier: int) -> npt.NDArray[np.uint64]:
    """Add up a mixed number for every item and its place; in numbers modulo 2^64 differences of sums are exact."""
    places = np.arange(len(coded.codes)) - np.repeat(coded.offsets[:-1], coded.sizes)
    mixed = (coded.codes.astype(np.uint64) << np.uint64(32)) + places.astype(np.uint64) + np.uint64(1)
    for shift in (30, 27):
        mixed ^= mixed >> np.uint64(shift)
        mixed *= np.uint64(multiplier)
    mixed ^= mixed >> np.uint64(31)
    sums = np.zeros(len(mixed) + 1, np.uint64)
    np.cumsum(mixed, out=sums[1:])
    return sums[coded.offsets[1:]] - sums[coded.offsets[:-1]]
