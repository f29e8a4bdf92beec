"""Engines and a follow-on model as one estimator, trained jointly."""

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, Literal, Self

import narwhals as nw
import numpy as np
from sklearn.base import clone

from clearset import display
from clearset.estimators._checkpoints import kept_in
from clearset.estimators._feature_engine import SemanticFeatureEngine
from clearset.estimators._input import read_trusts
from clearset.estimators._joint_examples import JointExamples, fit_engine, held_after, read_joint_rows, split_examples
from clearset.estimators._joint_parts import (
    Column,
    Engines,
    FollowOn,
    check_engines,
    check_follow_on,
    chosen_follow_on,
    chosen_parts,
    declared_engines,
    dense_features,
)
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
from clearset.estimators._set_estimator import check_declarations
from clearset.estimators._set_predictors import SetRegressor
from clearset.files import Key
from clearset.models import FittedJointModel, FittedModel, Origin, PredictsLabels, estimates_table, names_of, read_frame
from clearset.sets import Feature, check_weights
from clearset.training import continued


@dataclass(eq=False, repr=False)
class JointModel(FittedModel, PredictsLabels, ShownEstimator):
    """Fit Semantic Feature Engines and a model of their estimates beside dense features, and train them jointly.

    First each engine is fitted on its column. Then the follow-on model is fitted on what the engines estimate of every
    example from the others, and on the dense features. Then all of them are trained together for the loss of the
    follow-on model, while the token tables stay the same. If this does not lower the loss on validation data, the
    parts that were fitted before are kept. No part learns from the examples for validation.

    The follow-on model is increasing in every estimate, and each estimate is increasing in the statistics of each
    token. Only for more than two classes there is no such guarantee: estimates are then features without a direction.

    Parameters
    ----------
    engines : dict of SemanticFeatureEngine or tokenizer, or "auto", default="auto"
        The engine of each column of X that holds sets or texts, or just its tokenizer, by the name of the column, or by
        a tuple of names for an engine of several columns, whose estimate is named by these joined by ``_``. Engines
        must not be refined, because corrections know the label of every example. ``"auto"`` gives one to each column of
        lists of strings and of texts, whose tokens it chooses as `SemanticClassifier` does; of other strings, up to 30
        distinct ones are categories for the follow-on model, and more are tokens of an engine, unless nearly all
        differ: such columns are left out with a warning.
    follow_on : SetRegressor, SetClassifier or "auto", default="auto"
        The model of the estimates. Its `features` are dense columns of X; None takes every one of numbers or of a
        category dtype, plain or in lists, and where there are lists the number of tokens. The estimates are added to
        them. Its `class_weight` counts for it and for joint training. ``"auto"`` tells classes from numbers by the
        labels, as engines do: numbers with fractions, or of more than 100 distinct values, are numbers.
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
    >>> import clearset as cs
    >>> import pyarrow as pa
    >>> words = [["oak", "ripe"], ["thin"], ["ripe"], ["thin", "oak"]]
    >>> wines = pa.table({"words": words * 10, "price": [9, 4, 8, 5] * 10})
    >>> model = cs.JointModel(random_state=0).fit(wines, [92.5, 83.0, 91.0, 86.0] * 10)
    >>> model.predict(wines).shape
    (40,)
    >>> [feature.name for feature in model.features_]
    ['words', 'price']

    With tokens and constraints of one's own:

    >>> price = cs.Feature("price", monotonic="increasing")
    >>> model = cs.JointModel({"words": cs.Subsets(2)}, cs.SetRegressor([price], epochs=20), random_state=0)
    >>> bool(model.fit(wines, [92.5, 83.0, 91.0, 86.0] * 10).verify())
    True
    """

    _rules: ClassVar[dict[str, Rule]] = {
        "learning_rate": Number(),
        "epochs": Whole(0),
        "batch_size": Either(Whole(1), OneOf(("auto",))),
        "validation_fraction": Auto(Number(0.0, 1.0), "chosen by the number of examples"),
        "patience": Whole(1),
        "verbose": Whole(0),
    }

    engines: Any = "auto"
    follow_on: Any = "auto"
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
        validation_data: tuple[Any, Any] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> Self:
        """Fit the engines, the follow-on model, and then all of them together.

        Parameters
        ----------
        X : frame, path or Arrow data set
            The columns of the engines and the dense ones, of pandas, polars or Arrow; or Parquet files of them, which
            are read whole.
        y : array-like of shape (n,) or str
            One label for each row; of data in files, the name of their column.
        sample_weight : array-like of shape (n,) or str, optional
            One weight for each row, or the name of their column.
        groups : array-like of shape (n,) or str, optional
            One group for each row, such as a customer, or the name of their column. Rows of one group are in the same
            fold, and all or none of them are held out for validation.
        validation_data : tuple (X, y), optional
            Rows and labels to validate all parts on, in place of a share of the rows.
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
        self._check_declared()
        frame, y, sample_weight, groups = read_joint_rows(X, y, sample_weight, groups)
        engines, follow_on = self._parts_for(frame, y, stacklevel=3)
        read_frame(frame, engines)
        with kept_in(checkpoint, self):
            return self._fit(frame, y, sample_weight, groups, validation_data, engines, follow_on)

    def declared(self, X: Any, y: Any) -> Self:
        """Return the model, not fitted, with the engines, the follow-on model and its dense columns that `fit` chooses.

        Parameters
        ----------
        X : frame, path or Arrow data set
            The rows, as for `fit`.
        y : array-like of shape (n,) or str
            Their labels.

        Returns
        -------
        JointModel
            A copy, whose parts can be set one by one.

        Examples
        --------
        >>> import clearset as cs
        >>> import pyarrow as pa
        >>> wines = pa.table({"words": [["oak", "ripe"], ["thin"]] * 20, "price": [9, 4] * 20})
        >>> model = cs.JointModel().declared(wines, ["good", "bad"] * 20)
        >>> list(model.engines), type(model.follow_on).__name__
        (['words'], 'SetClassifier')
        """
        self._check_declared()
        frame, y, *_ = read_joint_rows(X, y)
        engines, follow_on = self._parts_for(frame, y, stacklevel=2)
        if follow_on.features is None:
            follow_on = clone(follow_on).set_params(features=dense_features(frame, engines))
        copy: Self = clone(self).set_params(engines=engines, follow_on=follow_on)
        return copy

    @property
    def declared_parts(self) -> dict[str, Any]:
        """The follow-on model and the engines as they are declared, by what messages call them."""
        if is_auto(self.engines):
            return {"follow_on": self.follow_on, "the engines": "auto"}
        engines = declared_engines(self.engines)
        return {"follow_on": self.follow_on, **{f"the engine of {name!r}": part for name, part in engines.items()}}

    def _fit(
        self,
        frame: nw.DataFrame[Any],
        y: Any,
        sample_weight: Any,
        groups: Any,
        validation_data: Any,
        engines: Engines,
        follow_on: FollowOn,
    ) -> Self:
        rng, declared = continued(make_rng(self.random_state)), follow_on
        follow_on = _prepared(declared, declared, rng)
        labels, link = follow_on._labels(y, len(frame), None)
        weights = check_weights(sample_weight, len(frame))
        named = [feature for feature in declared.features or () if isinstance(feature, Feature)]
        check_declarations(named, read_trusts(declared.trusts), link)
        rows = JointExamples(frame, np.asarray(y), labels, weights, groups, len(frame))
        if validation_data is None:
            fraction = None if isinstance(self.validation_fraction, str) else self.validation_fraction
            examples = split_examples(rows, fraction, rng, stratify=link.classes is not None)
        else:
            examples = held_after(rows, validation_data, lambda labels, n: follow_on._labels(labels, n, link)[0])
        made = {column: _prepared(engine, declared, rng) for column, engine in engines.items()}
        fitted = [fit_engine(engine, column, examples) for column, engine in made.items()]
        trials, known = zip(*fitted, strict=True)
        models = {column: engine.as_model() for column, engine in made.items()}
        names = [name for column, model in models.items() for name in names_of(column, model)]
        features = _features(follow_on.features, names, examples.frame, models, link.n_outputs)
        follow_on.set_params(features=features)
        dense = [feature.name for feature in features]
        table, n = estimates_table(models, known, examples.frame, dense), examples.n_training
        validation = (table[n:], examples.y[n:]) if examples.has_validation else None
        follow_on.fit(table[:n], examples.y[:n], examples.weights[:n], validation)
        origin = Origin(versions=follow_on.as_model().origin.versions)
        joint = FittedJointModel(models, follow_on.as_model(), self._declared(), origin=origin)
        interrupted = any(part.record.interrupted for part in joint.parts.values())
        if examples.has_validation and self.epochs and not interrupted:
            joint, interrupted = train_together(joint, trials, table, examples, self.get_params(deep=False), rng)
            if interrupted:
                warnings.warn(
                    f"Joint training was interrupted after {len(joint.history)} epochs. The best so far is kept.",
                    stacklevel=4,
                )
        follow_on.model_ = joint.follow_on
        for column, engine in made.items():
            engine.model_ = joint.engines[column]
        self.engines_, self.follow_on_, self.model_ = made, follow_on, replace(joint, interrupted=interrupted)
        return self

    def _check_declared(self) -> None:
        """Refuse engines, follow-on models and parameters that cannot be, before any work."""
        check_engines(self.engines)
        check_follow_on(self.follow_on)
        if not is_auto(self.engines):
            declared_engines(self.engines)
        check_parameters(self.get_params(deep=False), self._rules)

    def _parts_for(self, frame: nw.DataFrame[Any], y: Any, stacklevel: int) -> tuple[Engines, FollowOn]:
        """Return the engines and the follow-on model to fit."""
        follow_on = chosen_follow_on(self.follow_on, y, len(frame))
        if is_auto(self.engines):
            return chosen_parts(frame, follow_on, stacklevel + 1)
        return declared_engines(self.engines), follow_on

    def _declared(self) -> dict[str, Any]:
        """Return the parameters as plain data, those of the parts included; "auto" stays what it is."""
        found = {**self.get_params(deep=False), "engines": "auto", "follow_on": "auto"}
        if not is_auto(self.engines):
            engines = declared_engines(self.engines)
            found["engines"] = {column: engine.get_params(deep=False) for column, engine in engines.items()}
        if not is_auto(self.follow_on):
            parameters = self.follow_on.get_params(deep=False)
            found["follow_on"] = {"estimator": type(self.follow_on).__name__, "parameters": parameters}
        return found

    def save(self, path: str | os.PathLike[str], *, key: Key | None = None, notes: str | None = None) -> None:
        """Write the model to one file that holds no code and no examples; `clearset.load` reads it.

        Parameters
        ----------
        path : path-like
            Where to; an existing file is replaced only once the new one is complete.
        key : bytes or Ed25519PrivateKey, optional
            The key to sign the file with; see `clearset.load`.
        notes : str, optional
            What the model card is to say, such as intended use, owner and licence.
        """
        model = self.as_model()
        self._check_declared()
        parts: list[Any] = [] if is_auto(self.engines) else list(declared_engines(self.engines).values())
        for part in parts if is_auto(self.follow_on) else (*parts, self.follow_on):
            check_parameters(part.get_params(deep=False), part._rules)
        # Parameters may have been changed since the fit.
        replace(model, parameters=self._declared()).save(path, key=key, notes=notes)

    def as_model(self) -> FittedJointModel:
        """Return the fitted model as plain data, without scikit-learn; raise an error where there is none yet.

        Returns
        -------
        FittedJointModel
            The model.
        """
        model: FittedJointModel = ShownEstimator.as_model(self)
        return model

    @property
    def joint_gain_(self) -> float:
        """By how much joint training has lowered the loss on validation data; 0 where it was not kept."""
        return float(self.as_model().gain)

    def _predicts_classes(self) -> bool:
        # Before a fit, labels may still be of either kind.
        fitted = "model_" in vars(self)
        return super()._predicts_classes() if fitted else not isinstance(self.follow_on, SetRegressor)

    def _loss_name(self) -> str:
        return super()._loss_name() if "model_" in vars(self) else getattr(self.follow_on, "loss", "log_loss")

    estimates = of_model(FittedJointModel.estimates)
    explain = of_model(FittedJointModel.explain)
    verify = of_model(FittedJointModel.verify)
    freeze = of_model(FittedJointModel.freeze)
    score = of_model(FittedJointModel.score)

    def _model_html(self) -> str:
        return display.joint_model_html(self.as_model(), repr(self))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        follow_on = self.follow_on_ if "model_" in vars(self) else self.follow_on
        if not is_auto(follow_on):
            known = follow_on.__sklearn_tags__()
            tags.estimator_type = known.estimator_type
            tags.classifier_tags, tags.regressor_tags = known.classifier_tags, known.regressor_tags
        tags.target_tags.required = True
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        return tags


def _features(
    declared: Sequence[str | Feature] | None,
    names: Sequence[str],
    frame: nw.DataFrame[Any],
    engines: Mapping[Column, Any],
    n_outputs: int,
) -> list[Feature]:
    """Return the features of the follow-on model: estimates, which it rises with, and dense columns."""
    declared = dense_features(frame, engines) if declared is None else declared
    features = [feature if isinstance(feature, Feature) else Feature(feature) for feature in declared]
    clash = [feature.name for feature in features if feature.name in names]
    if clash:
        raise ValueError(
            f"follow_on names {clash} among its features, but so are the estimates called, which are added by "
            "themselves. Leave them out, or rename the columns."
        )
    direction: Any = "increasing" if n_outputs == 1 else None
    return [*(Feature(name, monotonic=direction) for name in names), *features]


def _prepared(part: Any, follow_on: Any, rng: np.random.Generator) -> Any:
    """Copy a part, with what the whole decides for it: a seed, and for an engine the kind of its loss."""
    part, seed = clone(part), int(rng.integers(2**31 - 1))
    if part.random_state is None:
        part.set_params(random_state=seed)
    if isinstance(part, SemanticFeatureEngine):
        loss = "squared_error" if isinstance(follow_on, SetRegressor) else "log_loss"
        part.set_params(refine=False, loss=loss if is_auto(part.loss) else part.loss)
    return part
