"""Frozen models as Parquet files: a token table with a further column, the tokens' scores."""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet

from clearset.artifact import PARQUET, ParquetFormat, check_target, read_file, write_file
from clearset.files import Key, check_signing_key
from clearset.functions import Rho
from clearset.models._origin import Origin
from clearset.models._semantic_storage import with_usual_nothing
from clearset.models._set_storage import MAX_WIDTH, plain, read_link, read_support, support_to_json
from clearset.sets import read_classes
from clearset.tokens import TokenTable

if TYPE_CHECKING:
    from clearset.models._frozen_model import FrozenModel

_FORMAT = ParquetFormat("frozen model", "FrozenModel.save", b"clearset_frozen_model")


def save(model: FrozenModel, path: str | os.PathLike[str], key: Key | None) -> None:
    """Write a model to `path`, wholly or not at all."""
    check_target(path)
    if key is not None:
        check_signing_key(key)
    buffer = io.BytesIO()
    model.table.write_parquet(buffer)
    rows = pa.parquet.read_table(pa.BufferReader(buffer.getvalue()))
    classes, rho = model.classes, model.rho
    document = {
        "cover": model.cover,
        "loss": model.loss,
        "nothing": plain(model.link.nothing),
        "classes": None if classes is None else classes.tolist(),
        "class_type": None if classes is None else classes.dtype.str,
        "missing": model.missing.tolist(),
        "support": support_to_json(model.support),
        "origin": model.origin.to_json(),
        "rho": [rho.calibrators.tolist(), rho.vertices[0].tolist(), rho.output[0].tolist()],
    }
    scores = pa.FixedSizeListArray.from_arrays(pa.array(model.scores.ravel()), model.missing.size)
    rows = rows.append_column("score", scores)
    write_file(path, _FORMAT.pack(rows, document, key))


def load(path: str | os.PathLike[str], tokens: Any, key: Key | None) -> dict[str, Any]:
    """Read the parts of a model."""
    name = str(path)
    content = read_file(path, PARQUET, "Give a file that FrozenModel.save wrote.")
    rows, document = _FORMAT.unpack(content, name, key)
    table = TokenTable.read_parquet(content, tokens)
    with _FORMAT.making(name):
        return _parts(table, rows, document)


def _parts(table: TokenTable, rows: pa.Table, document: dict[str, Any]) -> dict[str, Any]:
    column = rows["score"].combine_chunks()
    missing = _finite(document["missing"])
    spelled = table.spelled(np.arange(len(table)))
    if column.type.list_size != missing.size or not spelled.equals(rows["token"].combine_chunks()):
        raise ValueError("the scores are not those of the tokens")
    classes = document["classes"]
    link = read_link(document, None if classes is None else read_classes(classes, document["class_type"]))
    n_outputs, width = missing.shape
    if not isinstance(document["cover"], bool) or n_outputs != link.n_outputs:
        raise ValueError(f"cover is {document['cover']!r}, and {n_outputs} outputs are of {link.n_outputs}")
    scores = column.flatten().to_numpy()
    return {
        "table": table,
        "scores": _finite(scores).reshape(len(table), *missing.shape),
        "missing": missing,
        "rho": _rho(document["rho"], width),
        "cover": document["cover"],
        "link": with_usual_nothing(link, table),
        "support": read_support(document, missing.shape, 0),
        "origin": Origin.from_json(document.get("origin")),
    }


def _rho(described: Any, width: int) -> Rho:
    calibrators, vertices, output = map(_finite, described)
    shapes = ((width, output.size), (2**width,), output.shape)
    if width > MAX_WIDTH or output.size < 2 or (calibrators.shape, vertices.shape, (output.size,)) != shapes:
        raise ValueError(f"the tables of rho have the shapes {calibrators.shape}, {vertices.shape} and {output.shape}")
    return Rho(calibrators, vertices[None], output[None])


def _finite(numbers: Any) -> npt.NDArray[np.float64]:
    array = np.asarray(numbers)
    if array.dtype != np.float64 or not np.isfinite(array).all():
        raise ValueError("scores or tables hold something else than finite numbers")
    return array
