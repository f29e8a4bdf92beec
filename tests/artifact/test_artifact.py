import hashlib
import io
import json
import os
import pickle
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from safetensors.numpy import load

from clearset.artifact import (
    Artifact,
    ArtifactError,
    check_target,
    locked,
    pack_artifact,
    read_artifact,
    unpack_artifact,
    write_artifact,
    write_file,
)

DOCUMENT = {"features": [{"name": "Größe", "bounds": [0, 1.5]}], "width": 2, "note": None}
ARRAYS = {"vertices": np.linspace(-1, 1, 6).reshape(2, 3), "slots": np.array([0, 4, 9]), "empty": np.empty((0, 3))}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "model.clearset"
    write_artifact(file, Artifact("example", DOCUMENT, ARRAYS))
    return file


def same(one: Artifact, other: Artifact) -> bool:
    return (
        (one.kind, one.document) == (other.kind, other.document)
        and one.arrays.keys() == other.arrays.keys()
        and all(
            a.dtype == other.arrays[name].dtype
            and a.shape == other.arrays[name].shape
            and a.tobytes() == other.arrays[name].tobytes()
            for name, a in one.arrays.items()
        )
    )


def members(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def rewrite(path: Path, content: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> None:
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, data in content.items():
            archive.writestr(name, data)


def test_content_comes_back(path: Path) -> None:
    assert same(read_artifact(path), Artifact("example", DOCUMENT, ARRAYS))


def test_the_file_is_what_the_format_says(path: Path) -> None:
    content = members(path)
    manifest = json.loads(content["manifest.json"])
    assert set(content) == {"manifest.json", "model.json", "arrays.safetensors"}
    assert (manifest["format"], manifest["version"], manifest["kind"]) == ("clearset", 1, "example")
    assert manifest["sha256"] == {
        name: hashlib.sha256(data).hexdigest() for name, data in content.items() if name != "manifest.json"
    }
    assert json.loads(content["model.json"]) == DOCUMENT
    np.testing.assert_array_equal(load(content["arrays.safetensors"])["vertices"], ARRAYS["vertices"])
    with zipfile.ZipFile(path) as archive:
        assert {entry.compress_type for entry in archive.infolist()} == {zipfile.ZIP_STORED}


def test_same_content_same_bytes(path: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.clearset"
    write_artifact(other, Artifact("example", dict(reversed(DOCUMENT.items())), dict(reversed(ARRAYS.items()))))
    assert other.read_bytes() == path.read_bytes()


@given(
    hnp.arrays(
        st.sampled_from([np.float64, np.float32, np.int64, np.int32, np.uint8, np.bool_, ">f8"]),
        hnp.array_shapes(min_dims=0, min_side=0),
    )
)
@settings(max_examples=50, deadline=None)
def test_any_array_comes_back(tmp_path_factory: pytest.TempPathFactory, array: np.ndarray) -> None:
    file = tmp_path_factory.mktemp("any") / "a"
    write_artifact(file, Artifact("k", {}, {"plain": array, "view": array.T}))
    back = read_artifact(file).arrays
    np.testing.assert_array_equal(back["plain"], array)
    np.testing.assert_array_equal(back["view"], array.T)
    assert back["plain"].flags.writeable


def test_artifacts_inside_an_artifact(path: Path) -> None:
    inner = Artifact("inner", DOCUMENT, ARRAYS)
    outer = pack_artifact(Artifact("outer", {}, {}, {"part": pack_artifact(inner)}))
    assert same(unpack_artifact(unpack_artifact(outer, "outer").members["part"], "part"), inner)
    end = outer.rindex(b"PK\x05\x06", 0, outer.rindex(b"PK\x05\x06")) + 22
    with pytest.raises(ArtifactError, match="'outer': it does not begin with its first member"):
        unpack_artifact(outer[:end], "outer")
    for cut in (outer[: end + 5], outer[:-22] + bytes(22)):
        with pytest.raises(ArtifactError, match="'outer': its zip structure is broken"):
            unpack_artifact(cut, "outer")


MEMBERS = {"tokens.parquet": b"PAR1\0\xff", "empty": b""}


@pytest.fixture
def with_members(path: Path) -> Path:
    write_artifact(path, Artifact("example", DOCUMENT, ARRAYS, MEMBERS))
    return path


def test_further_members_come_back(with_members: Path) -> None:
    artifact = read_artifact(with_members)
    assert artifact.members == MEMBERS
    assert same(artifact, Artifact("example", DOCUMENT, ARRAYS))
    assert members(with_members)["tokens.parquet"] == MEMBERS["tokens.parquet"]
    sums = json.loads(members(with_members)["manifest.json"])["sha256"]
    assert sums["tokens.parquet"] == hashlib.sha256(MEMBERS["tokens.parquet"]).hexdigest()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c | {"tokens.parquet": b"PAR1"}, "checksum of tokens.parquet does not match"),
        (lambda c: {k: v for k, v in c.items() if k != "empty"}, r"lacks \['empty'\]"),
        (lambda c: c | {"more": b""}, r"unexpected members \['more'\]"),
    ],
)
def test_edited_further_members(with_members: Path, change, message: str) -> None:
    rewrite(with_members, change(members(with_members)))
    with pytest.raises(ArtifactError, match=message):
        read_artifact(with_members)


