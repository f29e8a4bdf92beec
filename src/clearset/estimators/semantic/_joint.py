"""Engines and a follow-on model as one estimator, trained jointly."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, Self

import narwhals as nw
import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from clearset.estimators._classifier import SetClassifier
from clearset.estimators._drawn import DrawnTraining
from clearset.estimators._input import check_weights, read_more_sets
from clearset.estimators._parameters import count_threads, make_rng
from clearset.estimators._progress import progress_bar
from clearset.estimators._regressor import SetRegressor
from clearset.estimators._restored import restored_on_failure
from clearset.estimators.semantic._crossing import Crossing
from clearset.estimators.semantic._engine import SemanticFeatureEngine
from clearset.estimators.semantic._fit import choose_batch_size
from clearset.estimators.semantic._joint_examples import (
    Column,
    JointExamples,
    columns_of,
    fit_engine,
    names_of,
    part_of,
    read_frame,
    split_examples,
)
from clearset.estimators.semantic._joint_explain import JointExplanation, explain_engine
from clearset.estimators.semantic._joint_function import Estimate, JointSets, Part
from clearset.estimators.semantic._joint_parameters import check_joint_parameters, prepared
from clearset.estimators.semantic._joint_training import JointSchedule, train_jointly
from clearset.estimators.semantic._trial import Trial
from clearset.setfunction import Certificate, Loss, SetFunction
from clearset.sets import Feature, library_of

FloatArray = npt.NDArray[np.float64]


def _has_probabilities(model: "JointModel") -> bool:
    return hasattr(model.follow_on, "predict_proba")


class JointModel(DrawnTraining):
    """Semantic Feature Engines, and a model of their estimates beside dense features, trained jointly.

    First the engines are fitted, each on its column; then the follow-on model, on what they estimate of every example
    from the others, and on the dense features. Then all of them are trained together for the follow-on model's loss;
    the token tables stay as they are. Where that does not lower the loss on validation data, what there was before is
    kept. No part has learned from the examples for validation.

    The follow-on model rises with every estimate, and each estimate with what the token table says of each token. Only
    of more than two classes no such promise can be made: estimates are then features without a direction.

    Parameters
    ----------
    engines
        The `SemanticFeatureEngine` of each column of X that holds sets or texts, by the column's name; by a tuple of
        names for an engine of several columns, whose estimate is called by the names joined by ``_``. They must not
        be refined: corrections know every example's label.
    follow_on
        A `SetRegressor` or `SetClassifier`. Its `features` are dense columns of X; None takes every numeric one. The
        estimates are added to them.
    learning_rate
        Of the joint training; it rises over the first tenth of the steps and then falls along a cosine.
    epochs
        Of the joint training, at most; 0 for none.
    batch_size
        Examples of one step. ``"auto"``: one in 64 of them, from 32 to 2048.
    validation_fraction
        Share of the examples that all parts are validated on. None: a tenth, of few examples up to a quarter. Where
        these would be fewer than 50 examples there is no joint training.
    patience
        Epochs of joint training without a lower validation loss after which it ends.
    random_state
        Seed or generator; also for engines and follow-on model where they have none.
    verbose
        1 shows a progress bar of the joint training.

    Attributes
    ----------
    engines_
        The fitted engines, by column.
    follow_on_
        The fitted follow-on model.
    joint_gain_
        By how much joint training has lowered the loss on validation data; 0 where it was not kept.
    history_
        ``epoch``, ``loss`` and ``validation_loss`` of every epoch of joint training.

    Examples
    --------
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

    engines_: dict[Column, SemanticFeatureEngine]
    follow_on_: SetRegressor | SetClassifier
    joint_gain_: float
    history_: list[dict[str, float]]

    def __init__(
        self,
        engines: Mapping[Column, SemanticFeatureEngine],
        follow_on: SetRegressor | SetClassifier,
        *,
        learning_rate: float = 0.005,
        epochs: int = 30,
        batch_size: int | Literal["auto"] = "auto",
        validation_fraction: float | None = None,
        patience: int = 10,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.engines = engines
        self.follow_on = follow_on
        self.learning_rate = learning_rate
        self.epochs = epochs
        self.batch_size = batch_size
        self.validation_fraction = validation_fraction
        self.patience = patience
        self.random_state = random_state
        self.verbose = verbose

    @restored_on_failure
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Fit the engines, the follow-on model, and then all of them together.

        Parameters
        ----------
        X
            A frame (pandas, polars, Arrow) with the engines' columns and the dense ones.
        y
            One label for each row.
        sample_weight
            One weight for each.
        groups
            One group for each, such as a customer: examples of one group share a fold, and validation.
        """
        check_joint_parameters(self)
        rng = make_rng(self.random_state)
        follow_on = prepared(self.follow_on, self.follow_on, rng)
        frame = read_frame(X, self.engines)
        labels = follow_on._numbers(y, len(frame), reset=True)
        weights = check_weights(sample_weight, len(frame))
        stratify = isinstance(follow_on, SetClassifier)
        examples = split_examples(
            frame, y, labels, weights, groups, self.validation_fraction, rng, stratify=stratify
        )
        self.engines_, trials, columns = {}, [], []
        for column, engine in self.engines.items():
            self.engines_[column] = prepared(engine, self.follow_on, rng)
            trial, known = fit_engine(self.engines_[column], column, examples)
            trials.append(trial)
            columns.append(known)
        self._fit_follow_on(follow_on, columns, examples)
        self.joint_gain_, self.history_ = 0.0, []
        if examples.has_validation and self.epochs:
            self._train_jointly(trials, columns, examples, rng)
        return self

    def _fit_follow_on(self, follow_on: Any, columns: Sequence[FloatArray], examples: JointExamples) -> None:
        """Fit the follow-on model on estimates, which it rises with, and on dense features."""
        frame, declared = examples.frame, follow_on.features
        names = [name for column, engine in self.engines_.items() for name in names_of(column, engine)]
        if declared is None:
            taken = {name for column in self.engines for name in columns_of(column)}
            rest = [name for name in frame.columns if name not in taken]
            declared = [name for name in rest if frame.schema[name].is_numeric()]
        features = [feature if isinstance(feature, Feature) else Feature(feature) for feature in declared]
        clash = [feature.name for feature in features if feature.name in names]
        if clash:
            raise ValueError(
                f"follow_on names {clash} among its features, but so are the estimates called, which are added by "
                "themselves. Leave them out, or rename the columns."
            )
        direction: Any = "increasing" if follow_on._outputs() == 1 else None
        follow_on.set_params(features=[*(Feature(name, monotonic=direction) for name in names), *features])
        self.follow_on_ = follow_on
        table, n = self._table(frame, columns), examples.n_training
        validation = (table[n:], examples.y[n:]) if examples.has_validation else None
        follow_on.fit(table[:n], examples.y[:n], examples.weights[:n], validation)

    def _table(self, frame: nw.DataFrame[Any], columns: Sequence[FloatArray]) -> pa.Table:
        """Put estimates and dense columns side by side."""
        table: dict[str, Any] = {}
        for (column, engine), known in zip(self.engines_.items(), columns, strict=True):
            table |= dict(zip(names_of(column, engine), known.T, strict=True))
        for feature in self.follow_on_.features or ():
            name = feature if isinstance(feature, str) else feature.name
            if name not in table and name in frame.columns:
                table[name] = frame[name].to_arrow()
        return pa.table(table)

    def _train_jointly(
        self,
        trials: Sequence[Trial],
        columns: Sequence[FloatArray],
        examples: JointExamples,
        rng: np.random.Generator,
    ) -> None:
        """Train all set functions for the follow-on model's loss, and keep them if that is better."""
        follow_on, labels, weights = self.follow_on_, examples.labels, examples.weights
        training = examples.training

        def part(owner: Any, model: SetFunction, loss: Loss) -> Part:
            unit = loss.scaling(labels[training], weights[training])
            return Part(model, owner.binning_, owner.trusts_, float(owner.smoothness), unit)

        parts = [part(follow_on, follow_on.set_function_, follow_on._loss())]
        sources, names = [], [feature.name for feature in follow_on.features_]
        for (column, engine), trial in zip(self.engines_.items(), trials, strict=True):
            parts.append(part(engine, engine.set_function_, Loss(engine.loss_)))
            crossing = Crossing(trial.fitted.binning, trial.rows, trial.corrected, np.float64)
            places = [names.index(name) for name in names_of(column, engine)]
            sources.append(Estimate(crossing.cross(trial.occurrences), engine.loss_, places))
        sets = read_more_sets(follow_on, self._table(examples.frame, columns))
        positions = follow_on.binning_.positions(sets, np.float64)
        data = JointSets(positions, sources, labels, weights, training, examples.validation)
        schedule = JointSchedule(
            self.learning_rate,
            self.epochs,
            choose_batch_size(self.batch_size, len(training)),
            self.patience,
            count_threads(follow_on.n_jobs),
        )
        with progress_bar({**self.get_params(deep=False), "restarts": 1}) as on_epoch:
            progress = train_jointly(parts, data, follow_on._loss(), schedule, rng, on_epoch)
        if progress.interrupted:
            warnings.warn(
                f"Joint training was interrupted after {len(progress.history)} epochs. The best so far is kept.",
                stacklevel=4,
            )
        self.history_, self.joint_gain_ = progress.history, progress.before - progress.after
        for owner, model in zip((follow_on, *self.engines_.values()), progress.models, strict=True):
            owner.set_function_ = model
            owner.certificate_ = owner.verify()

    def estimates(self, X: Any) -> pa.Table:
        """Give what the follow-on model reads: the engines' estimates, and the dense columns beside them.

        So the follow-on model can be looked into: ``model.follow_on_.report(path, model.estimates(X), y)``.

        Parameters
        ----------
        X
            A frame, as for `fit`.

        Returns
        -------
        pyarrow.Table
            One row for each of X.
        """
        check_is_fitted(self)
        frame = read_frame(X, self.engines_)
        known = [engine.transform(part_of(frame, column)) for column, engine in self.engines_.items()]
        return self._table(frame, known)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Predict the label of each row.

        Parameters
        ----------
        X
            A frame, as for `fit`.
        """
        table = self.estimates(X)
        return self.follow_on_.predict(table)

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> FloatArray:
        """Give each class's probability, ``(n, classes)``.

        Parameters
        ----------
        X
            A frame, as for `fit`.
        """
        table = self.estimates(X)
        probabilities: FloatArray = self.follow_on_.predict_proba(table)
        return probabilities

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Give the follow-on model's score: R² for numbers, accuracy for classes.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.
        """
        table = self.estimates(X)
        return float(self.follow_on_.score(table, y, sample_weight))

    def explain(self, X: Any, label: Any = None, *, effects: bool = False) -> JointExplanation:
        """Say what the follow-on model makes of each row's estimates and dense features, and what made the estimates.

        Parameters
        ----------
        X
            A frame, as for `fit`.
        label
            Of several classes the one to explain; None takes each row's predicted class. The scores of two classes
            always speak for the second.
        effects
            Whether to find out as well what a change of each feature would do, to the prediction and to the estimates.
        """
        table = self.estimates(X)
        follow_on = replace(self.follow_on_.explain(table, label, effects=effects), frames=library_of(X))
        frame = read_frame(X, self.engines_)
        engines = {
            column: explain_engine(engine, part_of(frame, column), follow_on.label, effects=effects)
            for column, engine in self.engines_.items()
        }
        return JointExplanation(follow_on, engines)

    def verify(self) -> Certificate:
        """Check every declared constraint of the engines and of the follow-on model."""
        check_is_fitted(self)
        checks = [
            replace(check, constraint=f"{'_'.join(columns_of(column))}: {check.constraint}")
            for column, engine in self.engines_.items()
            for check in engine.verify().checks
        ]
        return Certificate((*checks, *self.follow_on_.verify().checks))

    @property
    def classes_(self) -> npt.NDArray[Any]:
        """The classes, if the follow-on model is a classifier."""
        return self.follow_on_.classes_

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "joint_gain_")

    def __sklearn_tags__(self) -> Any:
        tags, follow_on = super().__sklearn_tags__(), self.follow_on.__sklearn_tags__()
        tags.estimator_type = follow_on.estimator_type
        tags.classifier_tags, tags.regressor_tags = follow_on.classifier_tags, follow_on.regressor_tags
        tags.target_tags.required = True
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        return tags
