"""Token tables as Parquet files: the table, and beside it its examples."""

import glob
import hashlib
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet

from clearset.artifact import PARQUET, ArtifactError, ParquetFormat, check_target, read_file, read_rows, write_file
from clearset.files import Key, brief, check_signing_key
from clearset.sets import Labels, read_classes
from clearset.tokens._codes import Coded
from clearset.tokens._corrections import Corrections
from clearset.tokens._counted_examples import CountedExamples
from clearset.tokens._filters import Filter, check_filters, filter_from_json, filter_to_json
from clearset.tokens._own_tokenizers import tokenizer_from_json
from clearset.tokens._statistics import Kinds, Statistics
from clearset.tokens._stored_checks import (
    check_columns,
    check_corrections,
    check_document,
    check_one_kind,
    check_statistics,
)
from clearset.tokens._table import TokenTable
from clearset.tokens._token_index import TokenIndex
from clearset.tokens._tokenizers import Tokenizer
from clearset.tokens._vocabulary import encode, flat, spelled, unique_sorted

_FORMAT = ParquetFormat("token table", "TokenTable.save", b"clearset_token_table")
_EXAMPLES = ParquetFormat("file of examples", "TokenTable.save", b"clearset_examples")
_CHECKSUM = re.compile("[0-9a-f]{64}")
_HINT = "Give a file that TokenTable.save wrote."


def save(table: TokenTable, path: str | os.PathLike[str], examples: bool, key: Key | None) -> None:
    """Write the table to `path` and its examples beside it, both or neither."""
    # The table names its examples by their content. So whenever a run is killed, the table that is there, old or new,
    # is beside the examples that belong to it.
    target = Path(path)
    check_target(target)
    if key is not None:
        check_signing_key(key)
    beside, checksum = None, None
    if examples and table.examples is not None:
        content = _examples_content(table.examples, key)
        checksum = hashlib.sha256(content).hexdigest()
        beside = _beside(target, checksum)
    packed = _packed(table, checksum, key)
    is_new = beside is not None and not beside.exists()
    if beside is not None:
        write_file(beside, content)
    try:
        write_file(target, packed)
    except BaseException:
        if beside is not None and is_new:
            beside.unlink(missing_ok=True)
        raise
    for other in _all_examples(target):
        if other != beside:  # those of an earlier table
            other.unlink(missing_ok=True)


def load(path: str | os.PathLike[str], tokens: Any, filters: Any, key: Key | None) -> TokenTable:
    """Read a table and, where they are, its examples."""
    target = Path(path)
    table, checksum = _read(read_file(target, PARQUET, _HINT), str(target), tokens, filters, key)
    if checksum is None:
        return table
    beside = _beside(target, checksum)
    if not beside.exists():
        beside = _old_beside(target)
    if not beside.exists():
        return table
    content = read_file(beside, PARQUET, _HINT)
    if hashlib.sha256(content).hexdigest() != checksum:
        raise ArtifactError(
            f"Cannot read '{beside}': it does not hold the examples of '{target}', for it is damaged, was edited or is "
            "of another table. Restore it, or remove it to load the table without its examples."
        )
    name = str(beside)
    if beside == _old_beside(target):
        rows = read_rows(content, name)
        task = (rows.schema.metadata or {}).get(_EXAMPLES.key, b"").decode()
    else:
        rows, document = _EXAMPLES.unpack(content, name, key)
        task = document.get("task", "")
    with _EXAMPLES.making(name):
        return replace(table, examples=_examples_from(rows, task))


def write(table: TokenTable, file: IO[bytes]) -> None:
    """Write the table alone to an open file."""
    file.write(_packed(table, None, None))


