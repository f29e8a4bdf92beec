"""Frozen models as Parquet files: a token table with a further column, the tokens' scores."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from clearset.artifact import check_target, write_file
from clearset.functions import Rho
from clearset.models._semantic_storage import with_usual_nothing
from clearset.models._set_storage import plain, read_link, read_support, support_to_json
from clearset.tokens import TokenTable

if TYPE_CHECKING:
    from clearset.models._frozen_model import FrozenModel

_KEY = b"clearset_frozen_model"
_VERSION = 1


def save(model: FrozenModel, path: str | os.PathLike[str]) -> None:
    """Write a model to `path`, wholly or not at all."""
    check_target(path)
    buffer = io.BytesIO()
    model.table.write_parquet(buffer)
    rows = pa.parquet.read_table(pa.BufferReader(buffer.getvalue()))
    classes, rho = model.classes, model.rho
    document = {
        "version": _VERSION,
        "cover": model.cover,
        "loss": model.loss,
        "nothing": plain(model.link.nothing),
        "classes": None if classes is None else classes.tolist(),
        "class_type": None if classes is None else classes.dtype.str,
        "missing": model.missing.tolist(),
        "support": support_to_json(model.support),
        "rho": [rho.calibrators.tolist(), rho.vertices[0].tolist(), rho.output[0].tolist()],
    }
    scores = pa.FixedSizeListArray.from_arrays(pa.array(model.scores.ravel()), model.missing.size)
    rows = rows.append_column("score", scores)
    rows = rows.replace_schema_metadata({**rows.schema.metadata, _KEY: json.dumps(document)})
    buffer = io.BytesIO()
    pa.parquet.write_table(rows, buffer, compression="zstd")
    write_file(path, buffer.getvalue())


def load(path: str | os.PathLike[str], tokens: Any) -> dict[str, Any]:
    """Read the parts of a model."""
    target = Path(path)
    if not target.is_file():
        raise FileNotFoundError(f"Cannot read '{target}': there is no such file.")
    content = target.read_bytes()
    try:
        rows = pa.parquet.read_table(pa.BufferReader(content))
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"'{target}' is no frozen model: {error}. Give a file that FrozenModel.save wrote.") from None
    described = (rows.schema.metadata or {}).get(_KEY)
    if described is None:
        raise ValueError(f"'{target}' is a Parquet file but no frozen model. Give a file that FrozenModel.save wrote.")
    document = json.loads(described)
    if document["version"] != _VERSION:
        raise ValueError(
            f"'{target}' is a frozen model of version {document['version']}; this clearset reads {_VERSION}. Update it."
        )
    table = TokenTable.read_parquet(content, tokens)
    spelled = table.spelled(np.arange(len(table)))
    column = rows["score"].combine_chunks()
    missing = np.array(document["missing"])
    if column.type.list_size != missing.size or not spelled.equals(rows["token"].combine_chunks()):
        raise ValueError(f"The scores of '{target}' are not those of its tokens: it was changed. Restore it.")
    classes = document["classes"]
    calibrators, vertices, output = map(np.array, document["rho"])
    link = read_link(document, None if classes is None else np.array(classes, np.dtype(document["class_type"])))
    return {
        "table": table,
        "scores": column.flatten().to_numpy().reshape(len(table), *missing.shape),
        "missing": missing,
        "rho": Rho(calibrators, vertices[None], output[None]),
        "cover": document["cover"],
        "link": with_usual_nothing(link, table),
        "support": read_support(document, missing.shape, 0),
    }
