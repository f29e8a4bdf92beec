"""What the estimators over sets of tokens with features have in common."""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np

from clearset.estimators._fitted import ModelEstimator, check_certificate, check_pair
from clearset.estimators._input import checked_sets, read_training_sets
from clearset.estimators._parameters import (
    Either,
    Flag,
    Number,
    OneOf,
    Rule,
    Threads,
    Whole,
    check_parameters,
    make_rng,
)
from clearset.estimators._restored_on_failure import restored_on_failure
from clearset.functions import Link, Loss
from clearset.models import MAX_WIDTH, Record, SetModel, certify
from clearset.sets import (
    Feature,
    SetData,
    Trust,
    check_weights,
    count_threads,
    read_sets,
    resolve_features,
)
from clearset.training import (
    FittedSets,
    LabelledSets,
    Options,
    Progress,
    SetTask,
    fit_set_function,
    hold_out,
    progress_bar,
)

TRAINING_RULES: dict[str, Rule] = {
    "keypoints": Whole(2, 1000),
    "rho_keypoints": Whole(2, 1000),
    "optimizer": OneOf(("adam", "adagrad")),
    "constraints": OneOf(("project", "light_touch")),
    "smoothness": Number(or_low=True),
    "learning_rate": Number(),
    "epochs": Whole(1),
    "batch_size": Either(Whole(1), OneOf(("auto",))),
    "early_stopping": Flag(),
    "patience": Whole(1),
    "n_jobs": Threads(),
    "verbose": Whole(0),
}


class SetEstimator(ModelEstimator, ABC):
    """The shared part of `SetRegressor` and `SetClassifier`: fitting.

    Subclasses say what labels are: `_link` settles the classes, `_numbers` turns labels into numbers.
    """

    _rules: ClassVar[dict[str, Rule]] = TRAINING_RULES | {
        "width": Whole(1, MAX_WIDTH),
        "lattice_size": Whole(2, 1000),
        "lattices": OneOf(("auto", "full", "ensemble")),
        "validation_fraction": Number(0.0, 1.0),
        "restarts": Whole(1),
        "warm_start": Flag(),
        "device": OneOf(("auto", "cpu")),
    }

    features: Sequence[str | Feature] | None
    trusts: Sequence[Trust]
    random_state: Any

    @abstractmethod
    def _labels(self, y: Any, n_sets: int, link: Link | None) -> tuple[np.ndarray, Link]:
        """Return checked labels as numbers, and the link; that of an earlier fit says which classes there are."""

    def _loss(self) -> Loss:
        parameters = self.get_params(deep=False)
        return Loss(parameters["loss"], parameters.get("quantile", 0.5))

    def _input(self, X: Any) -> Any:
        return checked_sets(self, X, reset=False)

    @restored_on_failure
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, validation_data: tuple[Any, Any] | None = None
    ) -> Self:
        """Fit the set function.

        Parameters
        ----------
        X : frame, SetData or array-like of shape (n, n_features)
            The sets, one in a row: a frame (pandas, polars, Arrow) whose list columns are features of tokens and whose
            plain columns are features of sets, a `SetData`, or a 2-D array, whose rows are sets of one token.
        y : array-like of shape (n,)
            One label for each set.
        sample_weight : array-like of shape (n,), optional
            One weight for each set. Whole numbers below 2^53 count as repetitions: a set of weight 2 counts twice, one
            of weight 0 is left out. Of other weights only the ratios matter.
        validation_data : tuple (X, y), optional
            Sets and labels to choose the best epoch by, in place of a share of the training data.

        Returns
        -------
        self
            The fitted estimator.
        """
        parameters = self.get_params(deep=False)
        check_parameters(parameters, self._rules)
        rng, start = make_rng(self.random_state), None
        if parameters["warm_start"] and self.__sklearn_is_fitted__():
            start = self.as_model()
            sets, features, trusts = self._read_again(X, start), start.binning.features, start.trusts
        else:
            sets, features, trusts = read_training_sets(self, X, self.features, self.trusts)
        weights = check_weights(sample_weight, len(sets))
        labels, link = self._labels(y, len(sets), None if start is None else start.link)
        self._check_declarations(features, trusts, link)
        data = LabelledSets(sets, labels, weights)[np.flatnonzero(weights)]
        validation: LabelledSets | None = None
        if validation_data is not None:
            validation = self._validation(validation_data, features, link)
        elif parameters["early_stopping"]:
            stratify, fraction = link.classes is not None, parameters["validation_fraction"]
            chosen, held = hold_out(data.labels, None, fraction, rng, stratify=stratify)
            if len(held):
                data, validation = data[chosen], data[held]
        task = SetTask(
            features,
            trusts,
            link.n_outputs,
            self._loss(),
            parameters["batch_size"],
            Options.of(parameters, count_threads(self.n_jobs)),
        )
        before = (
            None if start is None else FittedSets(start.binning, start.function, Progress(start.function))
        )
        with progress_bar(parameters) as on_epoch:
            fitted = fit_set_function(task, data, validation, rng, before, on_epoch)
        progress = fitted.progress
        model = SetModel(
            estimator=type(self).__name__,
            parameters=parameters,
            function=fitted.function,
            binning=fitted.binning,
            trusts=trusts,
            link=link,
            certificate=certify(fitted.function, fitted.binning, trusts),
            record=Record(progress.history, progress.best_epoch, progress.interrupted),
            feature_names_in=_names(getattr(self, "feature_names_in_", None)),
            sets_of_one=bool((sets.sizes == 1).all()),
            n_features_in=int(self.n_features_in_),
        )
        check_certificate(model)
        self.model_ = model
        if progress.interrupted:
            warnings.warn(
                f"Training was interrupted after {len(progress.history)} of {parameters['epochs']} epochs. The best "
                "model so far is kept.",
                stacklevel=3,
            )
        return self

    def _read_again(self, X: Any, start: SetModel) -> SetData:
        """Read sets to go on fitting with; what the first fit has settled must not have changed."""
        X, function = self._input(X), start.function
        changes = {
            "features": (start.binning.features, resolve_features(X, self.features)),
            "trusts": (start.trusts, tuple(self.trusts)),
            "loss": (start.link.loss, self._loss().name),
            "width": (function.width, self.get_params(deep=False)["width"]),
            "rho_keypoints": (function.rho_keypoints, self.get_params(deep=False)["rho_keypoints"]),
        }
        for name, (settled, wanted) in changes.items():
            if settled != wanted:
                raise ValueError(
                    f"warm_start=True goes on from the last fit, but {name} has changed from {settled} to {wanted}. "
                    "Set it back, or use warm_start=False."
                )
        return read_sets(X, start.binning.features)

    def _check_declarations(self, features: Sequence[Feature], trusts: Sequence[Trust], link: Link) -> None:
        """Refuse what cannot be promised, before any training; a single output can promise everything."""

    def _validation(self, validation_data: Any, features: Sequence[Feature], link: Link) -> LabelledSets:
        X, y = check_pair(validation_data)
        sets = read_sets(self._input(X), features)
        return LabelledSets(sets, self._labels(y, len(sets), link)[0], np.ones(len(sets)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _names(names: Any) -> tuple[str, ...] | None:
    return None if names is None else tuple(map(str, names))
