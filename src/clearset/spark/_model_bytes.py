"""Models on their way to executors: as the bytes of their files, read once in each process."""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from clearset.models import FrozenModel, load

# Of one process; Spark's workers serve many batches and tasks one after the other.
_LOADED: dict[str, Any] = {}
_MOST_LOADED = 4


class ModelBytes(NamedTuple):
    """What the file of a model holds.

    Parameters
    ----------
    content : bytes
        The file, as `save` writes it.
    frozen : bool
        Whether it is of a `FrozenModel`.
    """

    content: bytes
    frozen: bool

    @classmethod
    def of(cls, model: Any) -> ModelBytes:
        """Save a model, or the one that an estimator has fitted."""
        if not callable(getattr(model, "save", None)):
            raise TypeError(f"model is a {type(model).__name__}; give a fitted model or estimator of clearset.")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model"
            model.save(path)
            return cls(path.read_bytes(), isinstance(model, FrozenModel))

    def load(self, tokens: Any = None) -> Any:
        """Return the model, which is kept for the next batch."""
        key = hashlib.sha256(self.content).hexdigest()
        if key not in _LOADED:
            while len(_LOADED) >= _MOST_LOADED:
                _LOADED.pop(next(iter(_LOADED)))
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "model"
                path.write_bytes(self.content)
                _LOADED[key] = FrozenModel.load(path, tokens) if self.frozen else load(path, tokens)
        return _LOADED[key]
