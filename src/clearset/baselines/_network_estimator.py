"""How every network is fitted and applied."""

import warnings
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
import torch
from sklearn.utils.validation import check_is_fitted
from torch import nn

from clearset.baselines._baseline import Baseline, Float64, ReadsSets, network_threads
from clearset.baselines._encoding import Encoding
from clearset.baselines._network_inputs import NetworkInput
from clearset.baselines._network_training import LabelledInput, NetworkProblem, train_network
from clearset.engines import Schedule
from clearset.estimators import (
    Auto,
    Flag,
    Number,
    OneOf,
    Rule,
    Threads,
    Whole,
    check_pair,
    check_parameters,
    is_auto,
    make_rng,
    restored_on_failure,
)
from clearset.functions import Loss
from clearset.sets import IntArray, SetData, check_weights
from clearset.training import DOUBLE_PRECISION_VALUES, Unit, choose_batch_size, hold_out, progress_bar

DType = type[np.float32] | type[np.float64]


@dataclass(eq=False, repr=False, kw_only=True)
class NetworkParameters:
    """The parameters of training, which all networks have.

    Parameters
    ----------
    loss : {"auto", "squared_error", "absolute_error", "log_loss"}
        The loss to minimise. ``"auto"`` is ``"squared_error"`` for numbers and ``"log_loss"``, the only one, for
        classes.
    learning_rate : float
        The learning rate of Adam at the start; it falls along a cosine.
    epochs : int
        The largest number of passes over the training sets.
    batch_size : int or "auto"
        The number of sets of one step. ``"auto"`` is a sixteenth of the training sets, from 32 to 1024.
    weight_decay : float
        The share of the learning rate by which weights shrink at every step (as in AdamW).
    validation_fraction : float
        The share of the training sets that is held out for early stopping, unless `fit` gets validation data. A share
        of fewer than 50 sets is not held out: then all epochs are run on all sets.
    early_stopping : bool
        Whether to keep the best epoch on validation data, and to stop after `patience` epochs without a better one. If
        not, all epochs are run on all sets, and validation data given to `fit` are only reported on.
    patience : int
        The number of epochs without a lower validation loss after which training stops.
    random_state : int, Generator, RandomState or None
        The seed. The same seed and number of threads give the same bits.
    n_jobs : int or None
        The number of threads of torch. None is one, because steps are short; -1 is all cores.
    verbose : int
        1 shows a progress bar.
    """

    loss: str = "auto"
    learning_rate: float = 0.003
    epochs: int = 100
    batch_size: int | Literal["auto"] = "auto"
    weight_decay: float = 0.0
    validation_fraction: float = 0.1
    early_stopping: bool = True
    patience: int = 20
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0


