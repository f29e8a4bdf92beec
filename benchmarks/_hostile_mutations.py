"""Mutations of files: of their bytes, and of what they say, with the checksums made right."""

import hashlib
import io
import json
import zipfile
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from safetensors.numpy import load, save

Rng = np.random.Generator
Members = dict[str, bytes]

PARQUET = b"PAR1"
_PLACE, _ZEROS = b"clearset_sha256\x18\x40", b"0" * 64
# Put into JSON as they are, which no writer of JSON would.
_RAW = ["1e999", "-1e999", "NaN", "Infinity", "1" + "0" * 400, "[" * 3000 + "]" * 3000, '{"a": 1, "a": 2}', "1e-400"]
_VALUES: list[Any] = [
    None, True, False, 0, 1, -1, 2, 7, 2**31, 2**63, -(2**63), 10**30, 0.5, -0.0, 1e308, -1e308, 5e-324, "", "x",
    "é\u0000", "../../etc/passwd", "x" * 10_000, [], {}, [[]], [0] * 1000, {"a": {}}, [None], "<U999999999", "object",
    "__reduce__",
]  # fmt: skip


def damaged(content: bytes, other: bytes, rng: Rng) -> tuple[str, bytes]:
    """Return a file whose bytes were changed, without making anything right, and how."""
    how = list(_DAMAGES)[int(rng.integers(len(_DAMAGES)))]
    return how, _DAMAGES[how](content, other, rng)


def forged(content: bytes, other: bytes, rng: Rng) -> tuple[str, bytes]:
    """Return a file that says something else, with right checksums, and how."""
    if content.startswith(PARQUET):
        return _forged_table(content, rng)
    if content.startswith(b"PK"):
        members = _members(content)
        others = _members(other) if other.startswith(b"PK") else {}
        return (_forged_artifact if "manifest.json" in members else _forged_runtime)(members, others, rng)
    return _forged_lines(content, rng)


# Bytes


def _flip(content: bytes, _: bytes, rng: Rng) -> bytes:
    changed = bytearray(content)
    for bit in rng.integers(8 * len(content), size=int(rng.integers(1, 9))).tolist():
        changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def _piece(content: bytes, rng: Rng) -> tuple[int, int]:
    start, stop = sorted(rng.integers(len(content) + 1, size=2).tolist())
    return start, min(stop, start + int(2 ** rng.uniform(0, 12)))


def _cut(content: bytes, _: bytes, rng: Rng) -> bytes:
    return content[: int(rng.integers(len(content)))]


def _removed(content: bytes, _: bytes, rng: Rng) -> bytes:
    start, stop = _piece(content, rng)
    return content[:start] + content[stop:]


def _repeated(content: bytes, _: bytes, rng: Rng) -> bytes:
    start, stop = _piece(content, rng)
    return content[:stop] + content[start:stop] + content[stop:]


def _zeroed(content: bytes, _: bytes, rng: Rng) -> bytes:
    start, stop = _piece(content, rng)
    return content[:start] + bytes([int(rng.choice([0, 255, 127]))]) * (stop - start) + content[stop:]


def _noise(content: bytes, _: bytes, rng: Rng) -> bytes:
    start, stop = _piece(content, rng)
    return content[:start] + rng.bytes(stop - start) + content[stop:]


def _inserted(content: bytes, _: bytes, rng: Rng) -> bytes:
    place = int(rng.integers(len(content) + 1))
    return content[:place] + rng.bytes(int(rng.integers(1, 100))) + content[place:]


def _spliced(content: bytes, other: bytes, rng: Rng) -> bytes:
    return content[: int(rng.integers(len(content)))] + other[int(rng.integers(len(other))) :]


def _appended(content: bytes, other: bytes, rng: Rng) -> bytes:
    return content + (other if rng.random() < 0.5 else rng.bytes(int(rng.integers(1, 1000))))


def _prepended(content: bytes, other: bytes, rng: Rng) -> bytes:
    return (other if rng.random() < 0.5 else rng.bytes(int(rng.integers(1, 1000)))) + content


