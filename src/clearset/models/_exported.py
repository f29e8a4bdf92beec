"""Models as files for other places: what scores the same without clearset, or with little of it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from clearset.files import Key

if TYPE_CHECKING:
    from clearset.models._model import Model


class Exported:
    """What every fitted model can be written as."""

    def as_model(self) -> Model:
        """Return the model as plain data."""
        raise NotImplementedError

    def to_runtime(self, path: str | os.PathLike[str], *, key: Key | None = None) -> None:
        """Write the model for `clearset.runtime`, which scores and explains with numpy alone.

        Parameters
        ----------
        path : path-like
            Where to, such as ``model.runtime``; an existing file is replaced only once the new one is complete.
        key : bytes or Ed25519PrivateKey, optional
            The key to sign the file with; see `clearset.runtime.load`.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> import clearset as cs
        >>> from clearset import runtime
        >>> texts = ["great light", "great value", "broken screen", "bad battery"] * 10
        >>> model = cs.SemanticRegressor(tokens=cs.NGrams(1), random_state=0).fit(texts, [5, 4, 1, 2] * 10)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.to_runtime(Path(folder) / "stars.runtime")
        ...     scorer = runtime.load(Path(folder) / "stars.runtime")
        >>> bool(abs(scorer.predict(["great battery"]) - model.predict(["great battery"])) < 1e-9)
        True
        """
        self.as_model().write_runtime(path, key)

    def to_onnx(self, path: str | os.PathLike[str], *, explanations: bool = True) -> None:
        """Write the model as ONNX, which many languages run; predictions and contributions are the same.

        Parameters
        ----------
        path : path-like
            Where to, such as ``model.onnx``; an existing file is replaced only once the new one is complete.
        explanations : bool, default=True
            Whether scores and contributions are among the outputs. Without them, scoring is faster.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> import clearset as cs
        >>> model = cs.SetRegressor(random_state=0).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 4.0])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.to_onnx(Path(folder) / "model.onnx")
        ...     size = (Path(folder) / "model.onnx").stat().st_size
        >>> size < 100_000
        True
        """
        self.as_model().write_onnx(path, explanations=explanations)
