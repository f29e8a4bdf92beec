"""What scores sets: from the scores of tokens to predictions and contributions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from clearset.runtime._contributions import contributions, worth_of_means
from clearset.runtime._file import RuntimeFileError
from clearset.runtime._support import Support

_native: Any = import_module("clearset._native") if find_spec("clearset._native") else None

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

# Labels are at most 1e100; from here on sums of outputs would overflow.
_LARGEST = 1e150
# Of the labels, for the longest makes all of them long.
_MOST_BYTES = 1 << 28


class RuntimeLink(NamedTuple):
    """How outputs become predictions; see `clearset.functions.Link`."""

    name: str
    classes: npt.NDArray[Any] | None
    nothing: FloatArray | None

    def estimates(self, outputs: FloatArray) -> FloatArray:
        """Return the expected label, ``(n, 1)``, or of several classes the probabilities, ``(n, classes)``."""
        if self.name == "exp":
            return np.exp(outputs)
        if self.name == "softmax":
            return np.asarray(np.exp(outputs - np.logaddexp.reduce(outputs, axis=1, keepdims=True)))
        if self.name in ("sigmoid", "shares"):
            shares = np.exp(-np.logaddexp(0.0, -outputs))
            return np.asarray(shares if self.name == "sigmoid" else shares / shares.sum(axis=1, keepdims=True))
        return outputs


@dataclass(frozen=True, eq=False, repr=False)
class Explained:
    """Predictions, and what each token adds to them.

    Attributes
    ----------
    prediction, base : ndarray of shape (B,)
        The prediction of each set for the class explained, and the base rate: what is said of a set of which nothing
        is known. The contributions of a set are its prediction less the base.
    labels : list or None
        The class explained of each set; None where labels are numbers.
    offsets : ndarray of shape (B + 1,)
        Where the tokens of each set begin; a set without a known token has one, called None.
    tokens : list
        The tokens: tuples of items, or the number of the token in its set.
    scores : ndarray of shape (T, K)
        Their scores, as distances from the base.
    contributions : ndarray of shape (T,)
        What they add to the prediction.
    of_sets : dict of str to ndarray of shape (B,)
        What the features of whole sets add to it.
    """

    prediction: FloatArray
    base: FloatArray
    labels: list[Any] | None
    offsets: IntArray
    tokens: list[Any]
    scores: FloatArray
    contributions: FloatArray
    of_sets: Mapping[str, FloatArray]

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return one dict a set, of plain values that JSON can hold.

        Returns
        -------
        list of dict
            With ``prediction``, ``base``, ``label``, ``tokens`` (dicts of ``token``, ``score``, ``contribution``) and
            ``features``, the contributions of features of the whole set.
        """
        found, edges = [], self.offsets.tolist()
        scores, parts = self.scores.tolist(), self.contributions.tolist()
        for number, (start, stop) in enumerate(pairwise(edges)):
            found.append(
                {
                    "prediction": float(self.prediction[number]),
                    "base": float(self.base[number]),
                    "label": None if self.labels is None else self.labels[number],
                    "tokens": [
                        {"token": self.tokens[t], "score": scores[t], "contribution": parts[t]}
                        for t in range(start, stop)
                    ],
                    "features": {name: float(values[number]) for name, values in self.of_sets.items()},
                }
            )
        return found


