import errno
import os
import signal
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest
from sklearn.linear_model import Ridge

import clearset as cs
from clearset.artifact import ArtifactError, _lock, locked

X = np.arange(40.0).reshape(20, 2)
OPTIONS = {"budget": 12, "space": {"alpha": (1e-3, 1e3, "log")}, "random_state": 0, "verbose": 0}
# A process that tunes; {fit} is what each fit does before it fits.
TUNES = """
    import os, signal, sys, time
    import numpy as np
    import clearset as cs
    from sklearn.linear_model import Ridge
    fit, fits = Ridge.fit, []
    def own(self, X, y):
        fits.append(0)
        {fit}
        return fit(self, X, y)
    Ridge.fit = own
    X = np.arange(40.0).reshape(20, 2)
    print("ready", flush=True)
    sys.stdin.readline()
    try:
        tuning = cs.tune(Ridge(5e3), X, X[:, 0] ** 2, budget=12, space={{"alpha": (1e-3, 1e3, "log")}}, random_state=0,
                         storage=sys.argv[1], verbose=0)
        print("trials", len(tuning.trials), flush=True)
    except OSError as error:
        print(type(error).__name__, error, flush=True)
    """


def tuned(path):
    # As given it is outside of the space, so that its trial has fewer parameters than others.
    return cs.tune(Ridge(5e3), X, X[:, 0] ** 2, storage=path, **OPTIONS)


def records(tuning):
    return [(trial["number"], trial["params"]["alpha"], trial["score"]) for trial in tuning.trials]


@pytest.fixture
def start():
    """Start processes that are killed after the test."""
    started = []

    def start(script, *arguments):
        command = [sys.executable, "-c", textwrap.dedent(script), *map(str, arguments)]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)  # noqa: S603
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def line(process):
    return process.stdout.readline().strip()


def go(process):
    process.stdin.write("\n")
    process.stdin.flush()


def test_processes_at_once(tmp_path, start):
    path = tmp_path / "a.jsonl"
    processes = [start(TUNES.format(fit="time.sleep(0.05)"), path) for _ in range(2)]
    assert [line(process) for process in processes] == ["ready"] * 2
    for process in processes:
        go(process)
    ends = [line(process) for process in processes]
    # One that starts late may find the other finished, and have nothing left to do.
    assert all(end == "trials 12" or end.startswith("BlockingIOError") for end in ends)
    assert "trials 12" in ends
    assert path.read_text().count('"op_code":4') == 12
    assert records(tuned(path)) == records(tuned(None))


def test_the_second_run_is_refused_while_the_first_lasts(tmp_path, start):
    path = tmp_path / "a.jsonl"
    process = start(TUNES.format(fit="len(fits) == 5 and (print('fifth', flush=True), sys.stdin.readline())"), path)
    go(process)
    assert [line(process), line(process)] == ["ready", "fifth"]
    before = path.read_bytes()
    (tmp_path / "link").symlink_to(path)
    for name in (path, tmp_path / "link"):
        with pytest.raises(BlockingIOError) as caught:
            tuned(name)
        assert f"'{name}' is in use by another run (process {process.pid} on " in str(caught.value)
        assert "Wait until it has ended, or name another file" in str(caught.value)
    assert path.read_bytes() == before
    go(process)
    assert line(process) == "trials 12"
    process.wait()
    assert records(tuned(path)) == records(tuned(None))
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.jsonl", "link"]


def test_a_killed_run_leaves_no_lock(tmp_path, start):
    path = tmp_path / "a.jsonl"
    process = start(TUNES.format(fit="len(fits) == 5 and os.kill(os.getpid(), signal.SIGKILL)"), path)
    go(process)
    assert process.wait() == -signal.SIGKILL
    assert len(list(tmp_path.iterdir())) == 2  # the file that was locked is still there
    # A line that was being written, and the lock that an Optuna of its own leaves.
    with path.open("a") as file:
        file.write('{"op_code":4,"work')
    (tmp_path / "a.jsonl.lock").symlink_to(path)
    assert records(tuned(path)) == records(tuned(None))
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.jsonl", "a.jsonl.lock"]


