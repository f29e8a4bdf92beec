"""Classification of sets."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from scipy.special import expit, softmax
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if

from clearset.estimators._base import SetEstimator
from clearset.estimators._input import check_classes, check_labels
from clearset.setfunction import CLASSIFICATION_LOSSES
from clearset.sets import Feature, Trust


def _has_probabilities(estimator: "SetClassifier") -> bool:
    if getattr(estimator, "loss_", estimator.loss) == "hinge":
        raise AttributeError(
            "loss='hinge' gives no probabilities; use loss='log_loss', or decision_function."
        )
    return True


class SetClassifier(ClassifierMixin, SetEstimator):  # type: ignore[misc]
    """Tell classes of sets apart.

    Two classes: one set function, whose output is the log-odds of the second class, ``classes_[1]``; declared
    constraints are about it. More classes: one set function a class, all trained together under a softmax. A
    probability among several classes rises or falls with all of their outputs, so no constraint on it can be
    promised, and declared ones are refused.

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
        ``"log_loss"``, or ``"hinge"`` (no probabilities).
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
    classes_
        The labels, sorted.
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
    >>> baskets = pa.table({"price": [[1.0, 2.0], [9.0], [8.0, 7.5], [1.5]]})
    >>> model = cs.SetClassifier([cs.Feature("price", monotonic="increasing")], random_state=0)
    >>> model.fit(baskets, ["cheap", "dear", "dear", "cheap"]).predict(baskets).tolist()
    ['cheap', 'dear', 'dear', 'cheap']
    """

    _losses = CLASSIFICATION_LOSSES

    classes_: np.ndarray

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

    def _numbers(self, labels: Any, n_sets: int, *, reset: bool) -> np.ndarray:
        column = check_labels(labels, n_sets)
        check_classes(column)
        if reset:
            classes = np.unique(column)
            if len(classes) < 2:
                raise ValueError(
                    f"SetClassifier needs at least two classes; y holds one class only, {classes.tolist()[0]!r}."
                )
            self.classes_ = classes
        unknown = np.setdiff1d(column, self.classes_)
        if len(unknown):
            raise ValueError(
                f"Labels {unknown.tolist()[:5]} are not among the classes fitted, {self.classes_.tolist()[:20]}."
            )
        return np.searchsorted(self.classes_, column).astype(np.float64)

    def _outputs(self) -> int:
        return 1 if len(self.classes_) == 2 else len(self.classes_)

    def _check_declarations(self, features: Sequence[Feature], trusts: Sequence[Trust]) -> None:
        constrained = [feature.name for feature in features if feature.monotonic is not None]
        if self._outputs() > 1 and (constrained or trusts):
            name = (constrained or [trusts[0].feature])[0]
            raise ValueError(
                f"Feature {name!r} is declared monotonic or trusted, but y has {len(self.classes_)} classes: which of "
                "them should rise? Such a constraint can be promised for two classes only. Remove the "
                "declaration, or fit one SetClassifier for each class against the rest."
            )

    def decision_function(self, X: Any) -> np.ndarray:
        """Give the log-odds (for hinge: margins) of the second class, or one column for each of several classes.

        Parameters
        ----------
        X
            Sets, as for `fit`.
        """
        outputs = self._outputs_of(X)
        return outputs[:, 0] if outputs.shape[1] == 1 else outputs

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> np.ndarray:
        """Give each class's probability, ``(B, classes)``.

        Parameters
        ----------
        X
            Sets, as for `fit`.
        """
        outputs = self._outputs_of(X)
        if outputs.shape[1] > 1:
            return np.asarray(softmax(outputs, axis=1))
        return np.stack([expit(-outputs[:, 0]), expit(outputs[:, 0])], axis=1)

    def predict(self, X: Any) -> np.ndarray:
        """Predict the most likely class of each set.

        Parameters
        ----------
        X
            Sets, as for `fit`.
        """
        outputs = self._outputs_of(X)
        chosen = outputs.argmax(axis=1) if outputs.shape[1] > 1 else (outputs[:, 0] > 0).astype(np.int64)
        labels: np.ndarray = self.classes_[chosen]
        return labels
