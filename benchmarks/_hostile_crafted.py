"""Files that are made to do harm: much memory or time for few bytes, and what readers are known to stumble over."""

import io
import json
import os
import pickle
import zipfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from safetensors.numpy import save

from benchmarks._hostile_mutations import _members, _summed, _summed_table, _written, _zipped

MODEL, TABLE, RUNTIME = "semantic", "table", "items runtime"


def crafted_files(originals: Path, folder: Path) -> Iterator[dict[str, Any]]:
    """Write files to a folder, and yield how each is to be read."""
    model, table, runtime = ((originals / name).read_bytes() for name in (MODEL, TABLE, RUNTIME))
    sets = (originals / "sets").read_bytes()
    made: dict[str, tuple[str, bytes]] = {}
    for name, content in _of_no_format(model, table).items():
        for kind in (MODEL, TABLE, RUNTIME, "frozen", "checkpoint"):
            made[f"{name}, read as {kind}"] = kind, content
    made |= {name: (MODEL, content) for name, content in _archives(model).items()}
    made |= {f"{name} (runtime)": (RUNTIME, content) for name, content in _archives(runtime).items()}
    made |= {name: ("sets", content) for name, content in _documents(sets).items()}
    made |= {name: (TABLE, content) for name, content in _tables(table).items()}
    for number, (name, (kind, content)) in enumerate(made.items()):
        path = folder / f"{number}"
        path.write_bytes(content)
        yield {"mode": "crafted", "how": name, "kind": kind, "path": str(path)}
    for name in _no_regular_files(folder, model):
        for kind in (MODEL, TABLE, RUNTIME, "checkpoint"):
            yield {"mode": "crafted", "how": name, "kind": kind, "path": str(folder / name)}


def _of_no_format(model: bytes, table: bytes) -> dict[str, bytes]:
    return {
        "empty": b"",
        "a pickle": pickle.dumps(os.getcwd),
        "a script": b"#!/usr/bin/env python3\nraise SystemExit\n",
        "an archive that ends as a table does": model + table,
        "a table that ends as an archive does": table + model,
        "the first four bytes": table[:4] + bytes(10**6) + b"PAR1",
    }


def _archives(content: bytes) -> dict[str, bytes]:
    members = _members(content)
    return {
        "a zip bomb": _bomb(),
        "60,000 members": _many(),
        "members that share their bytes": _shared(),
        "a member that climbs out": _zipped({**members, "../../../../tmp/climbed": b"x"}),
        "a member of a device": _zipped({**members, "/dev/sda": b"x"}),
        "an archive in an archive, 200 deep": _nested(200),
        "a name of 60,000 letters": _zipped({**members, "x" * 60_000: b""}),
    }


@cache
def _many() -> bytes:
    return _zipped({str(number): b"" for number in range(60_000)})


@cache
def _bomb() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("manifest.json", bytes(2 * 10**8))
    return file.getvalue()


def _shared() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a", bytes(10**7))
        for name in "bcdefghij":
            entry, first = zipfile.ZipInfo(name), archive.infolist()[0]
            for field in ("header_offset", "CRC", "file_size", "compress_size"):
                setattr(entry, field, getattr(first, field))
            archive.filelist.append(entry)
    return file.getvalue()


def _nested(depth: int) -> bytes:
    content = _zipped({"manifest.json": b"{}"})
    for _ in range(depth):
        content = _zipped({"model.clearset": content})
    return content


