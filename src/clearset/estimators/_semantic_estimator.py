"""What the estimators over sets of strings and texts have in common: their parameters, and how they are fitted."""

import os
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from clearset.estimators._checkpoints import kept_in
from clearset.estimators._class_weight import class_factors, weigh_same_classes, weighed
from clearset.estimators._fit_warnings import warn_of_no_tokens, warn_of_training
from clearset.estimators._input import forget_columns
from clearset.estimators._model_estimator import DEVICES, ModelEstimator, check_device, check_pair
from clearset.estimators._parameter_rules import (
    Auto,
    Either,
    Flag,
    Memory,
    Number,
    OneOf,
    OrNone,
    Rule,
    Whole,
    check_parameters,
    make_rng,
)
from clearset.estimators._restored_on_failure import restored_on_failure
from clearset.estimators._semantic_files import check_in_files, memory_of, read_rows
from clearset.estimators._semantic_labels import Task, read_examples
from clearset.estimators._semantic_plan import MAX_FOLDS, build_other_table, make_plan
from clearset.estimators._streams import check_alone
from clearset.functions import CROSSED_LOSSES, REGRESSION_LOSSES, Link
from clearset.models import MAX_WIDTH, Origin, Record, SemanticMethods, SemanticModel
from clearset.models.edits import with_new_table
from clearset.sets import Feature, Trust, check_weights, column_names, count_examples, read_labels
from clearset.tokens import fingerprint_examples
from clearset.training import LabelledExamples, Learning, Plan, Trial, build_table, continued, read_groups

_CHOSEN = "chosen on validation data"


class Fit(NamedTuple):
    """What a fit leaves beside the model: the trial that was kept, the rows of X in its order, and how it learned."""

    trial: Trial
    order: npt.NDArray[np.int64]
    learning: Learning


