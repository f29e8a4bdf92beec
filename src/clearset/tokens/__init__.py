"""Tokens: which combinations of items an example is made of, and what is known about them."""

from ._codes import Coded, EncodedSets, Found, TokenLimitError
from ._corrections import Corrections, refined_values
from ._covers import covered
from ._cross_fit import cross_fit, table_of_rows
from ._edited_table import TokenRow, correction_of, with_correction, with_token, without_token
from ._features import KIND, NAMES, OWN, PER_SET, VALUES, WHOLE, token_values, values_of_means
from ._filters import (
    AllOf,
    AnyOf,
    Filter,
    MaxInterval,
    MaxSize,
    MinCount,
    OfKind,
    check_filters,
    check_kinds,
    filter_from_json,
    filter_to_json,
)
from ._fingerprint import fingerprint_examples
from ._item_columns import read_column
from ._item_counts import ItemCounts
from ._item_details import check_details, read_details
from ._own_tokenizers import OwnTokenizer, as_tokenizer, tokenizer_from_json
from ._setting import Choices, Setting
from ._statistics import Kinds, Statistics
from ._stored_occurrences import AnyOccurrences, ArrangedOccurrences, Reading, StoredOccurrences, arrange
from ._streamed_columns import columns_read, item_columns
from ._table import TokenTable
from ._table_rows import TokenStatistics
from ._token_binning import fit_token_binning
from ._token_reader import Occurrences, TokenPlacer, TokenReader
from ._token_rows import TokenRows
from ._tokenizers import Items, NGrams, Subsets, Tokenizer, Words
from ._two_columns import Cross, Difference
from ._union import Union
from ._vocabulary import as_bytes, flat, offsets_of_kept, places_in

__all__ = [
    "KIND",
    "NAMES",
    "OWN",
    "PER_SET",
    "VALUES",
    "WHOLE",
    "AllOf",
    "AnyOccurrences",
    "AnyOf",
    "ArrangedOccurrences",
    "Choices",
    "Coded",
    "Corrections",
    "Cross",
    "Difference",
    "EncodedSets",
    "Filter",
    "Found",
    "ItemCounts",
    "Items",
    "Kinds",
    "MaxInterval",
    "MaxSize",
    "MinCount",
    "NGrams",
    "Occurrences",
    "OfKind",
    "OwnTokenizer",
    "Reading",
    "Setting",
    "Statistics",
    "StoredOccurrences",
    "Subsets",
    "TokenLimitError",
    "TokenPlacer",
    "TokenReader",
    "TokenRow",
    "TokenRows",
    "TokenStatistics",
    "TokenTable",
    "Tokenizer",
    "Union",
    "Words",
    "arrange",
    "as_bytes",
    "as_tokenizer",
    "check_details",
    "check_filters",
    "check_kinds",
    "columns_read",
    "correction_of",
    "covered",
    "cross_fit",
    "filter_from_json",
    "filter_to_json",
    "fingerprint_examples",
    "fit_token_binning",
    "flat",
    "item_columns",
    "offsets_of_kept",
    "places_in",
    "read_column",
    "read_details",
    "refined_values",
    "table_of_rows",
    "token_values",
    "tokenizer_from_json",
    "values_of_means",
    "with_correction",
    "with_token",
    "without_token",
]

# Public names in their former spelling, which keep working; `TokenTable.tokeniser` is the only other one.
Tokeniser, OwnTokeniser = Tokenizer, OwnTokenizer
as_tokeniser, tokeniser_from_json = as_tokenizer, tokenizer_from_json
