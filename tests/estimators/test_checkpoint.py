"""A fit that is killed and called again ends with the bits of one that was not; anything else is refused."""

import errno
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import clearset as cs
from clearset.artifact import Artifact, ArtifactError, _files, read_artifact, write_artifact
from clearset.training import _checkpoint, _prepared

RNG = np.random.default_rng(0)
N = 240
STARS = [RNG.uniform(0, 5, RNG.integers(1, 5)).tolist() for _ in range(N)]
MEANS = np.array([np.mean(row) for row in STARS]) + 0.3 * RNG.normal(size=N)
SETS = pa.table({"stars": STARS, "price": RNG.uniform(size=N)})
ITEMS = [RNG.choice(list("abcdefgh"), RNG.integers(1, 5), replace=False).tolist() for _ in range(N)]
LABELS = np.array([("a" in row) + ("b" in row) > RNG.uniform(0, 1.5) for row in ITEMS]).astype(int)


def set_regressor(**options):
    features = [cs.Feature("stars", monotonic="increasing"), "price"]
    return cs.SetRegressor(features, **{"epochs": 8, "restarts": 2, "random_state": 0, "n_jobs": 1, **options})


def classes(**options):
    labels = np.digitize(MEANS, [2, 3])
    model = cs.SetClassifier(epochs=12, constraints="light_touch", random_state=0, n_jobs=1, **options)
    return model, SETS, labels


def joint():
    engine = cs.SemanticFeatureEngine(cs.Items(), epochs=3, n_jobs=1)
    follow_on = cs.SetClassifier(epochs=4, n_jobs=1)
    model = cs.JointModel({"items": engine}, follow_on, epochs=3, random_state=0)
    return model, SETS.append_column("items", pa.array(ITEMS)), LABELS


CASES = {
    "numbers": lambda: (set_regressor(), SETS, MEANS),
    "a random seed by a generator": lambda: (set_regressor(random_state=np.random.default_rng(5)), SETS, MEANS),
    "classes": classes,
    "a setting chosen": lambda: (cs.SemanticClassifier(epochs=6, random_state=0, n_jobs=1), ITEMS, LABELS),
    "corrections": lambda: (cs.SemanticRegressor(cs.Items(), refine=True, epochs=6, random_state=0), ITEMS, LABELS),
    "jointly": joint,
}


class Killed(BaseException):
    """Stands for the end of the process."""


@pytest.fixture
def writes(monkeypatch):
    """Write at every epoch, and end every so many writes: before, in the midst of, or after one, in turn."""
    monkeypatch.setattr(_checkpoint, "SECONDS", 0.0)
    monkeypatch.setattr(_checkpoint, "SHARE", float("inf"))
    state, write, replace = {"every": 0, "count": 0}, _checkpoint.Checkpoint.write, Path.replace

    def ending(self):
        state["count"] += 1
        turn = (
            state["count"] // max(state["every"], 1) % 3
            if state["every"] and state["count"] % state["every"] == 0
            else 3
        )
        if turn == 0:
            raise Killed
        state["now"] = turn == 1
        write(self)
        if turn == 2:
            raise Killed

    def replaced(self, target):
        if state.pop("now", False):
            raise Killed
        return replace(self, target)

    monkeypatch.setattr(_checkpoint.Checkpoint, "write", ending)
    monkeypatch.setattr(Path, "replace", replaced)
    return state


def saved(model, folder) -> bytes:
    model.save(folder / "model.clearset")
    return (folder / "model.clearset").read_bytes()


def fit_until_done(case, path, *, most=60):
    """Call fit again and again; return the model and how often it was ended."""
    for ended in range(most):
        model, X, y = case()
        try:
            return model.fit(X, y, checkpoint=path), ended
        except Killed:
            assert not hasattr(model, "model_")
    raise AssertionError("the fit does not come to an end")


@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore:Training used all")
def test_a_fit_that_is_ended_again_and_again(name, writes, tmp_path):
    model, X, y = CASES[name]()
    expected = saved(model.fit(X, y), tmp_path)
    writes["every"] = 6 if name == "a setting chosen" else 4
    path = tmp_path / "fit.checkpoint"
    model, ended = fit_until_done(CASES[name], path)
    assert ended > 2
    assert saved(model, tmp_path) == expected
    assert [file.name for file in tmp_path.iterdir()] == ["model.clearset"]