@dataclass(eq=False, repr=False)
class SemanticEstimator(SemanticMethods, ModelEstimator):
    """A token table, and a set function that aggregates what it knows of an example's tokens.

    Parameters
    ----------
    tokens : tokenizer or "auto"
        How examples are taken apart: `Items`, `Words`, `Subsets`, `NGrams`, `Cross`, `Difference`, a `Union` of
        several, or an object with a method ``tokens(example)``. ``"auto"`` chooses on validation data, together with
        those of `filters`, `width` and `refine` that are ``"auto"``.
    filters : filter, sequence of filters or "auto"
        Conditions on the tokens of the table, such as ``[MinCount(5)]``. ``"auto"`` with given tokens means that they
        only have to occur.
    cross_fit : int or None
        The number of folds, from 2 to 31. An example is trained on with the statistics of its tokens without its own
        fold. None means no folds.
    width : int or "auto"
        The number of scores that phi has for each token, K in the paper, at most 12. ``"auto"`` with given tokens is 1.
    cover : bool or "auto"
        Whether larger tokens replace the smaller ones whose items they hold; otherwise all tokens of the table count.
        ``"auto"`` is True with given tokens, and False where these are chosen.
    refine : bool, int or "auto"
        Whether to learn a correction to the value of each single item; a whole number is the largest size of tokens
        that have corrections. ``"auto"`` chooses on validation data.
    features : sequence of str or Feature
        What the set function reads of each token: one of ``mean_label`` and ``log_odds`` (against the prior), and any
        of ``count``, ``size``, ``interval`` (its width), ``entropy``, ``lift`` (over the token's items), ``kind`` (of
        a `Union`), ``whole`` (whether it is the whole set), ``items`` and ``tokens`` (their number in the set), and of
        the details. None is a usual choice of these.
    details : sequence of str
        List columns of X with a number for each item, such as an actor's salary in this film.
    trusts : sequence of Trust
        Pairs of features of which the effect of one grows with the other, such as ``Trust("mean_label", by="count")``.
    shrinkage : float or "auto"
        The number of examples of the prior that every mean is mixed with. ``"auto"`` is the one of 1, 3, 10 and 30
        with which values of tokens tell best the labels of examples that they were not counted on. With given tokens
        it is 1.
    batch_size : int or "auto"
        The number of examples of one step. ``"auto"`` is one in 64 of the training examples, from 32 to 2048.
    validation_fraction : float or "auto"
        The share of the examples that settings and epochs are chosen by; afterwards they are trained on as well.
        ``"auto"`` is a tenth, or 1000 examples if that is more, but at most a quarter. Where this would be fewer than
        50 examples, none are held out.
    early_stopping : bool
        Whether to keep the best epoch on validation data, and to stop after `patience` epochs without a better one.
        Otherwise nothing is chosen on validation data.
    device : {"auto", "cpu", "cuda"}
        Where to train and predict: ``"cuda"`` is an NVIDIA GPU, which needs torch; the others mean the CPU. Tokens are
        counted and found on the CPU either way.
    max_memory : int, str or None
        How much memory a fit on files may take: bytes, or a text such as ``"2GB"``. None is half of what is available.
        What takes more is read piece by piece, and kept in scratch files (in the folder that ``TMPDIR`` names), which
        are removed afterwards; labels, weights and places stay in memory, about 150 bytes for each example.
    verbose : int
        Whether to show progress bars and what was chosen: 1 shows them, 0 does not.

    Attributes
    ----------
    model_ : SemanticModel
        The fitted model as plain data, without scikit-learn and torch.
    token_table_ : TokenTable
        The tokens and their statistics, with learned corrections.
    setting_ : Setting
        What was chosen: tokens, filters, cover, width and refinement.
    choices_ : list of dict
        Every setting that was tried, and its validation loss.
    features_ : tuple of Feature
        The features that the set function reads.
    binning_ : Binning
        The keypoints of the features.
    n_features_in_ : int
        The number of columns, where these have names.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        The names of the columns, where X has some.
    """

    _task: ClassVar[Task] = "auto"
    _rules: ClassVar[dict[str, Rule]] = ModelEstimator._rules | {
        "loss": Auto(OneOf((*CROSSED_LOSSES, *REGRESSION_LOSSES)), "chosen by the labels"),
        "cross_fit": OrNone(Whole(2, MAX_FOLDS), "no folds"),
        "width": Auto(Whole(1, MAX_WIDTH), _CHOSEN),
        "cover": Auto(Flag(), "chosen by whether tokens are given"),
        "refine": Auto(Either(Flag(), Whole(0, 100)), _CHOSEN),
        "shrinkage": Auto(Number(or_low=True), "chosen by the labels"),
        "validation_fraction": Auto(Number(0.0, 1.0), "chosen by the number of examples"),
        "device": OneOf(DEVICES),
        "max_memory": Memory(),
    }

    tokens: Any = "auto"
    filters: Any = "auto"
    cross_fit: int | None = 5
    width: int | Literal["auto"] = "auto"
    _: KW_ONLY
    cover: bool | Literal["auto"] = "auto"
    refine: bool | int | Literal["auto"] = "auto"
    features: Sequence[str | Feature] | None = None
    details: Sequence[str] = ()
    trusts: Sequence[Trust] = ()
    shrinkage: float | Literal["auto"] = "auto"
    keypoints: int = 10
    rho_keypoints: int = 20
    loss: str = "auto"
    optimizer: str = "adam"
    constraints: str = "project"
    smoothness: float = 100.0
    learning_rate: float = 0.02
    epochs: int = 60
    batch_size: int | Literal["auto"] = "auto"
    validation_fraction: float | Literal["auto"] = "auto"
    early_stopping: bool = True
    patience: int = 15
    random_state: Any = None
    device: str = "auto"
    n_jobs: int | None = None
    max_memory: int | str | None = None
    verbose: int = 0

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
        column: str | Sequence[str] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> Self:
        """Make the token table and train the set function.

        Parameters
        ----------
        X : array-like of shape (n,), frame, path or Arrow data set
            The examples: a column of lists of strings, of texts or of categories, two columns for `Cross` and
            `Difference`, or plain Python lists of these; or, of data that need not fit into memory, the path of a
            Parquet file or of a folder of them, or a ``pyarrow.dataset.Dataset``.
        y : array-like of shape (n,) or str
            One label for each example; of data in files, the name of their column.
        sample_weight : array-like of shape (n,) or str, optional
            One weight for each example, or the name of their column.
        groups : array-like of shape (n,) or str, optional
            One group for each example, such as a customer, or the name of their column. Examples of one group are in
            the same fold, and all or none of them are held out for validation.
        token_X : array-like of shape (m,), frame, path or Arrow data set, optional
            Other examples to make the token table of, which in files need not fit into memory. There are no folds then.
        token_y : array-like of shape (m,) or str, optional
            The labels of these, which may be others than those in y, or the name of their column.
        validation_data : tuple (X, y), optional
            Examples and labels to choose the epoch and the setting by, in place of a share of the examples.
        column : str or sequence of str, optional
            Of data in files the column of items or texts, two for `Cross` and `Difference`. It may be left out where
            there is only one of lists or strings beside labels, weights and groups.
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
        with kept_in(checkpoint, self):
            self._fit(X, y, sample_weight, groups, (token_X, token_y), validation_data, column)
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
        column: str | Sequence[str] | None = None,
    ) -> Fit:
        parameters = self.get_params(deep=False)
        check_parameters(parameters, self._rules)
        check_device(self.device)
        check_alone(self, "its tokens are counted by one")
        rng = continued(make_rng(self.random_state))
        found = read_rows(parameters, X, y, sample_weight, groups, column)
        check_in_files(column, X, found, token_data[1])
        X, y, sample_weight, groups = found
        rows, link = self._read(X, y, sample_weight, None)
        data = fingerprint_examples(X, parameters["details"]).with_labels(rows.labels, rows.weights, link.classes)
        factors = class_factors(parameters.get("class_weight"), link.classes, rows.labels, rows.weights)
        rows = weighed(rows, factors)
        plan = make_plan(parameters, link, build_other_table(parameters, *token_data, link, column), memory_of(X))
        learning, kept = self._learning(rows, groups, plan, rng)
        held = None
        if validation_data is not None:
            held_X, held_y, *_ = read_rows(parameters, *check_pair(validation_data), column=column)
            held = weighed(self._read(held_X, held_y, None, link)[0], factors)
        sources, order = learning.split(held)
        trial, losses = learning.choose(sources)
        record, parts = self._record(trial), trial
        if len(order) > trial.n_training and not record.interrupted:
            # What was held back, or left out while choosing, can now be learned from as well.
            if validation_data is None:
                sources, order = learning.without_validation(), np.arange(len(kept))
            trial = replace(trial, setting=learning.for_more(trial, sources))
            last = learning.attempt(trial.setting, sources, rng, shown=trial.fitted)
            if last.fitted.progress.interrupted:
                record, order = replace(record, interrupted=True), order[:0]
            else:
                parts = last
        forget_columns(self)
        if (names := column_names(X)) is not None:
            self.n_features_in_, self.feature_names_in_ = len(names), names
        self._keep_trial(parts, trial, losses, link, record, Origin.of(data))
        warn_of_training(record, self.epochs, stacklevel=4)
        if not len(parts.table):
            warn_of_no_tokens(stacklevel=4)
        return Fit(parts, kept[order], learning)

    def _record(self, trial: Trial) -> Record:
        progress = trial.fitted.progress
        if progress.interrupted and not progress.history and len(trial.fitted.stops) == 1:
            raise KeyboardInterrupt  # there is nothing yet that would be worth keeping
        return Record(progress.history, progress.best_epoch, progress.interrupted, float(self.smoothness))

    def _keep_trial(
        self,
        parts: Trial,
        chosen: Trial,
        losses: Sequence[tuple[Any, float]],
        link: Link,
        record: Record,
        origin: Origin,
    ) -> None:
        """Hold the model of a trial's parts, with the setting that was chosen."""
        self._keep(
            SemanticModel,
            replace(parts.fitted.function, corrections=None),  # they stand in the table
            parts.fitted.binning,
            self.trusts,
            replace(link, nothing=link.outputs_of(parts.fitted.nothing)),
            record,
            origin=origin,
            table=parts.table,
            setting=chosen.setting,
            choices=[{"setting": str(setting), "validation_loss": loss} for setting, loss in losses],
        )

    def _read(self, X: Any, y: Any, sample_weight: Any, link: Link | None) -> tuple[LabelledExamples, Link]:
        return read_examples(X, y, sample_weight, link, task=self._task, loss=self.loss, name=type(self).__name__)

    def _learning(
        self, rows: LabelledExamples, groups: Any, plan: Plan, rng: np.random.Generator
    ) -> tuple[Learning, npt.NDArray[np.int64]]:
        """Return how to learn from the rows that have weight, and which these are."""
        kept = np.flatnonzero(rows.weights)
        return Learning(rows.take(kept), read_groups(groups, len(rows), kept), plan, rng), kept

    @restored_on_failure
    def refresh_table(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Make the token table anew from other examples; the set function and learned corrections stay.

        Parameters
        ----------
        X : array-like of shape (n,), or frame
            The examples, as for `fit`, in memory or in files; where the table was made of ``token_X``, as these.
        y : array-like of shape (n,) or str
            Their labels, or the name of their column; where the table was made of ``token_y``, as these.
        sample_weight : array-like of shape (n,) or str, optional
            One weight for each example, or the name of their column.

        Returns
        -------
        self
            The estimator.
        """
        model, parameters = self.as_model(), self.get_params(deep=False)
        check_parameters(parameters, self._rules)
        X, y, sample_weight, _ = read_rows(parameters, X, y, sample_weight, to_train=False)
        table, n = model.table, count_examples(X)
        labels = read_labels(y, n, table.task)
        rows = LabelledExamples.of(X, labels, check_weights(sample_weight, n), table.classes)
        wanted = parameters.get("class_weight")
        weights = weigh_same_classes(wanted, table.classes, model.link.classes, rows.labels, rows.weights)
        rows = replace(rows, weights=weights)
        rows = rows.take(np.flatnonzero(rows.weights))
        plan = replace(make_plan(parameters, model.link, None), classes=table.classes)
        data = fingerprint_examples(X, parameters["details"]).with_labels(labels.values, weights, labels.classes)
        model = replace(model, origin=replace(model.origin, table_data=data))
        self.model_ = with_new_table(model, build_table(model.setting, rows, plan))
        return self

    @restored_on_failure
    def refit_set_function(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Train the set function anew, on examples that did not help to make the token table; the table stays.

        Parameters
        ----------
        X : array-like of shape (n,), or frame
            The examples, as for `fit`, in memory or in files. They must not be in the token table, whose means would
            tell them their own labels.
        y : array-like of shape (n,) or str
            One label for each example, or the name of their column.
        sample_weight : array-like of shape (n,) or str, optional
            One weight for each example, or the name of their column.
        groups : array-like of shape (n,) or str, optional
            One group for each example, as for `fit`.

        Returns
        -------
        self
            The estimator.
        """
        model, parameters = self.as_model(), self.get_params(deep=False)
        check_parameters(parameters, self._rules)
        check_device(self.device)
        rng, link = make_rng(self.random_state), model.link
        X, y, sample_weight, groups = read_rows(parameters, X, y, sample_weight, groups)
        rows, _ = self._read(X, y, sample_weight, link)
        data = fingerprint_examples(X, parameters["details"]).with_labels(rows.labels, rows.weights, link.classes)
        wanted = parameters.get("class_weight")
        rows = weighed(rows, class_factors(wanted, link.classes, rows.labels, rows.weights))
        if link.classes is not None and len(np.unique(rows.labels[rows.weights > 0])) < 2:
            raise ValueError("y holds one class only; a set function learns from at least two.")
        plan = make_plan(parameters, link, replace(model.table, corrections=None), memory_of(X))
        learning, _ = self._learning(rows, groups, plan, rng)
        sources, _ = learning.split(None)
        trial = learning.attempt(model.setting, sources, rng)
        record = self._record(trial)
        origin = replace(Origin.of(data), table_data=model.origin.table_data or model.origin.data)
        self._keep_trial(trial, trial, [(trial.setting, trial.loss)], link, record, origin)
        warn_of_training(record, self.epochs, stacklevel=3)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.target_tags.required = True
        return tags
