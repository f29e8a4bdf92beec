"""Models over sets of strings: a token table, and a set function of its statistics."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt

from clearset.runtime._checks import check_features, check_offsets, check_within
from clearset.runtime._file import RuntimeFileError
from clearset.runtime._scorer import FloatArray, IntArray, ScoredBatch, Scorer
from clearset.runtime._words import as_items

_native: Any = import_module("clearset._native") if find_spec("clearset._native") else None

_MOST_TOKENS = 2**31 - 1
_MOST_SIDES = 1000


class ItemScorer(Scorer):
    """Scores sets of strings, and texts."""

    def __init__(self, description: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        super().__init__(description, arrays)
        self._check_table()
        self._vocabulary = _native.Vocabulary(arrays["text"], arrays["text_offsets"])
        self._places: list[Mapping[str, Any]] = description["features"][1:]
        self._keypoints = [np.array(each["keypoints"] or (), np.float64) for each in self._places]

    def _check_table(self) -> None:
        arrays, n_tokens = self._arrays, len(self._arrays["sizes"])
        slots, width, classes = arrays["calibration"].shape[1], self.width, arrays["values"].shape[1]
        own = sum(each["of"] == "token" for each in self._told["features"][1:])
        nodes = len(arrays["tree.items"])
        wanted: dict[str, tuple[tuple[int, ...], str]] = {
            "calibration": ((width, slots), "float64"),
            "vertices": ((width, 2 ** len(self.names)), "float64"),
            "values": ((n_tokens, self.n_outputs), "float64"),
            "keypoints": ((len(arrays["keypoints"]),), "float64"),
            "own.slots": ((own, n_tokens), "int32"),
            "own.fractions": ((own, n_tokens), "float64"),
            "corrected": ((n_tokens,), "int32"),
            "corrections": ((len(arrays["corrections"]), classes), "float64"),
            "usual": ((len(self.names), width), "float64"),
            "sizes": ((n_tokens,), "int32"),
            "tree.items": ((nodes,), "int32"),
            "tree.masks": ((nodes,), "uint32"),
            "tree.children": ((nodes + 1,), "int32"),
            "tree.tokens": ((nodes,), "int32"),
            "tree.first": (arrays["tree.first"].shape[:1], "int32"),
            "spelled": (arrays["spelled"].shape[:1], "int32"),
            "spelled_offsets": ((n_tokens + 1,), "int64"),
        }
        for name, (shape, dtype) in wanted.items():
            if arrays[name].shape != shape or arrays[name].dtype != dtype:
                raise RuntimeFileError(f"Array {name!r} has shape {arrays[name].shape}, not {shape} of {dtype}.")
        self._check_contents(n_tokens, slots)

    def _some_sets(self) -> list[Any]:
        edges, sides = self._arrays["text_offsets"], self._members[0]["sides"]
        text = self._arrays["text"].tobytes()
        words = [text[edges[place] : edges[place + 1]].decode() for place in range(min(len(edges) - 1, 3))]
        lists = [[], words, words[:1], ["unknown"]]
        if not sides:
            return [lists]
        if all(isinstance(side, str) for side in sides):
            return [dict.fromkeys(sides, lists)]
        n_sides = max(int(side) for side in sides if not isinstance(side, str)) + 1
        named = [side for side in sides if isinstance(side, str)]
        return [{**dict.fromkeys(map(str, range(n_sides)), lists), **dict.fromkeys(named, lists)}]

    @property
    def _members(self) -> list[Mapping[str, Any]]:
        """The tokenizers that make the tokens: one, or those of each kind."""
        told = self._told["tokenizer"]
        members: list[Mapping[str, Any]] = told["members"] if told["kind"] == "union" else [told]
        return members

    def _check_contents(self, n_tokens: int, n_slots: int) -> None:
        """See that nothing points outside of what there is."""
        arrays, nodes = self._arrays, np.arange(len(self._arrays["tree.items"]))
        n_items = len(arrays["text_offsets"]) - 1
        for name, low, high in (
            ("own.slots", 0, n_slots),
            ("own.fractions", 0, 1 + 1e-12),
            ("corrected", -1, len(arrays["corrections"])),
            ("tree.items", 0, n_items),
            ("tree.first", -1, len(nodes)),
            ("spelled", 0, n_items),
            ("sizes", 1, n_items + 1),
        ):
            check_within(name, arrays[name], low, high)
        tokens = arrays["tree.masks"] != 0
        check_within("tree.tokens", arrays["tree.tokens"][tokens], 0, n_tokens)
        children = arrays["tree.children"]
        check_offsets("spelled_offsets", arrays["spelled_offsets"], len(arrays["spelled"]))
        # Children come after their parents, so that no walk goes in circles.
        if (children[:-1] <= nodes).any() or (np.diff(children) < 0).any() or children[-1] != len(nodes):
            raise RuntimeFileError("The tokens are no prefix tree.")
        for name, flag in (("cover", self._told), ("corrected", self._told), ("in_order", self._told["tokenizer"])):
            if not isinstance(flag[name], bool):
                raise RuntimeFileError(f"{name} is {str(flag[name])[:60]!r}, not true or false.")
        for member in self._members:
            sides = member["sides"]
            if not all(isinstance(side, str) or (type(side) is int and 0 <= side < _MOST_SIDES) for side in sides):
                raise RuntimeFileError(f"The columns are {str(sides)[:60]}.")
            if not isinstance(member.get("tag", ""), str):
                raise RuntimeFileError(f"A kind is {str(member['tag'])[:60]}.")
        check_features(self._told["features"], n_slots)
        if any(each["keypoints"] is None and each["of"] != "token" for each in self._told["features"]):
            raise RuntimeFileError("A feature of tokens has no keypoints.")

    def _outputs_of(self, sets: Any) -> FloatArray:
        tokens, offsets, n_items = self._found(sets)
        positions, counts = self._placed(tokens, offsets, n_items), np.diff(offsets)
        means = self._means(positions, positions["offsets"], self._arrays["calibration"])
        return self.outputs(means, counts)

    def _scored(self, sets: Any) -> tuple[ScoredBatch, list[Any]]:
        tokens, offsets, n_items = self._found(sets)
        positions, counts = self._placed(tokens, offsets, n_items), np.diff(offsets)
        alone = np.arange(len(positions["rows"]) + 1)
        scores = self._means(positions, alone, self._arrays["calibration"])
        per_set = [False, *(each["of"] == "set" for each in self._places)]

        def usual(place: int) -> FloatArray:
            calibration, missing = self._arrays["calibration"].copy(), int(self._places[place - 1]["missing"])
            calibration[:, missing] = self._arrays["usual"][place]
            moved = {name: positions[name].copy() for name in ("slots", "fractions")}
            moved["slots"][place - 1], moved["fractions"][place - 1] = missing, 0.0
            return self._means({**positions, **moved}, alone, calibration)

        batch = ScoredBatch(self, positions["offsets"], counts, scores, per_set, usual)
        return batch, self._spelled(positions["rows"])

    def _found(self, sets: Any) -> tuple[npt.NDArray[np.int32], IntArray, IntArray]:
        """Return the tokens of every set, where they begin, and how many items each set has."""
        arrays, told = self._arrays, self._told["tokenizer"]
        lists = as_items(sets, told)
        if told["in_order"]:
            text = [word.encode() for items in lists for word in items]
            ends = np.cumsum([0, *map(len, text)], dtype=np.int64)
            rows = np.cumsum([0, *map(len, lists)], dtype=np.int64)
            codes, offsets, n_items = self._vocabulary.encode(
                np.frombuffer(b"".join(text), np.uint8).copy(), ends, rows, True
            )
        else:
            encoded = self._vocabulary.encode_lists(lists)
            if encoded is None:
                raise ValueError("An item is no text: half of a surrogate pair stands in it alone.")
            codes, offsets, n_items = encoded
        if not len(arrays["tree.items"]):
            return np.zeros(0, np.int32), np.zeros(len(lists) + 1, np.int64), n_items
        tree = [arrays[f"tree.{name}"] for name in ("items", "children", "masks", "first")]
        n_codes = int(arrays["tree.items"].max()) + 1
        choices = (told["in_order"], bool(self._told["cover"]), _MOST_TOKENS, 1)
        nodes, offsets = _native.find_tokens(codes, offsets, None, *tree, n_codes, *choices)
        return arrays["tree.tokens"][nodes], offsets, n_items

    def _placed(
        self, tokens: npt.NDArray[np.int32], offsets: IntArray, n_items: IntArray
    ) -> dict[str, npt.NDArray[Any]]:
        """Return where tokens stand between keypoints; a set without tokens gets one whose features are missing."""
        arrays, counts = self._arrays, np.diff(offsets)
        sizes = np.maximum(counts, 1)
        edges = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        present = np.ones(edges[-1], bool)
        present[edges[:-1][counts == 0]] = False
        shape = (len(self._places), int(edges[-1]))
        slots, fractions, own = np.empty(shape, np.int32), np.zeros(shape), 0
        for d, (told, keypoints) in enumerate(zip(self._places, self._keypoints, strict=True)):
            slots[d] = told["missing"]
            if told["of"] == "set":
                numbers = (n_items if told["name"] == "items" else counts).astype(np.float64)
                slot, fraction = _placed_values(numbers, keypoints, int(told["first"]))
                slots[d], fractions[d] = np.repeat(slot, sizes), np.repeat(fraction, sizes)
            elif told["of"] == "whole":
                whole = arrays["sizes"][tokens] == np.repeat(n_items, counts)
                slots[d, present], fractions[d, present] = _placed_values(
                    whole.astype(np.float64), keypoints, int(told["first"])
                )
            else:
                slots[d, present], fractions[d, present] = (
                    arrays["own.slots"][own, tokens],
                    arrays["own.fractions"][own, tokens],
                )
                own += 1
        rows, corrected = np.full((2, shape[1]), -1, np.int32)
        rows[present], corrected[present] = tokens, arrays["corrected"][tokens]
        return {"slots": slots, "fractions": fractions, "offsets": edges, "rows": rows, "corrected": corrected}

    def _means(
        self, positions: Mapping[str, npt.NDArray[Any]], offsets: IntArray, calibration: FloatArray
    ) -> FloatArray:
        """Return the mean scores of sets, ``(B, C, K)``."""
        arrays, n_sets = self._arrays, len(offsets) - 1
        means = np.empty((n_sets, self.n_outputs, self.width))
        placed = [positions["slots"], positions["fractions"], offsets, positions["rows"], positions["corrected"]]
        corrections = arrays["corrections"] if self._told["corrected"] else None
        tables = [arrays["values"], corrections, arrays["keypoints"], calibration, arrays["vertices"]]
        inputs = [
            None if each is None else np.ascontiguousarray(each) for each in (*placed, np.arange(n_sets), *tables)
        ]
        _native.crossed_forward_float64(1, *inputs, means)
        return means

    def _spelled(self, rows: npt.NDArray[np.int32]) -> list[Any]:
        """Return the items of tokens; None for the one of a set without tokens."""
        text, ends = self._arrays["text"].tobytes(), self._arrays["text_offsets"].tolist()
        codes, offsets = self._arrays["spelled"].tolist(), self._arrays["spelled_offsets"].tolist()
        return [
            None
            if row < 0
            else tuple(text[ends[code] : ends[code + 1]].decode() for code in codes[offsets[row] : offsets[row + 1]])
            for row in rows.tolist()
        ]


def _placed_values(values: FloatArray, keypoints: FloatArray, first: int) -> tuple[npt.NDArray[np.int32], FloatArray]:
    slots, fractions = np.empty(len(values), np.int32), np.empty(len(values))
    _native.place_values(values, keypoints, first, slots, fractions)
    return slots, fractions
