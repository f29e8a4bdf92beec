"""Tokens: which combinations of items an example is made of, and what is known about them."""

from ._coded import Coded, Found, Joining, TokenLimitError
from ._cross_fit import cross_fit
from ._encoding import EncodedSets
from ._filters import AllOf, AnyOf, MaxInterval, MinCount
from ._index import TokenIndex
from ._own import OwnTokeniser, as_tokeniser, tokeniser_from_json
from ._show import TokenStatistics
from ._statistics import Statistics
from ._table import TokenTable
from ._tokenisers import Cross, Difference, Items, NGrams, Subsets, Tokeniser

__all__ = [
    "AllOf",
    "AnyOf",
    "Coded",
    "Cross",
    "Difference",
    "EncodedSets",
    "Found",
    "Items",
    "Joining",
    "MaxInterval",
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
    "tokeniser_from_json",
]
