"""A fitted joint model: engines, and a model of their estimates beside dense features."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from clearset.files import Key
from clearset.functions import Certificate, Link
from clearset.models._arrays import FloatArray
from clearset.models._explanation import Explanation, joined
from clearset.models._exported import WrittenAsOnnx
from clearset.models._joint_explanation import Column, JointExplanation, columns_of
from clearset.models._joint_storage import write_joint_model
from clearset.models._predicting import PredictsLabels
from clearset.models._semantic_model import SemanticModel
from clearset.models._set_model import SetModel
from clearset.models.documents import ModelCard, card_of_parts
from clearset.sets import count_examples, library_of, take_examples


@dataclass(frozen=True, eq=False, repr=False)
class FittedJointModel(WrittenAsOnnx, PredictsLabels):
    """A fitted joint model as plain data, as `JointModel` fits it.

    It reads frames with the columns of the engines and those of dense features, and needs neither scikit-learn nor
    torch. `clearset.load` reads one from a file, and `clearset.as_estimator` makes an estimator of it, which can be
    fitted again.

    Parameters
    ----------
    engines : mapping of str, or tuple of str, to SemanticModel
        The engines by column.
    follow_on : SetModel
        The model of their estimates and of dense features.
    parameters : mapping
        The parameters of the `JointModel`; ``engines`` holds those of each engine, by column, and ``follow_on`` the
        ``estimator`` and its ``parameters``.
    gain : float, default=0.0
        By how much joint training has lowered the loss on validation data.
    history : list of dict, optional
        ``epoch``, ``loss`` and ``validation_loss`` of every epoch of joint training.
    """

    engines: Mapping[Column, SemanticModel]
    follow_on: SetModel
    parameters: Mapping[str, Any]
    gain: float = 0.0
    history: list[dict[str, float]] = field(default_factory=list)

    def __repr__(self) -> str:
        return f"FittedJointModel({', '.join(self.estimate_names)}: {self.follow_on!r})"

    @property
    def estimate_names(self) -> list[str]:
        """The names of all estimates, engine after engine."""
        return [name for column, engine in self.engines.items() for name in names_of(column, engine)]

    def estimates(self, X: Any) -> pa.Table:
        """Return what the follow-on model reads: the engines' estimates, and the dense columns beside them.

        Parameters
        ----------
        X : frame
            The columns of the engines and the dense ones.

        Returns
        -------
        pyarrow.Table
            One row for each row of X. Estimates are missing where no engine knows a token, if there are no dense
            columns.
        """
        frame = read_frame(X, self.engines)
        readings = [engine.read(part_of(frame, column)) for column, engine in self.engines.items()]
        known = [reading.model.link.estimates(reading.outputs()) for reading in readings]
        names = [feature.name for feature in self.follow_on.binning.features]
        if set(names) == {name for column, engine in self.engines.items() for name in names_of(column, engine)}:
            # Without a known token and without dense columns, there is nothing to be read.
            nothing = np.all([reading.found.counts == 0 for reading in readings], axis=0)
            known = [np.where(nothing[:, None], np.nan, estimates) for estimates in known]
        return estimates_table(self.engines, known, frame, names)

    def _outputs(self, X: Any) -> FloatArray:
        return self.follow_on.read(self.estimates(X)).outputs()

    def _link(self) -> Link:
        return self.follow_on.link

    def explain(self, X: Any, label: Any = None, *, effects: bool = False) -> JointExplanation:
        """Return what the follow-on model makes of each row's estimates, and what made the estimates.

        Parameters
        ----------
        X : frame
            The columns of the engines and the dense ones.
        label : object, optional
            Of several classes the one to explain; by default each row's predicted class.
        effects : bool, default=False
            Whether to find out as well what a change of each feature would do.

        Returns
        -------
        JointExplanation
            The explanations, one step after the other.
        """
        explanation = self.follow_on.explain(self.estimates(X), label, effects=effects)
        explanation = replace(explanation, frames=library_of(X))
        frame = read_frame(X, self.engines)
        engines = {
            column: _explained(engine, part_of(frame, column), explanation.label, effects=effects)
            for column, engine in self.engines.items()
        }
        return JointExplanation(explanation, engines)

    def verify(self) -> Certificate:
        """Check every declared constraint of the engines and of the follow-on model.

        Returns
        -------
        Certificate
            All checks; true if every one holds.
        """
        checks = [
            replace(check, constraint=f"{'_'.join(columns_of(column))}: {check.constraint}")
            for column, engine in self.engines.items()
            for check in engine.verify().checks
        ]
        return Certificate((*checks, *self.follow_on.verify().checks))

    def card(self) -> ModelCard:
        """Return what is to be known of the engines and of the follow-on model before they are used.

        Returns
        -------
        ModelCard
            The cards of all parts.
        """
        parts: dict[str, Any] = {"_".join(columns_of(column)): engine for column, engine in self.engines.items()}
        return card_of_parts("JointModel", {**parts, "follow-on": self.follow_on})

    def save(self, path: str | os.PathLike[str], *, key: Key | None = None) -> None:
        """Write the model to one file that holds no code and no examples; `clearset.load` reads it.

        Parameters
        ----------
        path : path-like
            Where to; an existing file is replaced only once the new one is complete.
        key : bytes or Ed25519PrivateKey, optional
            The key to sign the file with; see `clearset.load`.
        """
        write_joint_model(self, path, key)

    def _write_onnx(self, path: str | os.PathLike[str], *, explanations: bool) -> None:  # noqa: ARG002
        raise ValueError(
            "A joint model is not written as one ONNX file. Write its parts, model.engines[column].to_onnx(...) and "
            "model.follow_on.to_onnx(...), and give the follow-on model what the engines predict."
        )


def estimates_table(
    engines: Mapping[Column, SemanticModel], known: Sequence[FloatArray], frame: nw.DataFrame[Any], dense: Sequence[str]
) -> pa.Table:
    """Put the engines' estimates and the dense columns of a frame side by side.

    Parameters
    ----------
    engines : mapping of str, or tuple of str, to SemanticModel
        The engines by column.
    known : sequence of ndarray of shape (n, 1) or (n, classes)
        What each engine estimates.
    frame : narwhals.DataFrame
        Where dense columns are.
    dense : sequence of str
        Their names; those of estimates among them are not looked up.

    Returns
    -------
    pyarrow.Table
        One row for each row of the frame.
    """
    table: dict[str, Any] = {}
    for (column, engine), estimates in zip(engines.items(), known, strict=True):
        table |= dict(zip(names_of(column, engine), estimates.T, strict=True))
    for name in dense:
        if name not in table and name in frame.columns:
            table[name] = frame[name].to_arrow()
    return pa.table(table)


def read_frame(X: Any, engines: Mapping[Column, Any]) -> nw.DataFrame[Any]:
    """Read a frame that has the columns of all engines.

    Parameters
    ----------
    X : frame
        Of pandas, polars or Arrow.
    engines : mapping of str, or tuple of str, to object
        The engines by column.

    Returns
    -------
    narwhals.DataFrame
        The frame.
    """
    frame = nw.from_native(X, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        raise TypeError(f"X must be a frame (pandas, polars, Arrow); received {type(X).__name__}.")
    count_examples(frame)  # refuses none
    missing = [name for column in engines for name in columns_of(column) if name not in frame.columns]
    if missing:
        raise ValueError(f"engines names the columns {missing}, but X has {frame.columns}.")
    return frame


def part_of(frame: nw.DataFrame[Any], column: Column) -> Any:
    """Return an engine's column, or its columns as a frame.

    Parameters
    ----------
    frame : narwhals.DataFrame
        Where it is.
    column : str or tuple of str
        The name, or the names.

    Returns
    -------
    series or frame
        Of the library that the frame came from.
    """
    return frame[column].to_native() if isinstance(column, str) else frame.select(*column).to_native()


def names_of(column: Column, engine: SemanticModel) -> list[str]:
    """Return the names of an engine's estimates.

    Parameters
    ----------
    column : str or tuple of str
        The column, or the columns, that the engine reads.
    engine : SemanticModel
        The engine.

    Returns
    -------
    list of str
        One name, or one for each of several classes.
    """
    return [str(name) for name in engine.get_feature_names_out(["_".join(columns_of(column))])]


def _explained(engine: SemanticModel, part: Any, labels: npt.NDArray[Any] | None, *, effects: bool) -> Explanation:
    """Explain the estimates of an engine; of several classes each row's own, as ``(B,)`` labels say."""
    if labels is None or engine.link.n_outputs == 1:
        return engine.explain(part, effects=effects)
    chosen, places = np.unique(labels, return_inverse=True)
    rows = [np.flatnonzero(places == place) for place in range(len(chosen))]
    parts = [
        engine.explain(take_examples(part, own), label, effects=effects)
        for own, label in zip(rows, chosen.tolist(), strict=True)
    ]
    return joined(parts).take(np.argsort(np.concatenate(rows)))
