"""Regression on sets."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from sklearn.base import RegressorMixin

from clearset.estimators._base import SetEstimator
from clearset.estimators._input import check_labels, check_numbers
from clearset.setfunction import REGRESSION_LOSSES
from clearset.sets import Feature, Trust


class SetRegressor(RegressorMixin, SetEstimator):  # type: ignore[misc]
    """Predict a number from a set of tokens: f(x) = rho(mean over the tokens of phi(token)).

    phi calibrates a token's features and fuses them in lattices; rho is increasing, so a feature that phi is declared
    to rise in never lowers the prediction, whichever token it belongs to and whatever the other tokens are.

    Parameters
    ----------
    features
        What the sets have and what is known of it: a list of `Feature` or names. None takes every numeric column.
    width
        K, the number of scores phi gives each token. With 1, rho is one visible curve.
    trusts
        `Trust` declarations.
    keypoints
        Of every numeric calibrator of phi, where its `Feature` does not say otherwise.
    rho_keypoints
        Of rho's calibrators and the output calibrator.
    lattice_size
        Vertices of phi's lattices along every feature, where its `Feature` does not say otherwise.
    lattices
        ``"full"``: one lattice over all features. ``"ensemble"``: many small ones on a few features each. ``"auto"``:
        full up to 8 features of size 2.
    loss
        ``"squared_error"``, ``"absolute_error"``, ``"quantile"`` or ``"poisson"`` (labels of at least 0; predictions
        are positive).
    quantile
        The quantile that loss ``"quantile"`` aims at.
    optimizer
        ``"adam"`` or ``"adagrad"``.
    constraints
        ``"project"``: exact projection after every step. ``"light_touch"``: penalties on sampled constraints, exact
        at the end.
    smoothness
        Strength of the penalty on bends of calibrators and twists of lattices, 0 for none. It fades with more sets.
    learning_rate
        Of the optimiser at the start; it falls along a cosine. Adagrad wants about ten times as much as Adam.
    epochs
        Passes over the training sets, at most.
    batch_size
        Sets of one step. ``"auto"``: a sixteenth of the training sets, from 32 to 1024.
    validation_fraction
        Share of the training sets kept for early stopping, unless `fit` gets validation data. Fewer than 50 sets are
        not kept aside: then all epochs are run on all sets.
    early_stopping
        Keep the best epoch on validation data, and stop after `patience` epochs without a better one. Without it all
        epochs are run on all sets, and validation data given to `fit` are only reported on.
    patience
        See `early_stopping`.
    restarts
        Trainings from different initial values, of which the best on validation data (where there are none, on the
        training data) is kept.
    warm_start
        Let `fit` go on from the last fit's parameters; keypoints, categories and lattices stay as they are.
    random_state
        Seed or generator. The same seed gives the same bits, whatever the number of threads.
    device
        ``"cpu"`` or ``"auto"``.
    n_jobs
        Threads; None takes all cores.
    verbose
        1 shows a progress bar.

    Attributes
    ----------
    features_, trusts_
        The declarations in full.
    binning_
        Keypoints and categories.
    set_function_
        The trained torch module, in float64.
    certificate_
        What `verify` said after fitting.
    history_
        ``epoch``, ``loss`` and ``validation_loss`` of every epoch.
    n_iter_, best_epoch_
        Epochs run, and the one whose parameters were kept.
    interrupted_
        Whether an interrupt (Ctrl-C) ended training early.
    n_features_in_
        Number of features or columns.

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

    _losses = REGRESSION_LOSSES

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

    def _numbers(self, labels: Any, n_sets: int, *, reset: bool) -> np.ndarray:  # noqa: ARG002
        numbers = check_numbers(check_labels(labels, n_sets))
        if self.loss == "poisson" and ((numbers < 0).any() or not numbers.any()):
            raise ValueError(
                f"loss='poisson' needs labels of at least 0, not all of them 0; received {numbers.min():g} to "
                f"{numbers.max():g}. Use another loss, or shift the labels."
            )
        return numbers

    def predict(self, X: Any) -> np.ndarray:
        """Predict a number for each set.

        Parameters
        ----------
        X
            Sets, as for `fit`.
        """
        outputs = self._outputs_of(X)[:, 0]
        return np.exp(outputs) if self.loss_ == "poisson" else outputs
