"""What the estimators over sets of strings and texts have in common: their parameters, and how they are fitted."""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from clearset.estimators._base import TRAINING_RULES
from clearset.estimators._fitted import ModelEstimator, check_certificate, check_pair
from clearset.estimators._parameters import (
    Auto,
    Either,
    Flag,
    Number,
    OneOf,
    OrNone,
    Rule,
    Whole,
    check_parameters,
    is_auto,
    make_rng,
)
from clearset.estimators._restored_on_failure import restored_on_failure
from clearset.estimators._semantic_features import MAX_FOLDS, check_features, check_trust_list
from clearset.functions import CROSSED_LOSSES, REGRESSION_LOSSES, Link, Loss
from clearset.models import MAX_WIDTH, Record, SemanticMethods, SemanticModel, certify
from clearset.sets import (
    Feature,
    Labels,
    Trust,
    check_size,
    check_weights,
    column_names,
    count_examples,
    count_threads,
    read_labels,
)
from clearset.tokens import MinCount, TokenTable, check_details
from clearset.training import (
    LabelledExamples,
    Learning,
    Plan,
    Trial,
    build_table,
    filters_of,
    read_groups,
    tokens_of,
)

_CHOSEN = "chosen on validation data"


class Fit(NamedTuple):
    """What a fit leaves beside the model: the trial that was kept, the rows of X in its order, and how it learned."""

    trial: Trial
    order: npt.NDArray[np.int64]
    learning: Learning