def _packed(table: TokenTable, checksum: str | None, key: Key | None) -> bytes:
    """Return what the file of a table holds; `checksum` is that of the examples beside it."""
    items = table.items_as_spelled(np.arange(len(table)))
    codes = pa.LargeListArray.from_arrays(pa.array(items.offsets), pa.array(items.codes))
    rows = table.to_arrow().append_column("codes", codes)
    sums = table.statistics.sums
    rows = rows.append_column("sums", pa.FixedSizeListArray.from_arrays(pa.array(sums.ravel()), sums.shape[1]))
    corrections = table.corrections
    document = {
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
    return _FORMAT.pack(rows, document, key)


def read(file: IO[bytes] | bytes, tokens: Any, filters: Any) -> TokenTable:
    """Read a table, without examples, from an open file or from bytes."""
    content = bytes(file) if isinstance(file, bytes | bytearray | memoryview) else file.read()
    return _read(content, getattr(file, "name", "<bytes>"), tokens, filters, None)[0]


def _read(content: bytes, name: str, tokens: Any, filters: Any, key: Key | None) -> tuple[TokenTable, str | None]:
    rows, document = _FORMAT.unpack(content, name, key)
    with _FORMAT.making(name):
        try:
            tokenizer = tokenizer_from_json(document["tokeniser"], tokens)
        except ValueError as error:  # which may say that the user's own code is missing
            raise ArtifactError(f"Cannot read '{name}': {brief(error)}") from None
    if filters is not None:
        filters = check_filters(filters)
    with _FORMAT.making(name):
        if filters is None:
            filters = check_filters(tuple(map(filter_from_json, document["filters"])))
        checksum = document["examples_sha256"]
        if checksum is not None and not (isinstance(checksum, str) and _CHECKSUM.fullmatch(checksum)):
            raise ValueError(f"the checksum of the examples is {checksum!r}")
        return _table(rows, document, tokenizer, filters), checksum


def _table(rows: pa.Table, document: dict[str, Any], tokenizer: Tokenizer, filters: tuple[Filter, ...]) -> TokenTable:
    classes = document["classes"]
    if classes is not None:
        classes = read_classes(classes, document["class_type"])
    check_columns(rows)
    check_document(document, classes)
    # Every item is in some token, so that the tokens alone tell what each code stands for.
    lists = _list(rows["codes"])
    strings, _ = flat(tokenizer.unspell(_list(rows["token"])))
    _, first, codes = np.unique(lists.flatten().to_numpy(), return_index=True, return_inverse=True)
    coded, vocabulary = Coded(codes.astype(np.int32), lists.offsets.to_numpy()), strings.take(pa.array(first))
    if not tokenizer.in_order:  # in the file items are in the order they are spelled, in the tree by code
        coded = unique_sorted(coded, len(vocabulary))
    check_one_kind(tokenizer, vocabulary, coded)
    index, nodes = TokenIndex.from_tokens(tokenizer.joining(vocabulary), coded, np.ones(coded.n_rows, np.uint32))
    held = rows["count"].to_numpy()
    sums = _list(rows["sums"]).flatten().to_numpy().reshape(len(held), rows["sums"].type.list_size)
    if sums.shape[1] != (3 if classes is None else len(classes)):
        raise ValueError(f"there are {sums.shape[1]} sums for the classes {classes}")
    passes = np.ones(len(held), np.bool_)
    kinds = Kinds.of(tokenizer, vocabulary, coded.codes[coded.offsets[1:] - 1])
    statistics = Statistics(held, sums, rows["size"].to_numpy(), passes, document["centre"], kinds=kinds)
    check_statistics(statistics, nodes, document["n_examples"])
    order = np.argsort(nodes)
    table = TokenTable(
        tokenizer=tokenizer,
        filters=filters,
        task=document["task"],
        classes=classes,
        prior=document["prior"] if classes is None else np.array(document["prior"]),
        n_examples=document["n_examples"],
        vocabulary=vocabulary,
        index=index,
        statistics=statistics.take(order),
        corrections=_corrections(document["corrections"], rows, order, sums.shape[1]),
    )
    check_corrections(table)
    return table


def _corrections(
    document: list[Any] | None, rows: pa.Table, order: npt.NDArray[Any], n_classes: int
) -> Corrections | None:
    if document is None:
        return None
    column = _list(rows["correction"]).take(pa.array(order))
    known = np.flatnonzero(column.is_valid())
    amounts, n_columns = column.drop_null(), 1
    if not pa.types.is_floating(amounts.type):
        n_columns = len(amounts.flatten()) // len(amounts) if len(amounts) else n_classes
        amounts = amounts.flatten()
    value, shrinkage = document
    return Corrections(value, shrinkage, known.astype(np.int32), amounts.to_numpy().reshape(len(known), n_columns))


def _list(column: pa.ChunkedArray) -> Any:
    combined = column.combine_chunks()
    return pa.array([], column.type) if isinstance(combined, pa.ChunkedArray) else combined


def _examples_content(examples: CountedExamples, key: Key | None) -> bytes:
    labels = examples.labels
    values = labels.values if labels.classes is None else labels.classes[labels.values]
    columns = {"items": spelled(examples.coded, examples.vocabulary), "label": pa.array(values)}
    if examples.weights is not None:
        columns["weight"] = pa.array(examples.weights)
    return _EXAMPLES.pack(pa.table(columns), {"task": labels.task}, key)


def _examples_from(rows: pa.Table, task: str) -> CountedExamples:
    vocabulary, coded = encode(_list(rows["items"]))
    values = rows["label"].to_numpy()
    labels = Labels(values, None)
    if task == "classes":
        classes, codes = np.unique(values.astype(np.str_) if values.dtype == object else values, return_inverse=True)
        labels = Labels(codes.astype(np.int32), classes)
    weights = rows["weight"].to_numpy() if "weight" in rows.column_names else None
    return CountedExamples(vocabulary, coded, labels, weights)


def _beside(path: Path, checksum: str) -> Path:
    return path.with_name(f"{path.name}.{checksum[:16]}.examples")


def _old_beside(path: Path) -> Path:
    """Return where the first version wrote examples."""
    return path.with_name(f"{path.name}.examples")


def _all_examples(path: Path) -> list[Path]:
    """Return the files of examples of a table, those of earlier ones too."""
    named = path.parent.glob(f"{glob.escape(path.name)}.{'[0-9a-f]' * 16}.examples")
    return [file for file in (*named, _old_beside(path)) if _holds_examples(file)]


def _holds_examples(path: Path) -> bool:
    """Return whether a file holds examples that `save` wrote."""
    if not path.is_file():
        return False
    try:
        metadata = pa.parquet.read_schema(path).metadata
    except (pa.ArrowException, OSError):
        return False
    return _EXAMPLES.key in (metadata or {})