class Scorer(ABC):
    """A fitted model that predicts and explains; `load` reads one.

    Attributes
    ----------
    classes : list or None
        The classes, in the order of `estimates`; None where labels are numbers.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import clearset as cs
    >>> from clearset import runtime
    >>> recipes = [["salt", "lime"], ["salt", "feta"], ["lime", "chili"], ["feta", "olives"]] * 10
    >>> model = cs.SemanticClassifier(random_state=0).fit(recipes, ["thai", "greek", "thai", "greek"] * 10)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.to_runtime(Path(folder) / "recipes.runtime")
    ...     scorer = runtime.load(Path(folder) / "recipes.runtime")
    >>> scorer.predict([["lime", "chili"], ["feta"]]).tolist()
    ['thai', 'greek']
    >>> [part["token"] for part in scorer.explain([["lime", "salt"]]).to_dicts()[0]["tokens"]]
    [('lime',), ('salt',)]
    """

    def __init__(self, description: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        self._told, self._arrays = description, arrays
        self._rho = [arrays[name] for name in ("rho.calibrators", "rho.vertices", "rho.output")]
        self.names = [feature["name"] for feature in description["features"]]
        if not all(isinstance(name, str) for name in self.names) or len(set(self.names)) < len(self.names):
            raise RuntimeFileError("The names of the features are no texts, or the same.")
        self.n_outputs, self.width = arrays["base"].shape
        link, support = description["link"], description["support"]
        labels = link["classes"]
        if labels is not None and 4 * len(labels) * max(len(str(label)) for label in labels) > _MOST_BYTES:
            raise RuntimeFileError(f"There are {len(labels)} classes, and some are very long.")
        classes = None if labels is None else np.array(labels)
        nothing = arrays.get("nothing")
        self.link = RuntimeLink(str(link["name"]), classes, nothing)
        self.support = Support(arrays["base"], int(support["tokens"]), np.zeros(0), support["alone"])
        self._check()

    def check(self) -> None:
        """Raise an error unless the model scores and explains some sets, by numbers that are finite."""
        for sets in self._some_sets():
            with np.errstate(all="ignore"):
                told = self.explain(sets)
                answers = (self.estimates(sets), told.prediction, told.contributions, *told.of_sets.values())
            if not all(np.isfinite(answer).all() for answer in answers):
                raise RuntimeFileError("It answers with numbers that are not finite.")

    @abstractmethod
    def _some_sets(self) -> list[Any]:
        """Return sets that every part of the model has to do with."""

    def _check(self) -> None:
        """See that the arrays fit together, for compiled code is given their addresses."""
        n, width, (n_functions, n_keypoints) = self.n_outputs, self.width, self._rho[2].shape
        # Classes have functions of their own, or share one.
        if n_functions not in (n, 1):
            raise RuntimeFileError(f"There are {n_functions} functions for {n} outputs.")
        if self.link.classes is not None and self.link.classes.shape != ((2,) if n == 1 else (n,)):
            raise RuntimeFileError(f"There are {self.link.classes.size} classes for {n} outputs.")
        wanted: dict[str, tuple[int, ...]] = {
            "base": (n, width),
            "rho.calibrators": (n_functions * width, n_keypoints),
            "rho.vertices": (n_functions, 2**width),
            "rho.output": (n_functions, n_keypoints),
        }
        if self.link.nothing is not None:
            wanted["nothing"] = (n,)
        for name, shape in wanted.items():
            if self._arrays[name].shape != shape or self._arrays[name].dtype != np.float64:
                raise RuntimeFileError(f"Array {name!r} has shape {self._arrays[name].shape}, not {shape}.")
        for name, array in self._arrays.items():
            if array.dtype.kind == "f" and not (np.abs(array) <= _LARGEST).all():
                raise RuntimeFileError(f"Array {name!r} holds numbers that are not finite, or beyond {_LARGEST:g}.")

    @property
    def classes(self) -> list[Any] | None:
        """The classes, in the order of `estimates`; None where labels are numbers."""
        return None if self.link.classes is None else self.link.classes.tolist()

    def estimates(self, sets: Any) -> FloatArray:
        """Return the expected label, or the probability of each class.

        Parameters
        ----------
        sets : as in `predict`
            The sets.

        Returns
        -------
        ndarray of shape (B, 1) or (B, classes)
            Of two classes, the probability of the second. After training with the hinge loss, the outputs.
        """
        return self.link.estimates(self._outputs_of(sets))

    def predict(self, sets: Any) -> npt.NDArray[Any]:
        """Return the predicted numbers or classes.

        Parameters
        ----------
        sets : list or dict
            A list of lists of strings, or texts where the model reads words; for models over numbers a dict with a list
            of lists for each feature of tokens, and a list for each feature of sets.

        Returns
        -------
        ndarray of shape (B,)
            The predictions.
        """
        outputs = self._outputs_of(sets)
        if self.link.classes is None:
            return self.link.estimates(outputs)[:, 0]
        chosen = outputs.argmax(axis=1) if outputs.shape[1] > 1 else (outputs[:, 0] > 0).astype(np.intp)
        return np.asarray(self.link.classes[chosen])

    def explain(self, sets: Any, label: Any = None) -> Explained:
        """Return predictions with what each token adds to them.

        Parameters
        ----------
        sets : as in `predict`
            The sets.
        label : optional
            Of several classes, the one to explain; by default the predicted one of each set.

        Returns
        -------
        Explained
            The predictions, and the parts they are made of.
        """
        scored, tokens = self._scored(sets)
        scored.choose(self._column(label))
        added = contributions(scored, worth_of_means(scored))
        named = None
        if self.link.classes is not None:
            named = self.link.classes[scored.columns + (self.n_outputs == 1)].tolist()
        of_sets = {name: parts for name, (_, parts) in added.of_sets.items()}
        return Explained(
            scored.prediction, scored.base, named, scored.offsets, tokens, added.scores, added.tokens, of_sets
        )

    def _column(self, label: Any) -> int | None:
        if label is None:
            return None
        classes = self.classes
        if classes is None:
            raise ValueError(f"label={label!r} names a class, but the labels are numbers. Leave it out.")
        if label not in classes or (len(classes) == 2 and label == classes[0]):
            allowed = classes[1:] if len(classes) == 2 else classes
            raise ValueError(f"label={label!r} cannot be explained; choose among {allowed[:20]}.")
        return 0 if len(classes) == 2 else classes.index(label)

    def rho(self, means: FloatArray) -> FloatArray:
        """Apply rho to ``(N, C, K)`` mean scores: ``(N, C)``."""
        n_functions = len(self._rho[2])
        rows = np.ascontiguousarray(means, np.float64).reshape(-1, n_functions * self.width)
        outputs = np.empty((len(rows), n_functions))
        _native.rho_forward_float64(rows, *self._rho, outputs)
        return outputs.reshape(len(means), self.n_outputs)

    def outputs(self, means: FloatArray, counts: IntArray) -> FloatArray:
        """Return the ``(B, C)`` outputs of sets with so many known tokens from their mean scores ``(B, C, K)``."""
        outputs = self.rho(self.support.shrunk(means, counts))
        if self.link.nothing is not None:
            outputs[counts == 0] = self.link.nothing
        return outputs

    @abstractmethod
    def _outputs_of(self, sets: Any) -> FloatArray:
        """Return the outputs of sets, ``(B, C)``."""

    @abstractmethod
    def _scored(self, sets: Any) -> tuple[ScoredBatch, list[Any]]:
        """Return sets with the scores of their tokens, and the names of these."""


class ScoredBatch:
    """Sets whose tokens are scored, as `contributions` takes them."""

    def __init__(
        self,
        scorer: Scorer,
        offsets: IntArray,
        counts: IntArray,
        scores: FloatArray,
        told_apart: Sequence[bool],
        usual: Callable[[int], FloatArray],
    ) -> None:
        self.scorer, self.offsets, self.counts, self.as_they_are = scorer, offsets, counts, scores
        self.names, self.told_apart, self.usual_scores = scorer.names, told_apart, usual
        self.support, self.link = scorer.support, scorer.link
        self.sizes = np.diff(offsets)
        self.set_of = np.repeat(np.arange(len(self.sizes)), self.sizes)
        self.present = np.repeat(counts > 0, self.sizes)
        self.means = self.total(scores) / self.sizes.reshape(-1, 1, 1)
        self.told = scorer.outputs(self.means, counts)
        self.columns = np.zeros(len(self.sizes), np.int64)

    def choose(self, column: int | None) -> None:
        """Explain this output, or None for the largest of each set."""
        self.columns = self.told.argmax(axis=1) if column is None else np.full(len(self.sizes), column)

    def total(self, values: FloatArray) -> FloatArray:
        """Add up what the tokens of each set have."""
        return np.asarray(np.add.reduceat(values, self.offsets[:-1], axis=0)) if len(self.sizes) else values[:0]

    def outputs(self, means: FloatArray) -> FloatArray:
        """Apply rho to ``(N, C, K)`` mean scores: ``(N, C)``."""
        return self.scorer.rho(means)

    def _chosen(self, outputs: FloatArray) -> FloatArray:
        return np.asarray(self.link.estimates(outputs)[np.arange(len(self.columns)), self.columns])

    @cached_property
    def prediction(self) -> FloatArray:
        """``(B,)``: the predictions."""
        return self._chosen(self.told)

    @cached_property
    def base(self) -> FloatArray:
        """``(B,)``: the base rate."""
        return self._chosen(np.repeat(self.outputs(self.support.base[None]), len(self.columns), axis=0))

    @cached_property
    def weights(self) -> FloatArray:
        """``(B,)``: what the score of one token counts in the mean score of its set."""
        return np.asarray(np.where(self.counts > 0, self.support.shares(self.counts), 1.0) / self.sizes)
