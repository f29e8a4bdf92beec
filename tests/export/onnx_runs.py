"""ONNX files run on sets, beside what Python says of these."""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pyarrow as pa

from clearset.functions import Support

Outputs = dict[str, np.ndarray]


@dataclass
class Written:
    """A model written as ONNX."""

    session: onnxruntime.InferenceSession

    @classmethod
    def of(cls, model: Any, path: Path, **options: Any) -> "Written":
        model.to_onnx(path, **options)
        settings = onnxruntime.SessionOptions()
        settings.intra_op_num_threads = 1
        return cls(onnxruntime.InferenceSession(path, settings, providers=["CPUExecutionProvider"]))

    @property
    def told(self) -> dict[str, str]:
        return self.session.get_modelmeta().custom_metadata_map

    @property
    def inputs(self) -> dict[str, Any]:
        return json.loads(self.told["inputs"])

    def feeds_of_items(self, X: list[Any]) -> Outputs:
        """Take lists of strings, or pairs of them, apart."""
        columns = [X] if "offsets" in self.inputs else list(zip(*X, strict=True)) or [[], []]
        names = list(self.inputs)
        feeds = {}
        for name, offsets, rows in zip(names[::2], names[1::2], columns, strict=True):
            feeds[name] = np.array([item for row in rows for item in row], object)
            feeds[offsets] = np.cumsum([0, *map(len, rows)], dtype=np.int64)
        return feeds

    def feeds(self, table: pa.Table) -> Outputs:
        """Take a table with a row for each set apart: lists end to end, with offsets."""
        types = {each.name: each.type for each in self.session.get_inputs()}
        columns = {name: table[name].to_pylist() for name in table.column_names}
        lists = [column for column in columns.values() if any(isinstance(value, list) for value in column)]
        feeds = {}
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

    def run(self, feeds: Outputs) -> Outputs:
        names = [each.name for each in self.session.get_outputs()]
        return dict(zip(names, self.session.run(names, feeds), strict=True))

    def __call__(self, X: Any) -> Outputs:
        return self.run(self.feeds(X) if isinstance(X, pa.Table) else self.feeds_of_items(X))


def differences(model: Any, X: Any, found: Outputs) -> dict[str, float]:
    """Return the largest difference of each output from Python, where that is above 1 as a share of it."""
    explanation, expected = model.explain(X), {}
    tokens = explanation.tokens
    real = np.array([token is not None for token in tokens["token"].to_pylist()], bool)
    if len(tokens) == len(found["contributions"]):  # rows of a plain table
        real[:] = True
    sets, parts = tokens["set"].to_numpy(), tokens["contribution"].to_numpy()
    n, scores = len(explanation.prediction), np.array(tokens["score"].to_pylist(), np.float64).reshape(len(tokens), -1)
    expected = {
        "prediction": explanation.prediction,
        "base": explanation.base,
        "scores": scores[real],
        "contributions": parts[real],
        "empty_contributions": np.bincount(sets[~real], parts[~real], n),
        "set_contributions": explanation.of_sets["contribution"].to_numpy().reshape(n, -1),
    }
    if hasattr(model, "classes_"):
        margins = model.as_model().decision_function(X).reshape(n, -1)
        shares = model.as_model().predict_proba(X) if model.as_model().link.has_probabilities else margins
        expected |= {"probabilities": shares, "margins": margins}
        clear = np.ptp(np.sort(shares, axis=1)[:, -2:], axis=1) > 1e-9
        clear = np.abs(margins[:, 0]) > 1e-9 if margins.shape[1] == 1 else clear
        assert (found["label"] == model.as_model().predict(X))[clear].all()
    elif hasattr(model, "predict"):
        np.testing.assert_allclose(found["prediction"], model.predict(X), rtol=1e-9, atol=1e-9)
    if hasattr(model, "transform"):
        several = found.get("probabilities", found.get("margins"))
        estimates = found["prediction"][:, None] if model.as_model().link.n_outputs == 1 else several
        np.testing.assert_allclose(estimates, model.transform(X), rtol=1e-9, atol=1e-9)
    worst = {}
    for name, values in found.items():
        if name in expected:
            assert values.shape == expected[name].shape, name
            away = np.abs(values - expected[name]) / np.maximum(np.abs(expected[name]), 1.0)
            worst[name] = float(away.max(initial=0.0))
    return worst


def with_support(model: Any, rng: np.random.Generator) -> Any:
    """Return a model whose small sets, and those without tokens, are drawn to a base anywhere."""
    model = model.as_model()
    counts, shape = rng.random(model.binning.n_slots), (model.link.n_outputs, model.function.width)
    support = Support(rng.uniform(-0.5, 0.5, shape), int(rng.integers(1, 5)), counts, 0.4)
    # A fit on strings always says what is predicted without a known token.
    told = model.semantic or rng.random() < 0.6
    nothing = rng.normal(size=model.link.n_outputs) if told else None
    return replace(model, function=replace(model.function, support=support), link=replace(model.link, nothing=nothing))
