"""Classification of sets."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from sklearn.base import ClassifierMixin

from clearset.estimators._base import SetEstimator
from clearset.estimators._input import check_classes, check_labels
from clearset.estimators._parameters import OneOf
from clearset.functions import CLASSIFICATION_LOSSES, Link
from clearset.models import Classifies
from clearset.sets import Feature, Trust, class_places


class SetClassifier(ClassifierMixin, Classifies, SetEstimator):  # type: ignore[misc]
    """Predict the class of a set of tokens.

    For two classes there is one set function, whose output is the log-odds of the second class, ``classes_[1]``;
    declared constraints are about this output. For more classes there is one set function for each, and all are trained
    together under a softmax. A probability among several classes depends on all of their outputs, so no constraint on
    it can be guaranteed, and declared constraints are refused.

    Parameters
    ----------
    features : sequence of str or Feature, default=None
        What the sets have, and what is known of it. None takes every numeric column as it is.
    width : int, default=1
        The number of scores that phi has for each token, K in the paper, at most 12. With 1, rho is one curve that can
        be drawn.
    trusts : sequence of Trust, default=()
        Pairs of features of which the effect of one grows with the other.
    keypoints : int, default=10
        The number of keypoints of each numeric calibrator of phi, unless its `Feature` has a number of its own.
    rho_keypoints : int, default=20
        The number of keypoints of rho's calibrators and of the output calibrator.
    lattice_size : int, default=2
        The number of vertices of phi's lattices along each feature, unless its `Feature` has a number of its own.
    lattices : {"auto", "full", "ensemble"}, default="auto"
        ``"full"`` is one lattice over all features, ``"ensemble"`` many small lattices over a few features each.
        ``"auto"`` is full for up to 8 features with a lattice size of 2.
    loss : {"log_loss", "hinge"}, default="log_loss"
        What training minimises. With ``"hinge"`` there are no probabilities.
    optimizer : {"adam", "adagrad"}, default="adam"
        How the parameters are trained.
    constraints : {"project", "light_touch"}, default="project"
        ``"project"`` projects the parameters onto the constraints after every step. ``"light_touch"`` adds penalties on
        sampled constraints and projects at the end. Either way all constraints hold exactly after fitting.
    smoothness : float, default=100.0
        The strength of the penalty on bends of calibrators and twists of lattices, 0 for none. Its effect becomes
        weaker with more sets.
    learning_rate : float, default=0.03
        The learning rate at the start; it falls along a cosine. Adagrad needs about ten times the rate of Adam.
    epochs : int, default=200
        The largest number of passes over the training sets.
    batch_size : int or "auto", default="auto"
        The number of sets of one step. ``"auto"`` is a sixteenth of the training sets, from 32 to 1024.
    validation_fraction : float, default=0.1
        The share of the training sets that are held out for early stopping, unless `fit` is given validation data.
        Where this would be fewer than 50 sets, none are held out and all epochs are run.
    early_stopping : bool, default=True
        Whether to keep the best epoch on validation data, and to stop after `patience` epochs without a better one.
        Otherwise all epochs are run on all sets, and the loss on given validation data is only recorded.
    patience : int, default=30
        The number of epochs without a better one after which early stopping ends training.
    restarts : int, default=1
        The number of trainings from different initial values. The best on validation data is kept, or on the training
        data where there are none.
    warm_start : bool, default=False
        Whether `fit` continues from the parameters of the last fit. Keypoints, categories and lattices stay the same.
    random_state : int, numpy.random.RandomState, numpy.random.Generator or None, default=None
        The seed of everything random. The same seed gives the same bits, whatever the number of threads.
    device : {"auto", "cpu"}, default="auto"
        Where to train; both mean the CPU.
    n_jobs : int or None, default=None
        The number of threads. None and -1 take all cores.
    verbose : int, default=0
        Whether to show a progress bar: 1 shows one, 0 does not.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    model_ : SetModel
        The fitted model as plain data, without scikit-learn and torch.
    features_ : tuple of Feature
        The declared features in full.
    trusts_ : tuple of Trust
        The declared trusts.
    binning_ : Binning
        Keypoints and categories of the features.
    set_function_ : SetFunction
        The trained tables of phi and rho, in float64.
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
    n_features_in_ : int
        The number of features or columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        The names of the columns, where X was a frame and `features` is None.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import clearset as cs
    >>> baskets = pa.table({"price": [[1.0, 2.0], [9.0], [8.0, 7.5], [1.5]]})
    >>> model = cs.SetClassifier([cs.Feature("price", monotonic="increasing")], random_state=0)
    >>> model.fit(baskets, ["cheap", "dear", "dear", "cheap"]).predict(baskets).tolist()
    ['cheap', 'dear', 'dear', 'cheap']
    """

    _rules = SetEstimator._rules | {"loss": OneOf(CLASSIFICATION_LOSSES)}

    def __init__(
        self,
        features: Sequence[str | Feature] | None = None,
        width: int = 1,
        *,
        trusts: Sequence[Trust] = (),
        keypoints: int = 10,
        rho_keypoints: int = 20,
        lattice_size: int = 2,
        lattices: str = "auto",
        loss: str = "log_loss",
        optimizer: str = "adam",
        constraints: str = "project",
        smoothness: float = 100.0,
        learning_rate: float = 0.03,
        epochs: int = 200,
        batch_size: int | Literal["auto"] = "auto",
        validation_fraction: float = 0.1,
        early_stopping: bool = True,
        patience: int = 30,
        restarts: int = 1,
        warm_start: bool = False,
        random_state: Any = None,
        device: str = "auto",
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.features = features
        self.width = width
        self.trusts = trusts
        self.keypoints = keypoints
        self.rho_keypoints = rho_keypoints
        self.lattice_size = lattice_size
        self.lattices = lattices
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
        self.restarts = restarts
        self.warm_start = warm_start
        self.random_state = random_state
        self.device = device
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _labels(self, y: Any, n_sets: int, link: Link | None) -> tuple[np.ndarray, Link]:
        column = check_labels(y, n_sets)
        check_classes(column)
        if link is None:
            link = Link(self.loss, np.unique(column))
        classes = np.asarray(link.classes)
        if len(classes) < 2:
            raise ValueError(
                f"SetClassifier needs at least two classes; y holds one class only, {classes.tolist()[0]!r}."
            )
        return class_places(column, classes).astype(np.float64), link

    def _loss_name(self) -> str:
        return super()._loss_name() if self.__sklearn_is_fitted__() else self.loss

    def _check_declarations(self, features: Sequence[Feature], trusts: Sequence[Trust], link: Link) -> None:
        constrained = [feature.name for feature in features if feature.monotonic is not None]
        if link.n_outputs > 1 and (constrained or trusts):
            name = (constrained or [trusts[0].feature])[0]
            raise ValueError(
                f"Feature {name!r} is declared monotonic or trusted, but y has {link.n_outputs} classes: which of "
                "them should rise? Such a constraint can be promised for two classes only. Remove the "
                "declaration, or fit one SetClassifier for each class against the rest."
            )
