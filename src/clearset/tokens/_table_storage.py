"""Token tables as Parquet files: the table, and beside it its examples."""

import hashlib
import io
import json
import os
import uuid
import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet

from clearset.sets import Labels
from clearset.tokens._codes import Coded
from clearset.tokens._corrections import Corrections
from clearset.tokens._counted_examples import CountedExamples
from clearset.tokens._filters import check_filters, filter_from_json, filter_to_json
from clearset.tokens._own_tokenizers import tokenizer_from_json
from clearset.tokens._statistics import Statistics
from clearset.tokens._table import TokenTable
from clearset.tokens._token_index import TokenIndex
from clearset.tokens._vocabulary import encode, flat, spelled, unique_sorted

_KEY = b"clearset_token_table"
_EXAMPLES_KEY = b"clearset_examples"
_VERSION = 1


def save(table: TokenTable, path: str | os.PathLike[str], examples: bool) -> None:
    """Write the table to `path` and its examples beside it, each wholly or not at all."""
    # A file beside it that does not hold examples is left as it is.
    target = Path(path)
    if target.is_dir() or not target.parent.is_dir():
        raise OSError(f"Cannot save to '{target}': give the name of a file in a folder that exists.")
    beside = _beside(target)
    own = _holds_examples(beside)
    contents, checksum = {}, None
    if examples and table.examples is not None:
        if beside.exists() and not own:
            raise FileExistsError(
                f"Cannot save the examples to '{beside}': a file is there that is not clearset's. Move it, choose "
                "another name for the table, or leave the examples out: save(path, examples=False)."
            )
        contents[beside] = _examples_content(table.examples)
        checksum = hashlib.sha256(contents[beside]).hexdigest()
    buffer = io.BytesIO()
    write(table, buffer, checksum)
    put({**contents, target: buffer.getvalue()})
    if own and not contents:  # those of an earlier table
        beside.unlink(missing_ok=True)


def load(path: str | os.PathLike[str], tokens: Any, filters: Any) -> TokenTable:
    """Read a table and, where they are, its examples."""
    target = Path(path)
    if not target.is_file():
        raise FileNotFoundError(f"Cannot read '{target}': there is no such file.")
    table, checksum = _read(target.read_bytes(), f"'{target}'", tokens, filters)
    beside = _beside(target)
    if checksum is None or not beside.is_file():
        return table
    content = beside.read_bytes()
    if hashlib.sha256(content).hexdigest() != checksum:
        warnings.warn(
            f"'{beside}' does not hold the examples of '{target}': it was changed, or is of another table. The table "
            "is loaded without its examples; restore the file to update the table.",
            UserWarning,
            stacklevel=3,
        )
        return table
    return replace(table, examples=_examples_from(pa.parquet.read_table(pa.BufferReader(content))))


def write(table: TokenTable, file: IO[bytes], checksum: str | None = None) -> None:
    """Write the table alone to an open file; `checksum` is that of the examples beside it."""
    items = table.items_as_spelled(np.arange(len(table)))
    codes = pa.LargeListArray.from_arrays(pa.array(items.offsets), pa.array(items.codes))
    rows = table.to_arrow().append_column("codes", codes)
    sums = table.statistics.sums
    rows = rows.append_column("sums", pa.FixedSizeListArray.from_arrays(pa.array(sums.ravel()), sums.shape[1]))
    corrections = table.corrections
    document = {
        "version": _VERSION,
        "tokeniser": table.tokenizer.to_json(),
        "filters": [filter_to_json(part) for part in table.filters],
        "task": table.task,
        "classes": None if table.classes is None else table.classes.tolist(),
        "class_type": None if table.classes is None else table.classes.dtype.str,
        "prior": table.prior if isinstance(table.prior, float) else table.prior.tolist(),
        "centre": table.statistics.centre,
        "n_examples": table.n_examples,
        "examples_sha256": checksum,
        "corrections": None if corrections is None else [corrections.value, corrections.shrinkage],
    }
    rows = rows.replace_schema_metadata({_KEY: json.dumps(document)})
    pa.parquet.write_table(rows, file, compression="zstd")


def read(file: IO[bytes] | bytes, tokens: Any, filters: Any) -> TokenTable:
    """Read a table, without examples, from an open file or from bytes."""
    content = bytes(file) if isinstance(file, bytes | bytearray | memoryview) else file.read()
    return _read(content, "The file", tokens, filters)[0]


