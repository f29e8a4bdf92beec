"""Small files that would take much time or memory: refused in a process that may have little of either."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import clearset as cs
from clearset.artifact import Artifact, ArtifactError, read_artifact, write_artifact

LOADERS = {"model": cs.load, "table": cs.TokenTable.load, "frozen": cs.FrozenModel.load}
# 1 GB more than the libraries take up when they are imported, and 20 seconds of the processor.
LOAD = """
import resource, sys, clearset as cs
load = {"model": cs.load, "table": cs.TokenTable.load, "frozen": cs.FrozenModel.load}[sys.argv[1]]
resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 2**30, used + 2**30))
for path in sys.argv[2:]:
    try:
        load(path)
    except cs.ArtifactError as error:
        print(error)
"""


def refusals(paths: list[Path], loader: str = "model") -> list[str]:
    """Return why files are refused."""
    command = [sys.executable, "-c", LOAD, loader, *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)  # noqa: S603
    assert done.returncode == 0, done.stderr
    messages = done.stdout.splitlines()
    assert all(str(path) in message for path, message in zip(paths, messages, strict=True))
    return messages


def refusal(path: Path, loader: str = "model") -> str:
    return refusals([path], loader)[0]


@pytest.fixture
def semantic(tmp_path: Path) -> Artifact:
    model = cs.SemanticClassifier(cs.Items(), epochs=1, random_state=0, n_jobs=1)
    model.fit([["salt", "lime"], ["salt", "feta"], ["lime"], ["feta"]] * 10, [1, 0, 1, 0] * 10).save(tmp_path / "model")
    return read_artifact(tmp_path / "model")


def described(rows: pa.Table, like: bytes, path: Path) -> bytes:
    """Write rows with what another file says of itself."""
    about = pa.parquet.read_schema(pa.BufferReader(like)).metadata
    about = {key: json.dumps({**json.loads(text), "version": 1}) for key, text in about.items()}
    pa.parquet.write_table(rows.replace_schema_metadata(about), path, compression="zstd")
    return path.read_bytes()


def repeated(table: bytes, n_rows: int) -> pa.Table:
    rows = pa.parquet.read_table(pa.BufferReader(table))
    return rows.take(pa.array(np.zeros(n_rows, np.int64)))


def test_many_rows(semantic: Artifact, tmp_path: Path) -> None:
    content = described(repeated(semantic.members["tokens.parquet"], 1_000_000), semantic.members["tokens.parquet"],
                        tmp_path / "t.parquet")  # fmt: skip
    assert len(content) < 200_000
    assert "it declares 1,000,000 rows" in refusal(tmp_path / "t.parquet", "table")
    write_artifact(tmp_path / "m", Artifact(semantic.kind, semantic.document, semantic.arrays,
                                            {"tokens.parquet": content}))  # fmt: skip
    assert "it declares 1,000,000 rows" in refusal(tmp_path / "m")


def test_many_values_in_one_row(semantic: Artifact, tmp_path: Path) -> None:
    table = semantic.members["tokens.parquet"]
    rows = pa.parquet.read_table(pa.BufferReader(table)).slice(0, 1)
    many = pa.LargeListArray.from_arrays(pa.array([0, 6 * 10**7]), pa.array(np.zeros(6 * 10**7, np.int32)))
    place = rows.schema.get_field_index("codes")
    content = described(rows.set_column(place, "codes", many), table, tmp_path / "t.parquet")
    assert len(content) < 100_000
    assert "it declares 1 rows with 60,000,0" in refusal(tmp_path / "t.parquet", "table")


def test_many_compressed_bytes(semantic: Artifact, tmp_path: Path) -> None:
    table = semantic.members["tokens.parquet"]
    rows = pa.parquet.read_table(pa.BufferReader(table)).slice(0, 1)
    long = pa.array(["a" * 2**27], pa.large_string())
    content = described(rows.append_column("more", long), table, tmp_path / "t.parquet")
    assert len(content) < 1_000_000
    assert "are needed, but it has" in refusal(tmp_path / "t.parquet", "table")


@pytest.mark.parametrize("n_members", [1_001, 60_000])
def test_many_members(semantic: Artifact, n_members: int, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "m", "w") as archive:
        for number in range(n_members):
            archive.writestr(f"{number}", b"")
    assert "members" in refusal(tmp_path / "m")


def test_members_that_share_their_bytes(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "m", "w") as archive:
        archive.writestr("a", bytes(10**7))
        for name in "bcdefghij":
            entry = zipfile.ZipInfo(name)
            first = archive.infolist()[0]
            for field in ("header_offset", "CRC", "file_size", "compress_size"):
                setattr(entry, field, getattr(first, field))
            archive.filelist.append(entry)
    assert "larger than the file" in refusal(tmp_path / "m")


def test_many_lattices(tmp_path: Path) -> None:
    cs.SetRegressor(epochs=1, random_state=0).fit(np.arange(9.0)[:, None], np.arange(9.0)).save(tmp_path / "m")
    artifact = read_artifact(tmp_path / "m")
    artifact.document["layout"]["subsets"] = [[0]] * 200_000
    write_artifact(tmp_path / "m", artifact)
    assert "200,000 lattices" in refusal(tmp_path / "m")


@pytest.mark.parametrize("loader", LOADERS)
def test_what_is_no_regular_file(loader: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(ArtifactError, match="it is a pipe, a socket or a device"):
            LOADERS[loader](path)


@pytest.mark.parametrize("loader", LOADERS)
def test_sparse_files(loader: str, tmp_path: Path) -> None:
    begins = b"PK\x03\x04" if loader == "model" else b"PAR1"
    sizes = {"large": 20 * 2**30, "medium": 2**31 - 1, "small": 2**29, "foreign": 2**30}
    for name, size in sizes.items():
        with (tmp_path / name).open("wb") as file:
            file.write(b"" if name == "foreign" else begins)
            file.truncate(size)
    large, medium, small, foreign = refusals([tmp_path / name for name in sizes], loader)
    assert "21,474,836,480 bytes, at most 2,147,483,647 are allowed" in large
    assert "there is no memory for its 2,147,483,647 bytes" in medium
    assert "structure is broken" in small
    assert "it is no zip file" in foreign or "it is no Parquet file" in foreign


def test_names_that_are_given_twice(tmp_path: Path) -> None:
    path = tmp_path / "m"
    cs.SetRegressor(epochs=1, random_state=0).fit(np.arange(9.0)[:, None], np.arange(9.0)).save(path)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members["manifest.json"] = members["manifest.json"].replace(b"{", b'{"version": 1, ', 1)
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    with pytest.raises(ArtifactError, match="the name 'version' is there twice"):
        cs.load(path)
