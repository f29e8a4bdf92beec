"""Saving a token table is stopped at every step: a table is always there, with the examples that belong to it."""

import fcntl
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import clearset as cs

from .test_table import same
from .test_table_storage import LABELS, ROWS, examples_of

OLD = cs.TokenTable.build(ROWS, LABELS["two"])
NEW = cs.TokenTable.build(ROWS[:30], LABELS["texts"][:30])
MORE = ROWS[:5]


def is_whole(path: Path) -> str:
    """Return which table is there, having seen that it can be updated as that table can."""
    again = cs.TokenTable.load(path)
    which, labels = ("old", LABELS["two"]) if len(again.classes) == 2 else ("new", LABELS["texts"])
    expected = OLD if which == "old" else NEW
    same(again, expected)
    same(again.update(MORE, labels[:5]), expected.update(MORE, labels[:5]))
    return which


class Killed(BaseException):
    """Stands for the end of the process: nothing that would be cleaned up is."""


STEPS = ("fsync", "replace", "unlink")


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("step", range(10))
def test_killed_at_any_step(step: int, after: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.parquet"
    OLD.save(path)
    steps, killed = 0, False
    originals = {name: getattr(os, name) for name in STEPS}

    def dying(name: str):
        def call(*arguments: object, **options: object) -> object:
            nonlocal steps, killed
            if killed:  # nothing happens any more
                raise Killed
            killed = steps == step
            steps += 1
            if killed and not after:
                raise Killed
            result = originals[name](*arguments, **options)
            if killed:
                raise Killed
            return result

        return call

    with monkeypatch.context() as patched:
        for name in STEPS:
            patched.setattr(os, name, dying(name))
        try:
            NEW.save(path)
        except Killed:
            pass
        else:
            assert not killed
    assert is_whole(path) in (("old", "new") if killed else ("new",))
    NEW.save(path)
    assert is_whole(path) == "new"
    assert sorted(tmp_path.iterdir()) == [path, examples_of(path)]


@pytest.mark.parametrize("call", range(1, 3))
def test_errors_leave_the_old_files(call: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.parquet"
    OLD.save(path)
    before = {each.name: each.read_bytes() for each in tmp_path.iterdir()}
    calls, replace = 0, os.replace

    def full(*arguments: object) -> None:
        nonlocal calls
        calls += 1
        if calls == call:
            raise OSError("no space")
        replace(*arguments)

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="no space"):
        NEW.save(path)
    assert {each.name: each.read_bytes() for each in tmp_path.iterdir()} == before


SAVING = """
import sys, clearset as cs
from pathlib import Path
folder = Path(sys.argv[1])
tables = [cs.TokenTable.load(folder / name) for name in ("old.parquet", "new.parquet")]
print("ready", flush=True)
while True:
    for table in tables:
        table.save(folder / "t.parquet")
"""


def test_sigkill(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    OLD.save(path)
    OLD.save(tmp_path / "old.parquet")
    NEW.save(tmp_path / "new.parquet")
    for milliseconds in (3, 17, 31, 58, 76, 94):
        child = subprocess.Popen([sys.executable, "-c", SAVING, str(tmp_path)], stdout=subprocess.PIPE)  # noqa: S603
        assert child.stdout is not None
        assert child.stdout.readline() == b"ready\n"
        time.sleep(milliseconds / 1000)
        child.send_signal(signal.SIGKILL)
        child.communicate()
        is_whole(path)
    OLD.save(path)
    assert is_whole(path) == "old"
    assert sorted(file for file in tmp_path.iterdir() if "t.parquet" in file.name) == [path, examples_of(path)]


def test_only_files_that_nobody_writes_are_removed(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    left, alive, foreign = tmp_path / f".t.parquet.{'a' * 32}", tmp_path / f".t.parquet.{'b' * 32}", tmp_path / ".t.a"
    of_examples = tmp_path / f".t.parquet.{'c' * 16}.examples.{'d' * 32}"  # of a table that was never complete
    for file in (left, of_examples, alive, foreign):
        file.write_bytes(b"half")
    with alive.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        OLD.save(path, examples=False)
        assert sorted(tmp_path.iterdir()) == sorted([alive, foreign, path])
    OLD.save(path, examples=False)
    assert sorted(tmp_path.iterdir()) == sorted([foreign, path])