@pytest.mark.parametrize("name", ["model.json", "../evil", "/evil", "a/b", "", "C:evil", ".hidden"])
def test_names_that_members_cannot_have(path: Path, name: str) -> None:
    before = path.read_bytes()
    with pytest.raises(ArtifactError, match="cannot be written"):
        write_artifact(path, Artifact("example", {}, {}, {name: b""}))
    assert path.read_bytes() == before


def test_tuples_become_lists(path: Path) -> None:
    write_artifact(path, Artifact("example", {"pairs": (("a", 1), {"b": (2, 3)})}, {}))
    assert read_artifact(path).document == {"pairs": [["a", 1], {"b": [2, 3]}]}


@pytest.mark.parametrize(
    ("document", "arrays", "message"),
    [
        ({"loss": float("nan")}, {}, "finite numbers"),
        ({"a": {1, 2}}, {}, "JSON"),
        ({1: "a"}, {}, "strings as keys"),
        ({"a": [{1: "a"}]}, {}, "strings as keys"),
        ({}, {"names": np.array(["a"], dtype=object)}, "'names' is of type object"),
        ({}, {"list": [1.0]}, "'list' is of type list"),
    ],
)
def test_unwritable_content_leaves_the_old_file(path: Path, document, arrays, message: str) -> None:
    before = path.read_bytes()
    with pytest.raises(ArtifactError, match=message):
        write_artifact(path, Artifact("example", document, arrays))
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_failure_while_writing_leaves_the_old_file(path: Path, monkeypatch, step: str) -> None:
    before = path.read_bytes()

    def fail(*args):
        raise OSError("disk full")

    if step == "fsync":
        monkeypatch.setattr(os, "fsync", fail)
    else:
        monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        write_artifact(path, Artifact("example", {}, {}))
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_places_that_cannot_be_written(tmp_path: Path, monkeypatch) -> None:
    with pytest.raises(IsADirectoryError, match="it is a folder"):
        write_artifact(tmp_path, Artifact("k", {}, {}))
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        write_artifact(tmp_path / "no" / "model", Artifact("k", {}, {}))

    def refuse(*args):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(PermissionError, match="no permission to write in"):
        write_artifact(tmp_path / "model", Artifact("k", {}, {}))


def test_places_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError, match="it is a folder"):
        read_artifact(tmp_path)
    with pytest.raises(FileNotFoundError, match="there is no such file"):
        read_artifact(tmp_path / "no")


class Bomb:
    def __reduce__(self):
        return (os.abort, ())


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"", "empty"), (b"a,b\n1,2\n", "no zip file"), (pickle.dumps(Bomb()), "pickle"), (b"PK\x03\x04", "broken")],
)
def test_foreign_files(path: Path, content: bytes, message: str) -> None:
    path.write_bytes(content)
    with pytest.raises(ArtifactError, match=message) as error:
        read_artifact(path)
    assert str(path) in str(error.value)