def _at_the_end(content: bytes, _: bytes, rng: Rng) -> bytes:
    """Change what tells where everything is: the last bytes of zip archives and of Parquet files."""
    changed = bytearray(content)
    for _n in range(int(rng.integers(1, 5))):
        changed[-int(rng.integers(1, min(600, len(content)) + 1))] = int(rng.choice([0, 1, 127, 128, 255]))
    return bytes(changed)


_DAMAGES: dict[str, Callable[[bytes, bytes, Rng], bytes]] = {
    "bits flipped": _flip,
    "cut off": _cut,
    "a piece removed": _removed,
    "a piece repeated": _repeated,
    "a piece blanked": _zeroed,
    "a piece of noise": _noise,
    "bytes inserted": _inserted,
    "spliced with another": _spliced,
    "appended to": _appended,
    "prepended to": _prepended,
    "directory changed": _at_the_end,
}


# Zip archives


def _members(content: bytes) -> Members:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _zipped(members: Mapping[str, bytes], rng: Rng | None = None) -> bytes:
    """Return an archive; with a generator one that is not written as it should be."""
    file = io.BytesIO()
    entries = list(members.items())
    how = (
        ""
        if rng is None
        else str(rng.choice(["order", "twice", "deflated", "path", "link", "folder", "comment", "more"]))
    )
    if how == "order" and rng is not None:
        entries = [entries[place] for place in rng.permutation(len(entries))]
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for place, (name, content) in enumerate(entries):
            info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            if how == "link":
                info.create_system, info.external_attr = 3, 0o120777 << 16
            if how == "deflated":
                info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, content)
            if how == "twice" and not place:
                info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
                archive.filelist.append(info)
                archive.writestr(info, content[:1])
        if how in ("path", "folder"):
            archive.writestr("../../climbed" if how == "path" else "folder/", b"")
        if how == "more":
            archive.writestr("code.py", b"raise SystemExit")
        if how == "comment":
            archive.comment = b"clearset signature " + b" " * 136
    return file.getvalue()


def _summed(members: Members) -> bytes:
    """Return an artifact with the checksums of its members made right."""
    manifest = json.loads(members["manifest.json"])
    further = {name: content for name, content in members.items() if name != "manifest.json"}
    manifest["sha256"] = {name: hashlib.sha256(content).hexdigest() for name, content in further.items()}
    return _zipped({"manifest.json": json.dumps(manifest).encode(), **further})


def _forged_artifact(members: Members, others: Members, rng: Rng) -> tuple[str, bytes]:
    name = sorted(members)[int(rng.integers(len(members)))]
    content = members[name]
    draw = rng.random()
    if draw < 0.07:
        return "archive written otherwise", _zipped(members, rng)
    if draw < 0.14:
        given = others.get(name, next(iter(others.values()), b""))
        return "a member of another model", _summed({**members, name: given})
    if draw < 0.18:
        kept = {each: other for each, other in members.items() if each != name or each == "manifest.json"}
        return "a member left out", _summed(kept)
    if draw < 0.22:
        return "a member more", _summed(
            {**members, str(rng.choice(["x", "../x", "a/b", "C:x", "model.json "])): content}
        )
    if name.endswith(".json"):
        how, changed = _forged_json(content, rng)
        if name == "manifest.json":
            return f"manifest: {how}", _zipped({**members, name: changed})
        return how, _summed({**members, name: changed})
    if name.endswith(".safetensors"):
        how, changed = _forged_arrays(content, rng)
        return how, _summed({**members, name: changed})
    if name.endswith(".clearset"):
        other = next((each for each in others.values() if each.startswith(b"PK")), content)
        how, changed = _forged_artifact(_members(content), _members(other), rng)
        return f"part: {how}", _summed({**members, name: changed})
    how, changed = _forged_table(content, rng)
    return f"table: {how}", _summed({**members, name: changed})


def _forged_arrays(content: bytes, rng: Rng) -> tuple[str, bytes]:
    if rng.random() < 0.4:
        length = int.from_bytes(content[:8], "little")
        how, header = _forged_json(content[8 : 8 + length], rng)
        stated = len(header) if rng.random() < 0.9 else int(rng.choice([0, 2**40, 2**63 - 1, len(header) - 1]))
        return f"declared arrays: {how}", stated.to_bytes(8, "little") + header + content[8 + length :]
    arrays = load(content)
    if not arrays:
        return "an array more", bytes(save({"x": np.zeros(3)}))
    name = sorted(arrays)[int(rng.integers(len(arrays)))]
    how, arrays[name] = _forged_array(arrays[name], rng)
    return f"array: {how}", bytes(save({each: np.ascontiguousarray(array) for each, array in arrays.items()}))