@pytest.mark.filterwarnings("ignore:Training used all")
def test_without_a_seed_the_first_one_is_kept(writes, tmp_path):
    path, seen = tmp_path / "fit.checkpoint", []
    writes["every"] = 4
    for _ in range(9):
        try:
            seen.append(set_regressor(random_state=None).fit(SETS, MEANS, checkpoint=path))
            break
        except Killed:
            document = _checkpoint.read_artifact(path).document if path.exists() else {}
            seen += [str(document.get("generators"))]
    assert len(seen) > 2
    assert len(set(map(str, seen[1:-1]))) == 1


@pytest.mark.filterwarnings("ignore:Training used all")
def test_estimates_out_of_fold(writes, tmp_path):
    def engine():
        return cs.SemanticFeatureEngine(cs.Items(), cross_fit=3, epochs=3, random_state=0, n_jobs=1)

    expected = engine().fit_transform(ITEMS, LABELS)
    writes["every"], path = 7, tmp_path / "fit.checkpoint"
    for _ in range(30):
        try:
            estimates = engine().fit_transform(ITEMS, LABELS, checkpoint=path)
            break
        except Killed:
            pass
    np.testing.assert_array_equal(estimates, expected)


@pytest.mark.filterwarnings("ignore:Training used all")
def test_packed_sets_in_files(writes, tmp_path, monkeypatch):
    monkeypatch.setattr(_prepared, "DOUBLE_PRECISION_VALUES", 0)
    folder = tmp_path / "rows"
    folder.mkdir()
    table = SETS.append_column("label", pa.array(MEANS))
    pq.write_table(table.slice(0, 100), folder / "a.parquet")
    pq.write_table(table.slice(100), folder / "b.parquet")

    def case():
        return set_regressor(max_memory="1GB"), folder, "label"

    model, X, y = case()
    expected = saved(model.fit(X, y), tmp_path)
    writes["every"] = 5
    model, ended = fit_until_done(case, tmp_path / "fit.checkpoint")
    assert ended > 2
    assert saved(model, tmp_path) == expected


@pytest.fixture
def begun(writes, tmp_path):
    """The path of a checkpoint in the midst of a fit."""
    path, writes["every"] = tmp_path / "fit.checkpoint", 14
    with pytest.raises(Killed):
        set_regressor().fit(SETS, MEANS, checkpoint=path)
    writes["every"] = 0
    return path


CHANGES = {
    "epochs was 8, and is now 9": (lambda: set_regressor(epochs=9), SETS, MEANS),
    "random_state was 0, and is now 1": (lambda: set_regressor(random_state=1), SETS, MEANS),
    "features was": (lambda: set_regressor().set_params(features=["stars"]), SETS, MEANS),
    "the estimator was SetRegressor, and is now SetClassifier": (lambda: classes()[0], SETS, MEANS > 2),
    "the labels to train on": (set_regressor, SETS, np.where(np.arange(N) == 7, 0.0, MEANS)),
    "the sets to train on": (set_regressor, SETS.set_column(1, "price", pa.array(RNG.uniform(size=N))), MEANS),
    "data have changed": (set_regressor, SETS.slice(1), MEANS[1:]),
}


@pytest.mark.parametrize("what", CHANGES)
def test_another_fit_is_refused_and_changes_nothing(what, begun):
    make, X, y = CHANGES[what]
    before = begun.read_bytes()
    with pytest.raises(ValueError, match=what) as caught:
        make().fit(X, y, checkpoint=begun)
    assert str(begun) in str(caught.value)
    assert "remove this one to start anew" in str(caught.value)
    assert begun.read_bytes() == before


@pytest.mark.filterwarnings("ignore:Training used all")
def test_threads_and_messages_may_change(begun, tmp_path):
    expected = set_regressor(n_jobs=2, verbose=1).fit(SETS, MEANS)
    model = set_regressor(n_jobs=2, verbose=1).fit(SETS, MEANS, checkpoint=begun)
    assert saved(model, tmp_path) == saved(expected, tmp_path)


def test_another_version_is_refused(begun, monkeypatch):
    before = begun.read_bytes()
    monkeypatch.setattr(_checkpoint, "clearset_version", lambda: "99.0")
    with pytest.raises(ValueError, match=r"the version of clearset was .*, and is now 99\.0"):
        set_regressor().fit(SETS, MEANS, checkpoint=begun)
    assert begun.read_bytes() == before