class SemanticEstimator(SemanticMethods, ModelEstimator):
    """A token table, and a set function that aggregates what it knows of an example's tokens."""

    _task: ClassVar[Literal["auto", "classes", "number"]] = "auto"
    _rules: ClassVar[dict[str, Rule]] = TRAINING_RULES | {
        "loss": Auto(OneOf((*CROSSED_LOSSES, *REGRESSION_LOSSES)), "chosen by the labels"),
        "cross_fit": OrNone(Whole(2, MAX_FOLDS), "no folds"),
        "width": Auto(Whole(1, MAX_WIDTH), _CHOSEN),
        "cover": Auto(Flag(), _CHOSEN),
        "refine": Auto(Either(Flag(), Whole(0, 100)), _CHOSEN),
        "shrinkage": Number(or_low=True),
        "validation_fraction": Auto(Number(0.0, 1.0), "chosen by the number of examples"),
    }

    def __init__(
        self,
        tokens: Any = "auto",
        filters: Any = "auto",
        cross_fit: int | None = 5,
        width: int | Literal["auto"] = "auto",
        *,
        cover: bool | Literal["auto"] = "auto",
        refine: bool | int | Literal["auto"] = "auto",
        features: Sequence[str | Feature] | None = None,
        details: Sequence[str] = (),
        trusts: Sequence[Trust] = (),
        shrinkage: float = 1.0,
        keypoints: int = 10,
        rho_keypoints: int = 20,
        loss: str = "auto",
        optimizer: str = "adam",
        constraints: str = "project",
        smoothness: float = 100.0,
        learning_rate: float = 0.02,
        epochs: int = 60,
        batch_size: int | Literal["auto"] = "auto",
        validation_fraction: float | Literal["auto"] = "auto",
        early_stopping: bool = True,
        patience: int = 15,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.tokens = tokens
        self.filters = filters
        self.cross_fit = cross_fit
        self.width = width
        self.cover = cover
        self.refine = refine
        self.features = features
        self.details = details
        self.trusts = trusts
        self.shrinkage = shrinkage
        self.keypoints = keypoints
        self.rho_keypoints = rho_keypoints
        self.loss = loss
        self.optimizer = optimizer
        self.constraints = constraints
        self.smoothness = smoothness
        self.learning_rate = learning_rate
        self.epochs = epochs
        self.batch_size = batch_size
        self.validation_fraction = validation_fraction
        self.early_stopping = early_stopping
        self.patience = patience
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def as_model(self) -> SemanticModel:
        """Return the fitted model as plain data, without scikit-learn; raise an error where there is none yet.

        Returns
        -------
        SemanticModel
            The model.
        """
        model: SemanticModel = super().as_model()
        return model

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        groups: Any = None,
        token_X: Any = None,
        token_y: Any = None,
        validation_data: tuple[Any, Any] | None = None,
    ) -> Self:
        """Make the token table and train the set function.

        Parameters
        ----------
        X : array-like of shape (n,), or frame
            The examples: a column of lists of strings, of texts or of categories, two columns for `Cross` and
            `Difference`, or plain Python lists of these.
        y : array-like of shape (n,)
            One label for each example.
        sample_weight : array-like of shape (n,), optional
            One weight for each example.
        groups : array-like of shape (n,), optional
            One group for each example, such as a customer. Examples of one group are in the same fold, and all or none
            of them are held out for validation.
        token_X : array-like of shape (m,), or frame, optional
            Other examples to make the token table of. There are no folds then.
        token_y : array-like of shape (m,), optional
            The labels of these, which may be others than those in y.
        validation_data : tuple (X, y), optional
            Examples and labels to choose the epoch and the setting by, in place of a share of the examples.

        Returns
        -------
        self
            The fitted estimator.
        """
        self._fit(X, y, sample_weight, groups, (token_X, token_y), validation_data)
        return self

    @restored_on_failure
    def _fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        groups: Any,
        token_data: tuple[Any, Any] = (None, None),
        validation_data: Any = None,
    ) -> Fit:
        check_parameters(self.get_params(deep=False), self._rules)
        rng = make_rng(self.random_state)
        rows, link = self._read(X, y, sample_weight, None)
        plan = self._plan(link, self._table_of(*token_data, link))
        kept = np.flatnonzero(rows.weights)
        learning = Learning(rows.take(kept), read_groups(groups, len(rows), kept), plan, rng)
        held = None if validation_data is None else self._read(*check_pair(validation_data), None, link)[0]
        sources, order = learning.split(held)
        trial, losses = learning.choose(sources)
        record, interrupted = self._record(trial), trial.fitted.progress.interrupted
        parts = trial
        if len(order) > trial.n_training and not interrupted:
            # What was held back, or left out while choosing, can now be learned from as well.
            if validation_data is None:
                sources, order = learning.without_validation(), np.arange(len(kept))
            last = learning.attempt(trial.setting, sources, rng, stops=trial.fitted.stops)
            if last.fitted.progress.interrupted:
                record, interrupted, order = replace(record, interrupted=True), True, order[:0]
            else:
                parts = last
        self.__dict__.pop("feature_names_in_", None)
        if (names := column_names(X)) is not None:
            self.feature_names_in_ = names
        model = self._model(parts, trial, losses, link, record)
        check_certificate(model)
        self.model_ = model
        if interrupted:
            warnings.warn("Training was interrupted. The best model so far is kept.", stacklevel=4)
        if not len(model.table):
            warnings.warn(
                "No token passed the filters, so that the model predicts a constant. Use weaker filters, or other "
                "tokens.",
                stacklevel=4,
            )
        return Fit(parts, kept[order], learning)

    @staticmethod
    def _record(trial: Trial) -> Record:
        progress = trial.fitted.progress
        if progress.interrupted and not progress.history and len(trial.fitted.stops) == 1:
            raise KeyboardInterrupt  # there is nothing yet that would be worth keeping
        return Record(progress.history, progress.best_epoch, progress.interrupted)

    def _model(
        self,
        parts: Trial,
        chosen: Trial,
        losses: Sequence[tuple[Any, float]],
        link: Link,
        record: Record,
    ) -> SemanticModel:
        """Return the model of a trial's parts, with the setting that was chosen."""
        fitted, trusts, names = parts.fitted, tuple(self.trusts), getattr(self, "feature_names_in_", None)
        function = replace(fitted.function, corrections=None)  # they stand in the table
        return SemanticModel(
            estimator=type(self).__name__,
            parameters=self.get_params(deep=False),
            function=function,
            binning=fitted.binning,
            trusts=trusts,
            link=link,
            certificate=certify(function, fitted.binning, trusts),
            record=record,
            feature_names_in=None if names is None else tuple(names),
            table=parts.table,
            setting=chosen.setting,
            choices=[{"setting": str(setting), "validation_loss": loss} for setting, loss in losses],
        )

    def _read(self, X: Any, y: Any, sample_weight: Any, link: Link | None) -> tuple[LabelledExamples, Link]:
        """Check labels and weights; the link of an earlier fit says which classes there are."""
        n = count_examples(X)
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        task: str = self._task
        if link is not None:
            task = "number" if link.classes is None else "classes"
        elif task == "auto" and not is_auto(self.loss):
            task = "number" if self.loss in REGRESSION_LOSSES else "classes"
        labels, weights = read_labels(y, n, task), check_weights(sample_weight, n)
        if labels.classes is None:
            check_size(labels.values)
        first = link is None
        link = self._new_link(labels) if link is None else link
        if link.loss == "poisson":
            counted = labels.values[weights > 0]
            if (counted < 0).any() or (first and not counted.any()):
                raise ValueError(
                    f"loss='poisson' needs labels of at least 0, not all of them 0; received {counted.min():g} to "
                    f"{counted.max():g}. Choose another loss."
                )
        return LabelledExamples.of(X, labels, weights, link.classes), link

    def _new_link(self, labels: Labels) -> Link:
        """Settle the classes and the loss."""
        classes, name = labels.classes, type(self).__name__
        if classes is not None:
            if len(classes) < 2:
                raise ValueError(
                    f"{name} needs at least two classes; y holds one class only, {classes.tolist()[0]!r}."
                )
            if classes.dtype.kind == "f" and (classes % 1 != 0).any():
                raise ValueError(
                    f"Unknown label type: continuous. {name} tells classes apart, but y holds numbers with fractions "
                    f"(such as {classes[classes % 1 != 0][0]:g}). Use SemanticRegressor, or a loss for numbers."
                )
        allowed = REGRESSION_LOSSES if classes is None else CROSSED_LOSSES
        loss = allowed[0] if is_auto(self.loss) else self.loss
        if loss not in allowed:
            what = "numbers" if classes is None else "classes"
            raise ValueError(
                f"loss={self.loss!r} does not fit labels that are {what}; choose among {allowed}."
            )
        return Link(loss, classes)

    def _plan(self, link: Link, table: TokenTable | None) -> Plan:
        details, trusts = check_details(self.details), check_trust_list(self.trusts)
        plan = Plan(
            classes=link.classes,
            table=table,
            features=check_features(self.features, details, trusts),
            trusts=trusts,
            details=details,
            loss=Loss(link.loss),
            parameters=self._open(),
            shrinkage=float(self.shrinkage),
            threads=count_threads(self.n_jobs),
        )
        shares = [feature.name for feature in plan.features or () if feature.name in ("log_odds", "entropy")]
        if plan.task == "number" and shares:
            raise ValueError(
                f"features names {shares}, which are made of shares of classes, but labels are numbers. Use mean_label "
                "without entropy."
            )
        return plan

    def _open(self) -> dict[str, Any]:
        """Return the parameters, None for those that are left to be chosen."""
        parameters: dict[str, Any] = self.get_params(deep=False)
        chosen = ("tokens", "filters", "width", "cover", "refine", "validation_fraction")
        return parameters | {name: None for name in chosen if is_auto(parameters[name])}

    def _table_of(self, token_X: Any, token_y: Any, link: Link) -> TokenTable | None:
        """Make the table of other examples, where there are some."""
        if token_X is None and token_y is None:
            return None
        if token_X is None or token_y is None:
            raise ValueError("token_X and token_y belong together; one of them is None.")
        parameters = self._open()
        tokens, filters = tokens_of(parameters, token_X), filters_of(parameters, (MinCount(2),))
        table = TokenTable.build(token_X, token_y, tokens, filters, threads=count_threads(self.n_jobs))
        several = np.empty(0) if table.classes is None or len(table.classes) < 3 else table.classes
        wanted = np.empty(0) if link.classes is None or link.n_outputs == 1 else link.classes
        if not np.array_equal(several, wanted):
            raise ValueError(
                "Where y or token_y has more than two classes, both must have the same ones: a class is estimated by "
                "what the tokens say of it."
            )
        return table

    # Parts on their own

    @restored_on_failure
    def refresh_table(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Make the token table anew from other examples; the set function and learned corrections stay.

        Parameters
        ----------
        X : array-like of shape (n,), or frame
            The examples, as for `fit`; where the table was made of ``token_X``, as these.
        y : array-like of shape (n,)
            Their labels; where the table was made of ``token_y``, as these.
        sample_weight : array-like of shape (n,), optional
            One weight for each example.

        Returns
        -------
        self
            The estimator.
        """
        model, n = self.as_model(), count_examples(X)
        table = model.table
        labels = read_labels(y, n, table.task)
        rows = LabelledExamples.of(X, labels, check_weights(sample_weight, n), table.classes)
        rows = rows.take(np.flatnonzero(rows.weights))
        plan = replace(self._plan(model.link, None), classes=table.classes)
        self.model_ = replace(model, table=build_table(model.setting, rows, plan).carrying(table))
        return self

    @restored_on_failure
    def refit_set_function(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Train the set function anew, on examples that did not help to make the token table; the table stays.

        Parameters
        ----------
        X : array-like of shape (n,), or frame
            The examples, as for `fit`. They must not be in the token table, whose means would tell them their own
            labels.
        y : array-like of shape (n,)
            One label for each example.
        sample_weight : array-like of shape (n,), optional
            One weight for each example.
        groups : array-like of shape (n,), optional
            One group for each example, as for `fit`.

        Returns
        -------
        self
            The estimator.
        """
        model = self.as_model()
        check_parameters(self.get_params(deep=False), self._rules)
        rng, link = make_rng(self.random_state), model.link
        rows, _ = self._read(X, y, sample_weight, link)
        if link.classes is not None and len(np.unique(rows.labels[rows.weights > 0])) < 2:
            raise ValueError("y holds one class only; a set function learns from at least two.")
        plan = self._plan(link, replace(model.table, corrections=None))
        kept = np.flatnonzero(rows.weights)
        learning = Learning(rows.take(kept), read_groups(groups, len(rows), kept), plan, rng)
        sources, _ = learning.split(None)
        trial = learning.attempt(model.setting, sources, rng)
        record = self._record(trial)
        self.model_ = self._model(trial, trial, [(trial.setting, trial.loss)], link, record)
        if record.interrupted:
            warnings.warn("Training was interrupted. The best model so far is kept.", stacklevel=3)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.target_tags.required = True
        return tags
