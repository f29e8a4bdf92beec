"""Averages of features: a linear model or a network on the mean of each feature over a set's tokens."""

from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass

import numpy as np
import torch
from torch import nn

from clearset.baselines._baseline import Float64, PredictsClasses, PredictsNumbers
from clearset.baselines._encoding import standard_scale
from clearset.baselines._network_estimator import DType, SetNetwork
from clearset.baselines._network_inputs import DenseInput
from clearset.baselines._networks import FullyConnected
from clearset.estimators import Whole
from clearset.sets import SetData


class _Averaged(SetNetwork):
    """A fully connected network on the means, standardised over the training sets."""

    _centres: Float64
    _scales: Float64

    @abstractmethod
    def _hidden(self) -> list[int]:
        """Return the units of each hidden layer."""

    def _learn_encoding(self, read: SetData, weights: Float64) -> int:
        super()._learn_encoding(read, weights)
        kept = weights > 0
        means = self.encoding_.means(read)
        moments = [standard_scale(column[kept], weights[kept]) for column in means.T]
        self._centres, self._scales = np.array(moments).T
        return means.size

    def _encoded(self, read: SetData, dtype: DType) -> DenseInput:
        return DenseInput(((self.encoding_.means(read) - self._centres) / self._scales).astype(dtype))

    def _network(self, generator: torch.Generator) -> nn.Module:
        return FullyConnected([self.encoding_.n_columns, *self._hidden()], self._link.n_outputs, generator)


@dataclass(eq=False, repr=False)
class _AveragedLinear(_Averaged):
    _: KW_ONLY
    learning_rate: float = 0.03

    def _hidden(self) -> list[int]:
        return []


class AveragedLinearRegressor(PredictsNumbers, _AveragedLinear):
    """Predict a number by a linear model of the mean of each feature over a set's tokens.

    Parameters
    ----------
    features : list of str or Feature, optional
        The columns to read; None reads every numeric column. A categorical feature becomes one 0/1 column for each
        category, and a feature with missing values gets a further column that marks them. Declared directions and
        shapes are not enforced.
    loss : {"auto", "squared_error", "absolute_error", "log_loss"}, default="auto"
        The loss to minimise. ``"auto"`` is ``"squared_error"`` for numbers and ``"log_loss"``, the only one, for
        classes.
    learning_rate : float, default=0.03
        The learning rate of Adam at the start; it falls along a cosine.
    epochs : int, default=100
        The largest number of passes over the training sets.
    batch_size : int or "auto", default="auto"
        The number of sets of one step. ``"auto"`` is a sixteenth of the training sets, from 32 to 1024.
    weight_decay : float, default=0.0
        The share of the learning rate by which weights shrink at every step (as in AdamW).
    validation_fraction : float, default=0.1
        The share of the training sets that is held out for early stopping, unless `fit` gets validation data. A share
        of fewer than 50 sets is not held out: then all epochs are run on all sets.
    early_stopping : bool, default=True
        Whether to keep the best epoch on validation data, and to stop after `patience` epochs without a better one. If
        not, all epochs are run on all sets, and validation data given to `fit` are only reported on.
    patience : int, default=20
        The number of epochs without a lower validation loss after which training stops.
    random_state : int, Generator or RandomState, optional
        The seed. The same seed and number of threads give the same bits.
    n_jobs : int, optional
        The number of threads of torch. None is one, because steps are short; -1 is all cores.
    verbose : int, default=0
        1 shows a progress bar.

    Attributes
    ----------
    network_ : torch.nn.Module
        The trained network, in float64 and in the labels' own unit.
    encoding_ : Encoding
        How sets become numbers.
    features_ : tuple of Feature
        The features in full.
    history_ : list of dict
        ``epoch``, ``loss`` and ``validation_loss`` of every epoch.
    n_iter_, best_epoch_ : int
        The number of epochs run, and the one whose parameters were kept.
    interrupted_ : bool
        Whether an interrupt (Ctrl-C) ended training early.
    n_features_in_ : int
        The number of features or columns.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from clearset.baselines import AveragedLinearRegressor
    >>> products = pa.table({"stars": [[5, 3], [1], [3, 3, 3], [2, 2]]})
    >>> model = AveragedLinearRegressor(epochs=500, random_state=0).fit(products, [40.0, 10.0, 30.0, 20.0])
    >>> model.predict(pa.table({"stars": [[4, 4, 4]]})).round(1).tolist()
    [40.0]
    """


class AveragedLinearClassifier(PredictsClasses, _AveragedLinear):
    """Predict a class by a linear model of the mean of each feature over a set's tokens.

    The parameters and attributes are those of `AveragedLinearRegressor`; ``classes_`` holds the classes, sorted.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from clearset.baselines import AveragedLinearClassifier
    >>> baskets = pa.table({"price": [[1.0, 2.0], [9.0], [8.0, 7.5], [1.5]]})
    >>> model = AveragedLinearClassifier(random_state=0).fit(baskets, ["cheap", "dear", "dear", "cheap"])
    >>> model.predict(baskets).tolist()
    ['cheap', 'dear', 'dear', 'cheap']
    """


@dataclass(eq=False, repr=False)
class _AveragedDNN(_Averaged):
    _rules = _Averaged._rules | {"width": Whole(1), "hidden_layers": Whole(1)}

    width: int = 32
    _: KW_ONLY
    hidden_layers: int = 2

    def _hidden(self) -> list[int]:
        return [self.width] * self.hidden_layers


class AveragedDNNRegressor(PredictsNumbers, _AveragedDNN):
    """Predict a number by a fully connected network on the mean of each feature over a set's tokens.

    The attributes are those of `AveragedLinearRegressor`.

    Parameters
    ----------
    features : list of str or Feature, optional
        The columns to read; None reads every numeric column.
    width : int, default=32
        The number of units of each hidden layer.
    hidden_layers : int, default=2
        The number of hidden layers, with ReLU.
    loss, learning_rate, epochs, batch_size, weight_decay
        See `AveragedLinearRegressor`; here the learning rate is 0.003 by default.
    validation_fraction, early_stopping, patience
        See `AveragedLinearRegressor`.
    random_state, n_jobs, verbose
        See `AveragedLinearRegressor`.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from clearset.baselines import AveragedDNNRegressor
    >>> products = pa.table({"stars": [[5, 3], [1], [3, 3, 3], [2, 2]]})
    >>> model = AveragedDNNRegressor(random_state=0).fit(products, [40.0, 10.0, 30.0, 20.0])
    >>> model.predict(products).shape
    (4,)
    """


class AveragedDNNClassifier(PredictsClasses, _AveragedDNN):
    """Predict a class by a fully connected network on the mean of each feature over a set's tokens.

    The parameters and attributes are those of `AveragedDNNRegressor`; ``classes_`` holds the classes, sorted.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from clearset.baselines import AveragedDNNClassifier
    >>> baskets = pa.table({"price": [[1.0, 2.0], [9.0], [8.0, 7.5], [1.5]]})
    >>> model = AveragedDNNClassifier(random_state=0).fit(baskets, ["cheap", "dear", "dear", "cheap"])
    >>> model.predict(baskets).tolist()
    ['cheap', 'dear', 'dear', 'cheap']
    """
