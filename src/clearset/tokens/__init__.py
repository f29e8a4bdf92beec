"""Tokens: which combinations of items an example is made of, and what is known about them."""

from ._coded import Coded, Found, Joining, TokenLimitError
from ._corrections import Corrections, refined_values
from ._cross_fit import cross_fit
from ._encoding import EncodedSets
from ._features import NAMES, OWN, PER_SET, VALUES, WHOLE, means_of_values, own_feature, token_values
from ._filters import AllOf, AnyOf, MaxInterval, MaxSize, MinCount
from ._index import TokenIndex
from ._labels import Labels, read_labels, read_weights
from ._own import OwnTokeniser, as_tokeniser, tokeniser_from_json
from ._show import TokenStatistics
from ._statistics import Statistics
from ._table import TokenTable
from ._tokenisers import Cross, Difference, Items, NGrams, Subsets, Tokeniser

__all__ = [
    "NAMES",
    "OWN",
    "PER_SET",
    "VALUES",
    "WHOLE",
    "AllOf",
    "AnyOf",
    "Coded",
    "Corrections",
    "Cross",
    "Difference",
    "EncodedSets",
    "Found",
    "Items",
    "Joining",
    "Labels",
    "MaxInterval",
    "MaxSize",
    "MinCount",
    "NGrams",
    "OwnTokeniser",
    "Statistics",
    "Subsets",
    "TokenIndex",
    "TokenLimitError",
    "TokenStatistics",
    "TokenTable",
    "Tokeniser",
    "as_tokeniser",
    "cross_fit",
    "means_of_values",
    "own_feature",
    "read_labels",
    "read_weights",
    "refined_values",
    "token_values",
    "tokeniser_from_json",
]
