"""Engines and a follow-on model as one estimator, trained jointly."""

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, Literal, Self

import narwhals as nw
import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from clearset import display
from clearset.estimators._checkpoints import kept_in
from clearset.estimators._feature_engine import SemanticFeatureEngine
from clearset.estimators._joint_examples import Column, JointExamples, fit_engine, split_examples
from clearset.estimators._joint_training import train_together
from clearset.estimators._model_estimator import ShownEstimator, of_model
from clearset.estimators._parameter_rules import (
    Auto,
    Either,
    Number,
    OneOf,
    Rule,
    Whole,
    check_parameters,
    is_auto,
    make_rng,
)
from clearset.estimators._restored_on_failure import restored_on_failure
from clearset.estimators._set_predictors import SetClassifier, SetRegressor
from clearset.files import Key
from clearset.models import FittedJointModel, columns_of, estimates_table, names_of, only_if, read_frame
from clearset.sets import Feature, check_weights
from clearset.training import continued

FloatArray = npt.NDArray[np.float64]


def _check_probabilities(model: "JointModel") -> None:
    if not hasattr(model.follow_on, "predict_proba"):
        raise AttributeError("The follow-on model gives no probabilities. Use predict.")


@dataclass(eq=False, repr=False)
class JointModel(ShownEstimator):
    """Fit Semantic Feature Engines and a model of their estimates beside dense features, and train them jointly.

    First each engine is fitted on its column. Then the follow-on model is fitted on what the engines estimate of every
    example from the others, and on the dense features. Then all of them are trained together for the loss of the
    follow-on model, while the token tables stay the same. If this does not lower the loss on validation data, the
    parts that were fitted before are kept. No part learns from the examples for validation.

    The follow-on model is increasing in every estimate, and each estimate is increasing in the statistics of each
    token. Only for more than two classes there is no such guarantee: estimates are then features without a direction.

    Parameters
    ----------
    engines : dict of SemanticFeatureEngine
        The engine of each column of X that holds sets or texts, by the name of the column, or by a tuple of names for
        an engine of several columns, whose estimate is named by these joined by ``_``. Engines must not be refined,
        because corrections know the label of every example.
    follow_on : SetRegressor or SetClassifier
        The model of the estimates. Its `features` are dense columns of X; None takes every one of numbers or of a
        category dtype. The estimates are added to them. Its `class_weight` counts for it and for joint training.
    learning_rate : float, default=0.005
        The learning rate of joint training; it rises over the first tenth of the steps and then falls along a cosine.
    epochs : int, default=30
        The largest number of epochs of joint training, 0 for none.
    batch_size : int or "auto", default="auto"
        The number of examples of one step. ``"auto"`` is one in 64 of them, from 32 to 2048.
    validation_fraction : float or "auto", default="auto"
        The share of the examples that all parts are validated on. ``"auto"`` is a tenth, or 1000 examples if that is
        more, but at most a quarter. Where this would be fewer than 50 examples, there is no joint training.
    patience : int, default=10
        The number of epochs without a lower validation loss after which joint training ends.
    random_state : int, numpy.random.RandomState, numpy.random.Generator or None, default=None
        The seed of everything random, also of engines and a follow-on model that have none of their own.
    verbose : int, default=0
        Whether to show a progress bar of joint training: 1 shows one, 0 does not.

    Attributes
    ----------
    model_ : FittedJointModel
        The fitted model as plain data, without scikit-learn and torch.
    engines_ : dict of SemanticFeatureEngine
        The fitted engines, by column.
    follow_on_ : SetRegressor or SetClassifier
        The fitted follow-on model.
    classes_ : ndarray of shape (n_classes,)
        The classes, if the follow-on model is a classifier.
    joint_gain_ : float
        By how much joint training has lowered the loss on validation data; 0 where it was not kept.
    history_ : list of dict
        ``epoch``, ``loss`` and ``validation_loss`` of every epoch of joint training.

    Examples
    --------
    The follow-on model can be looked into: ``model.follow_on_.report(path, model.estimates(X), y)``.

    >>> import clearset as cs
    >>> import pyarrow as pa
    >>> words = [["oak", "ripe"], ["thin"], ["ripe"], ["thin", "oak"]]
    >>> wines = pa.table({"words": words * 10, "price": [9, 4, 8, 5] * 10})
    >>> engine = cs.SemanticFeatureEngine(tokens=cs.Items())
    >>> model = cs.JointModel({"words": engine}, cs.SetRegressor(epochs=20), random_state=0)
    >>> model.fit(wines, [92.5, 83.0, 91.0, 86.0] * 10).predict(wines).shape
    (40,)
    >>> [feature.name for feature in model.follow_on_.features_]
    ['words', 'price']
    """

    _rules: ClassVar[dict[str, Rule]] = {
        "learning_rate": Number(),
        "epochs": Whole(0),
        "batch_size": Either(Whole(1), OneOf(("auto",))),
        "validation_fraction": Auto(Number(0.0, 1.0), "chosen by the number of examples"),
        "patience": Whole(1),
        "verbose": Whole(0),
    }

    engines: Mapping[Column, SemanticFeatureEngine]
    follow_on: SetRegressor | SetClassifier
    _: KW_ONLY
    learning_rate: float = 0.005
    epochs: int = 30
    batch_size: int | Literal["auto"] = "auto"
    validation_fraction: float | Literal["auto"] = "auto"
    patience: int = 10
    random_state: Any = None
    verbose: int = 0

    @restored_on_failure
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        groups: Any = None,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> Self:
        """Fit the engines, the follow-on model, and then all of them together.

        Parameters
        ----------
        X : frame
            The columns of the engines and the dense ones, of pandas, polars or Arrow.
        y : array-like of shape (n,)
            One label for each row.
        sample_weight : array-like of shape (n,), optional
            One weight for each row.
        groups : array-like of shape (n,), optional
            One group for each row, such as a customer. Rows of one group are in the same fold, and all or none of them
            are held out for validation.
        checkpoint : path-like, optional
            A file to keep what training has reached in, every few seconds. After the process was killed, the same call
            goes on from there, and ends with the same bits as if nothing had happened. A checkpoint of another fit, of
            other data or another version is refused and left as it is. The file is removed when the fit is done; after
            an interrupt (Ctrl-C), which keeps the best so far, it stays.

        Returns
        -------
        self
            The fitted model.
        """
        self._check_parts()
        check_parameters(self.get_params(deep=False), self._rules)
        engines = {f"the engine of {column!r}": engine for column, engine in self.engines.items()}
        with kept_in(checkpoint, self, {"follow_on": self.follow_on, **engines}):
            return self._fit(X, y, sample_weight, groups)

    def _fit(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> Self:
        rng = continued(make_rng(self.random_state))
        follow_on = _prepared(self.follow_on, self.follow_on, rng)
        frame = read_frame(X, self.engines)
        labels, link = follow_on._labels(y, len(frame), None)
        weights = check_weights(sample_weight, len(frame))
        rows = JointExamples(frame, np.asarray(y), labels, weights, groups, len(frame))
        fraction = None if isinstance(self.validation_fraction, str) else self.validation_fraction
        examples = split_examples(rows, fraction, rng, stratify=link.classes is not None)
        engines = {column: _prepared(engine, self.follow_on, rng) for column, engine in self.engines.items()}
        fitted = [fit_engine(engine, column, examples) for column, engine in engines.items()]
        trials, known = zip(*fitted, strict=True)
        models = {column: engine.as_model() for column, engine in engines.items()}
        names = [name for column, model in models.items() for name in names_of(column, model)]
        self._declare(follow_on, names, frame, link.n_outputs)
        dense = [feature.name for feature in follow_on.features]
        table, n = estimates_table(models, known, examples.frame, dense), examples.n_training
        validation = (table[n:], examples.y[n:]) if examples.has_validation else None
        follow_on.fit(table[:n], examples.y[:n], examples.weights[:n], validation)
        joint = FittedJointModel(models, follow_on.as_model(), self._declared())
        if examples.has_validation and self.epochs:
            joint, interrupted = train_together(joint, trials, table, examples, self.get_params(deep=False), rng)
            if interrupted:
                warnings.warn(
                    f"Joint training was interrupted after {len(joint.history)} epochs. The best so far is kept.",
                    stacklevel=4,
                )
        follow_on.model_ = joint.follow_on
        for column, engine in engines.items():
            engine.model_ = joint.engines[column]
        self.engines_, self.follow_on_, self.model_ = engines, follow_on, joint
        return self

    def _check_parts(self) -> None:
        """Refuse engines and follow-on models that cannot be."""
        if not isinstance(self.engines, Mapping) or not self.engines:
            raise TypeError(
                f"engines must be a dict of a SemanticFeatureEngine for each column; received {self.engines!r}."
            )
        for column, engine in self.engines.items():
            if not isinstance(engine, SemanticFeatureEngine):
                raise TypeError(f"The engine of {column!r} must be a SemanticFeatureEngine; received {engine!r}.")
            if not is_auto(engine.refine) and engine.refine:
                raise ValueError(
                    f"The engine of {column!r} has refine={engine.refine!r}, but corrections would tell the follow-on "
                    "model the labels of the examples. Set refine=False."
                )
        if not isinstance(self.follow_on, SetRegressor | SetClassifier):
            raise TypeError(f"follow_on must be a SetRegressor or SetClassifier; received {self.follow_on!r}.")

    def _declare(self, follow_on: Any, names: Sequence[str], frame: Any, n_outputs: int) -> None:
        """Set the features of the follow-on model: estimates, which it rises with, and dense columns."""
        declared = follow_on.features
        if declared is None:
            taken = {name for column in self.engines for name in columns_of(column)}
            rest = [name for name in frame.columns if name not in taken]
            categories = [name for name in rest if isinstance(frame.schema[name], nw.Categorical | nw.Enum)]
            chosen = [name for name in rest if frame.schema[name].is_numeric() or name in categories]
            declared = [Feature(name, kind="categorical") if name in categories else name for name in chosen]
        features = [feature if isinstance(feature, Feature) else Feature(feature) for feature in declared]
        clash = [feature.name for feature in features if feature.name in names]
        if clash:
            raise ValueError(
                f"follow_on names {clash} among its features, but so are the estimates called, which are added by "
                "themselves. Leave them out, or rename the columns."
            )
        direction: Any = "increasing" if n_outputs == 1 else None
        follow_on.set_params(features=[*(Feature(name, monotonic=direction) for name in names), *features])

    def _declared(self) -> dict[str, Any]:
        """Return the parameters as plain data, those of the parts included."""
        engines = {column: engine.get_params(deep=False) for column, engine in self.engines.items()}
        follow_on = {"estimator": type(self.follow_on).__name__, "parameters": self.follow_on.get_params(deep=False)}
        return {**self.get_params(deep=False), "engines": engines, "follow_on": follow_on}

    def save(self, path: str | os.PathLike[str], *, key: Key | None = None) -> None:
        """Write the model to one file that holds no code and no examples; `clearset.load` reads it.

        Parameters
        ----------
        path : path-like
            Where to; an existing file is replaced only once the new one is complete.
        key : bytes or Ed25519PrivateKey, optional
            The key to sign the file with; see `clearset.load`.
        """
        model = self.as_model()
        self._check_parts()
        for part in (self, self.follow_on, *self.engines.values()):
            check_parameters(part.get_params(deep=False), part._rules)
        # Parameters may have been changed since the fit.
        replace(model, parameters=self._declared()).save(path, key=key)

    @property
    def joint_gain_(self) -> float:
        """By how much joint training has lowered the loss on validation data; 0 where it was not kept."""
        return float(self.as_model().gain)

    @property
    def history_(self) -> list[dict[str, float]]:
        """``epoch``, ``loss`` and ``validation_loss`` of every epoch of joint training."""
        history: list[dict[str, float]] = self.as_model().history
        return history

    @property
    def classes_(self) -> npt.NDArray[Any]:
        """The classes, if the follow-on model is a classifier."""
        classes: npt.NDArray[Any] = self.as_model().follow_on.classes_
        return classes

    estimates = of_model(FittedJointModel.estimates)
    predict = of_model(FittedJointModel.predict)
    predict_proba = only_if(_check_probabilities)(of_model(FittedJointModel.predict_proba))
    explain = of_model(FittedJointModel.explain)
    verify = of_model(FittedJointModel.verify)
    to_onnx = of_model(FittedJointModel.to_onnx)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the follow-on model's score: R² for numbers, accuracy for classes.

        Parameters
        ----------
        X : frame
            The columns of the engines and the dense ones, as for `fit`.
        y : array-like of shape (n,)
            One label for each row.
        sample_weight : array-like of shape (n,), optional
            One weight for each row.

        Returns
        -------
        float
            The score.
        """
        table = self.estimates(X)
        return float(self.follow_on_.score(table, y, sample_weight))

    def _model_html(self) -> str:
        return display.joint_model_html(self.as_model(), repr(self))

    def plot_history(self) -> Any:
        """Draw the losses of joint training by epoch, as a matplotlib figure.

        Returns
        -------
        matplotlib.figure.Figure
            The figure.
        """
        return display.plot_history(self)

    def plot_quality(self, X: Any, y: Any) -> Any:
        """Draw how good predictions are, as a matplotlib figure.

        Parameters
        ----------
        X : frame
            The columns of the engines and the dense ones; best are rows that the model was not fitted on.
        y : array-like of shape (n,)
            Their labels.

        Returns
        -------
        matplotlib.figure.Figure
            The reliability of probabilities, or predicted against observed numbers.
        """
        return display.plot_quality(self, X, y)

    def __sklearn_tags__(self) -> Any:
        tags, follow_on = super().__sklearn_tags__(), self.follow_on.__sklearn_tags__()
        tags.estimator_type = follow_on.estimator_type
        tags.classifier_tags, tags.regressor_tags = follow_on.classifier_tags, follow_on.regressor_tags
        tags.target_tags.required = True
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        return tags


def _prepared(part: Any, follow_on: Any, rng: np.random.Generator) -> Any:
    """Copy a part, with what the whole decides for it: a seed, and for an engine the kind of its loss."""
    part, seed = clone(part), int(rng.integers(2**31 - 1))
    if part.random_state is None:
        part.set_params(random_state=seed)
    if isinstance(part, SemanticFeatureEngine):
        loss = "squared_error" if isinstance(follow_on, SetRegressor) else "log_loss"
        part.set_params(refine=False, loss=loss if is_auto(part.loss) else part.loss)
    return part
