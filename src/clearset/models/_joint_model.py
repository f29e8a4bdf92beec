"""A fitted joint model: engines, and a model of their estimates beside dense features."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NoReturn

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from clearset import display, export
from clearset.files import Key
from clearset.functions import Certificate, Link, SetFunction, Support
from clearset.models._fitted import Record
from clearset.models._joint_columns import Column, columns_of, names_of
from clearset.models._joint_explanation import JointExplanation
from clearset.models._joint_reading import JointReading
from clearset.models._joint_storage import write_joint_model
from clearset.models._model import Model
from clearset.models._origin import Origin
from clearset.models._scored_sets import ScoredSets
from clearset.models._semantic_model import SemanticModel
from clearset.models._set_model import SetModel
from clearset.models.documents import ModelCard, ShownExamples, card_of, card_of_parts
from clearset.models.documents._joint_document import joint_document
from clearset.models.documents._set_examples import SetExamples
from clearset.models.edits import LoggedEdit
from clearset.sets import BUILT_IN, SIZE, Binning, Feature, Stream, Trust

FOLLOW_ON = "follow-on"
"""What the follow-on model is called where parts are named."""


@dataclass(frozen=True, eq=False, repr=False)
class FittedJointModel(Model):
    """A fitted joint model as plain data, as `JointModel` fits it.

    It reads frames with the columns of the engines and those of dense features, and needs neither scikit-learn nor
    torch. What is asked of its set function, such as `calibrators`, `phi` and `partial_dependence`, is answered of the
    follow-on model, whose features are the estimates and the dense columns. `clearset.load` reads one from a file, and
    `clearset.as_estimator` makes an estimator of it, which can be fitted again.

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
    interrupted : bool, default=False
        Whether an interrupt (Ctrl-C) ended training early.
    origin : Origin, optional
        The versions that it was fitted with, and what its author says of it; its parts know their data.

    Examples
    --------
    >>> import clearset as cs
    >>> import pyarrow as pa
    >>> words = [["oak", "ripe"], ["thin"], ["ripe"], ["thin", "oak"]]
    >>> wines = pa.table({"words": words * 10, "price": [9, 4, 8, 5] * 10})
    >>> model = cs.JointModel(random_state=0).fit(wines, [92.5, 83.5, 91.0, 86.0] * 10).as_model()
    >>> model
    FittedJointModel(words: SetModel(SetRegressor, a number, width 1))
    >>> model.follow_on.feature_names_in
    ('words', 'price')
    """

    counter: ClassVar[str] = SIZE
    estimator: ClassVar[str] = "JointModel"
    write = write_joint_model

    engines: Mapping[Column, SemanticModel]
    follow_on: SetModel
    parameters: Mapping[str, Any]
    gain: float = 0.0
    history: list[dict[str, float]] = field(default_factory=list)
    interrupted: bool = False
    origin: Origin = field(default_factory=Origin, kw_only=True)

    def __repr__(self) -> str:
        return f"FittedJointModel({', '.join(self.estimate_names)}: {self.follow_on!r})"

    def _repr_html_(self) -> str:
        return display.joint_model_html(self, "JointModel()")

    @property
    def parts(self) -> dict[str, SetModel | SemanticModel]:
        """The engines by the names of their columns, joined by ``_``, and then the follow-on model."""
        engines = {"_".join(columns_of(column)): engine for column, engine in self.engines.items()}
        return {**engines, FOLLOW_ON: self.follow_on}

    def with_part(self, name: Column, part: Any) -> "FittedJointModel":
        """Return the same model with another engine or follow-on model, such as one that was edited by hand.

        Parameters
        ----------
        name : str or tuple of str
            The column of the engine, or ``"follow-on"``.
        part : SemanticModel or SetModel
            What takes its place; it must read and estimate the same.

        Returns
        -------
        FittedJointModel
            The new model; this one stays as it is.

        Examples
        --------
        >>> import clearset as cs
        >>> import pyarrow as pa
        >>> wines = pa.table({"words": [["oak", "ripe"], ["thin"]] * 20, "price": [9, 4] * 20})
        >>> model = cs.JointModel(random_state=0).fit(wines, [92.5, 83.5] * 20).as_model()
        >>> edited = model.with_part("words", model.engines["words"].edit().drop_token("thin").model)
        >>> [str(logged) for logged in edited.edits]
        ["Token 'thin' dropped"]
        """
        if name not in (*self.engines, FOLLOW_ON):
            raise ValueError(f"There is no part {name!r}; there are {[*self.engines, FOLLOW_ON]}.")
        now: Any = self.follow_on if name == FOLLOW_ON else self.engines[name]
        same = type(part) is type(now) and part.estimator == now.estimator
        alike = same and part.link.name == now.link.name and _classes(part) == _classes(now)
        if not alike or [f.name for f in part.binning.features] != [f.name for f in now.binning.features]:
            raise ValueError(f"{part!r} cannot take the place of {now!r}. Give one made by its edit().")
        if name == FOLLOW_ON:
            return replace(self, follow_on=part)
        return replace(self, engines={**self.engines, name: part})

    @property
    def estimate_names(self) -> list[str]:
        """The names of all estimates, engine after engine."""
        return [name for column, engine in self.engines.items() for name in names_of(column, engine)]

    @property
    def function(self) -> SetFunction:
        return self.follow_on.function

    @property
    def binning(self) -> Binning:
        return self.follow_on.binning

    @property
    def trusts(self) -> tuple[Trust, ...]:
        return self.follow_on.trusts

    @property
    def link(self) -> Link:
        return self.follow_on.link

    @property
    def support(self) -> Support:
        return self.follow_on.support

    @property
    def tells_features_apart(self) -> bool:
        return self.follow_on.tells_features_apart

    @property
    def certificate(self) -> Certificate:
        return self._of_parts({name: part.certificate for name, part in self.parts.items()})

    @property
    def record(self) -> Record:
        """How joint training went; `parts` know how each of them was trained."""
        losses = [epoch["validation_loss"] for epoch in self.history]
        best = int(np.argmin(losses)) + 1 if losses and self.gain > 0 else 0
        return Record(self.history, best, self.interrupted, self.follow_on.record.smoothness)

    @property
    def edits(self) -> tuple[LoggedEdit, ...]:
        return tuple(logged for part in self.parts.values() for logged in part.edits)

    @property
    def dense_names(self) -> list[str]:
        """The dense columns that the follow-on model reads."""
        names = [feature.name for feature in self.binning.features]
        return [name for name in names if name not in (*BUILT_IN, *self.estimate_names)]

    @property
    def feature_names_in(self) -> tuple[str, ...]:
        read = [name for column in self.engines for name in columns_of(column)]
        return tuple(dict.fromkeys([*read, *self.dense_names]))

    def read(self, X: Any, most_tokens: int | None = None) -> JointReading:
        return JointReading(self, X, most_tokens)

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
        return self.read(X).estimates

    def explain(self, X: Any, label: Any = None, *, effects: bool = False) -> JointExplanation:
        """Return what each token and each dense column adds to each row's prediction, and what made the estimates.

        Parameters
        ----------
        X : frame
            The columns of the engines and the dense ones.
        label : object, optional
            Of several classes the one to explain; by default each row's predicted class.
        effects : bool, default=False
            Whether to find out as well what a change of each estimate and each dense column would do.

        Returns
        -------
        JointExplanation
            The whole way from the base rate to the prediction, and the explanations of both steps.
        """
        explanation = super().explain(X, label, effects=effects)
        assert isinstance(explanation, JointExplanation)  # noqa: S101
        return explanation

    def verify(self, X: Any = None) -> Certificate:
        """Check every declared constraint of the engines and of the follow-on model.

        Parameters
        ----------
        X : frame, optional
            Rows to probe the follow-on model with; random ones by default. Engines are probed with random tokens.

        Returns
        -------
        Certificate
            All checks; true if every one holds.
        """
        estimates = None if X is None else self.estimates(X)
        engines = {name: part.verify() for name, part in self.parts.items() if name != FOLLOW_ON}
        return self._of_parts({**engines, FOLLOW_ON: self.follow_on.verify(estimates)})

    @staticmethod
    def _of_parts(certificates: Mapping[str, Certificate]) -> Certificate:
        checks = [
            check if name == FOLLOW_ON else replace(check, constraint=f"{name}: {check.constraint}")
            for name, certificate in certificates.items()
            for check in certificate.checks
        ]
        return Certificate(tuple(checks))

    def carded(self, measured: Mapping[str, Any] | None = None) -> ModelCard:
        whole = card_of(self, measured)
        held = "all of its parts hold" if self.certificate else "some of its parts do not hold"
        told = {name: rows for name, rows in whole.sections.items() if name not in ("Data", "Features")}
        sections = {**told, "Constraints": (("certificates", held),)}
        return card_of_parts(replace(whole, sections=sections), self.parts)

    def editable(self) -> NoReturn:
        raise ValueError(
            "A joint model is edited by its parts: editor = model.engines[column].edit(), or model.follow_on.edit(), "
            "and then model.with_part(column, editor.model), or with_part('follow-on', editor.model)."
        )

    def freeze(self) -> NoReturn:
        """Raise an error that says how engines are frozen.

        Returns
        -------
        NoReturn
            Nothing.
        """
        raise ValueError(
            "A joint model has no scores of tokens that could be stored by themselves. Freeze an engine, "
            "model.engines[column].freeze(), and give the follow-on model what it estimates."
        )

    def write_runtime(self, path: str | os.PathLike[str], key: Key | None = None) -> None:  # noqa: ARG002
        raise _not_written("for clearset.runtime", "to_runtime")

    def write_onnx(self, path: str | os.PathLike[str], *, explanations: bool) -> None:  # noqa: ARG002
        raise _not_written("as ONNX", "to_onnx")

    def sql(self, places: export.Places) -> export.Sql:  # noqa: ARG002
        raise _not_written("as SQL", "to_sql")

    def write_c(self, path: str | os.PathLike[str], name: str) -> None:  # noqa: ARG002
        raise _not_written("as C", "to_c", engines=False)

    def columns_of(self, stream: Stream) -> list[str]:
        of_engines = {name for column in self.engines for name in columns_of(column)}
        dense = [name for name in self.follow_on.columns_of(stream) if name not in self.estimate_names]
        return [name for name in self.feature_names_in if name in of_engines or name in dense]

    def drawn(self, label: Any) -> ScoredSets:
        return self.follow_on.drawn(label)

    def scope(self, feature: Feature) -> str:
        return self.follow_on.scope(feature)

    def examples(self, X: Any, y: Any = None, names: Sequence[str | None] | None = None) -> ShownExamples:
        return SetExamples(self, X, y, names)

    def further_document(self, data: ShownExamples | None) -> dict[str, Any]:
        return joint_document(self, data)

    def read_labels(self, y: Any, n: int) -> npt.NDArray[Any]:
        return self.follow_on.read_labels(y, n)


def _not_written(how: str, method: str, *, engines: bool = True) -> ValueError:
    parts = f"model.engines[column].{method}(...) and " if engines else ""
    return ValueError(
        f"A joint model is not written {how} as one file. Write its parts, {parts}model.follow_on.{method}(...), and "
        "give the follow-on model what the engines predict."
    )


def _classes(model: Model) -> list[Any] | None:
    return None if model.link.classes is None else model.link.classes.tolist()
