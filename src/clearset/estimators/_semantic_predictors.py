"""Classifier and regressor over sets of strings and texts: an engine whose set function is the predictor."""

from typing import ClassVar, Literal

from sklearn.base import ClassifierMixin, RegressorMixin

from clearset.estimators._semantic import SemanticEstimator
from clearset.models import Classifies, Predicts


class SemanticClassifier(ClassifierMixin, Classifies, SemanticEstimator):  # type: ignore[misc]
    """Predict the class of sets of strings, of texts, or of pairs of sets.

    With no parameters the tokens, their filters, cover, width and refinement are chosen on a share of the examples;
    `setting_` holds what was chosen. See `SemanticFeatureEngine` for the same model as a transformer.

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
        What training minimises: ``"log_loss"``, or ``"binary_log_loss"``, which estimates each class on its own.
        ``"auto"`` is ``"log_loss"``.
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
        The classes, sorted.
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
    >>> recipes = [["salt", "lime"], ["salt", "feta"], ["lime", "chili"], ["feta", "olives"]] * 10
    >>> model = cs.SemanticClassifier(tokens=cs.Items(), random_state=0)
    >>> model.fit(recipes, ["thai", "greek", "thai", "greek"] * 10).predict([["lime"], ["feta", "salt"]]).tolist()
    ['thai', 'greek']
    """

    _task: ClassVar[Literal["classes"]] = "classes"

    def _loss_name(self) -> str:
        return super()._loss_name() if self.__sklearn_is_fitted__() else self.loss


class SemanticRegressor(RegressorMixin, Predicts, SemanticEstimator):  # type: ignore[misc]
    """Predict a number from sets of strings, from texts, or from pairs of sets.

    With no parameters the tokens, their filters, cover, width and refinement are chosen on a share of the examples;
    `setting_` holds what was chosen. See `SemanticFeatureEngine` for the same model as a transformer.

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
        What training minimises: ``"squared_error"``, ``"absolute_error"``, ``"quantile"`` (the median) or
        ``"poisson"``. ``"auto"`` is ``"squared_error"``.
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
    >>> wines = [["oak", "ripe"], ["thin"], ["ripe"], ["thin", "oak"]] * 10
    >>> model = cs.SemanticRegressor(tokens=cs.Items(), random_state=0)
    >>> prediction = model.fit(wines, [92.5, 83.0, 91.0, 86.0] * 10).predict([["ripe"], ["thin"]])
    >>> bool(prediction[0] > prediction[1])
    True
    """

    _task: ClassVar[Literal["number"]] = "number"
