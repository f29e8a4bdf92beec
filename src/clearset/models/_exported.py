"""Models as files for other places: what scores the same without clearset, or with little of it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from clearset.export import Places, Sql
from clearset.files import Key

if TYPE_CHECKING:
    from clearset.models._model import Model


class WrittenAsOnnx:
    """What can be written as ONNX."""

    def _write_onnx(self, path: str | os.PathLike[str], *, explanations: bool) -> None:
        """Write the model as ONNX."""
        raise NotImplementedError

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
        self._write_onnx(path, explanations=explanations)


class Exported(WrittenAsOnnx):
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

    def _write_onnx(self, path: str | os.PathLike[str], *, explanations: bool) -> None:
        self.as_model().write_onnx(path, explanations=explanations)

    def to_sql(
        self,
        dialect: Literal["duckdb", "postgresql", "sqlite"],
        *,
        table: str | Sequence[str] = "tokens",
        key: str = "set",
        columns: Mapping[str, str] | None = None,
        sets: str | Sequence[str] | None = None,
        set_columns: Sequence[str] | None = None,
        prefix: str = "clearset_",
        order: str | None = None,
    ) -> Sql:
        """Write the model as a query that scores the sets of a database where they stand.

        The query returns the key with the ``prediction``; of two classes also the ``probability`` of the second, and of
        several a row for each set and ``class``, with its ``probability`` and whether it is the one ``predicted``.

        Parameters
        ----------
        dialect : {"duckdb", "postgresql", "sqlite"}
            The database.
        table : str or (schema, table), default="tokens"
            The table with a row for each token; of models over strings, a row for each item.
        key : str, default="set"
            Its column that says which set a row belongs to. Rows without a key are left out.
        columns : mapping of str to str, optional
            The columns of features, where they are not called like these; of models over strings, that of ``item``.
        sets : str or (schema, table), optional
            A table with one row for each set and the same key column. Without it, only sets with a row in `table` are
            scored.
        set_columns : sequence of str, optional
            The features whose columns stand in `sets`, if there is such a table; others stand in `table`. By default
            those that were plain columns in training.
        prefix : str, default="clearset_"
            What the names of the tables begin with that hold the scores of items, for models over strings.
        order : str, optional
            The column of `table` by which the tokens of a set are in order, for models that read their places
            (`clearset.PLACE`), which need it: it has a value in each row, and none twice in a set.

        Returns
        -------
        Sql
            The ``query``, and the ``setup`` that makes the tables which it needs; ``write`` writes both to files.

        Examples
        --------
        >>> import sqlite3
        >>> import pyarrow as pa
        >>> import clearset as cs
        >>> products = pa.table({"stars": [[5, 4], [1], [5, 5, 5], [2, 3]]})
        >>> model = cs.SetRegressor([cs.Feature("stars", monotonic="increasing")], random_state=0)
        >>> _ = model.fit(products, [120.0, 20.0, 180.0, 60.0])
        >>> database = sqlite3.connect(":memory:")
        >>> _ = database.execute("CREATE TABLE reviews (product TEXT, stars REAL)")
        >>> _ = database.executemany("INSERT INTO reviews VALUES (?, ?)", [("lamp", 5), ("lamp", 4)])
        >>> sql = model.to_sql("sqlite", table="reviews", key="product")
        >>> [(product, prediction)] = database.execute(sql.query)
        >>> product, bool(abs(prediction - model.predict(products)[0]) < 1e-9)
        ('lamp', True)
        """
        places = Places(dialect, table, key, dict(columns or {}), sets, set_columns, prefix, order)
        return self.as_model().sql(places)

    def to_c(self, path: str | os.PathLike[str], name: str = "model") -> None:
        """Write a model over numbers and categories as one header in C99, without dependencies; it only scores.

        Parameters
        ----------
        path : path-like
            Where to, such as ``model.h``; an existing file is replaced only once the new one is complete.
        name : str, default="model"
            What all names in the header begin with. ``model_score`` scores a set; the header says how.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> import clearset as cs
        >>> model = cs.SetRegressor(random_state=0).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 4.0])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.to_c(Path(folder) / "model.h", "growth")
        ...     header = (Path(folder) / "model.h").read_text()
        >>> "static inline void growth_score(" in header
        True
        """
        self.as_model().write_c(path, name)
