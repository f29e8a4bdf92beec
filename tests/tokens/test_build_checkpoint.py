"""A build over files that is ended and called again makes the same table; anything else is refused."""

import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import clearset as cs
from clearset.artifact import ArtifactError
from clearset.tokens import _build_folder, _streamed_table

RNG = np.random.default_rng(3)
N = 3000
WORDS = np.array([f"w{number}" for number in range(60)])
ROWS = [RNG.choice(WORDS, RNG.integers(0, 5), replace=False).tolist() for _ in range(N)]
LABELS = {
    "classes": np.where(RNG.uniform(size=N) < 0.3, "yes", "no"),
    "numbers": RNG.normal(size=N),
    "whole": RNG.integers(0, 3, N),
    "flags": RNG.uniform(size=N) < 0.4,
}


class Killed(BaseException):
    """Stands for the end of the process."""


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    table = pa.table({"words": ROWS, "weight": RNG.integers(0, 3, N).astype(float), **LABELS})
    for number in range(3):
        pq.write_table(table.slice(1000 * number, 1000), folder / f"{number}.parquet")
    return folder


def build(data, label="classes", **options):
    how = {"filters": [cs.MinCount(3)], "column": "words", "max_memory": "100MB", "threads": 1}
    return cs.TokenTable.build(data, label, cs.Subsets(2), **{**how, **options})


def saved(table, tmp_path) -> bytes:
    table.save(tmp_path / "table.parquet")
    return (tmp_path / "table.parquet").read_bytes()


@pytest.mark.parametrize("weight", [None, "weight"])
@pytest.mark.parametrize("label", LABELS)
def test_a_build_that_is_ended_after_every_pass(data, label, weight, tmp_path, monkeypatch):
    expected = saved(build(data, label, sample_weight=weight), tmp_path)
    kept, passes = _build_folder.BuildFolder.keep, []

    def ending(self, name, *what):
        if name not in passes:
            kept(self, name, *what)
        passes.append(name)
        raise Killed

    monkeypatch.setattr(_build_folder.BuildFolder, "keep", ending)
    checkpoint = tmp_path / "checkpoint"
    for _ in range(3):
        with pytest.raises(Killed):
            build(data, label, sample_weight=weight, checkpoint=checkpoint)
    assert passes == ["first_pass", "second_pass", "mined"]

    def no_pass(*_):
        raise AssertionError("a finished pass is made again")

    for module, name in (
        (_streamed_table, "_first_pass"),
        (_streamed_table, "_store"),
        (_streamed_table, "mine_stored"),
    ):
        monkeypatch.setattr(module, name, no_pass)
    table = build(data, label, sample_weight=weight, checkpoint=checkpoint, threads=2)
    assert saved(table, tmp_path) == expected
    assert [file.name for file in tmp_path.iterdir()] == ["table.parquet"]


def test_ended_in_the_midst_of_anything(data, tmp_path, monkeypatch):
    """At every call that touches a file, in turn."""
    expected = saved(build(data), tmp_path)
    checkpoint, count = tmp_path / "checkpoint", {"left": 0}

    def ending(call):
        def called(*arguments, **options):
            count["left"] -= 1
            if count["left"] == 0:
                raise Killed
            return call(*arguments, **options)

        return called

    for owner, name in (
        (_build_folder.ScratchNumbers, "append"),
        (_build_folder.ScratchNumbers, "sync"),
        (_build_folder, "write_artifact"),
        (_build_folder, "remove_file"),
    ):
        monkeypatch.setattr(owner, name, ending(getattr(owner, name)))
    ended = 0
    for step in [3, 8, 2, 14, 5, 9, 17, 23, 1, 4, 30, 2]:
        count["left"] = step
        try:
            build(data, checkpoint=checkpoint)
        except Killed:
            ended += 1
    count["left"] = 0
    assert ended > 6
    assert saved(build(data, checkpoint=checkpoint), tmp_path) == expected
    assert [file.name for file in tmp_path.iterdir()] == ["table.parquet"]