class NetworkEstimator(NetworkParameters, Baseline):
    """A network and its training; subclasses make the network and its inputs.

    Attributes
    ----------
    network_ : torch.nn.Module
        The trained network, in float64 and in the labels' own unit.
    history_ : list of dict
        ``epoch``, ``loss`` and ``validation_loss`` of every epoch.
    n_iter_, best_epoch_ : int
        The number of epochs run, and the one whose parameters were kept.
    interrupted_ : bool
        Whether an interrupt (Ctrl-C) ended training early.
    """

    _rules: ClassVar[dict[str, Rule]] = {
        "learning_rate": Number(),
        "epochs": Whole(1),
        "batch_size": Auto(Whole(1), "chosen by the number of sets"),
        "weight_decay": Number(or_low=True),
        "validation_fraction": Number(0.0, 1.0),
        "early_stopping": Flag(),
        "patience": Whole(1),
        "n_jobs": Threads(),
        "verbose": Whole(0),
    }

    @abstractmethod
    def _read(self, X: Any, *, reset: bool) -> Any:
        """Check examples and return them as something that has a length."""

    @abstractmethod
    def _learn_encoding(self, read: Any, weights: Float64) -> int:
        """Learn how examples become numbers, and return how many numbers those of training become."""

    @abstractmethod
    def _encoded(self, read: Any, dtype: DType) -> NetworkInput:
        """Return examples as the network takes them."""

    @abstractmethod
    def _network(self, generator: torch.Generator) -> nn.Module:
        """Make the network; its last layer is its attribute `output`."""

    @restored_on_failure
    def fit(self, X: Any, y: Any, sample_weight: Any = None, validation_data: tuple[Any, Any] | None = None) -> Self:
        """Train the network.

        Parameters
        ----------
        X
            Sets; see the class.
        y : array-like of shape (n,)
            One label for each set.
        sample_weight : array-like of shape (n,), optional
            One weight for each set; sets of weight 0 are left out.
        validation_data : tuple (X, y), optional
            What to choose the best epoch by, in place of a share of the training data.

        Returns
        -------
        self
            The fitted estimator.
        """
        parameters = self.get_params(deep=False)
        check_parameters(parameters, {"loss": Auto(OneOf(tuple(self._losses)), "chosen by the labels"), **self._rules})
        rng = make_rng(self.random_state)
        read = self._read(X, reset=True)
        weights = check_weights(sample_weight, len(read))
        labels = self._numbers(y, len(read), reset=True)
        dtype: DType = np.float64
        if self._learn_encoding(read, weights) >= DOUBLE_PRECISION_VALUES:
            dtype = np.float32
        self.loss_ = self._losses[0] if is_auto(self.loss) else self.loss
        kept = np.flatnonzero(weights)
        unit = Unit.of(Loss(self.loss_), labels[kept], weights[kept])
        validation = None
        if validation_data is not None:
            validation = self._validation(validation_data, unit, dtype)
        inputs = self._encoded(read, dtype)
        if validation_data is None and self.early_stopping:
            stratify = self._link.classes is not None
            chosen, held = hold_out(labels[kept], None, self.validation_fraction, rng, stratify=stratify)
            if len(held):
                validation = _labelled(inputs, kept[held], labels, weights, unit, dtype)
                kept = kept[chosen]
        generator = torch.Generator().manual_seed(int(rng.integers(2**63)))
        network = self._network(generator).to(torch.float32 if dtype is np.float32 else torch.float64)
        data = _labelled(inputs, kept, labels, weights, unit, dtype)
        problem = NetworkProblem(network, unit.loss, data, validation, self.weight_decay)
        schedule = Schedule(
            learning_rate=self.learning_rate,
            epochs=self.epochs,
            batch_size=choose_batch_size(self.batch_size, len(kept), share=16, largest=1024),
            patience=self.patience if self.early_stopping else None,
        )
        with progress_bar({**parameters, "restarts": 1}) as show, network_threads(self.n_jobs):
            on_epoch = None if show is None else (lambda entry: show(unit.reported(entry)))
            progress = train_network(problem, schedule, rng, on_epoch)
        self.network_ = _rescaled(network.double(), unit)
        self.history_ = [unit.reported(entry) for entry in progress.history]
        self.n_iter_, self.best_epoch_ = len(progress.history), progress.best_epoch
        self.interrupted_ = progress.interrupted
        if self.interrupted_:
            warnings.warn(
                f"Training was interrupted after {self.n_iter_} of {self.epochs} epochs. The best network so far is "
                "kept.",
                stacklevel=3,
            )
        return self

    def _validation(self, validation_data: Any, unit: Unit, dtype: DType) -> LabelledInput:
        X, y = check_pair(validation_data)
        read = self._read(X, reset=False)
        labels = self._numbers(y, len(read), reset=False)
        everything = np.arange(len(labels))
        return _labelled(self._encoded(read, dtype), everything, labels, np.ones(len(labels)), unit, dtype)

    def _outputs_of(self, X: Any) -> Float64:
        """Return the network's ``(B, C)`` outputs, in double precision."""
        check_is_fitted(self)
        read = self._read(X, reset=False)
        inputs = self._encoded(read, np.float64)
        with torch.no_grad(), network_threads(self.n_jobs):
            pieces = inputs.pieces(np.arange(len(read)))
            return np.concatenate([self.network_(*inputs.batch(piece)).numpy() for piece in pieces])

    def __sklearn_is_fitted__(self) -> bool:
        return "network_" in vars(self)


class SetNetwork(ReadsSets, NetworkEstimator):
    """A network on sets of tokens with features."""

    def _learn_encoding(self, read: SetData, weights: Float64) -> int:
        self.encoding_ = Encoding.fit(read, self.features_, weights)
        return read.n_tokens * self.encoding_.n_columns


def _labelled(
    inputs: NetworkInput, rows: IntArray, labels: Float64, weights: Float64, unit: Unit, dtype: DType
) -> LabelledInput:
    targets = unit.loss.scaled(labels[rows], unit.centre, unit.scale).astype(dtype)
    shares = (weights[rows] / weights[rows].mean()).astype(dtype)
    return LabelledInput(inputs, rows, torch.from_numpy(targets), torch.from_numpy(shares))


def _rescaled(network: nn.Module, unit: Unit) -> nn.Module:
    """Convert the outputs to the labels' own unit, by the last layer's parameters."""
    output = network.output
    assert isinstance(output, nn.Linear)  # noqa: S101
    with torch.no_grad():
        output.weight.mul_(unit.scale)
        output.bias.mul_(unit.scale).add_(unit.centre)
    return network