def _forged_array(array: Any, rng: Rng) -> tuple[str, Any]:
    how = str(rng.choice(["value", "values", "type", "shape", "order", "shorter", "longer"]))
    array = array.copy()
    if how == "value" and array.size:
        odd = [np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324, 0.0, 2.0, -2.0, 1e6]
        if array.dtype.kind != "f":
            odd = [0, 1, -1, 5, 1000, 2**31 - 1, -(2**31)]
        with np.errstate(all="ignore"):
            array.ravel()[int(rng.integers(array.size))] = np.array(odd).astype(array.dtype)[
                int(rng.integers(len(odd)))
            ]
    elif how == "values":
        array = (rng.normal(size=array.shape) * 10 ** rng.uniform(-3, 300)).astype(array.dtype)
    elif how == "type":
        array = array.astype(str(rng.choice(["float64", "float32", "int64", "int32", "uint8"])))
    elif how == "shape":
        array = array.reshape([(-1,), (1, -1), (*array.shape, 1)][int(rng.integers(3))])
    elif how == "order":
        array = array.ravel()[::-1].reshape(array.shape)
    elif how == "shorter":
        array = array[..., :-1]
    else:
        array = np.concatenate([array, array])
    return how, array


def _forged_runtime(members: Members, _: Members, rng: Rng) -> tuple[str, bytes]:
    head = json.loads(members["model.json"])
    draw = rng.random()
    if draw < 0.08:
        return "archive written otherwise", _zipped(members, rng)
    if draw < 0.2:
        how, changed = _forged_json(members["model.json"], rng)
        return f"head: {how}", _zipped({**members, "model.json": changed})
    stated = head["model"]
    told = json.loads(stated)
    if draw < 0.6:
        how, forged_text = _forged_json(stated.encode(), rng)
        stated = forged_text.decode(errors="replace")
    else:
        name = sorted(told["arrays"])[int(rng.integers(len(told["arrays"])))]
        about = told["arrays"][name]
        how, array = _forged_array(np.frombuffer(members[name], about["dtype"]).reshape(about["shape"]), rng)
        members = {**members, name: np.ascontiguousarray(array).tobytes()}
        told["arrays"][name] = {
            "dtype": array.dtype.name,
            "shape": list(array.shape),
            "sha256": hashlib.sha256(members[name]).hexdigest(),
        }
        how, stated = f"array: {how}", json.dumps(told)
    head |= {"model": stated, "sha256": hashlib.sha256(stated.encode()).hexdigest()}
    return how, _zipped({**members, "model.json": json.dumps(head).encode()})


# JSON


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    named = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, part in named:
        found += _places(part, (*path, name))
    return found


def _forged_json(content: bytes, rng: Rng) -> tuple[str, bytes]:
    document = json.loads(content)
    places = _places(document)
    if not places:
        return "another document", json.dumps(_VALUES[int(rng.integers(len(_VALUES)))]).encode()
    path = places[int(rng.integers(len(places)))]
    holder = document
    for name in path[:-1]:
        holder = holder[name]
    how = str(rng.choice(["value", "raw", "removed", "moved", "type", "near"], p=[0.35, 0.15, 0.15, 0.1, 0.1, 0.15]))
    before = holder[path[-1]]
    if how == "removed":
        del holder[path[-1]]
    elif how == "moved":
        source = places[int(rng.integers(len(places)))]
        value = document
        try:
            for name in source:
                value = value[name]
        except (KeyError, IndexError, TypeError):
            value = None
        holder[path[-1]] = json.loads(json.dumps(value))
    elif how == "type":
        holder[path[-1]] = str(before) if not isinstance(before, str) else [before]
    elif how == "near" and isinstance(before, int | float) and not isinstance(before, bool):
        holder[path[-1]] = before + [1, -1, 0.5, 100, -before, before][int(rng.integers(6))]
    elif how == "raw":
        holder[path[-1]] = "@raw@"
        return f"{how} value", json.dumps(document).replace('"@raw@"', str(rng.choice(_RAW)), 1).encode()
    else:
        holder[path[-1]] = _VALUES[int(rng.integers(len(_VALUES)))]
    return f"{how} value" if how != "removed" else "a name removed", json.dumps(document).encode()