def _documents(content: bytes) -> dict[str, bytes]:
    members = _members(content)
    told, manifest = json.loads(members["model.json"]), json.loads(members["manifest.json"])

    def saying(**changes: Any) -> bytes:
        return _summed({**members, "model.json": json.dumps({**told, **changes}).encode()})

    def stating(**changes: Any) -> bytes:
        return _zipped({**members, "manifest.json": json.dumps({**manifest, **changes}).encode()})

    def raw(text: bytes) -> bytes:
        return _summed({**members, "model.json": text})

    header = json.dumps({"x": {"dtype": "F64", "shape": [2**40, 2**20], "data_offsets": [0, 8]}}).encode()
    arrays = len(header).to_bytes(8, "little") + header + bytes(8)
    return {
        "JSON, a million brackets deep": raw(b"[" * 10**6 + b"]" * 10**6),
        "JSON, a million objects deep": raw(b'{"a":' * 10**6 + b"1" + b"}" * 10**6),
        "JSON of a number of 5 million digits": raw(b'{"a": ' + b"9" * 5 * 10**6 + b"}"),
        "JSON that is no UTF-8": raw(b'{"a": "\xff\xfe"}'),
        "JSON with half a surrogate pair": raw(b'{"estimator": "\\ud800"}'),
        "classes that are 4 GB long": saying(classes={"labels": ["a", "b"], "dtype": "<U999999999"}),
        "classes of Python objects": saying(classes={"labels": ["a", "b"], "dtype": "O"}),
        "a width of 60": saying(width=60),
        "a width of 10^30": saying(width=10**30),
        "a billion keypoints of rho": saying(rho_keypoints=10**9),
        "a million lattices": saying(layout={"sizes": told["layout"]["sizes"], "subsets": [[0]] * 10**6}),
        "lattices of 10^36 vertices": saying(layout={"sizes": [10**9] * 4, "subsets": told["layout"]["subsets"]}),
        "declared arrays of 10^19 bytes": _summed({**members, "arrays.safetensors": arrays}),
        "a header of arrays of 2^63 bytes": _summed({**members, "arrays.safetensors": b"\xff" * 8 + b"{}"}),
        "other arrays": _summed({**members, "arrays.safetensors": bytes(save({"x": np.zeros(10)}))}),
        "an empty certificate": saying(certificate={"checks": []}),
        "a version of 10^400": stating(version=10**400),
        "the next version": stating(version=2),
        "200,000 edits": saying(edits=[{"kind": "flatten", "feature": "price"}] * 200_000),
        "another kind": stating(kind="joint model"),
    }


def _tables(content: bytes) -> dict[str, bytes]:
    rows = pa.parquet.read_table(pa.BufferReader(content))
    key = b"clearset_token_table"
    told = json.loads(rows.schema.metadata[key])

    def saying(**changes: Any) -> bytes:
        return _written(rows.replace_schema_metadata({key: json.dumps({**told, **changes})}))

    deep = json.dumps({**told, "filters": []}).replace('"filters": []', '"filters": [' + _text_of(20_000) + "]")
    many = rows.take(pa.array(np.zeros(10**6, np.int64)))
    made = {
        "a million rows in a small table": _written(many),
        "a column of 64 MB of one letter": _written(rows.slice(0, 1).append_column("more", pa.array(["a" * 2**26]))),
        "filters, 20,000 deep": _written(rows.replace_schema_metadata({key: deep})),
        "a shrinkage of -1": saying(corrections=["log_odds", -1.0]),
        "a tokenizer that is code": saying(tokeniser={"kind": "__import__('os').system"}),
        "classes that are 4 GB long (table)": saying(classes=["a", "b", "c"], class_type="<U999999999"),
        "the next version (table)": saying(version=3),
        "a version without a checksum": _unsummed(rows),
    }
    for place, name in ((2, "unpacked"), (3, "packed")):
        for number in (2**31 - 1, -1, 0):
            made[f"pages that say {number} bytes {name}"] = _lying_page(content, place, number)
    return made


def _text_of(depth: int) -> str:
    return '{"kind": "all_of", "filters": [' * depth + "]}" * depth


def _unsummed(rows: pa.Table) -> bytes:
    file = io.BytesIO()
    kept = {key: text for key, text in rows.schema.metadata.items() if b"sha256" not in key}
    pa.parquet.write_table(rows.replace_schema_metadata(kept), file)
    return file.getvalue()


def _lying_page(content: bytes, field: int, number: int) -> bytes:
    """Change a size in the header of the first page, in as many bytes, so that nothing moves."""
    place, seen = 4, 0  # the header follows the magic number: headers of fields of one byte, and numbers of some
    while True:
        place += 1
        end = place
        while content[end] & 128:
            end += 1
        seen += 1
        if seen == field:
            break
        place = end + 1
    length, value = end + 1 - place, (number << 1) ^ (number >> 63)
    parts = [(value >> 7 * byte) & 127 | (128 if byte < length - 1 else 0) for byte in range(length)]
    return _summed_table(content[:place] + bytes(parts) + content[end + 1 :])


def _no_regular_files(folder: Path, model: bytes) -> Iterator[str]:
    os.mkfifo(folder / "a pipe")
    yield "a pipe"
    (folder / "a link to a device").symlink_to("/dev/zero")
    yield "a link to a device"
    (folder / "a folder").mkdir()
    yield "a folder"
    (folder / "a link to nothing").symlink_to(folder / "nothing")
    yield "a link to nothing"
    (folder / "a link to itself").symlink_to(folder / "a link to itself")
    yield "a link to itself"
    for name, size in {"20 GB of zeros": 20 * 2**30, "2 GB of zeros": 2**31 - 1}.items():
        with (folder / name).open("wb") as file:
            file.write(model[:100])
            file.truncate(size)
        yield name