def test_damaged_files_are_refused(begun):
    whole = begun.read_bytes()
    rng = np.random.default_rng(1)
    for content in (b"", b"hello", whole[: len(whole) // 2], whole[:-1]):
        begun.write_bytes(content)
        with pytest.raises(ArtifactError, match="remove this one to start anew"):
            set_regressor().fit(SETS, MEANS, checkpoint=begun)
        assert begun.read_bytes() == content
    for place in rng.integers(0, len(whole), 20):
        content = bytearray(whole)
        content[place] ^= 1 << int(rng.integers(8))
        begun.write_bytes(bytes(content))
        try:
            set_regressor().fit(SETS, MEANS, checkpoint=begun)
        except ArtifactError:
            assert begun.read_bytes() == bytes(content)
        else:  # a bit that no one reads, such as a date within the zip
            assert not begun.exists()


def forge(path, change):
    """Change what a checkpoint says, with right checksums."""
    artifact = read_artifact(path)
    document, arrays = json.loads(json.dumps(artifact.document)), {n: a.copy() for n, a in artifact.arrays.items()}
    change(document, arrays)
    write_artifact(path, Artifact("checkpoint", document, arrays))


def infinite(beginning, ending):
    def change(_, arrays):
        name = next(name for name in arrays if beginning in name and name.endswith(ending))
        arrays[name].flat[0] = np.inf

    return change


def swapped(_, arrays):
    arrays["0.history"] = arrays["0.history"][::-1, ::-1]


def no_losses(_, arrays):
    arrays["0.history"][:, 1:] = np.nan


FORGERIES = {
    "a result": infinite("best.", "vertices"),
    "an average": infinite("state.", "average"),
    "multipliers": infinite("state.multipliers", ""),
    "other epochs": swapped,
    "no losses": no_losses,
    "a text without an end": lambda document, _: document["fit"].update(epochs="x" * 100_000 + "\n"),
    "many names": lambda document, _: document["trainings"][0]["identity"].update({f"n{i}": "" for i in range(9999)}),
}


@pytest.mark.parametrize("what", FORGERIES)
def test_forged_files_are_refused(what, begun):
    forge(begun, FORGERIES[what])
    before = begun.read_bytes()
    with pytest.raises(ValueError, match="remove this one to start anew") as caught:
        set_regressor().fit(SETS, MEANS, checkpoint=begun)
    assert len(str(caught.value)) < 4000
    assert "\n" not in str(caught.value)
    assert begun.read_bytes() == before


GENERATORS = {
    "a place before all numbers": (np.random.MT19937, lambda state: state["state"].update(pos=-1)),
    "a place after all numbers": (np.random.MT19937, lambda state: state["state"].update(pos=10**6)),
    "too few numbers": (np.random.MT19937, lambda state: state["state"]["key"].pop()),
    "a place outside of the buffer": (np.random.Philox, lambda state: state.update(buffer_pos=-(10**6))),
}


@pytest.mark.parametrize("what", GENERATORS)
def test_generators_that_cannot_be_are_refused(what, writes, tmp_path):
    bits, change = GENERATORS[what]
    path, writes["every"] = tmp_path / "fit.checkpoint", 14

    def fit():
        return set_regressor(random_state=np.random.Generator(bits(3))).fit(SETS, MEANS, checkpoint=path)

    with pytest.raises(Killed):
        fit()
    forge(path, lambda document, _: change(document["generators"][0]))
    with pytest.raises(ValueError, match="a fit with another generator, or is damaged"):
        fit()


def test_a_model_is_no_checkpoint(begun, tmp_path):
    set_regressor(epochs=1).fit(SETS, MEANS).save(path := tmp_path / "model.clearset")
    before = path.read_bytes()
    with pytest.raises(ArtifactError, match="is no checkpoint: it holds a set estimator"):
        set_regressor().fit(SETS, MEANS, checkpoint=path)
    assert path.read_bytes() == before
    with pytest.raises(ArtifactError):
        cs.load(begun)


def test_paths_that_cannot_be(tmp_path):
    for path, error in ((tmp_path, IsADirectoryError), (tmp_path / "no" / "file", FileNotFoundError), (3, TypeError)):
        with pytest.raises(error):
            set_regressor().fit(SETS, MEANS, checkpoint=path)


def test_on_a_gpu_there_are_none(tmp_path, monkeypatch):
    with pytest.raises((ValueError, ImportError), match="cuda"):
        set_regressor(device="cuda").fit(SETS, MEANS, checkpoint=tmp_path / "fit.checkpoint")


@pytest.mark.filterwarnings("ignore:Training used all")
def test_a_full_disk_keeps_what_was_written(begun, monkeypatch, tmp_path):
    expected = saved(set_regressor().fit(SETS, MEANS), tmp_path)
    before = begun.read_bytes()
    with monkeypatch.context() as full:

        def fsync(descriptor):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        full.setattr(_files.os, "fsync", fsync)
        with pytest.raises(OSError, match=r"Cannot write the checkpoint .*: No space left on device. What was written"):
            set_regressor().fit(SETS, MEANS, checkpoint=begun)
    assert begun.read_bytes() == before
    assert saved(set_regressor().fit(SETS, MEANS, checkpoint=begun), tmp_path) == expected


@pytest.mark.filterwarnings("ignore:Training used all")
def test_an_interrupt_keeps_the_best_so_far_and_the_checkpoint(writes, monkeypatch, tmp_path):
    expected = saved(set_regressor().fit(SETS, MEANS), tmp_path)
    path, count = tmp_path / "fit.checkpoint", []
    with monkeypatch.context() as patch:
        reached = _checkpoint.Keeper.reached

        def interrupting(self, progress):
            reached(self, progress)
            count.append(1)
            if len(count) == 12:
                raise KeyboardInterrupt

        patch.setattr(_checkpoint.Keeper, "reached", interrupting)
        with pytest.warns(UserWarning, match="interrupted"):
            model = set_regressor().fit(SETS, MEANS, checkpoint=path)
    assert model.interrupted_
    assert len(model.predict(SETS)) == N
    assert path.exists()
    assert saved(set_regressor().fit(SETS, MEANS, checkpoint=path), tmp_path) == expected
    assert not path.exists()


def interrupting(*_, **__):
    raise KeyboardInterrupt


@pytest.mark.filterwarnings("ignore:Training used all")
def test_an_interrupt_before_the_first_state_keeps_which_data_they_are(monkeypatch, tmp_path):
    path = tmp_path / "fit.checkpoint"
    with monkeypatch.context() as patch:
        patch.setattr(_checkpoint.Keeper, "reached", interrupting)
        with pytest.raises(KeyboardInterrupt):
            set_regressor(random_state=None).fit(SETS, MEANS, checkpoint=path)
    before = path.read_bytes()
    with pytest.raises(ValueError, match="data have changed"):
        set_regressor(random_state=None).fit(SETS, -MEANS, checkpoint=path)
    assert path.read_bytes() == before
    set_regressor(random_state=None).fit(SETS, MEANS, checkpoint=path)
    assert not path.exists()


def test_nothing_is_left_of_a_fit_that_ends_before_any_training(monkeypatch, tmp_path):
    with pytest.raises(ValueError, match="labels but X has"):
        set_regressor().fit(SETS, MEANS[1:], checkpoint=tmp_path / "fit.checkpoint")
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr("clearset.estimators._set_estimator.fit_set_function", interrupting)
    with pytest.raises(KeyboardInterrupt):
        set_regressor().fit(SETS, MEANS, checkpoint=tmp_path / "fit.checkpoint")
    assert list(tmp_path.iterdir()) == []


SCRIPT = """
import sys
from clearset.training import _checkpoint
_checkpoint.SECONDS, _checkpoint.SHARE = 0.0, float("inf")
from tests.estimators.test_checkpoint import MEANS, SETS, saved, set_regressor
from pathlib import Path
print("ready", flush=True)
model = set_regressor(epochs=150, early_stopping=False).fit(SETS, MEANS, checkpoint=sys.argv[1])
saved(model, Path(sys.argv[2]))
"""


@pytest.mark.filterwarnings("ignore:Training used all")
def test_killed_processes(tmp_path):
    """The short form of benchmarks/kills.py."""
    expected = saved(set_regressor(epochs=150, early_stopping=False).fit(SETS, MEANS), tmp_path)
    done = tmp_path / "done"
    done.mkdir()
    rng, kills = np.random.default_rng(2), 0
    for seconds in [rng.uniform(0.05, 0.3), None]:
        command = [sys.executable, "-c", SCRIPT, str(tmp_path / "fit.checkpoint"), str(done)]
        root = Path(__file__).parents[2]
        with subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:  # noqa: S603
            process.stdout.readline()
            if seconds is not None:
                time.sleep(seconds)
                process.send_signal(signal.SIGKILL)
            kills += process.wait() == -signal.SIGKILL
        if (done / "model.clearset").exists():
            break
    assert kills
    assert (done / "model.clearset").read_bytes() == expected
    assert {file.name for file in tmp_path.iterdir()} == {"done", "model.clearset"}
