"""What the estimators over sets of strings and texts have in common: their parameters, and how they are fitted."""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from clearset.estimators._input import check_size, check_weights
from clearset.estimators._parameters import count_threads, make_rng
from clearset.estimators._restored import restored_on_failure
from clearset.estimators.semantic._learning import Learning, filters_of, tokens_of
from clearset.estimators.semantic._model import SemanticModel
from clearset.estimators.semantic._parameters import (
    check_details,
    check_features,
    check_parameters,
    check_trust_list,
)
from clearset.estimators.semantic._setting import Setting
from clearset.estimators.semantic._sources import Rows, column_names, count_examples, read_groups
from clearset.estimators.semantic._trial import Plan, Trial, build_table
from clearset.setfunction import CROSSED_LOSSES, REGRESSION_LOSSES, Loss, SetFunction
from clearset.sets import Feature, Trust
from clearset.tokens import MinCount, TokenTable, read_labels


class SemanticEstimator(SemanticModel):
    """A token table, and a set function that aggregates what it knows of an example's tokens."""

    _task: ClassVar[Literal["auto", "classes", "number"]] = "auto"

    def __init__(
        self,
        tokens: Any = None,
        filters: Any = None,
        cross_fit: int | None = 5,
        width: int | None = None,
        *,
        cover: bool | None = None,
        refine: bool | int | None = None,
        features: Sequence[str | Feature] | None = None,
        details: Sequence[str] = (),
        trusts: Sequence[Trust] = (),
        shrinkage: float = 1.0,
        keypoints: int = 10,
        rho_keypoints: int = 20,
        loss: str | None = None,
        optimizer: str = "adam",
        constraints: str = "project",
        smoothness: float = 100.0,
        learning_rate: float = 0.02,
        epochs: int = 60,
        batch_size: int | Literal["auto"] = "auto",
        validation_fraction: float | None = None,
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

    # Fitting

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
        X
            Examples: a column of lists of strings, of texts or of categories, two columns for `Cross` and `Difference`,
            or plain Python lists of these.
        y
            One label for each.
        sample_weight
            One weight for each.
        groups
            One group for each, such as a customer: examples of one group share a fold, and validation.
        token_X, token_y
            Other examples, with labels of their own, to make the token table of. There are no folds then.
        validation_data
            ``(X, y)`` to choose epoch and setting by, in place of a share of the examples.
        """
        self._fit(X, y, sample_weight, groups, token_X, token_y, validation_data)
        return self

    @restored_on_failure
    def _fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        groups: Any,
        token_X: Any = None,
        token_y: Any = None,
        validation_data: Any = None,
    ) -> tuple[Trial, npt.NDArray[np.int64], Learning]:
        """Return the trial that was kept, the order in which it holds the rows of X, and how it was learned."""
        options = self.get_params(deep=False)
        check_parameters(options, (*CROSSED_LOSSES, *REGRESSION_LOSSES))
        rng = make_rng(self.random_state)
        rows = self._read(X, y, sample_weight, reset=True)
        plan = self._plan(self._table_of(token_X, token_y))
        kept = np.flatnonzero(rows.weights)
        learning = Learning(rows.take(kept), read_groups(groups, len(rows), kept), plan, rng)
        sources, order = learning.split(self._held(validation_data))
        trial, losses = learning.choose(sources)
        self._keep(trial, losses)
        self.__dict__.pop("feature_names_in_", None)
        if (names := column_names(X)) is not None:
            self.feature_names_in_ = names
        if len(order) > trial.n_training and not self.interrupted_:
            # What was held back, or left out while choosing, can now be learned from as well.
            if validation_data is None:
                sources, order = learning.without_validation(), np.arange(len(kept))
            last = learning.attempt(trial.setting, sources, rng, stops=trial.fitted.stops)
            if last.fitted.progress.interrupted:
                self._warn_of_interrupt()
                order = order[:0]
            else:
                trial = last
                self._keep_parts(trial)
        if not len(self.token_table_):
            warnings.warn(
                "No token passed the filters, so that the model knows nothing but a constant. Use weaker filters, or "
                "other tokens.",
                stacklevel=4,
            )
        self.certificate_ = self.verify()
        if not self.certificate_:
            raise RuntimeError(
                f"The fitted model breaks a declared constraint, which is a bug.\n{self.certificate_}"
            )
        return trial, kept[order], learning

    def _read(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> Rows:
        """Check labels and weights; ``reset`` where they say which classes there are."""
        n = count_examples(X)
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        task = self._task
        if task == "auto" and self.loss is not None:
            task = "number" if self.loss in REGRESSION_LOSSES else "classes"
        labels = read_labels(y, n, task if reset else ("classes" if self._has_classes() else "number"))
        weights = check_weights(sample_weight, n)
        if labels.classes is None:
            check_size(labels.values)
        if reset:
            self.__dict__.pop("classes_", None)
            if labels.classes is not None:
                if len(labels.classes) < 2:
                    raise ValueError(
                        f"{type(self).__name__} needs at least two classes; y holds one class only, "
                        f"{labels.classes.tolist()[0]!r}."
                    )
                if labels.classes.dtype.kind == "f" and (labels.classes % 1 != 0).any():
                    raise ValueError(
                        f"Unknown label type: continuous. {type(self).__name__} tells classes apart, but y holds "
                        f"numbers with fractions (such as {labels.classes[labels.classes % 1 != 0][0]:g}). Use "
                        "SemanticRegressor, or a loss for numbers."
                    )
                self.classes_ = labels.classes
            self._check_loss(labels.classes)
        if self.loss_ == "poisson":
            counted = labels.values[weights > 0]
            if (counted < 0).any() or (reset and not counted.any()):
                raise ValueError(
                    f"loss='poisson' needs labels of at least 0, not all of them 0; received {counted.min():g} to "
                    f"{counted.max():g}. Choose another loss."
                )
        return Rows.of(X, labels, weights, self.classes_ if self._has_classes() else None)

    def _held(self, validation_data: Any) -> Rows | None:
        """Read examples that are given to validate."""
        if validation_data is None:
            return None
        if not isinstance(validation_data, tuple | list) or len(validation_data) != 2:
            raise TypeError(
                f"validation_data is a pair (X, y); received {type(validation_data).__name__}. Pass both."
            )
        return self._read(validation_data[0], validation_data[1], None, reset=False)

    def _check_loss(self, classes: npt.NDArray[Any] | None) -> None:
        allowed = REGRESSION_LOSSES if classes is None else CROSSED_LOSSES
        self.loss_ = self.loss or allowed[0]
        if self.loss_ not in allowed:
            what = "numbers" if classes is None else "classes"
            raise ValueError(
                f"loss={self.loss!r} does not fit labels that are {what}; choose among {allowed}."
            )

    def _plan(self, table: TokenTable | None) -> Plan:
        options = self.get_params(deep=False)
        details, trusts = check_details(self.details), check_trust_list(self.trusts)
        plan = Plan(
            classes=self.classes_ if self._has_classes() else None,
            table=table,
            features=check_features(self.features, details, trusts),
            trusts=trusts,
            details=details,
            loss=Loss(self.loss_),
            options=options,
            shrinkage=float(self.shrinkage),
            threads=count_threads(self.n_jobs),
        )
        shares = [feature.name for feature in plan.features or () if feature.name in ("log_odds", "entropy")]
        if plan.task == "number" and shares:
            raise ValueError(
                f"features names {shares}, which speak of shares of classes, but labels are numbers. Use mean_label "
                "without entropy."
            )
        return plan

    def _table_of(self, token_X: Any, token_y: Any) -> TokenTable | None:
        """Make the table of other examples, where there are some."""
        if token_X is None and token_y is None:
            return None
        if token_X is None or token_y is None:
            raise ValueError("token_X and token_y belong together; one of them is None.")
        options = self.get_params(deep=False)
        tokens, filters = tokens_of(options, token_X), filters_of(options, (MinCount(2),))
        table = TokenTable.build(token_X, token_y, tokens, filters, threads=count_threads(self.n_jobs))
        several = table.classes is not None and len(table.classes) > 2
        wanted = self._has_classes() and len(self.classes_) > 2
        if (several or wanted) and not (
            several and wanted and table.classes is not None and np.array_equal(table.classes, self.classes_)
        ):
            raise ValueError(
                "Where y or token_y has more than two classes, both must have the same ones: a class is estimated by "
                "what the tokens say of it."
            )
        return table

    def _keep(self, trial: Trial, losses: list[tuple[Setting, float]]) -> None:
        progress = trial.fitted.progress
        if progress.interrupted and not progress.history and len(trial.fitted.stops) == 1:
            raise KeyboardInterrupt  # there is nothing yet that would be worth keeping
        self._keep_parts(trial)
        self.setting_ = trial.setting
        self.choices_ = [{"setting": str(setting), "validation_loss": loss} for setting, loss in losses]
        self.features_, self.trusts_ = trial.features, tuple(self.trusts)
        self.history_, self.best_epoch_ = progress.history, progress.best_epoch
        self.interrupted_ = progress.interrupted
        if self.interrupted_:
            self._warn_of_interrupt()

    def _warn_of_interrupt(self) -> None:
        self.interrupted_ = True
        warnings.warn("Training was interrupted. The best model so far is kept.", stacklevel=4)

    def _keep_parts(self, trial: Trial) -> None:
        self.token_table_, self.binning_ = trial.table, trial.fitted.binning
        model = trial.fitted.model
        self.set_function_ = SetFunction(model.phi, model.rho)

    # Parts on their own

    @restored_on_failure
    def refresh_table(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Make the token table anew from other examples; the set function and learned corrections stay.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`; where the table was made of ``token_X`` and ``token_y``, as these.
        """
        check_is_fitted(self)
        table, n = self.token_table_, count_examples(X)
        labels = read_labels(y, n, table.task)
        rows = Rows.of(X, labels, check_weights(sample_weight, n), table.classes)
        rows = rows.take(np.flatnonzero(rows.weights))
        plan = replace(self._plan(None), classes=table.classes)
        self.token_table_ = build_table(self.setting_, rows, plan).carrying(table)
        return self

    @restored_on_failure
    def refit_set_function(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Train the set function anew, on examples that did not help to make the token table; the table stays.

        Parameters
        ----------
        X, y, sample_weight, groups
            As for `fit`. The table's means are taken as they are: examples that are in it would be told their own
            labels.
        """
        check_is_fitted(self)
        check_parameters(self.get_params(deep=False), (*CROSSED_LOSSES, *REGRESSION_LOSSES))
        rng = make_rng(self.random_state)
        rows = self._read(X, y, sample_weight, reset=False)
        if self._has_classes() and len(np.unique(rows.labels[rows.weights > 0])) < 2:
            raise ValueError("y holds one class only; a set function learns from at least two.")
        plan = self._plan(replace(self.token_table_, corrections=None))
        kept = np.flatnonzero(rows.weights)
        learning = Learning(rows.take(kept), read_groups(groups, len(rows), kept), plan, rng)
        sources, _ = learning.split(None)
        trial = learning.attempt(self.setting_, sources, rng)
        self._keep(trial, [(trial.setting, trial.loss)])
        self.certificate_ = self.verify()
        return self
