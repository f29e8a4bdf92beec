"""What the estimators over sets of tokens with features have in common."""

import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np

from clearset.engines import processes
from clearset.estimators._checkpoints import kept_in
from clearset.estimators._class_weight import class_factors, weigh
from clearset.estimators._fit_warnings import warn_of_none_held_out, warn_of_training
from clearset.estimators._input import checked_sets, read_training_sets
from clearset.estimators._model_estimator import DEVICES, ModelEstimator, check_device, check_pair
from clearset.estimators._parameter_rules import (
    Either,
    Flag,
    Memory,
    Number,
    OneOf,
    Rule,
    Whole,
    check_parameters,
    make_rng,
)
from clearset.estimators._restored_on_failure import restored_on_failure
from clearset.estimators._streams import check_alone, read_training_stream, sets_of, shared_random_state
from clearset.functions import Link, Loss
from clearset.models import MAX_WIDTH, Origin, Record, SetModel
from clearset.sets import (
    SIZE,
    Feature,
    SetSource,
    Trust,
    as_stream,
    check_weights,
    count_threads,
    feature_columns,
    labels_of,
    memory_limit,
    read_sets,
    resolve_features,
)
from clearset.training import (
    FittedSets,
    LabelledSets,
    Options,
    Progress,
    SetTask,
    choose_batch_size,
    choose_epochs,
    continued,
    fit_set_function,
    hold_out,
    progress_bar,
)

# From so many sets on some are held out to choose the epoch by, unless that is asked for or refused.
HOLDS_OUT = 10_000


