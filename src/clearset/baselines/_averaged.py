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
from clearset.estimators import Whole, inherited_docs
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


@inherited_docs
class AveragedLinearRegressor(PredictsNumbers, _AveragedLinear):
    """Predict a number by a linear model of the mean of each feature over a set's tokens.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from clearset.baselines import AveragedLinearRegressor
    >>> products = pa.table({"stars": [[5, 3], [1], [3, 3, 3], [2, 2]]})
    >>> model = AveragedLinearRegressor(epochs=500, random_state=0).fit(products, [40.0, 10.0, 30.0, 20.0])
    >>> model.predict(pa.table({"stars": [[4, 4, 4]]})).round(1).tolist()
    [40.0]
    """


@inherited_docs
class AveragedLinearClassifier(PredictsClasses, _AveragedLinear):
    """Predict a class by a linear model of the mean of each feature over a set's tokens.

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
    """A network of equal hidden layers.

    Parameters
    ----------
    width : int
        The number of units of each hidden layer.
    hidden_layers : int
        The number of hidden layers, with ReLU.
    """

    _rules = _Averaged._rules | {"width": Whole(1), "hidden_layers": Whole(1)}

    width: int = 32
    _: KW_ONLY
    hidden_layers: int = 2

    def _hidden(self) -> list[int]:
        return [self.width] * self.hidden_layers


@inherited_docs
class AveragedDNNRegressor(PredictsNumbers, _AveragedDNN):
    """Predict a number by a fully connected network on the mean of each feature over a set's tokens.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from clearset.baselines import AveragedDNNRegressor
    >>> products = pa.table({"stars": [[5, 3], [1], [3, 3, 3], [2, 2]]})
    >>> model = AveragedDNNRegressor(random_state=0).fit(products, [40.0, 10.0, 30.0, 20.0])
    >>> model.predict(products).shape
    (4,)
    """


@inherited_docs
class AveragedDNNClassifier(PredictsClasses, _AveragedDNN):
    """Predict a class by a fully connected network on the mean of each feature over a set's tokens.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from clearset.baselines import AveragedDNNClassifier
    >>> baskets = pa.table({"price": [[1.0, 2.0], [9.0], [8.0, 7.5], [1.5]]})
    >>> model = AveragedDNNClassifier(random_state=0).fit(baskets, ["cheap", "dear", "dear", "cheap"])
    >>> model.predict(baskets).tolist()
    ['cheap', 'dear', 'dear', 'cheap']
    """
