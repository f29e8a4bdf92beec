"""A fitted model as plain data: what comes out of a fit, and all that is asked of it."""

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from clearset import display, export
from clearset.engines import engine
from clearset.files import Key
from clearset.functions import Certificate, Link, SetFunction, Support
from clearset.models._arrays import FloatArray, IntArray
from clearset.models._explanation import Explanation
from clearset.models._fitted import FittedModel, Record
from clearset.models._origin import Origin
from clearset.models._predicting import Estimates, PredictsLabels
from clearset.models._scored_sets import ScoredSets
from clearset.models.documents import ModelCard, ShownExamples, card_of
from clearset.models.edits import LoggedEdit
from clearset.sets import Binning, Feature, Positions, Stream, Trust, check_weights, count_threads, named_labels


class _OfEstimator:
    """A method that only the estimator of a model has: the model says how to get it."""

    def __set_name__(self, _owner: type, name: str) -> None:
        self._name = name

    def __get__(self, model: Any, _cls: type | None = None) -> Any:
        if model is None:
            return self
        raise AttributeError(
            f"A {type(model).__name__} is what a fit has made, and has no {self._name}. Make its estimator with "
            "clearset.as_estimator(model), and use that."
        )


class Reading(ABC):
    """Sets that a model has read once, for whatever is asked of them.

    Attributes
    ----------
    n_tokens : int
        The number of tokens of all sets.
    """

    n_tokens: int

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of sets."""

    @abstractmethod
    def outputs(self) -> FloatArray:
        """Return the outputs, ``(B, C)``."""

    @abstractmethod
    def scores(self) -> tuple[FloatArray, IntArray]:
        """Return phi of every token, ``(T, C, K)``, and where the tokens of each set begin."""

    @abstractmethod
    def _pieces(self) -> Iterator[Any]:
        """Cut the sets into pieces that take a bounded amount of memory once they are scored."""

    @abstractmethod
    def _scored(self, piece: Any, label: Any) -> ScoredSets:
        """Return the sets of a piece, whose features can be changed."""

    def scored(self, label: Any) -> Iterator[ScoredSets]:
        """Return the sets in pieces whose features can be changed."""
        return (self._scored(piece, label) for piece in self._pieces())

    def ranked_tokens(self, parts: FloatArray) -> pa.Table | None:  # noqa: ARG002
        """Add up what tokens have, as often as they occur, the largest sum first; None where tokens have no names."""
        return None

    def ranked_by_column(self, label: Any, n: int) -> pa.Table | None:  # noqa: ARG002
        """Rank the tokens of several columns by what they add to n predictions; None where there is one column."""
        return None

    @abstractmethod
    def explain(self, label: Any, *, effects: bool, frames: str | None) -> Explanation:
        """Return what each token adds to the prediction."""


class Model(FittedModel, PredictsLabels, Estimates):
    """What comes out of a fit, with all that is needed to predict, explain, verify, show and save it.

    Its set function is that which gives the outputs: of a joint model, the follow-on model's. The attributes are
    documented with `SetModel`.
    """

    fit = _OfEstimator()
    fit_transform = _OfEstimator()
    refit_set_function = _OfEstimator()
    refresh_table = _OfEstimator()
    set_params = _OfEstimator()

    semantic: ClassVar[bool] = False
    """Whether it reads strings and texts by a token table."""

    if TYPE_CHECKING:  # fields of some models, and properties of others

        @property
        def estimator(self) -> str: ...
        @property
        def parameters(self) -> Mapping[str, Any]: ...
        @property
        def function(self) -> SetFunction: ...
        @property
        def binning(self) -> Binning: ...
        @property
        def trusts(self) -> tuple[Trust, ...]: ...
        @property
        def link(self) -> Link: ...
        @property
        def certificate(self) -> Certificate: ...
        @property
        def record(self) -> Record: ...
        @property
        def feature_names_in(self) -> tuple[str, ...] | None: ...
        @property
        def edits(self) -> tuple[LoggedEdit, ...]: ...
        @property
        def origin(self) -> Origin: ...

    def __repr__(self) -> str:
        label = "a number" if self.link.classes is None else f"{len(self.link.classes)} classes"
        edited = f", {display.counted(len(self.edits), 'edit')}" if self.edits else ""
        return f"{type(self).__name__}({self.estimator}, {label}, width {self.function.width}{edited})"

    def _repr_html_(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self.parameters.items())
        return display.model_html(self, f"{self.estimator}({given})")

    def as_model(self) -> "Model":
        return self

    @property
    def threads(self) -> int:
        """Threads of predictions."""
        return count_threads(self.parameters.get("n_jobs"))

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002
        """Return the parameters of the estimator that fitted the model.

        Parameters
        ----------
        deep : bool, default=True
            Ignored; it is there for scikit-learn.

        Returns
        -------
        dict
            The parameters by name.
        """
        return dict(self.parameters)

    @abstractmethod
    def read(self, X: Any, most_tokens: int | None = None) -> Reading:
        """Read sets once, for whatever is asked of them.

        Parameters
        ----------
        X
            Sets, as for `fit`.
        most_tokens : int, optional
            The largest number of tokens of all sets together; a `TokenLimitError` is raised where there are more.
        """

    @abstractmethod
    def columns_of(self, stream: Stream) -> list[str]:
        """Return those columns of a stream that it reads."""

    @abstractmethod
    def drawn(self, label: Any) -> ScoredSets:
        """Draw sets of one token, their features each by itself."""

    @abstractmethod
    def write(self, path: str | os.PathLike[str], key: Key | None = None) -> None:
        """Write the model as an artifact, signed if there is a key."""

    @abstractmethod
    def sql(self, places: export.Places) -> export.Sql:
        """Write the model as a query over tables of a database."""

    @abstractmethod
    def write_c(self, path: str | os.PathLike[str], name: str) -> None:
        """Write the model as a header in C, whose names begin with `name`."""

    @abstractmethod
    def write_runtime(self, path: str | os.PathLike[str], key: Key | None = None) -> None:
        """Write the model for `clearset.runtime`."""

    @abstractmethod
    def write_onnx(self, path: str | os.PathLike[str], *, explanations: bool) -> None:
        """Write the model as ONNX."""

    @abstractmethod
    def examples(self, X: Any, y: Any = None, names: Sequence[str | None] | None = None) -> ShownExamples:
        """Read sets, their labels and names, as documents show them."""

    @abstractmethod
    def read_labels(self, y: Any, n: int) -> npt.NDArray[Any]:
        """Return the labels of n sets as numbers, or as places of classes."""

    def token_document(self, data: ShownExamples | None, *, with_tokens: bool) -> dict[str, Any] | None:  # noqa: ARG002
        """Describe the token table, where there is one."""
        return None

    def further_document(self, data: ShownExamples | None) -> dict[str, Any]:  # noqa: ARG002
        """Describe what only this kind of model has."""
        return {}

    def histogram(self, d: int) -> dict[str, Any] | None:  # noqa: ARG002
        """Count a feature's values without any data, where they are known."""
        return None

    @abstractmethod
    def scope(self, feature: Feature) -> str:
        """Return what a feature's value belongs to: each ``token``, the whole ``set``, or its ``size``."""

    @property
    def support(self) -> Support:
        """What training has shown; files of the first version do not tell it."""
        function = self.function
        if function.support is not None:
            return function.support
        return Support.unknown(self.link.n_outputs, function.width, self.binning.n_slots)

    @property
    def refined_function(self) -> SetFunction:
        """The set function with the corrections of a token table, where there is one."""
        return self.function

    @property
    def tells_features_apart(self) -> bool:
        """Whether explanations name what each feature of a token adds, because every set has one token."""
        return False

    @property
    def predicts(self) -> bool:
        """Whether it is a predictor: an engine estimates labels for models that follow."""
        return self.estimator != "SemanticFeatureEngine"

    @property
    def n_known_tokens(self) -> int | None:
        """The number of tokens in its token table; None without one."""
        return None

    @property
    def feature_names_in_(self) -> npt.NDArray[Any]:
        """The names of the columns that it was fitted on; only where these had names."""
        if self.feature_names_in is None:
            raise AttributeError(f"The {self.estimator} was fitted on data without names of columns.")
        return np.array(self.feature_names_in, dtype=object)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy of predicted classes, or R² of predicted numbers, as the estimator does.

        Parameters
        ----------
        X : frame, SetData, array-like, path or Arrow data set
            Sets, as for `fit`.
        y : array-like of shape (n,) or str
            Their labels; of data in files, the name of their column.
        sample_weight : array-like of shape (n,) or str, optional
            One weight for each set, or the name of their column.

        Returns
        -------
        float
            The score; 1 is the best.
        """
        y, sample_weight = named_labels(X, y, sample_weight)
        outputs = self._outputs(X)
        return self.score_of(outputs, self.read_labels(y, len(outputs)), sample_weight)

    def score_of(self, outputs: FloatArray, labels: npt.NDArray[Any], sample_weight: Any = None) -> float:
        """Return the same of outputs ``(B, C)`` and labels that are read already."""
        weights, predicted = check_weights(sample_weight, len(outputs)), self.link.predictions(outputs)
        if self.link.classes is not None:
            return float(np.average(predicted == self.link.classes[labels.astype(np.int64)], weights=weights))
        spread = labels - np.average(labels, weights=weights)
        total = float(weights @ spread**2)
        left = float(weights @ (labels - predicted) ** 2)
        return 1.0 - left / total if total > 0 else float(left == 0.0)

    def score_positions(self, positions: Positions) -> FloatArray:
        """Return phi at any positions, ``(T, C, K)``, for C set functions."""
        return engine().scores(self.function, positions, self.threads)

    def rho_outputs(self, means: FloatArray) -> FloatArray:
        """Return the outputs, ``(n, C)``, of means of token scores, ``(n, C * K)`` for C set functions."""
        function = self.function
        return engine().rho(function.rho, means.reshape(-1, function.outputs, function.width))

    def probed(self, X: Any) -> Positions | None:  # noqa: ARG002
        """Return the positions to probe with; None for random ones."""
        return None

    @abstractmethod
    def editable(self) -> "FunctionModel":
        """Return itself, which is changed by edits; raise an error where only parts of it are."""

    def carded(self, measured: Mapping[str, Any] | None = None) -> ModelCard:
        """Return its card, with how good it is on labelled sets, as `quality` says it."""
        return card_of(self, measured)


# Only its subclasses are made, so only they have a constructor.
@dataclass(frozen=True, eq=False, repr=False, init=False)
class FunctionModel(Model):
    """A model of one set function, which reads the sets themselves."""

    estimator: str
    parameters: Mapping[str, Any]
    function: SetFunction
    binning: Binning
    trusts: tuple[Trust, ...]
    link: Link
    certificate: Certificate
    record: Record
    feature_names_in: tuple[str, ...] | None
    edits: tuple[LoggedEdit, ...] = field(default=(), kw_only=True)
    origin: Origin = field(default_factory=Origin, kw_only=True)

    def editable(self) -> "FunctionModel":
        return self
