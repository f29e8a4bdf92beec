"""Regression on sets."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from sklearn.base import RegressorMixin

from clearset.estimators._base import SetEstimator
from clearset.estimators._input import check_labels
from clearset.estimators._parameters import Number, OneOf
from clearset.functions import REGRESSION_LOSSES, Link
from clearset.models import Predicts
from clearset.sets import Feature, Trust, check_numbers


class SetRegressor(RegressorMixin, Predicts, SetEstimator):  # type: ignore[misc]
    """Predict a number from a set of tokens: f(x) = rho(mean over the tokens of phi(token)).

    phi calibrates the features of a token and combines them in lattices. rho is increasing. A feature that is declared
    increasing therefore never lowers the prediction, whichever token it belongs to and whatever the other tokens are.

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
    loss : {"squared_error", "absolute_error", "quantile", "poisson"}, default="squared_error"
        What training minimises. ``"poisson"`` needs labels of at least 0 and predicts positive numbers.
    quantile : float, default=0.5
        The quantile that is predicted with ``loss="quantile"``, between 0 and 1.
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
    >>> products = pa.table({"stars": [[5, 4], [1], [5, 5, 5], [2, 3]], "price": [9.0, 7.0, 8.0, 5.0]})
    >>> model = cs.SetRegressor([cs.Feature("stars", monotonic="increasing"), "price"], random_state=0)
    >>> model.fit(products, [120.0, 20.0, 180.0, 60.0]).predict(products).shape
    (4,)
    >>> bool(model.verify())
    True
    """

    _rules = SetEstimator._rules | {"loss": OneOf(REGRESSION_LOSSES), "quantile": Number(0.0, 1.0)}

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
        loss: str = "squared_error",
        quantile: float = 0.5,
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
        self.quantile = quantile
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

    def _labels(self, y: Any, n_sets: int, link: Link | None) -> tuple[np.ndarray, Link]:  # noqa: ARG002
        numbers = check_numbers(check_labels(y, n_sets))
        if self.loss == "poisson" and ((numbers < 0).any() or not numbers.any()):
            raise ValueError(
                f"loss='poisson' needs labels of at least 0, not all of them 0; received {numbers.min():g} to "
                f"{numbers.max():g}. Use another loss, or shift the labels."
            )
        return numbers, Link(self.loss)
