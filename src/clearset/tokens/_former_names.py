"""Public names in their former spelling, which keep working; `TokenTable.tokeniser` is the only other one."""

from ._own_tokenizers import OwnTokenizer, as_tokenizer, tokenizer_from_json
from ._tokenizers import Tokenizer

Tokeniser = Tokenizer
OwnTokeniser = OwnTokenizer
as_tokeniser = as_tokenizer
tokeniser_from_json = tokenizer_from_json
