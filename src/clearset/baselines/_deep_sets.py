"""Deep Sets: a network on every token, the mean over a set's tokens, a network on the mean."""

from dataclasses import KW_ONLY, dataclass

import torch
from torch import nn

from clearset.baselines._baseline import PredictsClasses, PredictsNumbers
from clearset.baselines._network_estimator import DType, SetNetwork
from clearset.baselines._network_inputs import RaggedInput
from clearset.baselines._networks import DeepSets
from clearset.estimators import Whole, inherited_docs
from clearset.sets import SetData


@dataclass(eq=False, repr=False)
class _DeepSetsEstimator(SetNetwork):
    """Deep Sets, whatever it predicts.

    Parameters
    ----------
    width : int
        The number of units of every hidden layer, and so of the values of each token that are averaged.
    hidden_layers : int
        The number of hidden layers, with ReLU, of phi and of rho; phi's last one is averaged.
    """

    _rules = SetNetwork._rules | {"width": Whole(1), "hidden_layers": Whole(1)}

    width: int = 32
    _: KW_ONLY
    hidden_layers: int = 3

    def _encoded(self, read: SetData, dtype: DType) -> RaggedInput:
        return RaggedInput(*self.encoding_.tokens(read, dtype))

    def _network(self, generator: torch.Generator) -> nn.Module:
        return DeepSets(self.encoding_.n_columns, self.width, self.hidden_layers, self._link.n_outputs, generator)


@inherited_docs
class DeepSetsRegressor(PredictsNumbers, _DeepSetsEstimator):
    """Predict a number by Deep Sets: rho(mean over the tokens of phi(token)), phi and rho being networks.

    phi and rho have the same number of hidden layers of the same width (Zaheer et al., 2017, with the mean in place of
    the sum).

    Examples
    --------
    >>> import pyarrow as pa
    >>> from clearset.baselines import DeepSetsRegressor
    >>> products = pa.table({"stars": [[5, 4], [1], [5, 5, 5], [2, 3]], "price": [9.0, 7.0, 8.0, 5.0]})
    >>> model = DeepSetsRegressor(["stars", "price"], random_state=0).fit(products, [120.0, 20.0, 180.0, 60.0])
    >>> model.predict(products).shape
    (4,)
    """


@inherited_docs
class DeepSetsClassifier(PredictsClasses, _DeepSetsEstimator):
    """Predict a class by Deep Sets: rho(mean over the tokens of phi(token)), phi and rho being networks.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from clearset.baselines import DeepSetsClassifier
    >>> baskets = pa.table({"price": [[1.0, 2.0], [9.0], [8.0, 7.5], [1.5]]})
    >>> model = DeepSetsClassifier(random_state=0).fit(baskets, ["cheap", "dear", "dear", "cheap"])
    >>> model.predict(baskets).tolist()
    ['cheap', 'dear', 'dear', 'cheap']
    """