@pytest.fixture
def begun(data, tmp_path, monkeypatch):
    """A checkpoint with two finished passes."""
    with monkeypatch.context() as patch:

        def killed(*_, **__):
            raise Killed

        patch.setattr(_streamed_table, "mine_stored", killed)
        with pytest.raises(Killed):
            build(data, checkpoint=tmp_path / "checkpoint")
    return tmp_path / "checkpoint"


def contents(folder):
    return {file.name: file.read_bytes() for file in folder.iterdir()}


@pytest.mark.parametrize(
    ("what", "options"),
    [
        ("filters was .*3.*, and is now .*4", {"filters": [cs.MinCount(4)]}),
        ("y was classes, and is now whole", {"label": "whole"}),
        ("sample_weight was None, and is now weight", {"sample_weight": "weight"}),
        ("task was auto, and is now classes", {"task": "classes"}),
    ],
)
def test_another_build_is_refused(data, begun, what, options):
    before = contents(begun)
    with pytest.raises(ValueError, match=what):
        build(data, checkpoint=begun, **options)
    assert contents(begun) == before


def test_files_that_have_changed_are_refused(data, begun):
    before, changed = contents(begun), data / "1.parquet"
    about = changed.stat()
    os.utime(changed, ns=(about.st_atime_ns, about.st_mtime_ns + 1))
    try:
        with pytest.raises(ValueError, match=r"the file '.*1\.parquet' was .* bytes of .* and is now"):
            build(data, checkpoint=begun)
    finally:
        os.utime(changed, ns=(about.st_atime_ns, about.st_mtime_ns))
    assert contents(begun) == before


def test_files_with_other_columns_are_refused_by_the_names_of_columns(data, begun, tmp_path):
    for number in range(3):
        table = pq.read_table(data / f"{number}.parquet")
        other = table.set_column(1, "weight", table["weight"].cast(pa.float32())).rename_columns({"flags": "flag"})
        (tmp_path / "other").mkdir(exist_ok=True)
        pq.write_table(other, tmp_path / "other" / f"{number}.parquet")
    with pytest.raises(ValueError, match=r"another build: the column 'weight' was double, and is now float") as raised:
        build(tmp_path / "other", checkpoint=begun)
    message = str(raised.value)
    assert "(other differences: the column 'flag', the file " in message
    assert "list<" not in message
    assert len(message) < 1000
    assert "\n" not in message


def test_damage_is_refused(data, begun):
    before = contents(begun)
    for name, content in before.items():
        for damaged in (content[: len(content) // 2], bytes([content[0] ^ 1]) + content[1:]) if content else ():
            (begun / name).write_bytes(damaged)
            with pytest.raises(ArtifactError, match="remove this one to start anew"):
                build(data, checkpoint=begun)
        (begun / name).write_bytes(content)
    (begun / "codes.numbers").unlink()
    with pytest.raises(ArtifactError, match="remove this one to start anew"):
        build(data, checkpoint=begun)


def test_what_cannot_be(data, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes.txt").write_text("mine")
    with pytest.raises(ValueError, match=r"holds no checkpoint of a table, but \['notes.txt'\]"):
        build(data, checkpoint=tmp_path / "full")
    with pytest.raises(NotADirectoryError):
        build(data, checkpoint=tmp_path / "full" / "notes.txt")
    with pytest.raises(FileNotFoundError):
        build(data, checkpoint=tmp_path / "no" / "folder")
    with pytest.raises(ValueError, match="checkpoint is for examples in Parquet files"):
        cs.TokenTable.build(ROWS, LABELS["classes"], checkpoint=tmp_path / "a")
    with pytest.raises(ValueError, match="rows are not in files"):
        build(pa.dataset.dataset(pa.table({"words": ROWS, **LABELS})), checkpoint=tmp_path / "a")
    assert (tmp_path / "full" / "notes.txt").read_text() == "mine"