def _forged_lines(content: bytes, rng: Rng) -> tuple[str, bytes]:
    lines = content.splitlines()
    place = int(rng.integers(len(lines)))
    how, lines[place] = _forged_json(lines[place], rng)
    return how, b"\n".join(lines) + b"\n"


# Parquet


def _forged_table(content: bytes, rng: Rng) -> tuple[str, bytes]:
    draw = rng.random()
    if draw < 0.45:
        how, changed = _forged_pages(content, rng)
        return how, _summed_table(changed)
    rows = pa.parquet.read_table(pa.BufferReader(content))
    if draw < 0.7:
        metadata = dict(rows.schema.metadata)
        keys = [key for key in metadata if metadata[key].startswith(b"{") and b'"version"' in metadata[key]]
        key = keys[int(rng.integers(len(keys)))]
        how, metadata[key] = _forged_json(metadata[key], rng)
        return f"description: {how}", _written(rows.replace_schema_metadata(metadata))
    how, rows = _forged_rows(rows, rng)
    return f"rows: {how}", _written(rows)


def _forged_pages(content: bytes, rng: Rng) -> tuple[str, bytes]:
    """Change bytes of the headers of pages, of pages, or of the footer."""
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    inside = rng.random() < 0.6
    low, high = (4, footer) if inside else (footer, len(content) - 8)
    changed = bytearray(content)
    for place in rng.integers(low, high, size=int(rng.integers(1, 4))).tolist():
        changed[place] = int(rng.choice([0, 1, 2, 127, 128, 254, 255, changed[place] ^ 1, (changed[place] + 2) % 256]))
    return "pages" if inside else "footer", bytes(changed)


def _forged_rows(rows: pa.Table, rng: Rng) -> tuple[str, pa.Table]:
    place = int(rng.integers(rows.num_columns))
    name, column = rows.column_names[place], rows.column(place)
    how = str(rng.choice(["no column", "no rows", "repeated", "order", "shuffled", "nulls", "type", "value"]))
    if how == "no column":
        return how, rows.drop_columns([name])
    if how == "no rows":
        return how, rows.slice(0, 0)
    if how == "repeated":
        return how, pa.concat_tables([rows, rows])
    if how == "order":
        return how, rows.take(pa.array(rng.permutation(len(rows))))
    values = column.to_pylist()
    if how == "shuffled":
        values = [values[row] for row in rng.permutation(len(values))]
    elif how == "nulls":
        values[int(rng.integers(len(values)))] = None
    elif how == "type":
        return how, rows.set_column(place, name, pa.array([str(value) for value in values]))
    else:
        row = int(rng.integers(len(values)))
        odd = [np.nan, np.inf, -1, 2**31 - 1, -(2**31), 1e308, 0]
        values[row] = _odd(values[row], odd[int(rng.integers(len(odd)))])
    try:
        return how, rows.set_column(place, name, pa.array(values, column.type))
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return "no column", rows.drop_columns([name])


def _odd(value: Any, odd: Any) -> Any:
    if isinstance(value, list) and value:
        return [_odd(value[0], odd), *value[1:]]
    if isinstance(value, str):
        return "" if odd in (0, -1) else value + "x"
    return odd if isinstance(value, float) or not isinstance(odd, float) else int(1e9)


def _written(rows: pa.Table) -> bytes:
    file = io.BytesIO()
    schema = rows.schema.with_metadata({**(rows.schema.metadata or {}), b"clearset_sha256": _ZEROS})
    with pa.parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        writer.write_table(rows.replace_schema_metadata(schema.metadata))
    return _summed_table(file.getvalue())


def _summed_table(content: bytes) -> bytes:
    if _PLACE not in content:
        return content
    start = content.rindex(_PLACE) + len(_PLACE)
    blank = content[:start] + _ZEROS + content[start + 64 :]
    return content[:start] + hashlib.sha256(blank).hexdigest().encode() + content[start + 64 :]
