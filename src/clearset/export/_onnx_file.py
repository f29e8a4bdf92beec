"""ONNX files: what goes in and out of every model, and what is said about it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

import numpy as np
import numpy.typing as npt

from clearset.artifact import check_target, write_file
from clearset.export._onnx_contributions import Chosen, Scored, estimates, explained
from clearset.export._onnx_graph import Graph, Value
from clearset.export._onnx_ragged import TokenSets
from clearset.functions import Link

# No input has the name of an output, or of a node.
_OUTPUTS = (
    "prediction", "label", "probabilities", "margins", "base", "scores", "contributions", "set_contributions",
    "empty_contributions", "tokens", "token_offsets",
)  # fmt: skip


@dataclass
class OnnxFile:
    """A model as it is written.

    Parameters
    ----------
    path : path-like
        Where to; it is checked at once.
    about : mapping of str to str
        What is said of the model beside what is known here.
    explanations : bool
        Whether scores and contributions are among the outputs.
    """

    path: str | PathLike[str]
    about: Mapping[str, str]
    explanations: bool
    graph: Graph = field(default_factory=Graph)
    _inputs: dict[str, dict[str, Any]] = field(default_factory=dict)
    _outputs: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_target(self.path)

    def input(self, wanted: str, dtype: npt.DTypeLike, size: str, doc: str, **told: Any) -> Value:
        """Declare an input of one axis, with the name that is wanted where ONNX allows it."""
        name = re.sub(r"[^A-Za-z0-9_]", "_", wanted)
        name = name if name[:1].isalpha() else f"x{name}" if name[:1].isdigit() else f"x{name.lstrip('_')}"
        plain, number = name, 2
        while name in self._inputs or name in _OUTPUTS:
            name, number = f"{plain}_{number}", number + 1
        self._inputs[name] = {"name": wanted} | told
        return self.graph.input(name, dtype, (size,), doc)

    def output(self, name: str, value: Value, dtype: npt.DTypeLike, shape: Sequence[int | str], doc: str) -> None:
        """Declare an output."""
        self._outputs[name] = doc
        self.graph.output(name, value, dtype, shape, doc)

    def add_outputs(self, scored: Scored, names: Sequence[str], n_tokens: str) -> None:
        """Declare the outputs that all models have; the names are those of the features told apart."""
        link, means = scored.link, scored.means
        outputs = scored.told(scored.rho.outputs(means))
        found = estimates(link, outputs)
        columns = outputs.apply("ArgMax", axis=0, keepdims=0)
        if link.classes is not None:
            self._add_classes(link, outputs, columns)
        chosen = Chosen(link.n_outputs, columns)
        prediction = chosen.of(found)
        self.output("prediction", prediction, np.float64, ("sets",), _PREDICTION[_kind(link)])
        if self.explanations:
            self._add_explanations(scored, means, prediction, chosen, names, n_tokens)

    def _add_classes(self, link: Link, outputs: Value, columns: Value) -> None:
        classes, graph = np.asarray(link.classes), self.graph
        kinds: dict[str, npt.DTypeLike] = {"b": np.bool_, "i": np.int64, "u": np.int64, "f": np.float64}
        dtype = kinds.get(classes.dtype.kind, np.object_)
        places = columns if link.n_outputs > 1 else (outputs > 0.0).cast(np.int64).axes_dropped(0)
        named = graph.constant(classes.astype(dtype)).gather(places)
        self.output("label", named, dtype, ("sets",), "The most likely class of each set.")
        if not link.has_probabilities:
            margins = outputs.apply("Transpose", perm=[1, 0])
            self.output("margins", margins, np.float64, ("sets", link.n_outputs), _MARGINS)
            return
        shares = estimates(link, outputs)
        both = estimates(link, -outputs).joined(shares) if link.n_outputs == 1 else shares
        told = "The probability of each class, in the order of 'classes' in the metadata."
        self.output("probabilities", both.apply("Transpose", perm=[1, 0]), np.float64, ("sets", len(classes)), told)

    def _add_explanations(
        self, scored: Scored, means: Value, prediction: Value, chosen: Chosen, names: Sequence[str], n_tokens: str
    ) -> None:
        sets = scored.sets
        found = explained(scored, means, prediction, chosen)
        scores, tokens = found.scores, found.tokens
        if isinstance(sets, TokenSets):
            scores, tokens = sets.given_tokens(scores, 1), sets.given_tokens(tokens)
            empty = (sets.given > 0).where(0.0, sets.total(found.tokens))
            self.output("empty_contributions", empty, np.float64, ("sets",), _EMPTY)
        self.output("base", found.base, np.float64, ("sets",), "The base rate: the prediction without any evidence.")
        width = scored.support.base.shape[1] if scored.link.n_outputs == 1 else 1
        transposed = scores.apply("Transpose", perm=[1, 0])
        self.output("scores", transposed, np.float64, (n_tokens, width), _SCORES)
        self.output("contributions", tokens, np.float64, (n_tokens,), _CONTRIBUTIONS)
        if found.features:
            columns = [part.axes_added(1) for part in found.features]
            joined = columns[0].joined(*columns[1:], axis=1) if len(columns) > 1 else columns[0]
            told = "What features of the whole set add to the prediction, in the order of 'set_contributions'."
            self.output("set_contributions", joined, np.float64, ("sets", len(columns)), told)
            self._columns = list(names)

    _columns: Sequence[str] = ()

    def write(self, link: Link, doc: str) -> None:
        """Write the file."""
        from clearset import __version__

        metadata = {
            **self.about,
            "clearset_version": __version__,
            "loss": link.loss,
            "inputs": json.dumps(self._inputs),
            "outputs": json.dumps(self._outputs),
        }
        if link.classes is not None:
            metadata["classes"] = json.dumps(np.asarray(link.classes).tolist())
        if self._columns:
            metadata["set_contributions"] = json.dumps(list(self._columns))
        model = self.graph.model("clearset", doc, __version__, metadata)
        write_file(self.path, model.SerializeToString(deterministic=True))


def _kind(link: Link) -> str:
    if link.classes is None:
        return "number"
    return "probability" if link.has_probabilities else "margin"


_PREDICTION = {
    "number": "The predicted number.",
    "probability": "The probability of the class explained: of two the second, of more the most likely one.",
    "margin": "The margin of the class explained: of two the second, of more the largest one.",
}
_MARGINS = "The margin of each class, or of the second of two."
_SCORES = "The score of each token, as a distance from the base rate's."
_CONTRIBUTIONS = "What each token adds to the prediction."
_EMPTY = "What the absence of tokens adds to the prediction of a set without any; else 0."
