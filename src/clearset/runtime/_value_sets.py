"""Models over sets whose tokens have numbers and categories as features."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from clearset.runtime._checks import check_features
from clearset.runtime._file import RuntimeFileError
from clearset.runtime._scorer import FloatArray, IntArray, ScoredBatch, Scorer

_native: Any = import_module("clearset._native") if find_spec("clearset._native") else None

# What features are of that need no column.
_PLACES = ("place", "place_from_start")
_BUILT_IN = ("size", *_PLACES)


class ValueScorer(Scorer):
    """Scores sets of numbers and categories."""

    def __init__(self, description: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        super().__init__(description, arrays)
        layout = description["layout"]
        self._layout = _native.PhiLayout(layout["sizes"], layout["subsets"])
        self._features: list[Mapping[str, Any]] = description["features"]
        self._categories = [
            None if each["categories"] is None else {value: code for code, value in enumerate(each["categories"])}
            for each in self._features
        ]
        n_means, slots = self.n_outputs * self.width, arrays["calibration"].shape[1]
        n_vertices = sum(math.prod(layout["sizes"][d] for d in subset) for subset in layout["subsets"])
        wanted = {
            "calibration": (n_means, slots),
            "vertices": (n_means, n_vertices),
            "usual": (len(self._features), n_means),
        }
        for name, shape in wanted.items():
            if arrays[name].shape != shape or arrays[name].dtype != np.float64:
                raise RuntimeFileError(f"Array {name!r} has shape {arrays[name].shape}, not {shape}.")
        check_features(self._features, slots)

    def _some_sets(self) -> list[Any]:
        sets: dict[str, Any] = {}
        for each in self._features:
            known = each["categories"] if each["keypoints"] is None else each["keypoints"]
            ends = [known[0], known[-1]] if known else [None, None]
            sets[each["name"]] = [*ends, None] if self._told["sets_of_one"] else [[], ends, [None, *ends]]
        return [{name: sets[name] for name in self._wanted(sets)}] if self._wanted(sets) else []

    def _outputs_of(self, sets: Any) -> FloatArray:
        columns, offsets, per_set = self._read(sets)
        means = self._means(columns, per_set, offsets, self._arrays["calibration"])
        return self.outputs(means, self._counts(columns, offsets))

    def _scored(self, sets: Any) -> tuple[ScoredBatch, list[Any]]:
        columns, offsets, per_set = self._read(sets)
        counts, known = np.diff(offsets), self._counts(columns, offsets)
        edges = np.concatenate([[0], np.cumsum(np.maximum(counts, 1))])
        set_of, present = np.repeat(np.arange(len(counts)), np.diff(edges)), np.ones(edges[-1], bool)
        present[edges[:-1][counts == 0]] = False
        # One set for each token, with the features of its own set.
        spread = []
        for column, of_set in zip(columns, per_set, strict=True):
            values = np.full(len(set_of), np.nan)
            values[present if not of_set else slice(None)] = column[set_of] if of_set else column
            spread.append(values)
        alone, each = np.arange(len(set_of) + 1), [False] * len(columns)
        scores = self._means(spread, each, alone, self._arrays["calibration"])

        def usual(place: int) -> FloatArray:
            calibration = self._arrays["calibration"].copy()
            calibration[:, int(self._features[place]["missing"])] = self._arrays["usual"][place]
            moved = [np.full(len(set_of), np.nan) if d == place else values for d, values in enumerate(spread)]
            return self._means(moved, each, alone, calibration)

        told_apart = [True] * len(columns) if self._told["sets_of_one"] else per_set
        batch = ScoredBatch(self, edges, known, scores, told_apart, usual)
        numbers = (np.arange(len(set_of)) - edges[set_of]).tolist()
        return batch, [number if there else None for number, there in zip(numbers, present.tolist(), strict=True)]

    def _counts(self, columns: Sequence[FloatArray], offsets: IntArray) -> IntArray:
        """Return how many tokens count in each set; of a row of a plain table without any value, none."""
        sizes = np.diff(offsets)
        if not self._told["sets_of_one"] or not (sizes == 1).all():
            return sizes
        known = [~np.isnan(c) for c, each in zip(columns, self._features, strict=True) if each["of"] not in _BUILT_IN]
        return np.where(np.any(known, axis=0), sizes, 0)

    def _means(
        self, columns: Sequence[FloatArray], per_set: Sequence[bool], offsets: IntArray, calibration: FloatArray
    ) -> FloatArray:
        """Return the mean scores of sets, ``(B, C, K)``."""
        given = []
        for values, of_set, told in zip(columns, per_set, self._features, strict=True):
            first, missing = int(told["first"]), int(told["missing"])
            keypoints = None if told["keypoints"] is None else np.array(told["keypoints"], np.float64)
            slots = np.arange(first, missing + 1, dtype=np.int32) if keypoints is None else None
            given.append(_native.ValueColumn(values, of_set, keypoints, slots, first, missing))
        means = np.empty((len(offsets) - 1, len(calibration)))
        offsets = np.ascontiguousarray(offsets, np.int64)
        _native.means_of_values(self._layout, calibration, self._arrays["vertices"], given, offsets, 1, means)
        return means.reshape(-1, self.n_outputs, self.width)

    def _read(self, sets: Any) -> tuple[list[FloatArray], IntArray, list[bool]]:
        """Return the values of every feature, where sets begin, and which features are of whole sets."""
        if not isinstance(sets, Mapping):
            raise TypeError(
                f"The sets are a {type(sets).__name__}; give a dict with a list of lists for each feature of tokens, "
                f"and a list for each feature of sets, such as frame.to_dict('list'). The features are {self.names}."
            )
        read: dict[str, tuple[list[Any], list[int] | None]] = {}
        for name in self._wanted(sets):
            if name not in sets:
                raise ValueError(f"Feature {name!r} is missing; received {list(sets)}.")
            read[name] = _flat(name, sets[name])
        lengths = {name: len(flat if sizes is None else sizes) for name, (flat, sizes) in read.items()}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"The features have different numbers of sets: {lengths}.")
        n_sets = next(iter(lengths.values()), 0)
        several = {name: sizes for name, (_, sizes) in read.items() if sizes is not None}
        sizes = next(iter(several.values()), [1] * n_sets)
        if not several and not self._told["sets_of_one"]:
            sizes = [0] * n_sets
            if any(value is not None for values, _ in read.values() for value in values):
                raise ValueError(
                    "The model was fitted on sets of several tokens, but no feature holds lists, so that every number "
                    "would be a set of its own. Give a list of lists, one for each set."
                )
        for name, others in several.items():
            if others != sizes:
                raise ValueError(f"Feature {name!r} has other numbers of tokens than {next(iter(several))!r}.")
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        columns, per_set = [], []
        for place, name in enumerate(self.names):
            of_set, role = name not in several, self._features[place]["of"]
            if role == "size":
                columns.append(np.array(sizes, np.float64))
            elif role in _PLACES:
                of_set = not several
                columns.append(_places(role, offsets) if several else np.where(np.array(sizes) > 0, 0.0, np.nan))
            elif name in read:
                columns.append(self._numbers(place, read[name][0]))
            else:
                columns.append(np.full(n_sets, np.nan))
            per_set.append(of_set)
        return columns, offsets, per_set

    def _wanted(self, sets: Mapping[str, Any]) -> list[str]:
        unused = [name for name in self._told["unused"] if name not in sets]
        return [each["name"] for each in self._features if each["of"] not in _BUILT_IN and each["name"] not in unused]

    def _numbers(self, place: int, flat: list[Any]) -> FloatArray:
        """Return numbers as they are, and categories as codes."""
        name, codes = self.names[place], self._categories[place]
        kinds = set(map(type, flat))
        strings = any(issubclass(kind, str | bytes) for kind in kinds)
        if codes is None:
            try:
                values = None if strings else np.array(flat, np.float64)
            except (TypeError, ValueError):
                values = None
            except OverflowError:
                raise ValueError(f"Feature {name!r} holds a number beyond 1.8e+308, the largest allowed.") from None
            if values is None or values.ndim > 1:
                raise TypeError(f"Feature {name!r} is to hold numbers; received {str(flat)[:60]}.")
            if np.isinf(values).any():
                raise ValueError(f"Feature {name!r} holds inf, but only finite numbers and None are allowed.")
            return values
        # An unknown category has the code after the last one, whose slot is that of "missing".
        try:
            present = [each is not None and each == each for each in flat]
            found = [
                codes.get(each, len(codes)) if there else np.nan for each, there in zip(flat, present, strict=True)
            ]
        except (TypeError, ValueError):
            raise TypeError(f"Feature {name!r} is to hold strings or numbers; received {str(flat)[:60]}.") from None
        if codes and any(present) and strings != isinstance(known := next(iter(codes)), str):
            other = flat[present.index(True)]
            raise TypeError(f"Feature {name!r} has categories like {known!r}; received {str(other)[:60]!r}.")
        return np.array(found, np.float64)


def _places(role: str, offsets: IntArray) -> FloatArray:
    """Return the place of each token in its list, counted from the end or the start."""
    tokens, sizes = np.arange(offsets[-1]), np.diff(offsets)
    found = np.repeat(offsets[1:] - 1, sizes) - tokens if role == "place" else tokens - np.repeat(offsets[:-1], sizes)
    return np.asarray(found, np.float64)


def _flat(name: str, column: Any) -> tuple[list[Any], list[int] | None]:
    """Return all values, and of lists of lists the number of values of each."""
    if isinstance(column, str) or not isinstance(column, Iterable):
        raise TypeError(f"Feature {name!r} is {column!r}; give a list with an entry for each set.")
    values = list(column)
    if any(isinstance(value, list | tuple | np.ndarray) for value in values):
        if odd := [value for value in values if not isinstance(value, list | tuple | np.ndarray | None)]:
            raise TypeError(f"Feature {name!r} holds lists, but {odd[0]!r} among them; give a list for every set.")
        lists = [[] if value is None else list(value) for value in values]
        return list(chain.from_iterable(lists)), [len(each) for each in lists]
    return values, None
