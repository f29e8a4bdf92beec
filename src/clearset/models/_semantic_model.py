"""Fitted models over sets of strings and texts: a token table, and a set function that aggregates what it knows."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from clearset import export
from clearset.files import Key
from clearset.functions import SetFunction
from clearset.models._arrays import FloatArray
from clearset.models._corner_scores import scores_at_corners
from clearset.models._dependence import DRAWN, drawn_slots
from clearset.models._fitted import FittedModel, of_model
from clearset.models._frozen_model import FrozenModel, freeze
from clearset.models._model import FunctionModel
from clearset.models._scored_tokens import ScoredTokens
from clearset.models._semantic_storage import write_semantic_model
from clearset.models._token_reading import TokenReading
from clearset.models.documents import ShownExamples, token_document
from clearset.models.documents._item_examples import ItemExamples
from clearset.models.documents._token_document import MOST_BYTES, table_histogram
from clearset.sets import CrossedPositions, Feature, Stream, class_places, read_labels
from clearset.tokens import OWN, PER_SET, Choices, Setting, TokenPlacer, TokenReader, TokenTable, item_columns


class SemanticMethods(FittedModel):
    """What fitted models over sets of strings and texts offer beside what all models do."""

    if TYPE_CHECKING:

        def as_model(self) -> "SemanticModel": ...

    def _outputs(self, X: Any) -> FloatArray:
        if isinstance(X, str) and not os.path.exists(X):  # noqa: PTH110 (a long text is no path, but no error either)
            raise TypeError(
                f"X is the string {X[:40]!r}, and there is no such file or folder. Give a list of texts, such as "
                "[text], a frame, or the path of a Parquet file or of a folder of them."
            )
        return super()._outputs(X)

    token_table_: TokenTable = of_model("table", "The tokens and what is known of them, learned corrections included.")
    setting_: Setting = of_model("setting", "What was chosen: tokens, filters, cover, width and refinement.")

    @property
    def choices_(self) -> Choices:
        """Every setting that was tried, and its validation loss."""
        return Choices(self.as_model().choices)

    def freeze(self) -> FrozenModel:
        """Store phi of every token, so that sets are scored by looking tokens up.

        Only where phi needs nothing but the token's own features: without ``whole``, ``items``, ``tokens`` and details.

        Returns
        -------
        FrozenModel
            The tokens with their scores.
        """
        return freeze(self.as_model())


@dataclass(frozen=True, eq=False, repr=False)
class SemanticModel(SemanticMethods, FunctionModel):
    """A fitted model over sets of strings and texts: a token table, and a set function of its statistics.

    `SemanticFeatureEngine`, `SemanticClassifier` and `SemanticRegressor` fit it. It is plain data, and predicts,
    explains, verifies and draws without scikit-learn and torch. `clearset.load` reads one from a file, and
    `clearset.as_estimator` makes an estimator of it, which can be fitted again.

    Parameters
    ----------
    estimator : str
        The name of the estimator that fitted the model.
    parameters : mapping
        The parameters of that estimator.
    function : SetFunction
        The set function.
    binning : Binning
        Its features, keypoints and categories.
    trusts : tuple of Trust
        The declared trusts.
    link : Link
        From outputs to predictions.
    certificate : Certificate
        What was verified after fitting.
    record : Record
        How training went.
    feature_names_in : tuple of str or None
        The columns that it was fitted on, where these had names.
    table : TokenTable
        The tokens and their statistics, with learned corrections.
    setting : Setting
        How examples are taken apart and read.
    choices : list of dict, optional
        Every setting that was tried, and its validation loss.
    edits : tuple of LoggedEdit, optional
        The log of the edits that were made by hand; see `edit`.
    origin : Origin, optional
        The data and versions that it was fitted with, and what its author says of it.

    Examples
    --------
    >>> import clearset as cs
    >>> recipes = [["salt", "lime"], ["salt", "feta"], ["lime", "chili"], ["feta", "olives"]] * 10
    >>> estimator = cs.SemanticClassifier(tokens=cs.Items(), random_state=0)
    >>> model = estimator.fit(recipes, ["thai", "greek", "thai", "greek"] * 10).as_model()
    >>> model
    SemanticModel(SemanticClassifier, 2 classes, width 1)
    >>> model.predict([["lime"], ["feta", "salt"]]).tolist()
    ['thai', 'greek']
    """

    semantic: ClassVar[bool] = True
    write = write_semantic_model
    histogram = table_histogram

    table: TokenTable
    setting: Setting
    choices: list[dict[str, Any]] = field(default_factory=list)

    @property
    def n_features_in_(self) -> int:
        """Number of columns that it was fitted on; only where these had names."""
        return len(self.feature_names_in_)

    @property
    def n_known_tokens(self) -> int:
        return len(self.table)

    @cached_property
    def reader(self) -> TokenReader:
        """Finds the tokens of examples."""
        names = [feature.name for feature in self.binning.features]
        setting = self.setting
        return TokenReader(self.table, names, setting.cover, setting.shrinkage, setting.details)

    @cached_property
    def placer(self) -> TokenPlacer:
        """Places the tokens of examples between keypoints."""
        return self.reader.placer(self.binning)

    @cached_property
    def refined_function(self) -> SetFunction:
        corrections = self.table.corrections
        return replace(self.function, corrections=None if corrections is None else corrections.amounts)

    def read(self, X: Any, most_tokens: int | None = None) -> TokenReading:
        return TokenReading(self, X, most_tokens)

    def get_feature_names_out(self, input_features: Sequence[Any] | None = None) -> npt.NDArray[Any]:
        """Return the names of the columns of `transform`: after the column of items, and of several classes after each.

        Parameters
        ----------
        input_features : sequence, optional
            The names of the columns that it reads; by default those that it was fitted on.

        Returns
        -------
        ndarray of str
            The names.
        """
        names = (self.feature_names_in or ()) if input_features is None else input_features
        name = "_".join(str(name) for name in names if name not in self.setting.details) or "semantic"
        if self.link.n_outputs == 1:
            return np.array([name], dtype=object)
        return np.array([f"{name}_{label}" for label in np.asarray(self.link.classes).tolist()], dtype=object)

    def write_runtime(self, path: str | os.PathLike[str], key: Key | None = None) -> None:
        export.write_item_runtime(path, self.reader, self.binning, self.refined_function, self.link, key)

    def write_onnx(self, path: str | os.PathLike[str], *, explanations: bool) -> None:
        details = self.setting.details
        if details:
            raise ValueError(
                f"The model reads numbers of items ({', '.join(map(repr, details))}), which are not written as ONNX. "
                "Fit without details, or keep the model as save() writes it."
            )
        model: export.ItemModel
        if not {feature.name for feature in self.binning.features[1:]} - set(OWN):
            model = self.freeze().scored_table
        else:
            model = export.ReadTable(self.reader, self.binning, self.refined_function, self.link, self.support)
        export.write_item_onnx(path, model, explanations=explanations, about={"estimator": self.estimator})

    def sql(self, places: export.Places) -> export.Sql:
        parts = (self.binning, replace(self.refined_function, support=self.support), self.link)
        return export.item_sql(places, self.reader, *parts, lambda: scores_at_corners(self))

    def write_c(self, path: str | os.PathLike[str], name: str) -> None:  # noqa: ARG002
        raise ValueError("Models over strings are not written as C. Write them by to_runtime, to_onnx or to_sql.")

    def columns_of(self, stream: Stream) -> list[str]:
        return list(self.feature_names_in or item_columns(stream.schema, self.table.tokenizer))

    def drawn(self, label: Any) -> ScoredTokens:
        slots, first = drawn_slots(self.binning), self.placer.first
        rng, n_classes = np.random.default_rng(1), self.reader.rows.values.shape[1]
        keypoints = np.asarray(self.binning.keypoints[0]) - first
        values = rng.choice(keypoints, (DRAWN, n_classes))
        rows, corrected = np.arange(DRAWN, dtype=np.int32), np.full(DRAWN, -1, np.int32)
        fractions, offsets = np.zeros(slots[1:].shape), np.arange(DRAWN + 1)
        positions = CrossedPositions(slots[1:], fractions, offsets, rows, corrected, values, keypoints)
        counts = np.full(DRAWN, self.support.tokens)  # each stands for as many alike, so that it counts in full
        return ScoredTokens(self, positions, counts, values + first, label)

    def scope(self, feature: Feature) -> str:
        return "set" if feature.name in PER_SET else "token"

    def examples(self, X: Any, y: Any = None, names: Sequence[str | None] | None = None) -> ShownExamples:
        return ItemExamples(self, X, y, names)

    def read_labels(self, y: Any, n: int) -> npt.NDArray[Any]:
        classes = self.link.classes
        labels = read_labels(y, n, "number" if classes is None else "classes")
        if classes is None or labels.classes is None:
            return labels.values
        places: npt.NDArray[Any] = class_places(labels.classes, classes)[labels.values]
        return places

    def token_document(self, data: ShownExamples | None, *, with_tokens: bool) -> dict[str, Any]:
        """Describe the token table, with as many of its tokens as fit if they are wanted."""
        wanted = data.tokens_shown() if with_tokens and data is not None else None
        return token_document(self, wanted, MOST_BYTES if with_tokens else 0)
