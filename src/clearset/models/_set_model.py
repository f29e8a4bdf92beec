"""Fitted models over sets whose tokens have features."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy import sparse

from clearset import export
from clearset.engines import engine, engine_on
from clearset.files import Key
from clearset.models._arrays import FloatArray, IntArray
from clearset.models._dependence import DRAWN, drawn_slots
from clearset.models._explain import assemble
from clearset.models._explanation import Explanation, joined
from clearset.models._explanation_columns import column_names, numbers
from clearset.models._model import FunctionModel, Reading
from clearset.models._scored_sets import ScoredPlainSets, category_names
from clearset.models._set_storage import write_set_model
from clearset.models.documents import ShownExamples
from clearset.models.documents._set_examples import SetExamples
from clearset.models.edits._log import forbidden_features
from clearset.sets import (
    BUILT_IN,
    Feature,
    Positions,
    SetData,
    Stream,
    check_numbers,
    class_places,
    feature_columns,
    holds_lists,
    is_frame,
    label_column,
    name_columns,
    read_more_sets,
)
from clearset.tokens import TokenLimitError


@dataclass(frozen=True, eq=False, repr=False)
class SetModel(FunctionModel):
    """A fitted model over sets whose tokens have features, as `SetRegressor` and `SetClassifier` fit it.

    It is plain data, and predicts, explains, verifies and draws without scikit-learn and torch. `clearset.load` reads
    one from a file, and `clearset.as_estimator` makes an estimator of it, which can be fitted again.

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
    sets_of_one : bool, default=False
        Whether every set that it was fitted on had one token.
    n_features_in : int, default=0
        The number of features or columns that it was fitted on.
    set_columns : tuple of str, default=()
        The features that belonged to whole sets when it was fitted, but for the number of tokens.
    edits : tuple of LoggedEdit, optional
        The log of the edits that were made by hand; see `edit`.
    origin : Origin, optional
        The data and versions that it was fitted with, and what its author says of it.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import clearset as cs
    >>> products = pa.table({"stars": [[5, 4], [1], [5, 5, 5], [2, 3]]})
    >>> estimator = cs.SetRegressor([cs.Feature("stars", monotonic="increasing")], random_state=0)
    >>> model = estimator.fit(products, [120.0, 20.0, 180.0, 60.0]).as_model()
    >>> model
    SetModel(SetRegressor, a number, width 1)
    >>> reading = model.read(products)  # read once, for whatever is asked of the sets
    >>> bool((model.link.predictions(reading.outputs()) == model.predict(products)).all())
    True
    """

    write = write_set_model

    sets_of_one: bool = False
    n_features_in: int = 0
    set_columns: tuple[str, ...] = ()

    @property
    def n_features_in_(self) -> int:
        """Number of features or columns that it was fitted on."""
        return self.n_features_in

    @property
    def tells_features_apart(self) -> bool:
        return self.sets_of_one

    def read(self, X: Any, most_tokens: int | None = None) -> "SetReading":
        if not isinstance(X, SetData) and not is_frame(X):
            X = self._array(X) if self.feature_names_in is None else name_columns(self._array(X), self.feature_names_in)
        if self.edits and is_frame(X):
            X = self._with_forbidden(X)
        sets = read_more_sets(X, self.binning.features, sets_of_one=self.sets_of_one)
        if most_tokens is not None and sets.n_tokens > most_tokens:
            raise TokenLimitError(f"The sets have more than {most_tokens:,} tokens together. Read them in parts.")
        return SetReading(self, sets)

    def write_runtime(self, path: str | os.PathLike[str], key: Key | None = None) -> None:
        unused = forbidden_features(self.edits)
        parts = (self.binning, self.function, self.link, key)
        export.write_value_runtime(path, *parts, sets_of_one=self.sets_of_one, unused=unused)

    def write_onnx(self, path: str | os.PathLike[str], *, explanations: bool) -> None:
        about = {"estimator": self.estimator}
        export.write_value_onnx(path, self._exported(), explanations=explanations, about=about)

    def sql(self, places: export.Places) -> export.Sql:
        return export.value_sql(places, self._exported())

    def write_c(self, path: str | os.PathLike[str], name: str) -> None:
        export.write_value_c(path, self._exported(), name)

    def _exported(self) -> export.ValueModel:
        absent = forbidden_features(self.edits)
        return export.ValueModel(self.binning, self.function, self.link, self.sets_of_one, self.set_columns, absent)

    def columns_of(self, stream: Stream) -> list[str]:
        forbidden = forbidden_features(self.edits)
        names = feature_columns(self.binning.features)
        return [name for name in names if name in stream.schema.names or name not in forbidden]

    def _with_forbidden(self, X: Any) -> Any:
        """Add columns without values to a frame that lacks forbidden features: nobody needs to have these any more."""
        frame = nw.from_native(X, eager_only=True)
        kinds = {feature.name: feature.kind for feature in self.binning.features if feature.name not in BUILT_IN}
        absent = [name for name in forbidden_features(self.edits) if name in kinds and name not in frame.columns]
        types = {name: nw.Float64() if kinds[name] == "numeric" else nw.String() for name in absent}
        return frame.with_columns(nw.lit(None, dtype).alias(name) for name, dtype in types.items()).to_native()

    def _array(self, X: Any) -> npt.NDArray[Any]:
        if sparse.issparse(X):
            raise TypeError("X is a sparse matrix, but sets are read from dense arrays. Use X.toarray().")
        if np.asarray(X).dtype.kind in "cSU":
            raise ValueError(f"X holds {np.asarray(X).dtype}, but sets are read from numbers. Convert it.")
        objects = isinstance(X, np.ndarray) and X.dtype.kind == "O"
        as_it_is = objects and (self.feature_names_in is not None or holds_lists(X))
        try:
            array = np.asarray(X, dtype=None if as_it_is else np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"X must be a frame, a SetData or a 2-D array of numbers ({error}).") from None
        if array.ndim != 2:
            raise ValueError(
                f"X has shape {array.shape}; give a 2-D array, one row for each set of one token, or a frame."
            )
        if array.shape[1] != self.n_features_in:
            raise ValueError(
                f"X has {array.shape[1]} features, but {self.estimator} is expecting {self.n_features_in} features as "
                "input."
            )
        return array

    def drawn(self, label: Any) -> ScoredPlainSets:
        slots = drawn_slots(self.binning)
        positions = Positions(slots, np.zeros(slots.shape), np.arange(DRAWN + 1))
        counts = np.full(DRAWN, self.support.tokens)  # each stands for as many alike, so that it counts in full
        return ScoredPlainSets(self, positions, counts, [True] * len(slots), label)

    def probed(self, X: Any) -> Positions | None:
        return None if X is None else self.binning.positions(self.read(X).sets, np.float64)

    def scope(self, feature: Feature) -> str:
        # Only data tell what belongs to whole sets.
        return BUILT_IN.get(feature.name, "token")

    def examples(self, X: Any, y: Any = None, names: Sequence[str | None] | None = None) -> ShownExamples:
        return SetExamples(self, X, y, names)

    def read_labels(self, y: Any, n: int) -> npt.NDArray[Any]:
        column = label_column(y, n)
        if self.link.classes is None:
            return check_numbers(column)
        return class_places(column, self.link.classes)


class SetReading(Reading):
    """Sets that a `SetModel` has read."""

    def __init__(self, model: SetModel, sets: SetData) -> None:
        self.model, self.sets = model, sets
        self.n_tokens = sets.n_tokens

    def __len__(self) -> int:
        return len(self.sets)

    def outputs(self) -> FloatArray:
        model = self.model
        applies = engine_on(model.parameters.get("device", "cpu"))
        outputs = applies.outputs_of_sets(model.function, model.binning, self.sets, model.threads)
        return model.link.with_nothing(outputs, self._sizes(self.sets) == 0)

    def _sizes(self, sets: SetData) -> IntArray:
        """Return how many tokens count in each set; of a row of a plain table without any value, none."""
        names = [feature.name for feature in self.model.binning.features]
        return sets.sizes_known(names) if self.model.sets_of_one else sets.sizes

    def scores(self) -> tuple[FloatArray, IntArray]:
        model, sizes, scores = self.model, [np.zeros(1, np.int64)], []
        for positions in self._placed():
            scores.append(engine().scores(model.function, positions, model.threads))
            sizes.append(np.diff(positions.offsets))
        return np.concatenate(scores), np.cumsum(np.concatenate(sizes))

    def _pieces(self) -> Iterator[SetData]:
        return self.sets.pieces()

    def _placed(self) -> Iterator[Positions]:
        return (self.model.binning.positions(piece, np.float64) for piece in self._pieces())

    def _scored(self, piece: SetData, label: Any) -> ScoredPlainSets:
        binning = self.model.binning
        per_set = [piece.column(feature.name)[1] for feature in binning.features]
        positions = binning.positions(piece, np.float64)
        # Where every set has one token, as the rows of a plain table have, the features are what people ask about.
        told_apart = [True] * len(per_set) if self.model.tells_features_apart else per_set
        return ScoredPlainSets(self.model, positions, self._sizes(piece), per_set, label, told_apart)

    def explain(self, label: Any, *, effects: bool, frames: str | None) -> Explanation:
        parts = [self._explained(piece, label, effects, frames) for piece in self._pieces()]
        return joined(parts)

    def _explained(self, data: SetData, label: Any, effects: bool, frames: str | None) -> Explanation:
        sets = self._scored(data, label)
        tokens = pa.array(np.arange(len(sets.set_of)) - sets.offsets[sets.set_of], mask=~sets.present)
        features = [feature.name for feature in sets.binning.features]
        values = [_values(sets, data, name) for name in features]
        named = dict(zip(column_names(features, " (feature)"), values, strict=True))
        return assemble(sets, tokens, named, {}, effects=effects, frames=frames)


def _values(sets: ScoredPlainSets, data: SetData, name: str) -> pa.Array:
    """Return a feature of all tokens as it was given."""
    column, per_set = data.column(name)
    values = np.full(len(sets.present), np.nan)
    if per_set:
        values[:] = column[sets.set_of]
    else:
        values[np.repeat(data.sizes > 0, sets.sizes)] = column
    if name not in data.categories:
        return numbers(values)
    absent = np.isnan(values)
    codes = np.where(absent, 0, values).astype(np.int64)
    return category_names(data.categories[name]).take(pa.array(codes, mask=absent))
