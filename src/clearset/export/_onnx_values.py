"""Models over sets of numbers and categories as ONNX."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np
import numpy.typing as npt

from clearset.export._onnx_contributions import Scored
from clearset.export._onnx_file import OnnxFile
from clearset.export._onnx_function import Phi, RhoGraph, calibrated_codes, calibrated_numbers
from clearset.export._onnx_graph import Value
from clearset.export._onnx_ragged import SetsOfOne, TokenSets
from clearset.export._value_model import ValueModel
from clearset.functions import Support
from clearset.sets import BUILT_IN, PLACE, PLACES, SIZE

FloatArray = npt.NDArray[np.float64]


def write_value_onnx(
    path: str | PathLike[str], model: ValueModel, *, explanations: bool, about: Mapping[str, str]
) -> None:
    """Write a model over sets of numbers and categories.

    Parameters
    ----------
    path : path-like
        The file; an existing one is replaced only once the new one is complete.
    model : ValueModel
        The model.
    explanations : bool
        Whether scores and contributions are among the outputs.
    about : mapping of str to str
        What the file says of the model beside what is known here.
    """
    function, link = model.function, model.link
    support = function.support or Support.unknown(link.n_outputs, function.width, model.binning.n_slots)
    names = [feature.name for feature in model.binning.features]
    file = OnnxFile(path, about, explanations)
    inputs = _Inputs(file, model)
    vertices = np.asarray(function.vertices, np.float64).reshape(function.outputs, function.width, -1)
    features = [(inputs.calibrated(place), function.outputs) for place in range(len(names))]
    phi = Phi(file.graph, function.layout, vertices, features, features[0][0].shape(-1))
    told_apart = []
    if explanations:
        of_sets = set(names) if model.sets_of_one else {*model.set_columns, SIZE}
        told_apart = [d for d, name in enumerate(names) if name in of_sets and name not in model.absent]
    changes = [phi.change(d, inputs.usual(support, d)) for d in told_apart]
    scored = Scored(inputs.sets, inputs.counts, phi.scores, changes, RhoGraph(function.rho), link, support)
    file.add_outputs(scored, [names[d] for d in told_apart], "sets" if model.sets_of_one else "tokens")
    ordered = " The order of tokens matters." if any(name in PLACES for name in names) else ""
    file.write(link, "Scores rows of features." if model.sets_of_one else _DOC + ordered)


_DOC = (
    "Scores sets of tokens. Set b has the tokens offsets[b] up to offsets[b + 1]; features of tokens have an entry for "
    "each token, set after set, and features of whole sets an entry for each set. NaN is a missing number."
)


class _Inputs:
    """The inputs of a model, and their calibrated values."""

    def __init__(self, file: OnnxFile, model: ValueModel) -> None:
        function, sets_of_one, set_columns = model.function, model.sets_of_one, model.set_columns
        self._binning, self._function = model.binning, function
        self._calibration = np.asarray(function.calibration, np.float64).reshape(function.outputs, function.width, -1)
        read = [feature for feature in model.binning.features if feature.name not in {*model.absent, *BUILT_IN}]
        self.sets: TokenSets | SetsOfOne
        offsets = None
        if not sets_of_one:
            told = "Where the tokens of each set begin, and last their number."
            offsets = file.input("offsets", np.int64, "sets_and_one", told)
        self._columns: dict[str, Value] = {}
        self._missing: dict[str, Value] = {}
        for feature in read:
            size = "sets" if sets_of_one or feature.name in set_columns else "tokens"
            self._columns[feature.name], self._missing[feature.name] = self._read(file, feature.name, size)
        self._set_columns = () if sets_of_one else tuple(set_columns)
        if offsets is not None:
            self.sets = TokenSets(offsets)
            self.counts = self.sets.given
        else:
            self.sets = SetsOfOne(self._columns[read[0].name].shape())
            self.counts = self._known()

    def _read(self, file: OnnxFile, name: str, size: str) -> tuple[Value, Value]:
        """Return an input, categories as codes, and what is missing of it."""
        place = self._place(name)
        categories = self._binning.categories[place]
        each = "set" if size == "sets" else "token"
        if categories is None:
            column = file.input(name, np.float64, size, f"Feature {name!r} of each {each}; NaN is missing.")
            return column, column.apply("IsNaN")
        if any(isinstance(category, str) for category in categories) or not categories:
            missing = _not_among(categories)
            told = f"Feature {name!r} of each {each}, a category; {missing!r} is missing."
            column = file.input(name, np.object_, size, told, categories=list(categories), missing=missing)
            codes = column.looked_up([*categories, missing], [*range(len(categories)), len(categories) + 1])
            absent = codes.equals(len(categories) + 1)
            known = (codes >= 0) & ~absent
        else:
            told = f"Feature {name!r} of each {each}, a category that is a number; NaN is missing."
            column = file.input(name, np.float64, size, told, categories=list(categories))
            keys = np.array(categories, np.float64)[:, None]
            numbers = column.axes_added(0).equals(keys).cast(np.int64) * np.arange(1, len(categories) + 1)[:, None]
            codes, absent = numbers.total(0) - 1, column.apply("IsNaN")
            known = codes >= 0
        return known.where(codes, len(categories)), absent

    def _known(self) -> Value:
        """Return how many tokens count in each set of one: none where it has no value at all."""
        missing = list(self._missing.values())
        nothing = missing[0]
        for each in missing[1:]:
            nothing = nothing & each
        return (~nothing).cast(np.int64)

    def calibrated(self, place: int) -> Value:
        """Return the calibrated values of a feature, ``(C, K, T)``."""
        name, graph = self._binning.features[place].name, self.sets.sizes.graph
        edges = self._binning.slot_offsets
        outputs = self._calibration[..., edges[place] : edges[place + 1]]
        keypoints = self._binning.keypoints[place]
        if name == SIZE:
            given = self.sets.given if isinstance(self.sets, TokenSets) else self.sets.sizes
            return self.sets.spread(calibrated_numbers(given.cast(np.float64), np.asarray(keypoints), outputs))
        if name in BUILT_IN:
            return calibrated_numbers(self.sets.places(from_end=name == PLACE), np.asarray(keypoints), outputs)
        if name not in self._columns:
            nothing = graph.constant(outputs[..., -1:])
            return self.sets.spread(nothing.expanded(*outputs.shape[:2], self.sets.sizes.shape()))
        column, of_set = self._columns[name], name in self._set_columns
        if isinstance(self.sets, TokenSets) and not of_set:
            column = self.sets.with_nothing(column, np.nan if keypoints is not None else outputs.shape[-1] - 1)
        if keypoints is None:
            found = calibrated_codes(column, outputs)
        else:
            found = calibrated_numbers(column, keypoints, outputs)
        return self.sets.spread(found) if of_set else found

    def usual(self, support: Support, place: int) -> FloatArray:
        """Return what calibrators make of a feature on average, ``(C, K)``."""
        function, slots = self._function, self._binning.slots_of(self._binning.features[place].name)
        usual = support.usual(np.asarray(function.calibration, np.float64), slots)
        return usual.reshape(function.outputs, function.width)

    def _place(self, name: str) -> int:
        return [feature.name for feature in self._binning.features].index(name)


def _not_among(categories: Sequence[Any]) -> str:
    """Return a string that is no category: the empty one, if it can be had."""
    missing = ""
    while missing in categories:
        missing += "missing"
    return missing