def test_a_worker_that_outlives_a_killed_run_holds_no_lock(tmp_path, start):
    path = tmp_path / "a.jsonl"
    fit = "len(fits) == 5 and (os.fork() and os.kill(os.getpid(), signal.SIGKILL) or sys.stdin.readline())"
    process = start(TUNES.format(fit=fit), path)
    go(process)
    assert process.wait() == -signal.SIGKILL
    # Its worker waits for a line from here.
    assert records(tuned(path)) == records(tuned(None))


def test_the_lock_outlives_workers(tmp_path, start):
    script = """
        import os, sys
        from pathlib import Path
        from clearset.artifact import locked
        path = Path(sys.argv[1])
        with locked(path, "go away"):
            if not (child := os.fork()):
                sys.exit(0)  # leaves the context, unlike workers of libraries
            os.waitpid(child, 0)
            print("locked", flush=True)
            sys.stdin.readline()
        """
    process = start(script, tmp_path / "a")
    assert line(process) == "locked"
    with (
        pytest.raises(BlockingIOError, match=rf"process {process.pid} .*, or go away\."),
        locked(tmp_path / "a", "go away"),
    ):
        pass
    go(process)
    assert process.wait() == 0
    with locked(tmp_path / "a", "go away"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_run_inside_a_run_is_refused(tmp_path):
    errors = []

    class Nested(Ridge):
        def fit(self, X, y):
            if not errors:
                with pytest.raises(
                    BlockingIOError, match=rf"in use by another run \(process {os.getpid()} on "
                ) as caught:
                    tuned(tmp_path / "a")
                errors.append(caught.value)
            return super().fit(X, y)

    tuning = cs.tune(Nested(), X, X[:, 0], storage=tmp_path / "a", **OPTIONS)
    assert len(errors) == 1
    assert len(tuning.trials) == 12


def test_threads_exclude_each_other(tmp_path):
    counts = {"inside": 0, "most": 0, "entered": 0}

    def work():
        for _ in range(200):
            try:
                with locked(tmp_path / "a", "go away"):
                    counts["inside"] += 1
                    counts["most"] = max(counts["most"], counts["inside"])
                    counts["entered"] += 1
                    counts["inside"] -= 1
            except BlockingIOError:
                pass

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counts["most"] == 1
    assert counts["entered"] > 0
    assert list(tmp_path.iterdir()) == []


def test_a_lock_that_was_removed_meanwhile_is_no_lock(tmp_path, monkeypatch):
    """The run before removes its file after this one opened it: whoever comes next would make another."""
    lock, removed = _lock._lock, []

    def late(descriptor):
        if not removed:
            removed.append((tmp_path / "a.clearset-lock").unlink())
        lock(descriptor)

    monkeypatch.setattr(_lock, "_lock", late)
    with locked(tmp_path / "a", "go away"):
        with pytest.raises(BlockingIOError), locked(tmp_path / "a", "go away"):
            pass
        assert removed


def test_disks_without_locks(tmp_path, monkeypatch):
    def none(descriptor):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(_lock, "_lock", none)
    with pytest.raises(OSError, match=r"'.*a' cannot be locked \(.*Use a folder on a local disk"):
        tuned(tmp_path / "a")


def test_an_error_ends_the_lock(tmp_path):
    with pytest.raises(ValueError, match="no"), locked(tmp_path / "a", "go away"):
        raise ValueError("no")
    with locked(tmp_path / "a", "go away"):
        pass


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_what_is_no_file_is_not_locked(tmp_path):
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    os.mkfifo(tmp_path / "pipe")
    for name, what in (("loop", "a link to itself"), ("pipe", "a pipe")):
        with pytest.raises(ArtifactError, match=f"Cannot use '.*{name}': it is {what}"), locked(tmp_path / name, ""):
            pass
    assert {file.name for file in tmp_path.iterdir()} == {"loop", "pipe"}
