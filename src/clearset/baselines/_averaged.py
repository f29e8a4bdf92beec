"""Averages of features: a linear model or a network on the mean of each feature over a set's tokens."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import torch
from torch import nn

from clearset.baselines._base import DType, SetNetwork
from clearset.baselines._encoding import standard_scale
from clearset.baselines._examples import Rows
from clearset.baselines._networks import FullyConnected
from clearset.baselines._tasks import Float64, OfClasses, OfNumbers
from clearset.sets import Feature, SetData


class _Averaged(SetNetwork):
    """A fully connected network on the means, which are brought to mean 0 and variance 1 over the training sets."""

    _centres: Float64
    _scales: Float64

    def _hidden(self) -> list[int]:
        """Give the units of each hidden layer."""
        return []

    def _learn_encoding(self, read: SetData, weights: Float64) -> int:
        super()._learn_encoding(read, weights)
        kept = weights > 0
        means = self.encoding_.means(read)
        moments = [standard_scale(column[kept], weights[kept]) for column in means.T]
        self._centres, self._scales = np.array(moments).T
        return means.size

    def _encoded(self, read: SetData, dtype: DType) -> Rows:
        return Rows(((self.encoding_.means(read) - self._centres) / self._scales).astype(dtype))

    def _network(self, generator: torch.Generator) -> nn.Module:
        return FullyConnected([self.encoding_.n_columns, *self._hidden()], self._n_outputs(), generator)


class _AveragedLinear(_Averaged):
    def __init__(
        self,
        features: Sequence[str | Feature] | None = None,
        *,
        loss: str | None = None,
        learning_rate: float = 0.03,
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
        super().__init__(
            loss=loss,
            learning_rate=learning_rate,
            epochs=epochs,
            batch_size=batch_size,
            weight_decay=weight_decay,
            validation_fraction=validation_fraction,
            early_stopping=early_stopping,
            patience=patience,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.features = features


class AveragedLinearRegressor(OfNumbers, _AveragedLinear):
    """Predict a number by a linear model of the mean of each feature over a set's tokens.

    Parameters
    ----------
    features
        A list of names or `Feature`, or None for every numeric column. Categorical features become 0/1 columns, and
        features with missing values get a column that says so. Declared directions and shapes are not kept: a
        baseline makes no promises.
    loss
        ``"squared_error"`` (None) or ``"absolute_error"``; of classes ``"log_loss"``.
    learning_rate
        Of Adam at the start; it falls along a cosine.
    epochs
        Passes over the training sets, at most.
    batch_size
        Sets of one step. ``"auto"``: a sixteenth of the training sets, from 32 to 1024.
    weight_decay
        Share of the learning rate by which weights shrink at every step (as AdamW does it).
    validation_fraction
        Share of the training sets kept for early stopping, unless `fit` gets validation data. Fewer than 50 sets are
        not kept aside: then all epochs are run on all sets.
    early_stopping
        Keep the best epoch on validation data, and stop after `patience` epochs without a better one. Without it all
        epochs are run on all sets, and validation data given to `fit` are only reported on.
    patience
        See `early_stopping`.
    random_state
        Seed or generator. The same seed and number of threads give the same bits.
    n_jobs
        Threads of torch; None takes one, because its steps are short, and -1 all cores.
    verbose
        1 shows a progress bar.

    Attributes
    ----------
    network_
        The trained torch module, in float64 and in the labels' own unit.
    encoding_
        How sets become numbers.
    features_
        The features in full.
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
    >>> from clearset.baselines import AveragedLinearRegressor
    >>> products = pa.table({"stars": [[5, 3], [1], [3, 3, 3], [2, 2]]})
    >>> model = AveragedLinearRegressor(epochs=500, random_state=0).fit(products, [40.0, 10.0, 30.0, 20.0])
    >>> model.predict(pa.table({"stars": [[4, 4, 4]]})).round(1).tolist()
    [40.0]
    """


class AveragedLinearClassifier(OfClasses, _AveragedLinear):
    """Tell classes apart by a linear model of the mean of each feature over a set's tokens.

    The parameters and attributes are those of `AveragedLinearRegressor`, and ``classes_``, the labels, sorted.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from clearset.baselines import AveragedLinearClassifier
    >>> baskets = pa.table({"price": [[1.0, 2.0], [9.0], [8.0, 7.5], [1.5]]})
    >>> model = AveragedLinearClassifier(random_state=0).fit(baskets, ["cheap", "dear", "dear", "cheap"])
    >>> model.predict(baskets).tolist()
    ['cheap', 'dear', 'dear', 'cheap']
    """


class _AveragedDNN(_Averaged):
    def __init__(
        self,
        features: Sequence[str | Feature] | None = None,
        width: int = 32,
        *,
        hidden_layers: int = 2,
        loss: str | None = None,
        learning_rate: float = 0.003,
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
        super().__init__(
            loss=loss,
            learning_rate=learning_rate,
            epochs=epochs,
            batch_size=batch_size,
            weight_decay=weight_decay,
            validation_fraction=validation_fraction,
            early_stopping=early_stopping,
            patience=patience,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.features = features
        self.width = width
        self.hidden_layers = hidden_layers

    def _hidden(self) -> list[int]:
        return [self.width] * self.hidden_layers


class AveragedDNNRegressor(OfNumbers, _AveragedDNN):
    """Predict a number by a fully connected network on the mean of each feature over a set's tokens.

    The further parameters, and the attributes, are those of `AveragedLinearRegressor`.

    Parameters
    ----------
    features
        See there.
    width
        Units of each hidden layer.
    hidden_layers
        Number of hidden layers, with ReLU.
    loss, learning_rate, epochs, batch_size, weight_decay
        See there.
    validation_fraction, early_stopping, patience
        See there.
    random_state, n_jobs, verbose
        See there.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from clearset.baselines import AveragedDNNRegressor
    >>> products = pa.table({"stars": [[5, 3], [1], [3, 3, 3], [2, 2]]})
    >>> model = AveragedDNNRegressor(random_state=0).fit(products, [40.0, 10.0, 30.0, 20.0])
    >>> model.predict(products).shape
    (4,)
    """


class AveragedDNNClassifier(OfClasses, _AveragedDNN):
    """Tell classes apart by a fully connected network on the mean of each feature over a set's tokens.

    The parameters and attributes are those of `AveragedDNNRegressor`, and ``classes_``, the labels, sorted.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from clearset.baselines import AveragedDNNClassifier
    >>> baskets = pa.table({"price": [[1.0, 2.0], [9.0], [8.0, 7.5], [1.5]]})
    >>> model = AveragedDNNClassifier(random_state=0).fit(baskets, ["cheap", "dear", "dear", "cheap"])
    >>> model.predict(baskets).tolist()
    ['cheap', 'dear', 'dear', 'cheap']
    """
