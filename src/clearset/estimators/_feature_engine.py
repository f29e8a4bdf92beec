"""The Semantic Feature Engine: a transformer of sets of strings and texts into estimates of the label."""

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import TransformerMixin

from clearset.estimators._checkpoints import kept_in
from clearset.estimators._inherited_docs import inherited_docs
from clearset.estimators._model_estimator import of_model
from clearset.estimators._restored_on_failure import restored_on_failure
from clearset.estimators._semantic_estimator import SemanticEstimator
from clearset.estimators._semantic_files import check_in_files, read_rows
from clearset.models import Estimates, SemanticModel
from clearset.sets import FileRows, take_examples
from clearset.training import PIECES


@inherited_docs
class SemanticFeatureEngine(TransformerMixin, Estimates, SemanticEstimator):  # type: ignore[misc]
    """Turn sets of strings, texts, or pairs of sets into estimates of E[Y|x] that can be read token by token.

    An example is taken apart into tokens. A table holds the statistics of each token: how often it was seen, and its
    mean label. A set function, which is increasing in the mean label, combines the statistics of an example's tokens
    into one estimate.

    Parameters
    ----------
    loss : str
        What training minimises: ``"log_loss"`` or ``"binary_log_loss"`` (each class on its own) for classes;
        ``"squared_error"``, ``"absolute_error"``, ``"quantile"`` (the median) or ``"poisson"`` for numbers. ``"auto"``
        is the first of these that fits the labels; numbers with fractions, or of more than 100 distinct values, count
        as numbers.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted; only where labels are classes.

    Examples
    --------
    >>> import clearset as cs
    >>> baskets = [["bread", "milk"], ["beer", "crisps"], ["milk"], ["beer"]] * 10
    >>> sfe = cs.SemanticFeatureEngine(tokens=cs.Items(), random_state=0)
    >>> estimate = sfe.fit_transform(baskets, [0, 1, 0, 1] * 10)
    >>> estimate.shape
    (40, 1)
    >>> bool(sfe.transform([["beer", "milk", "beer"]])[0, 0] > sfe.transform([["milk"]])[0, 0])
    True
    """

    get_feature_names_out = of_model(SemanticModel.get_feature_names_out)

    # Named here and not only inherited, for scikit-learn's set_output wraps what a transformer itself defines.
    transform = Estimates.transform

    @restored_on_failure
    def fit_transform(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        groups: Any = None,
        token_X: Any = None,
        token_y: Any = None,
        validation_data: tuple[Any, Any] | None = None,
        column: str | Sequence[str] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> npt.NDArray[np.float64]:
        """Fit, and estimate each example's label by a table and a set function that have not seen it.

        After the fit, the setting that was chosen is trained again without each fold, for as many epochs. Without
        `cross_fit` this is the same as `fit` and `transform`.

        Parameters
        ----------
        X : array-like of shape (n,), or frame
            The examples, as for `fit`.
        y : array-like of shape (n,), default=None
            One label for each example. None, which scikit-learn's conventions ask for, is refused.
        sample_weight : array-like of shape (n,), optional
            One weight for each example.
        groups : array-like of shape (n,), optional
            One group for each example, as for `fit`.
        token_X : array-like of shape (m,), or frame, optional
            Other examples to make the token table of.
        token_y : array-like of shape (m,), optional
            The labels of these.
        validation_data : tuple (X, y), optional
            Examples and labels to choose the epoch and the setting by.
        column : str or sequence of str, optional
            Of data in files the column of items or texts, as for `fit`.
        checkpoint : path-like, optional
            A file to keep what training has reached in, as for `fit`; after an interrupt it stays.

        Returns
        -------
        ndarray of shape (n, 1) or (n, classes)
            The estimates, as of `transform`.
        """
        with kept_in(checkpoint, self):
            return self._fit_transform(X, y, sample_weight, groups, (token_X, token_y), validation_data, column)

    def _fit_transform(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        groups: Any,
        token_data: tuple[Any, Any],
        validation_data: Any,
        column: str | Sequence[str] | None,
    ) -> npt.NDArray[np.float64]:
        given = X
        found = read_rows(self.get_params(deep=False), X, y, sample_weight, groups, column)
        check_in_files(column, X, found, token_data[1])
        X, y, sample_weight, groups = found
        of_others = column if isinstance(token_data[1], str) else None
        trial, order, learning = self._fit(X, y, sample_weight, groups, token_data, validation_data, of_others)
        if not self.cross_fit:
            return self.transform(given)
        self._raise_if(self.interrupted_)
        model: SemanticModel = self.as_model()
        parts = X.tables(PIECES) if isinstance(X, FileRows) else [X]
        outputs, threads = np.concatenate([model.read(part).outputs() for part in parts]), learning.plan.threads
        kept, levels = np.sort(order), []
        for rest, inside in learning.folds(int(self.cross_fit)):
            part = learning.without_validation(rest)
            fitted = learning.attempt(trial.setting, part, learning.rng, shown=trial.fitted)
            self._raise_if(fitted.fitted.progress.interrupted)
            mine = fitted.outputs(take_examples(learning.rows.X, inside), threads, model.link)
            # A model without a fold of high labels is low throughout, which would tell of that fold. All models are
            # given the same mean output over all examples. That of examples trained on is without their own labels.
            level = np.vstack([mine, fitted.outputs_out_of_fold(threads)]).mean(axis=0)
            outputs[kept[inside]] = mine - level
            levels.append(level)
        outputs[kept] += np.mean(levels, axis=0)
        return model.link.estimates(outputs)

    @staticmethod
    def _raise_if(interrupted: bool) -> None:
        if interrupted:
            raise RuntimeError(
                "Training was interrupted before every example had an estimate from the others. The engine is as it "
                "was before; fit, unlike fit_transform, keeps the best so far."
            )
