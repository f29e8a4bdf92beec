"""Models in production: score and explain with numpy and the native module, and nothing else.

`to_runtime` of a fitted model writes the file, and `load` reads it. Neither Arrow nor scikit-learn, scipy or
safetensors is imported, so that ``pip install --no-deps clearset`` beside numpy is enough.
"""

from clearset.runtime._contributions import (
    Contributions,
    ScoredTokenSets,
    Worth,
    contributions,
    slopes_of_rho,
    worth_of_means,
)
from clearset.runtime._file import RuntimeFileError, pack_runtime_file
from clearset.runtime._load import load
from clearset.runtime._scorer import Explained, Scorer
from clearset.runtime._support import Support, enough

__all__ = [
    "Contributions",
    "Explained",
    "RuntimeFileError",
    "ScoredTokenSets",
    "Scorer",
    "Support",
    "Worth",
    "contributions",
    "enough",
    "load",
    "pack_runtime_file",
    "slopes_of_rho",
    "worth_of_means",
]