@dataclass(eq=False, repr=False)
class SetEstimator(ModelEstimator, ABC):
    """The shared part of `SetRegressor` and `SetClassifier`: parameters and fitting.

    Parameters
    ----------
    features : sequence of str or Feature
        What the sets have, and what is known of it. None takes every column of numbers, and as categorical every one of
        a category dtype (pandas, polars) or dictionary type (Arrow), plain or in lists, and the number of tokens
        (`clearset.SIZE`) where there are lists. Categories are those seen in training, whatever the dtype lists; others
        count as missing.
    width : int
        The number of scores that phi has for each token, K in the paper, at most 12. With 1, rho is one curve that can
        be drawn.
    trusts : sequence of Trust
        Pairs of features of which the effect of one grows with the other.
    lattice_size : int or "auto"
        The number of vertices of phi's lattices along each feature, unless its `Feature` has a number of its own.
        ``"auto"`` is 2, and 3 along a feature or two of which nothing is declared and which count one way alone and
        another way together with others, if the labels show it.
    lattices : {"auto", "full", "ensemble"}
        ``"full"`` is one lattice over all features, ``"ensemble"`` many small lattices over a few features each.
        The labels say which features share one. ``"auto"`` is full for up to 8 features.
    smoothness : float or "auto"
        The strength of the penalty on bends of calibrators and twists of lattices, 0 for none. Its effect becomes
        weaker with more training data. ``"auto"`` is from 25 to 3000: the less the more of the labels bends and
        products of features explain, beyond a linear model of the features' means and by more than chance.
    epochs : int or "auto"
        The number of passes over the training sets; ``"auto"`` is 40, and more where these are fewer than 2,000 steps,
        up to 1,000, or ten times the number of sets. With several scores, from 25 on, training is begun three times
        from different initial values, for a fifth of the epochs at most, and the best goes on. Where all are used while
        the loss is still falling noticeably, `fit` gives a ``sklearn.exceptions.ConvergenceWarning``.
    batch_size : int or "auto"
        The number of sets of one step. ``"auto"`` is one in 64 of the training sets, from 32 to 1024.
    validation_fraction : float
        The share of the training sets that are held out for early stopping, unless `fit` is given validation data.
        Where this would be fewer than 50 sets, none are held out and all epochs are run; with ``early_stopping=True``
        `fit` warns of that.
    early_stopping : bool or "auto"
        Whether to keep the best epoch on validation data, and to stop after `patience` epochs without a better one.
        Otherwise all epochs are run on all sets, and the loss on given validation data is only recorded. ``"auto"``
        stops early on validation data that `fit` is given, and holds some out from 10,000 sets on: of fewer, each is
        worth more in training, where `smoothness` keeps the function from following noise.
    restarts : int
        The number of trainings from different initial values, the first of which are near a linear model. The best on
        validation data is kept, or on the training data where there are none.
    warm_start : bool
        Whether `fit` continues from the parameters of the last fit. Keypoints, categories and lattices stay the same;
        a fit that is told others is refused.
    device : {"auto", "cpu", "cuda"}
        Where to train and predict: ``"cuda"`` is an NVIDIA GPU, which needs torch; the others mean the CPU.
    max_memory : int, str or None
        How much memory a fit on files may take: bytes, or a text such as ``"2GB"``. None is half of what is available.
        Tokens that take more go to a scratch file (in the folder that ``TMPDIR`` names), which is removed afterwards;
        labels, weights and sizes stay in memory, about 90 bytes for each set; more is refused.
    verbose : int
        Whether to show a progress bar: 1 shows one, 0 does not.

    Attributes
    ----------
    model_ : SetModel
        The fitted model as plain data, without scikit-learn and torch.
    features_ : tuple of Feature
        The declared features in full.
    binning_ : Binning
        Keypoints and categories of the features.
    n_features_in_ : int
        The number of features or columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        The names of the columns, where X was a frame: all of them, or where `features` is given those of it.
    """

    _rules: ClassVar[dict[str, Rule]] = ModelEstimator._rules | {
        "width": Whole(1, MAX_WIDTH),
        "smoothness": Either(Number(high=1e100, or_low=True), OneOf(("auto",))),
        "epochs": Either(Whole(1), OneOf(("auto",))),
        "early_stopping": Either(Flag(), OneOf(("auto",))),
        "lattice_size": Either(Whole(2, 1000), OneOf(("auto",))),
        "lattices": OneOf(("auto", "full", "ensemble")),
        "validation_fraction": Number(0.0, 1.0),
        "restarts": Whole(1),
        "warm_start": Flag(),
        "device": OneOf(DEVICES),
        "max_memory": Memory(),
    }

    features: Sequence[str | Feature] | None = None
    width: int = 1
    _: KW_ONLY
    trusts: Sequence[Trust] = ()
    keypoints: int = 10
    rho_keypoints: int = 20
    lattice_size: int | Literal["auto"] = "auto"
    lattices: str = "auto"
    loss: str
    optimizer: str = "adam"
    constraints: str = "project"
    smoothness: float | Literal["auto"] = "auto"
    learning_rate: float = 0.03
    epochs: int | Literal["auto"] = "auto"
    batch_size: int | Literal["auto"] = "auto"
    validation_fraction: float = 0.1
    early_stopping: bool | Literal["auto"] = "auto"
    patience: int = 30
    restarts: int = 1
    warm_start: bool = False
    random_state: Any = None
    device: str = "auto"
    n_jobs: int | None = None
    max_memory: int | str | None = None
    verbose: int = 0

    @abstractmethod
    def _labels(self, y: Any, n_sets: int, link: Link | None) -> tuple[np.ndarray, Link]:
        """Return checked labels as numbers, and the link; that of an earlier fit says which classes there are."""

    def _loss(self) -> Loss:
        return Loss(self.loss, self.get_params(deep=False).get("quantile", 0.5))

    def _input(self, X: Any) -> Any:
        return checked_sets(self, X, reset=False)

    @restored_on_failure
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        validation_data: tuple[Any, Any] | None = None,
        *,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> Self:
        """Fit the set function.

        Parameters
        ----------
        X : frame, SetData, array-like of shape (n, n_features), path or Arrow data set
            The sets, one in a row: a frame (pandas, polars, Arrow) whose list columns are features of tokens and whose
            plain columns are features of sets, a `SetData`, or a 2-D array, whose rows are sets of one token. Data that
            need not fit into memory are the path of a Parquet file or of a folder of them, or a
            ``pyarrow.dataset.Dataset``, whose rows are read as those of a frame.
        y : array-like of shape (n,) or str
            One label for each set; of data in files, the name of their column.
        sample_weight : array-like of shape (n,) or str, optional
            One weight for each set, or the name of their column. Whole numbers below 2^53 count as repetitions: a set
            of weight 2 counts twice, one of weight 0 is left out. Of other weights only the ratios matter, and those of
            less than 2^-60 of the largest count as 0.
        validation_data : tuple (X, y), optional
            Sets and labels to choose the best epoch by, in place of a share of the training data; they may be in files
            as well.
        checkpoint : path-like, optional
            A file to keep what training has reached in, every few seconds. After the process was killed, the same call
            goes on from there, and ends with the same bits as if nothing had happened. A checkpoint of another fit, of
            other data or another version is refused and left as it is. The file is removed when the fit is done; after
            an interrupt (Ctrl-C), which keeps the best so far, it stays.

        Returns
        -------
        self
            The fitted estimator.
        """
        check_parameters(self.get_params(deep=False), self._rules)
        check_device(self.device)
        with kept_in(checkpoint, self):
            return self._fit(X, y, sample_weight, validation_data)

    def _fit(self, X: Any, y: Any, sample_weight: Any, validation_data: tuple[Any, Any] | None) -> Self:
        parameters = self.get_params(deep=False)
        start, stream = None, as_stream(X)
        if stream is None:
            check_alone(self, "its data are in memory")
        rng = continued(make_rng(shared_random_state(self.random_state)))
        sets: SetSource
        if self.warm_start and self.__sklearn_is_fitted__():
            start = self.as_model()
            sets, features, trusts = self._read_again(X, start), start.binning.features, start.trusts
        elif stream is not None:
            left_out = (y, sample_weight)
            sets, features, trusts = read_training_stream(self, stream, left_out, self.features, self.trusts)
        else:
            sets, features, trusts = read_training_sets(self, X, self.features, self.trusts)
        y, sample_weight = labels_of(stream, y, "y"), labels_of(stream, sample_weight, "sample_weight")
        weights = check_weights(sample_weight, len(sets))
        labels, link = self._labels(y, len(sets), None if start is None else start.link)
        data_labels = (labels, weights, link.classes)
        factors = class_factors(parameters.get("class_weight"), link.classes, labels, weights)
        weights = weigh(factors, labels, weights)
        check_declarations(features, trusts, link)
        data = LabelledSets(sets, labels, weights)
        if not weights.all():
            data = data[np.flatnonzero(weights)]
        validation: LabelledSets | None = None
        if validation_data is not None:
            validation = self._validation(validation_data, features, link, factors)
        elif self.early_stopping and (self.early_stopping != "auto" or len(data) >= HOLDS_OUT):
            stratify, fraction = link.classes is not None, self.validation_fraction
            chosen, held = hold_out(data.labels, None, fraction, rng, stratify=stratify)
            if len(held):
                data, validation = data[chosen], data[held]
            elif self.early_stopping != "auto":
                warn_of_none_held_out(len(data), fraction, stacklevel=4)
        del y, sample_weight, labels, weights  # with many sets, copies that are not needed any more
        batch_size = choose_batch_size(self.batch_size, len(data), share=64, largest=1024)
        parameters["epochs"] = choose_epochs(self.epochs, len(data), batch_size)
        task = SetTask(
            features,
            trusts,
            link.n_outputs,
            self._loss(),
            batch_size,
            Options.of(parameters, count_threads(self.n_jobs)),
            float("inf") if stream is None else memory_limit(self.max_memory),
        )
        before = None if start is None else FittedSets(start.binning, start.function, 0.0, Progress(start.function))
        with progress_bar(parameters if processes().rank == 0 else {**parameters, "verbose": 0}) as on_epoch:
            fitted = fit_set_function(task, data, validation, rng, before, on_epoch)
        progress = fitted.progress
        nothing = None if fitted.nothing is None else link.outputs_of(fitted.nothing)
        record = Record(progress.history, progress.best_epoch, progress.interrupted, fitted.smoothness)
        self._keep(
            SetModel,
            fitted.function,
            fitted.binning,
            trusts,
            replace(link, nothing=nothing),
            record,
            origin=Origin.of(sets.fingerprint().with_labels(*data_labels)),
            sets_of_one=bool((sets.sizes == 1).all()),
            n_features_in=int(self.n_features_in_),
            set_columns=tuple(name for name in feature_columns(features) if sets.is_of_sets(name)),
        )
        warn_of_training(record, parameters["epochs"], stacklevel=4)
        return self

    def _read_again(self, X: Any, start: SetModel) -> SetSource:
        """Read sets to go on fitting with; what the first fit has settled must not have changed."""
        function, stream = start.function, as_stream(X)
        X = self._input(X) if stream is None else stream.schema.empty_table()
        declared: Sequence[str | Feature] | None = self.features
        if stream is not None and declared is None:
            declared = start.binning.features  # other columns hold labels and weights
        changes: dict[str, tuple[Any, Any]] = {
            "features": self._features_again(X, declared, start),
            "trusts": (start.trusts, tuple(self.trusts)),
            "loss": (start.link.loss, self._loss().name),
            "width": (function.width, self.width),
            "rho_keypoints": (function.rho_keypoints, self.rho_keypoints),
            **self._form_again(start),
        }
        for name, (settled, wanted) in changes.items():
            if settled != wanted:
                raise ValueError(
                    f"warm_start=True goes on from the last fit, but {name} has changed from {settled} to {wanted}. "
                    "Set it back, or use warm_start=False."
                )
        if stream is not None:
            return sets_of(stream, start.binning.features, self.max_memory)
        return read_sets(X, start.binning.features)

    def _features_again(
        self, X: Any, declared: Sequence[str | Feature] | None, start: SetModel
    ) -> tuple[tuple[Feature, ...], tuple[Feature, ...]]:
        """Return the features of the first fit, and those of this one."""
        settled, wanted = start.binning.features, resolve_features(X, declared)
        if declared is not None:
            return settled, wanted
        # The size is there without a column, and models of earlier versions do not read it.
        size = tuple(feature for feature in settled if feature.name == SIZE)
        return settled, (*(feature for feature in wanted if feature.name != SIZE), *size)

    def _form_again(self, start: SetModel) -> dict[str, tuple[Any, Any]]:
        """Return what the first fit was told of keypoints and lattices, and what this one is, where it counts."""
        told, features = vars(self).get("_parameters_of_fit", start.parameters), start.binning.features
        own = {
            "keypoints": all(feature.keypoints is not None or feature.kind != "numeric" for feature in features),
            "lattice_size": all(feature.lattice_size is not None for feature in features),
            "lattices": False,
        }
        names = (name for name, every in own.items() if name in told and not every)
        return {name: (told[name], getattr(self, name)) for name in names}

    def _validation(self, validation_data: Any, features: Sequence[Feature], link: Link, factors: Any) -> LabelledSets:
        X, y = check_pair(validation_data)
        stream = as_stream(X)
        sets: SetSource
        if stream is not None:
            sets = sets_of(stream, features, self.max_memory, least=0)
        else:
            check_alone(self, "its validation data are in memory")
            sets = read_sets(self._input(X), features)
        labels, _ = self._labels(labels_of(stream, y, "y"), len(sets), link)
        return LabelledSets(sets, labels, weigh(factors, labels, np.ones(len(sets))))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def check_declarations(features: Sequence[Feature], trusts: Sequence[Trust], link: Link) -> None:
    """Refuse what cannot be promised, before any training; a single output can promise everything."""
    constrained = [feature.name for feature in features if feature.monotonic is not None]
    if link.n_outputs > 1 and (constrained or trusts):
        name = (constrained or [trusts[0].feature])[0]
        raise ValueError(
            f"Feature {name!r} is declared monotonic or trusted, but y has {link.n_outputs} classes: which of "
            "them should rise? Such a constraint can be promised for two classes only. Remove the "
            "declaration, or fit one SetClassifier for each class against the rest."
        )