def _read(content: bytes, name: str, tokens: Any, filters: Any) -> tuple[TokenTable, str | None]:
    try:
        rows = pa.parquet.read_table(pa.BufferReader(content)).combine_chunks()
    except pa.ArrowException as error:
        raise ValueError(f"{name} is no token table: {error}. Give a file that TokenTable.save wrote.") from None
    described = (rows.schema.metadata or {}).get(_KEY)
    if described is None:
        raise ValueError(f"{name} is a Parquet file but no token table. Give a file that TokenTable.save wrote.")
    document = json.loads(described)
    if document["version"] != _VERSION:
        raise ValueError(
            f"{name} is a token table of version {document['version']}; this one reads {_VERSION}. Update clearset."
        )
    tokenizer = tokenizer_from_json(document["tokeniser"], tokens)
    classes = document["classes"]
    if classes is not None:
        classes = np.array(classes, np.dtype(document["class_type"]))
    # Every item is in some token, so that the tokens alone tell what each code stands for.
    lists = _list(rows["codes"])
    strings, _ = flat(tokenizer.unspell(_list(rows["token"])))
    _, first, codes = np.unique(lists.flatten().to_numpy(), return_index=True, return_inverse=True)
    coded, vocabulary = Coded(codes.astype(np.int32), lists.offsets.to_numpy()), strings.take(pa.array(first))
    if not tokenizer.in_order:  # in the file items are in the order they are spelled, in the tree by code
        coded = unique_sorted(coded, len(vocabulary))
    index, nodes = TokenIndex.from_tokens(tokenizer.joining(vocabulary), coded, np.ones(coded.n_rows, np.uint32))
    held = rows["count"].to_numpy()
    sums = _list(rows["sums"]).flatten().to_numpy().reshape(len(held), rows["sums"].type.list_size)
    passes = np.ones(len(held), np.bool_)
    statistics = Statistics(held, sums, rows["size"].to_numpy(), passes, document["centre"])
    order = np.argsort(nodes)
    if filters is None:
        filters = tuple(map(filter_from_json, document["filters"]))
    table = TokenTable(
        tokenizer=tokenizer,
        filters=check_filters(filters),
        task=document["task"],
        classes=classes,
        prior=document["prior"] if classes is None else np.array(document["prior"]),
        n_examples=document["n_examples"],
        vocabulary=vocabulary,
        index=index,
        statistics=statistics.take(order),
        corrections=_corrections(document["corrections"], rows, order),
    )
    return table, document["examples_sha256"]


def _corrections(document: list[Any] | None, rows: pa.Table, order: npt.NDArray[Any]) -> Corrections | None:
    if document is None:
        return None
    column = _list(rows["correction"]).take(pa.array(order))
    known = np.flatnonzero(column.is_valid())
    amounts, n_columns = column.drop_null(), 1
    if not pa.types.is_floating(amounts.type):
        amounts, n_columns = amounts.flatten(), amounts.type.list_size
    value, shrinkage = document
    return Corrections(value, shrinkage, known.astype(np.int32), amounts.to_numpy().reshape(len(known), n_columns))


def _list(column: pa.ChunkedArray) -> Any:
    combined = column.combine_chunks()
    return pa.array([], column.type) if isinstance(combined, pa.ChunkedArray) else combined


def _examples_content(examples: CountedExamples) -> bytes:
    labels = examples.labels
    values = labels.values if labels.classes is None else labels.classes[labels.values]
    columns = {"items": spelled(examples.coded, examples.vocabulary), "label": pa.array(values)}
    if examples.weights is not None:
        columns["weight"] = pa.array(examples.weights)
    buffer = io.BytesIO()
    mark = {_EXAMPLES_KEY: labels.task}
    pa.parquet.write_table(pa.table(columns).replace_schema_metadata(mark), buffer, compression="zstd")
    return buffer.getvalue()


def _examples_from(rows: pa.Table) -> CountedExamples:
    vocabulary, coded = encode(_list(rows["items"]))
    values = rows["label"].to_numpy()
    labels = Labels(values, None)
    if rows.schema.metadata[_EXAMPLES_KEY] == b"classes":
        classes, codes = np.unique(values.astype(np.str_) if values.dtype == object else values, return_inverse=True)
        labels = Labels(codes.astype(np.int32), classes)
    weights = rows["weight"].to_numpy() if "weight" in rows.column_names else None
    return CountedExamples(vocabulary, coded, labels, weights)


def _beside(path: Path) -> Path:
    return path.with_name(f"{path.name}.examples")


def _holds_examples(path: Path) -> bool:
    """Return whether a file holds examples that `save` wrote."""
    if not path.is_file():
        return False
    try:
        metadata = pa.parquet.read_schema(path).metadata
    except (pa.ArrowException, OSError):
        return False
    return _EXAMPLES_KEY in (metadata or {})


def put(contents: Mapping[Path, bytes]) -> None:
    """Write contents to their paths: first all of them to temporary files there, which are then renamed."""
    temporary = {target: target.with_name(f".{target.name}.{uuid.uuid4().hex}") for target in contents}
    try:
        for target, content in contents.items():
            temporary[target].write_bytes(content)
        for target in contents:
            temporary[target].replace(target)
    finally:
        for file in temporary.values():
            file.unlink(missing_ok=True)