def change_manifest(content: dict[str, bytes], **changes) -> dict[str, bytes]:
    return content | {"manifest.json": json.dumps(json.loads(content["manifest.json"]) | changes).encode()}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda _: {"readme.txt": b"hello"}, "a zip without manifest.json"),
        (lambda c: change_manifest(c, format="other"), "its format is 'other'"),
        (lambda c: change_manifest(c, version=2), "format version 2 .*Upgrade clearset"),
        (lambda c: change_manifest(c, version="1"), "format version is '1'"),
        (lambda c: change_manifest(c, version=True), "format version is True"),
        (lambda c: change_manifest(c, sha256=None), "lacks its kind or checksums"),
        (lambda c: change_manifest(c, kind=3), "lacks its kind or checksums"),
        (lambda c: change_manifest(c, sha256={}), "checksum of model.json"),
        (lambda c: change_manifest(c, note=float("nan")), "NaN is not JSON"),
        (lambda c: c | {"manifest.json": b"[" * 100_000}, "not valid JSON"),
        (lambda c: c | {"manifest.json": b"[]"}, "not a JSON object"),
        (lambda c: c | {"manifest.json": b"\xff"}, "not valid JSON"),
        (lambda c: c | {"model.json": b"{}"}, "checksum of model.json does not match"),
        (lambda c: c | {"arrays.safetensors": b"x"}, "checksum of arrays.safetensors does not match"),
        (lambda c: c | {"extra": b""}, r"unexpected members \['extra'\]"),
        (lambda c: {k: v for k, v in c.items() if k != "model.json"}, r"lacks \['model.json'\]"),
        (lambda c: c | {"../evil": b""}, "points outside"),
        (lambda c: c | {"/evil": b""}, "points outside"),
        (lambda c: c | {"C:\\evil": b""}, "points outside"),
    ],
)
def test_edited_files(path: Path, change, message: str) -> None:
    rewrite(path, change(members(path)))
    with pytest.raises(ArtifactError, match=message):
        read_artifact(path)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("model.json", b'{"loss": NaN}', "NaN is not JSON"),
        ("model.json", b"[1]", "not a JSON object"),
        ("arrays.safetensors", b"\x08\0\0\0\0\0\0\0{}garbage", "arrays.safetensors is not valid"),
        ("arrays.safetensors", b"", "arrays.safetensors is not valid"),
    ],
)
def test_bad_members_with_a_right_checksum(path: Path, name: str, content: bytes, message: str) -> None:
    whole = members(path) | {name: content}
    digests = {key: hashlib.sha256(value).hexdigest() for key, value in whole.items()}
    rewrite(path, change_manifest(whole, sha256=digests))
    with pytest.raises(ArtifactError, match=message):
        read_artifact(path)


def test_compressed_members(path: Path) -> None:
    rewrite(path, members(path), zipfile.ZIP_DEFLATED)
    with pytest.raises(ArtifactError, match="is compressed"):
        read_artifact(path)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_duplicate_members(path: Path) -> None:
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("model.json", b"{}")
    with pytest.raises(ArtifactError, match="more than once"):
        read_artifact(path)


def damaged_is_refused_or_the_same(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    try:
        artifact = read_artifact(path)
    except ArtifactError:
        return
    assert same(artifact, Artifact("example", DOCUMENT, ARRAYS))


@pytest.fixture(scope="module")
def whole() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "a"
        write_artifact(file, Artifact("example", DOCUMENT, ARRAYS))
        return file.read_bytes()


def test_every_cut(tmp_path: Path, whole: bytes) -> None:
    for length in range(len(whole)):
        file = tmp_path / "cut"
        file.write_bytes(whole[:length])
        with pytest.raises(ArtifactError):
            read_artifact(file)


def test_every_byte_inverted(tmp_path: Path, whole: bytes) -> None:
    for place in range(len(whole)):
        damaged_is_refused_or_the_same(
            tmp_path / "a", whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :]
        )


@given(data=st.data())
@settings(max_examples=400, deadline=None)
def test_random_damage(tmp_path_factory: pytest.TempPathFactory, whole: bytes, data: st.DataObject) -> None:
    content = io.BytesIO(whole)
    for _ in range(data.draw(st.integers(1, 3))):
        content.seek(data.draw(st.integers(0, len(whole) - 1)))
        content.write(data.draw(st.binary(min_size=1, max_size=1)))
    damaged_is_refused_or_the_same(tmp_path_factory.getbasetemp() / "damaged", content.getvalue())


def test_what_is_read_is_not_replaced(tmp_path: Path) -> None:
    data = tmp_path / "data.csv"
    data.write_text("a\n1\n")
    check_target(tmp_path / "model.clearset", data, None)
    with pytest.raises(FileExistsError, match="it is what is read"):
        check_target(tmp_path / "." / "data.csv", tmp_path / "absent", data)


@pytest.mark.skipif(sys.platform != "linux", reason="a folder in which nobody may make files")
def test_a_folder_that_takes_no_files_is_refused_before_the_work() -> None:
    with pytest.raises(OSError, match=r"Cannot save to '/sys/model.clearset': no file can be made in '/sys' \(.+\)\. "):
        check_target("/sys/model.clearset")
    with pytest.raises(OSError, match=r"'/sys/model' cannot be locked: .*cannot be made beside it \(.+\)\. Use"):
        locked(Path("/sys/model"), "name another file").__enter__()


def test_pipes_and_devices_are_not_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for write in (check_target, lambda path: write_file(path, b"content")):
        with pytest.raises(FileExistsError, match="it is a pipe, a socket or a device"):
            write(tmp_path / "pipe")
    with pytest.raises(FileExistsError, match="it is a pipe, a socket or a device"):
        check_target("/dev/null")
    assert (tmp_path / "pipe").is_fifo()
