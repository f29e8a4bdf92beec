"""Models as plain data, ready for JSON: with all that is needed to show and to evaluate them elsewhere."""

from clearset.models.documents._document import described_model, report_document
from clearset.models.documents._item_examples import ItemExamples
from clearset.models.documents._set_examples import SetExamples
from clearset.models.documents._shown_examples import MOST_VALUES, ShownExamples
from clearset.models.documents._token_document import MOST_BYTES, described_tokens, table_histogram, token_document

__all__ = [
    "MOST_BYTES",
    "MOST_VALUES",
    "ItemExamples",
    "SetExamples",
    "ShownExamples",
    "described_model",
    "described_tokens",
    "report_document",
    "table_histogram",
    "token_document",
]
