"""The Semantic Feature Engine: a transformer of sets of strings and texts into estimates of the label."""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import TransformerMixin

from clearset.estimators._restored_on_failure import restored_on_failure
from clearset.estimators._semantic import SemanticEstimator
from clearset.models import Estimates
from clearset.sets import take_examples


class SemanticFeatureEngine(TransformerMixin, Estimates, SemanticEstimator):  # type: ignore[misc]
    """Turn sets of strings, texts, or pairs of sets into estimates of E[Y|x] that can be read token by token.

    An example is taken apart into tokens. A table holds the statistics of each token: how often it was seen, and its
    mean label. A set function, which is increasing in the mean label, combines the statistics of an example's tokens
    into one estimate.

    Parameters
    ----------
    tokens : tokenizer or "auto", default="auto"
        How examples are taken apart: `Items`, `Subsets`, `NGrams`, `Cross`, `Difference`, or an object with a method
        ``tokens(example)``. ``"auto"`` chooses on validation data, together with those of `filters`, `cover`, `width`
        and `refine` that are ``"auto"``.
    filters : filter, sequence of filters or "auto", default="auto"
        Conditions on the tokens of the table, such as ``[MinCount(5)]``. ``"auto"`` with given tokens means that they
        only have to occur.
    cross_fit : int or None, default=5
        The number of folds, from 2 to 31. An example is trained on with the statistics of its tokens without its own
        fold. None means no folds.
    width : int or "auto", default="auto"
        The number of scores that phi has for each token, K in the paper, at most 12. ``"auto"`` with given tokens is 1.
    cover : bool or "auto", default="auto"
        Whether larger tokens replace the smaller ones whose items they hold; otherwise all tokens of the table count.
        ``"auto"`` with given tokens is True.
    refine : bool, int or "auto", default="auto"
        Whether to learn a correction to the value of each single item; a whole number is the largest size of tokens
        that have corrections. ``"auto"`` chooses on validation data.
    features : sequence of str or Feature, default=None
        What the set function reads of each token: one of ``mean_label`` and ``log_odds`` (against the prior), and any
        of ``count``, ``size``, ``interval`` (its width), ``entropy``, ``lift`` (over the token's items), ``whole``
        (whether it is the whole set), ``items`` and ``tokens`` (their number in the set), and of the details. None is a
        usual choice of these.
    details : sequence of str, default=()
        List columns of X with a number for each item, such as an actor's salary in this film.
    trusts : sequence of Trust, default=()
        Pairs of features of which the effect of one grows with the other, such as ``Trust("mean_label", by="count")``.
    shrinkage : float, default=1.0
        The number of examples of the prior that every mean is mixed with.
    keypoints : int, default=10
        The number of keypoints of each calibrator of phi, unless its `Feature` has a number of its own.
    rho_keypoints : int, default=20
        The number of keypoints of rho's calibrators and of the output calibrator.
    loss : str, default="auto"
        What training minimises: ``"log_loss"`` or ``"binary_log_loss"`` (each class on its own) for classes;
        ``"squared_error"``, ``"absolute_error"``, ``"quantile"`` (the median) or ``"poisson"`` for numbers. ``"auto"``
        is the first of these that fits the labels; numbers with fractions, or of more than 100 distinct values, count
        as numbers.
    optimizer : {"adam", "adagrad"}, default="adam"
        How the parameters are trained.
    constraints : {"project", "light_touch"}, default="project"
        ``"project"`` projects the parameters onto the constraints after every step. ``"light_touch"`` adds penalties on
        sampled constraints and projects at the end. Either way all constraints hold exactly after fitting.
    smoothness : float, default=100.0
        The strength of the penalty on bends of calibrators and twists of lattices, 0 for none. Its effect becomes
        weaker with more examples.
    learning_rate : float, default=0.02
        The learning rate at the start; it falls along a cosine. Adagrad needs about ten times the rate of Adam.
    epochs : int, default=60
        The largest number of passes over the training examples.
    batch_size : int or "auto", default="auto"
        The number of examples of one step. ``"auto"`` is one in 64 of the training examples, from 32 to 2048.
    validation_fraction : float or "auto", default="auto"
        The share of the examples that settings and epochs are chosen by; afterwards they are trained on as well.
        ``"auto"`` is a tenth, or 1000 examples if that is more, but at most a quarter. Where this would be fewer than
        50 examples, none are held out.
    early_stopping : bool, default=True
        Whether to keep the best epoch on validation data, and to stop after `patience` epochs without a better one.
        Otherwise nothing is chosen on validation data.
    patience : int, default=15
        The number of epochs without a better one after which early stopping ends training.
    random_state : int, numpy.random.RandomState, numpy.random.Generator or None, default=None
        The seed of everything random. The same seed gives the same bits, whatever the number of threads.
    n_jobs : int or None, default=None
        The number of threads. None and -1 take all cores.
    verbose : int, default=0
        Whether to show progress bars and what was chosen: 1 shows them, 0 does not.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted; only where labels are classes.
    model_ : SemanticModel
        The fitted model as plain data, without scikit-learn and torch.
    token_table_ : TokenTable
        The tokens and their statistics, with learned corrections.
    set_function_ : SetFunction
        The trained tables of phi and rho, in float64.
    setting_ : Setting
        What was chosen: tokens, filters, cover, width and refinement.
    choices_ : list of dict
        Every setting that was tried, and its validation loss.
    features_ : tuple of Feature
        The features that the set function reads.
    trusts_ : tuple of Trust
        The declared trusts.
    binning_ : Binning
        The keypoints of the features.
    loss_ : str
        The loss that was minimised.
    certificate_ : Certificate
        What `verify` found after fitting.
    history_ : list of dict
        ``epoch``, ``loss`` and ``validation_loss`` of every epoch.
    n_iter_ : int
        The number of epochs that were run.
    best_epoch_ : int
        The epoch whose parameters were kept, counted from 1.
    interrupted_ : bool
        Whether an interrupt (Ctrl-C) ended training early.
    feature_names_in_ : ndarray of str
        The names of the columns, where X has some.

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

    # Defined here and not only inherited, for scikit-learn's set_output wraps what a transformer itself defines.
    def transform(self, X: Any) -> npt.NDArray[np.float64]:
        """Estimate the label of each example.

        Parameters
        ----------
        X : array-like of shape (n,), or frame
            The examples, as for `fit`.

        Returns
        -------
        ndarray of shape (n, 1) or (n, classes)
            One column for a number or the second of two classes, one for each of several classes.
        """
        return super().transform(X)

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

        Returns
        -------
        ndarray of shape (n, 1) or (n, classes)
            The estimates, as of `transform`.
        """
        trial, order, learning = self._fit(X, y, sample_weight, groups, (token_X, token_y), validation_data)
        if not self.cross_fit:
            return self.transform(X)
        self._raise_if(self.interrupted_)
        model = self.as_model()
        outputs, threads = model.read(X).outputs(), learning.plan.threads
        kept, levels = np.sort(order), []
        for rest, inside in learning.folds(int(self.cross_fit)):
            part = learning.without_validation(rest)
            fitted = learning.attempt(trial.setting, part, learning.rng, stops=trial.fitted.stops)
            self._raise_if(fitted.fitted.progress.interrupted)
            mine = fitted.outputs(take_examples(learning.rows.X, inside), model.link, threads)
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

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[Any]:
        """Return the names of the columns of `transform`: after the column of items, and of several classes after each.

        Parameters
        ----------
        input_features : array-like of str, optional
            The name of the column, if it is not known from `fit`.

        Returns
        -------
        ndarray of str
            The names.
        """
        return self.as_model().get_feature_names_out(input_features)
