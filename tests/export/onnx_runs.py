"""ONNX files run on sets, beside what Python says of these."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnxruntime
import pyarrow as pa

Arrays = dict[str, npt.NDArray[Any]]


@dataclass
class Written:
    """A model written as ONNX, run on one thread."""

    session: Any

    @classmethod
    def of(cls, model: Any, path: Path, **options: Any) -> Written:
        """Write a model, and load it."""
        model.to_onnx(path, **options)
        settings = onnxruntime.SessionOptions()
        settings.intra_op_num_threads = 1
        return cls(onnxruntime.InferenceSession(path, settings, providers=["CPUExecutionProvider"]))

    @property
    def told(self) -> dict[str, str]:
        """The metadata."""
        found: dict[str, str] = self.session.get_modelmeta().custom_metadata_map
        return found

    @property
    def inputs(self) -> dict[str, Any]:
        """What the metadata say of the inputs."""
        found: dict[str, Any] = json.loads(self.told["inputs"])
        return found

    def feeds(self, X: pa.Table | Sequence[Any]) -> Arrays:
        """Take a table with a row for each set, lists of strings, or pairs of these apart."""
        return self._of_table(X) if isinstance(X, pa.Table) else self._of_items(X)

    def _of_items(self, X: Sequence[Any]) -> Arrays:
        columns: dict[str, Any] = {name: X for name in ("items", "words") if name in self.inputs}
        if "left_items" in self.inputs:
            columns = {f"{side}_items": [pair[place] for pair in X] for place, side in enumerate(("left", "right"))}
        if {"items", "words"} <= set(self.inputs):  # letters and digits are enough here
            columns["words"] = [[word for item in row for word in re.findall(r"[^\W_]+", item.lower())] for row in X]
        feeds = {}
        for name, rows in columns.items():
            known = (f"{name}_offsets", f"{name.removesuffix('items')}offsets", "offsets")
            feeds[name] = np.array([item for row in rows for item in row], object)
            feeds[next(each for each in known if each in self.inputs)] = np.cumsum([0, *map(len, rows)], dtype=np.int64)
        return feeds

    def _of_table(self, table: pa.Table) -> Arrays:
        types = {each.name: each.type for each in self.session.get_inputs()}
        columns = {name: table[name].to_pylist() for name in table.column_names}
        lists = [column for column in columns.values() if any(isinstance(value, list) for value in column)]
        feeds: Arrays = {}
        for name, told in self.inputs.items():
            if name == "offsets":
                sizes = [len(row or []) for row in (lists[0] if lists else [])]
                feeds[name] = np.cumsum([0, *sizes], dtype=np.int64)
                continue
            values = columns[told["name"]]
            if any(column is values for column in lists):
                values = [value for row in values for value in row or []]
            if types[name] == "tensor(string)":
                feeds[name] = np.array([told["missing"] if each is None else each for each in values], object)
            else:
                feeds[name] = np.array([np.nan if each is None else each for each in values], np.float64)
        return feeds

    def run(self, feeds: Arrays) -> Arrays:
        """Return all outputs."""
        names = [each.name for each in self.session.get_outputs()]
        return dict(zip(names, self.session.run(names, feeds), strict=True))

    def __call__(self, X: pa.Table | Sequence[Any]) -> Arrays:
        return self.run(self.feeds(X))


def differences(model: Any, X: Any, found: Arrays) -> dict[str, float]:
    """Return the largest difference of each output from Python, where that is above 1 as a share of it."""
    model = model.as_model()
    explanation, outputs = model.explain(X), model.read(X).outputs()
    tokens, n = explanation.tokens, len(explanation.prediction)
    real = np.array([token is not None for token in tokens["token"].to_pylist()], bool)
    if len(tokens) == len(found["contributions"]):  # rows of a plain table
        real[:] = True
    sets, parts = tokens["set"].to_numpy(), tokens["contribution"].to_numpy()
    scores = np.array(tokens["score"].to_pylist(), np.float64).reshape(len(tokens), -1)
    expected = {
        "prediction": explanation.prediction,
        "base": explanation.base,
        "scores": scores[real],
        "contributions": parts[real],
        "empty_contributions": np.bincount(sets[~real], parts[~real], n),
        "set_contributions": explanation.of_sets["contribution"].to_numpy().reshape(n, -1),
        "probabilities": model.link.probabilities(outputs) if model.link.has_probabilities else None,
        "margins": outputs,
    }
    if model.link.classes is None:
        np.testing.assert_allclose(found["prediction"], model.link.predictions(outputs), rtol=1e-9, atol=1e-9)
    else:
        ordered = np.sort(np.hstack([outputs, -outputs]) if outputs.shape[1] == 1 else outputs, axis=1)
        clear = ordered[:, -1] - ordered[:, -2] > 1e-9  # of two that are as likely, either is right
        assert (found["label"] == model.link.predictions(outputs))[clear].all()
    worst = {}
    for name, values in found.items():
        if (wanted := expected.get(name)) is not None:
            assert values.shape == wanted.shape, name
            away = np.abs(values - wanted) / np.maximum(np.abs(wanted), 1.0)
            worst[name] = float(away.max(initial=0.0))
    return worst
