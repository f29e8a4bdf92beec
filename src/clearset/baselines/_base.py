"""How every network is fitted and applied."""

import warnings
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np
import torch
from sklearn.utils.validation import check_is_fitted
from torch import nn

from clearset.baselines._encoding import Encoding
from clearset.baselines._examples import Examples
from clearset.baselines._parameters import check_network_parameters
from clearset.baselines._tasks import Baseline, Float64
from clearset.baselines._training import Labelled, Schedule, network_threads, torch_threads, train
from clearset.estimators._fitting import DOUBLE_PRECISION_VALUES
from clearset.estimators._input import check_weights, read_more_sets, read_training_sets
from clearset.estimators._parameters import make_rng
from clearset.estimators._progress import progress_bar
from clearset.estimators._restored import restored_on_failure
from clearset.estimators.semantic._sources import hold_out
from clearset.setfunction import Loss
from clearset.sets import Feature, SetData
from clearset.sets._ragged import IntArray

DType = type[np.float32] | type[np.float64]


class NetworkEstimator(Baseline):
    """A network and its training; subclasses say what it looks like and how it takes examples."""

    network_: nn.Module
    loss_: str
    history_: list[dict[str, float]]
    n_iter_: int
    best_epoch_: int
    interrupted_: bool

    def __init__(
        self,
        *,
        loss: str | None = None,
        learning_rate: float = 0.001,
        epochs: int = 100,
        batch_size: int | Literal["auto"] = "auto",
        weight_decay: float = 0.0,
        validation_fraction: float = 0.1,
        early_stopping: bool = True,
        patience: int = 20,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
        self.learning_rate = learning_rate
        self.epochs = epochs
        self.batch_size = batch_size
        self.weight_decay = weight_decay
        self.validation_fraction = validation_fraction
        self.early_stopping = early_stopping
        self.patience = patience
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @abstractmethod
    def _read(self, X: Any, *, reset: bool) -> Any:
        """Check examples and give them as something that has a length."""

    @abstractmethod
    def _learn_encoding(self, read: Any, weights: Float64) -> int:
        """Learn how examples become numbers, and give how many numbers those of training become."""

    @abstractmethod
    def _encoded(self, read: Any, dtype: DType) -> Examples:
        """Give examples as the network takes them."""

    @abstractmethod
    def _network(self, generator: torch.Generator) -> nn.Module:
        """Make the network; its last layer is its attribute `output`."""

    @restored_on_failure
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, validation_data: tuple[Any, Any] | None = None
    ) -> Self:
        """Train the network.

        Parameters
        ----------
        X
            Sets; see the class.
        y
            One label for each set.
        sample_weight
            One weight for each set; sets of weight 0 are left out.
        validation_data
            ``(X, y)`` to choose the best epoch by, in place of a share of the training data.
        """
        options = self.get_params(deep=False)
        check_network_parameters(options, self._losses)
        rng = make_rng(self.random_state)
        read = self._read(X, reset=True)
        weights = check_weights(sample_weight, len(read))
        labels = self._numbers(y, len(read), reset=True)
        dtype: DType = np.float64
        if self._learn_encoding(read, weights) >= DOUBLE_PRECISION_VALUES:
            dtype = np.float32
        self.loss_ = self.loss or self._losses[0]
        loss = Loss(self.loss_)
        kept = np.flatnonzero(weights)
        centre, scale = loss.scaling(labels[kept], weights[kept])

        def labelled(examples: Examples, rows: IntArray, labels: Float64, weights: Float64) -> Labelled:
            targets = loss.scaled(labels[rows], centre, scale).astype(dtype)
            shares = (weights[rows] / weights[rows].mean()).astype(dtype)
            return Labelled(examples, rows, torch.from_numpy(targets), torch.from_numpy(shares))

        validation = None
        if validation_data is not None:
            other, theirs = self._validation(validation_data)
            validation = labelled(
                self._encoded(other, dtype), np.arange(len(theirs)), theirs, np.ones(len(theirs))
            )
        examples = self._encoded(read, dtype)
        if validation_data is None and self.early_stopping:
            chosen, held = hold_out(
                labels[kept], None, self.validation_fraction, rng, stratify=hasattr(self, "classes_")
            )
            if len(held):
                validation = labelled(examples, kept[held], labels, weights)
                kept = kept[chosen]
        generator = torch.Generator().manual_seed(int(rng.integers(2**63)))
        network = self._network(generator).to(torch.float32 if dtype is np.float32 else torch.float64)
        schedule = Schedule(
            learning_rate=self.learning_rate,
            epochs=self.epochs,
            batch_size=_batch_size(self.batch_size, len(kept)),
            weight_decay=self.weight_decay,
            patience=self.patience if self.early_stopping else None,
        )

        with progress_bar({**options, "restarts": 1}) as show, torch_threads(network_threads(self.n_jobs)):

            def on_epoch(entry: dict[str, float]) -> None:
                for name in entry.keys() - {"epoch"}:
                    entry[name] = loss.in_units(entry[name], centre, scale)
                if show is not None:
                    show(entry)

            data = labelled(examples, kept, labels, weights)
            progress = train(network, loss, data, validation, schedule, rng, on_epoch)
        self.network_ = _rescaled(network.double(), centre, scale)
        self.history_, self.n_iter_ = progress.history, len(progress.history)
        self.best_epoch_, self.interrupted_ = progress.best_epoch, progress.interrupted
        if self.interrupted_:
            warnings.warn(
                f"Training was interrupted after {self.n_iter_} of {self.epochs} epochs. The best network so far is "
                "kept.",
                stacklevel=3,
            )
        return self

    def _validation(self, validation_data: Any) -> tuple[Any, Float64]:
        if not isinstance(validation_data, tuple | list) or len(validation_data) != 2:
            raise TypeError(
                f"validation_data is a pair (X, y); received {type(validation_data).__name__}. Pass sets and labels."
            )
        read = self._read(validation_data[0], reset=False)
        return read, self._numbers(validation_data[1], len(read), reset=False)

    def _outputs_of(self, X: Any) -> Float64:
        """Give the network's ``(B, C)`` outputs, in double precision."""
        check_is_fitted(self)
        read = self._read(X, reset=False)
        examples = self._encoded(read, np.float64)
        with torch.no_grad(), torch_threads(network_threads(self.n_jobs)):
            pieces = examples.pieces(np.arange(len(read)))
            return np.concatenate([self.network_(*examples.batch(piece)).numpy() for piece in pieces])

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "network_")


class SetNetwork(NetworkEstimator):
    """A network on sets of tokens with features."""

    features: Sequence[str | Feature] | None

    features_: tuple[Feature, ...]
    sets_of_one_: bool
    encoding_: Encoding

    def _read(self, X: Any, *, reset: bool) -> SetData:
        if not reset:
            return read_more_sets(self, X)
        sets, self.features_, _ = read_training_sets(self, X, self.features, ())
        self.sets_of_one_ = bool((sets.sizes == 1).all())
        return sets

    def _learn_encoding(self, read: SetData, weights: Float64) -> int:
        self.encoding_ = Encoding.fit(read, self.features_, weights)
        return read.n_tokens * self.encoding_.n_columns

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _batch_size(wanted: int | str, n_examples: int) -> int:
    return min(max(n_examples // 16, 32), 1024) if wanted == "auto" else int(wanted)


def _rescaled(network: nn.Module, centre: float, scale: float) -> nn.Module:
    """Bring the outputs to the labels' own unit, by the last layer's parameters."""
    output = network.output
    assert isinstance(output, nn.Linear)  # noqa: S101
    with torch.no_grad():
        output.weight.mul_(scale)
        output.bias.mul_(scale).add_(centre)
    return network
