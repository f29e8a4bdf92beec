"""The Semantic Feature Engine: a transformer of sets of strings and texts into estimates of the label."""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from clearset.estimators._restored import restored_on_failure
from clearset.estimators.semantic._base import SemanticEstimator
from clearset.estimators.semantic._sources import take_examples
from clearset.frozen import estimates


class SemanticFeatureEngine(TransformerMixin, SemanticEstimator):  # type: ignore[misc]
    """Turn sets of strings, texts, or pairs of sets into estimates of E[Y|x] that can be read token by token.

    An example is taken apart into tokens. A table says what is known of each: how often it was seen, and its mean
    label. A set function, rising with the mean label, aggregates what is known of an example's tokens.

    Parameters
    ----------
    tokens
        How examples are taken apart: `Items`, `Subsets`, `NGrams`, `Cross`, `Difference`, or an object with a method
        ``tokens(example)``. None chooses on validation data, and with it whatever of `filters`, `cover`, `width` and
        `refine` is None.
    filters
        What tokens have to pass to get into the table. None with given tokens: they only have to occur.
    cross_fit
        Folds. An example is trained on with what is known of its tokens without its own fold. None for no folds.
    width
        K, the number of scores phi gives each token. None with given tokens: 1.
    cover
        True: larger tokens shadow the smaller ones whose items they hold. False: all tokens of the table count. None
        with given tokens: True.
    refine
        Whether to learn a correction to the value of single items (or of tokens up to this size). None chooses on
        validation data.
    features
        What the set function is told of each token: one of ``mean_label`` and ``log_odds`` (against the prior), and any
        of ``count``, ``size``, ``interval`` (its width), ``entropy``, ``lift`` (over the token's items), ``whole`` (it
        is the whole set), ``items`` and ``tokens`` (their number in the set), and of the details; names or `Feature`.
    details
        List columns of X that tell a number of each item, such as an actor's salary in this film.
    trusts
        `Trust` declarations, such as ``Trust("mean_label", by="count")``.
    shrinkage
        Examples of the prior that every mean is mixed with.
    keypoints, rho_keypoints
        Of phi's calibrators, and of rho's.
    loss
        ``"log_loss"`` or ``"binary_log_loss"`` (each class on its own) for classes; ``"squared_error"``,
        ``"absolute_error"``, ``"quantile"`` (the median) or ``"poisson"`` for numbers. None by the labels: numbers
        with fractions, or more than 100 distinct ones, are numbers.
    optimizer, constraints, smoothness, learning_rate, epochs, early_stopping, patience
        As in `SetClassifier`. Without early stopping nothing is chosen on validation data.
    validation_fraction
        Share of the examples to choose settings and epochs by; afterwards they are trained on as well. None: a tenth,
        or 1000 if that is more, but at most a quarter. Fewer than 50 are not kept aside.
    batch_size
        Sets of one step. ``"auto"``: one in 64 of the training sets, from 32 to 2048.
    random_state
        Seed or generator. The same seed gives the same bits, whatever the number of threads.
    n_jobs
        Threads; None takes all cores.
    verbose
        1 shows progress bars and what was chosen.

    Attributes
    ----------
    token_table_, set_function_
        The separable parts; learned corrections stand in the table.
    setting_, choices_
        What was chosen, and the validation loss of everything tried.
    classes_
        The classes, if labels are classes.
    feature_names_in_
        The names of the columns, if X had some.
    features_, trusts_, binning_
        What the set function sees, and where its keypoints are.
    certificate_
        What `verify` said after fitting.
    history_, best_epoch_, interrupted_
        How training went.

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

    def transform(self, X: Any) -> npt.NDArray[np.float64]:
        """Estimate the label: ``(n, 1)`` for a number or the second of two classes, ``(n, classes)`` for more.

        Parameters
        ----------
        X
            Examples, as for `fit`.
        """
        return estimates(self._outputs(X), self.loss_)

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
    ) -> npt.NDArray[np.float64]:
        """Fit, and estimate each example's label by a table and a set function that have not seen it.

        After the fit, the setting that was chosen is trained again without each fold, for as many epochs. Folds hold
        every class (or numbers of every rank) alike, and the models without them are brought to the same mean output.
        Without `cross_fit` this is the same as `fit` and `transform`.

        Parameters
        ----------
        X, y, sample_weight, groups, token_X, token_y, validation_data
            As for `fit`.
        """
        trial, order, learning = self._fit(X, y, sample_weight, groups, token_X, token_y, validation_data)
        if not self.cross_fit:
            return self.transform(X)
        self._raise_if(self.interrupted_)
        outputs, threads = self._outputs(X), learning.plan.threads
        kept, levels = np.sort(order), []
        for rest, inside in learning.folds(int(self.cross_fit)):
            part = learning.without_validation(rest)
            fitted = learning.attempt(trial.setting, part, learning.rng, stops=trial.fitted.stops)
            self._raise_if(fitted.fitted.progress.interrupted)
            mine = fitted.outputs(take_examples(learning.rows.X, inside), self.loss_, threads)
            # A model without a fold of high labels is low throughout, which would tell of that fold. All models are
            # given the same mean output over all examples. That of examples trained on is without their own labels.
            level = np.vstack([mine, fitted.outputs_out_of_fold(threads)]).mean(axis=0)
            outputs[kept[inside]] = mine - level
            levels.append(level)
        outputs[kept] += np.mean(levels, axis=0)
        return estimates(outputs, self.loss_)

    @staticmethod
    def _raise_if(interrupted: bool) -> None:
        if interrupted:
            raise RuntimeError(
                "Training was interrupted before every example had an estimate from the others. The engine is as it "
                "was before; fit, unlike fit_transform, keeps the best so far."
            )

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[Any]:
        """Name the columns of `transform`: after the column of items, and of several classes after each.

        Parameters
        ----------
        input_features
            The name of the column, if it is not known from `fit`.
        """
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", ()) if input_features is None else input_features
        name = "_".join(str(name) for name in names if name not in self.setting_.details) or "semantic"
        if not self._has_classes() or len(self.classes_) == 2:
            return np.array([name], dtype=object)
        return np.array([f"{name}_{label}" for label in self.classes_.tolist()], dtype=object)
