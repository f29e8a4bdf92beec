"""Models over sets of strings and texts as ONNX."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from clearset.export._onnx_contributions import Scored
from clearset.export._onnx_file import OnnxFile
from clearset.export._onnx_function import Phi, RhoGraph, calibrated_codes, calibrated_numbers
from clearset.export._onnx_graph import Value
from clearset.export._onnx_ragged import TokenSets
from clearset.export._onnx_strings import Items, check_tokenizer, read_items
from clearset.export._onnx_tokens import find_tokens
from clearset.functions import Link, Rho, SetFunction, Support
from clearset.sets import Binning
from clearset.tokens import PER_SET, WHOLE, TokenReader, TokenTable

FloatArray = npt.NDArray[np.float64]


class _Occurring(NamedTuple):
    """Tokens in their sets."""

    sets: TokenSets
    which: Value  # (T,): the number of each token; that of the last one and 1 more for no token
    items: Items


class ItemModel(ABC):
    """A model over sets of strings, as it is written: `ScoredTable` or `ReadTable`."""

    link: Link

    @property
    @abstractmethod
    def tokens(self) -> tuple[TokenTable, bool]:
        """The token table, and whether larger tokens shadow the smaller ones whose items they hold."""

    @property
    @abstractmethod
    def names(self) -> list[str]:
        """The features that are looked up or counted when sets are scored."""

    @abstractmethod
    def score(self, found: _Occurring, told_apart: Sequence[int]) -> Scored:
        """Return the scores of tokens, and what the features told apart add to them."""


@dataclass(frozen=True, eq=False)
class ScoredTable(ItemModel):
    """A token table whose tokens are scored whatever set they stand in.

    Parameters
    ----------
    table : TokenTable
        The tokens.
    cover : bool
        Whether larger tokens shadow the smaller ones whose items they hold.
    scores : ndarray of shape (T, C, K)
        The scores.
    missing : ndarray of shape (C, K)
        The score that stands for no token.
    rho : Rho
        What follows the mean.
    link : Link
        From outputs to predictions.
    support : Support
        What training has shown.
    """

    table: TokenTable
    cover: bool
    scores: FloatArray
    missing: FloatArray
    rho: Rho
    link: Link
    support: Support

    @property
    def tokens(self) -> tuple[TokenTable, bool]:
        return self.table, self.cover

    @property
    def names(self) -> list[str]:
        return []

    def score(self, found: _Occurring, told_apart: Sequence[int]) -> Scored:  # noqa: ARG002
        scores = np.concatenate([self.scores, self.missing[None]]).transpose(1, 2, 0)
        read = found.which.graph.constant(np.ascontiguousarray(scores)).gather(found.which, 2)
        return Scored(found.sets, found.sets.given, read, [], RhoGraph(self.rho), self.link, self.support)


@dataclass(frozen=True, eq=False)
class ReadTable(ItemModel):
    """A token table whose tokens are scored by features that depend on their sets.

    Parameters
    ----------
    reader : TokenReader
        Finds tokens, and knows their statistics.
    binning : Binning
        The features and keypoints, the value first.
    function : SetFunction
        The set function, with corrections.
    link : Link
        From outputs to predictions.
    support : Support
        What training has shown.
    """

    reader: TokenReader
    binning: Binning
    function: SetFunction
    link: Link
    support: Support

    @property
    def tokens(self) -> tuple[TokenTable, bool]:
        return self.reader.table, self.reader.cover

    @property
    def names(self) -> list[str]:
        return [feature.name for feature in self.binning.features]

    def score(self, found: _Occurring, told_apart: Sequence[int]) -> Scored:
        graph = found.which.graph
        features = [(graph.constant(self._values()).gather(found.which, 2), self.link.n_outputs)]
        features += [(self._calibrated(found, place), 1) for place in range(1, len(self.names))]
        vertices = np.asarray(self.function.vertices, np.float64).reshape(1, self.function.width, -1)
        phi = Phi(graph, self.function.layout, vertices, features, found.which.shape())
        changes = []
        for place in told_apart:
            usual = self.support.usual(self._calibration, self.binning.slots_of(self.names[place]))
            changes.append(phi.change(place, usual[None]))
        rho = RhoGraph(self.function.rho)
        return Scored(found.sets, found.sets.given, phi.scores, changes, rho, self.link, self.support)

    @property
    def _calibration(self) -> FloatArray:
        return np.asarray(self.function.calibration, np.float64)

    def _calibrated(self, found: _Occurring, place: int) -> Value:
        """Return the calibrated values of a feature, not the first, ``(1, K, T)``."""
        name, sets, graph = self.names[place], found.sets, found.which.graph
        slots, keypoints = self.binning.slots_of(name), np.asarray(self.binning.keypoints[place])
        outputs = self._calibration[None, :, slots.start : slots.stop + 1]
        if name in PER_SET:
            counts = sets.given if name == "tokens" else found.items.n_items
            return sets.spread(calibrated_numbers(counts.cast(np.float64), keypoints, outputs))
        if name == WHOLE:
            sizes = graph.constant(np.append(self.reader.table.sizes, 0).astype(np.int64)).gather(found.which)
            whole = sizes.equals(sets.spread(found.items.n_items)).cast(np.float64)
            return calibrated_numbers(sets.real.where(whole, np.nan), keypoints, outputs)
        own, slot_and_fraction = self.reader.rows.own[name], self.binning.place
        places, fractions = slot_and_fraction(name, own[: len(self.reader.table)], np.float64)
        padded = np.append(self._calibration, self._calibration[:, -1:], axis=1)
        low, high = padded[:, places], padded[:, places + 1]
        known = low + fractions * (high - low)
        return calibrated_codes(found.which, np.append(known, outputs[0, :, -1:], axis=1)[None])

    def _values(self) -> FloatArray:
        """Return the calibrated values of all tokens, corrected, for each class, and of none: ``(C, K, T + 1)``."""
        table, amounts = self.reader.table, self.function.corrections
        values = self.reader.rows.values[: len(table)].copy()
        if amounts is not None:
            corrected = self.reader.placer(self.binning).corrected
            values[corrected >= 0] += amounts[corrected[corrected >= 0]]
        slots, keypoints = self.binning.slots_of(self.names[0]), np.asarray(self.binning.keypoints[0])
        known = np.stack([np.interp(values.T, keypoints, row[slots]) for row in self._calibration], axis=1)
        missing = np.broadcast_to(self._calibration[None, :, slots.stop, None], (*known.shape[:2], 1))
        return np.concatenate([known, missing], axis=2)


def write_item_onnx(
    path: str | PathLike[str], model: ItemModel, *, explanations: bool, about: Mapping[str, str]
) -> None:
    """Write a model over sets of strings.

    Parameters
    ----------
    path : path-like
        The file; an existing one is replaced only once the new one is complete.
    model : ItemModel
        The model.
    explanations : bool
        Whether tokens, scores and contributions are among the outputs.
    about : mapping of str to str
        What the file says of the model beside what is known here.
    """
    table, cover = model.tokens
    check_tokenizer(table.tokenizer)
    file = OnnxFile(path, about, explanations)
    items = read_items(file, table.tokenizer, table.vocabulary.to_pylist())
    tokens = find_tokens(items, table, cover)
    offsets = file.graph.constant(np.array([0])).joined(tokens.counts.running_total())
    sets = TokenSets(offsets)
    told_apart = [d for d, name in enumerate(model.names) if name in PER_SET] if explanations else []
    scored = model.score(_Occurring(sets, sets.with_nothing(tokens.tokens, len(table)), items), told_apart)
    file.add_outputs(scored, [model.names[d] for d in told_apart], "tokens")
    if explanations:
        spelled = table.spelled(np.arange(len(table))).to_pylist()
        single = all(len(token) == 1 for token in spelled)
        named = [token[0] if single else json.dumps(token, ensure_ascii=False) for token in spelled]
        found = file.graph.constant(np.array([*named, ""], dtype=object)).gather(tokens.tokens)
        told = "The tokens of all sets, set after set: " + ("items." if single else "their items, as a JSON list.")
        file.output("tokens", found, np.object_, ("tokens",), told)
        file.output("token_offsets", offsets, np.int64, ("sets_and_one",), "Where the tokens of each set begin.")
    file.write(model.link, _DOC)


_DOC = (
    "Scores sets of strings. Set b has the strings offsets[b] up to offsets[b + 1]; which tokens they make, the model "
    "finds out itself."
)
