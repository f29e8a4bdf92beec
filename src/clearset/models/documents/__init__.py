"""Models as plain data, ready for JSON: with all that is needed to show and to evaluate them elsewhere."""

from clearset.models.documents._card import ModelCard, card_of, card_of_origin, card_of_parts
from clearset.models.documents._document import described_model, report_document
from clearset.models.documents._quality import quality
from clearset.models.documents._shown_examples import MOST_VALUES, ShownExamples
from clearset.models.documents._token_document import described_tokens, token_document

__all__ = [
    "MOST_VALUES",
    "ModelCard",
    "ShownExamples",
    "card_of",
    "card_of_origin",
    "card_of_parts",
    "described_model",
    "described_tokens",
    "quality",
    "report_document",
    "token_document",
]
