"""Saving and loading of joint models: the same model to the last bit, and nothing else from the file."""

import copy
import json
import pickle
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone

import clearset as cs
from clearset.artifact import Artifact, pack_artifact, read_artifact, unpack_artifact, write_artifact
from clearset.models import FittedJointModel

N = 160
RNG = np.random.default_rng(3)
ITEMS = [RNG.choice(list("abcdefgh"), RNG.integers(0, 4), replace=False).tolist() for _ in range(N)]
FRAME = pa.table(
    {
        "items": ITEMS,
        "grams": [[float(len(row))] * len(row) for row in ITEMS],
        "words": [" ".join(row[::-1]) for row in ITEMS],
        "shift": RNG.normal(size=N),
    }
)
NUMBERS = np.array([float("a" in row) - float("b" in row) for row in ITEMS]) + FRAME["shift"].to_numpy()
THIRDS = np.digitize(NUMBERS, [-0.5, 0.5])
LABELS: dict[str, Any] = {
    "number": NUMBERS,
    "two": np.where(NUMBERS > 0, "good", "naïve"),
    "three": np.array(["bad", "fair", "good"])[THIRDS],
    "bool": NUMBERS > 0,
    "int": np.array([-1, 0, 1], np.int8)[THIRDS],
    "object": np.array(["bad", "fair", "a longer one"], object)[THIRDS],
}
QUICK: dict[str, Any] = {"epochs": 2, "n_jobs": 1}


class Neighbours:
    """The items, under a name of one's own."""

    def tokens(self, example: list[str] | None) -> list[Any]:
        return list(example or ())


def frequent(statistics: Any) -> np.ndarray:
    return np.asarray(statistics.counts >= 3)


def joint(case: str, engines: Any = None, **options: Any) -> Any:
    follow_on = (cs.SetRegressor if case == "number" else cs.SetClassifier)(features=["shift"], **QUICK)
    engines = engines or {
        "words": cs.SemanticFeatureEngine(cs.NGrams(2), [cs.MinCount(2)], **QUICK),
        ("items", "grams"): cs.SemanticFeatureEngine(cs.Items(), details=("grams",), **QUICK),
    }
    return cs.JointModel(engines, follow_on, **{"epochs": 2, "random_state": 0} | options)


@cache
def fitted(case: str) -> Any:
    return joint(case).fit(FRAME, LABELS[case])


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("saved") / "model"
    fitted("three").save(path)
    return path


def assert_same(found: Any, expected: Any) -> None:
    """Compare all that a joint model says, bit by bit."""
    for name in ("predict", "predict_proba"):
        assert hasattr(found, name) == hasattr(expected, name)
        if hasattr(expected, name):
            mine, other = getattr(found, name)(FRAME), getattr(expected, name)(FRAME)
            assert mine.dtype == other.dtype
            assert np.array_equal(mine, other)
    assert found.estimates(FRAME).equals(expected.estimates(FRAME))
    assert found.explain(FRAME[:9], effects=True).to_json() == expected.explain(FRAME[:9], effects=True).to_json()
    assert found.verify() == expected.verify()


@pytest.mark.parametrize("case", LABELS)
def test_a_file_gives_the_same_bits(case: str, tmp_path: Path) -> None:
    estimator, model = fitted(case), fitted(case).as_model()
    estimator.save(tmp_path / "model")
    again = cs.load(tmp_path / "model")
    assert type(again) is FittedJointModel
    assert_same(again, model)
    assert (again.gain, again.history) == (model.gain, model.history)
    assert list(again.engines) == ["words", ("items", "grams")]
    for column, engine in again.engines.items():
        part = FRAME[column] if isinstance(column, str) else FRAME.select(column)
        assert np.array_equal(engine.transform(part), estimator.engines_[column].transform(part))
        assert engine.certificate == model.engines[column].certificate
    for number, one in enumerate((model, again, cs.as_estimator(again))):
        one.save(str(tmp_path / str(number)))
        assert (tmp_path / str(number)).read_bytes() == (tmp_path / "model").read_bytes()


@pytest.mark.parametrize("case", ["number", "three"])
def test_an_estimator_comes_back(case: str, tmp_path: Path) -> None:
    estimator = fitted(case)
    estimator.save(tmp_path / "model")
    again = cs.as_estimator(cs.load(tmp_path / "model"))
    assert type(again) is cs.JointModel
    assert_same(again, estimator)
    assert repr(again.get_params()) == repr(estimator.get_params())
    assert repr(again.follow_on_.get_params()) == repr(estimator.follow_on_.get_params())
    assert (again.joint_gain_, again.history_) == (estimator.joint_gain_, estimator.history_)
    assert again.score(FRAME, LABELS[case]) == estimator.score(FRAME, LABELS[case])
    assert list(again.engines_) == list(estimator.engines_)
    assert_same(clone(again).fit(FRAME, LABELS[case]), estimator)


@pytest.mark.parametrize("container", [pa.Table.to_pandas, pl.from_arrow], ids=["pandas", "polars"])
def test_fitted_on_other_frames(container: Any, tmp_path: Path) -> None:
    model = joint("three").fit(container(FRAME), LABELS["three"])
    model.save(tmp_path / "model")
    assert_same(cs.load(tmp_path / "model"), model.as_model())


def test_threads_are_those_of_the_fit(saved: Path) -> None:
    model = cs.load(saved)
    assert model.follow_on.threads == 1
    assert [engine.threads for engine in model.engines.values()] == [1, 1]
    assert model.parameters["follow_on"]["parameters"]["n_jobs"] == 1


def test_what_was_set_since_is_saved_as_well(tmp_path: Path) -> None:
    changed = copy.deepcopy(fitted("number")).set_params(epochs=7, follow_on__n_jobs=2)
    changed.save(tmp_path / "model")
    again = cs.as_estimator(cs.load(tmp_path / "model"))
    assert (again.epochs, again.follow_on.n_jobs, again.follow_on_.n_jobs) == (7, 2, 1)
    assert_same(again, fitted("number"))
    for name, value in (("epochs", -1), ("follow_on__epochs", "many"), ("engines", {})):
        with pytest.raises((TypeError, ValueError), match=name.rpartition("__")[2]):
            copy.deepcopy(changed).set_params(**{name: value}).save(tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_code_of_ones_own_is_passed_again_by_column(tmp_path: Path) -> None:
    path, own = tmp_path / "model", Neighbours()
    engines = {
        "items": cs.SemanticFeatureEngine(own, [frequent], **QUICK),
        "words": cs.SemanticFeatureEngine(cs.NGrams(1), **QUICK),
    }
    model = joint("two", engines).fit(FRAME, LABELS["two"])
    model.save(path)
    again = cs.as_estimator(cs.load(path, tokens={"items": own}, filters={"items": [frequent]}))
    assert_same(again, model)
    # Scikit-learn copies the parts of a model before they are fitted.
    assert isinstance(again.engines["items"].tokens, Neighbours)
    assert_same(clone(again).fit(FRAME, LABELS["two"]), model)
    assert_same(cs.load(path, tokens={"items": own}), model.as_model())
    with pytest.raises(cs.ArtifactError, match=r"Cannot load .*files hold no code"):
        cs.load(path)
    with pytest.raises(cs.ArtifactError, match=r"given for \['item'\], but the engines read \['items', 'words'\]"):
        cs.load(path, tokens={"item": own})
    with pytest.raises(ValueError, match="as dicts, by the columns"):
        cs.load(path, tokens=own)


def test_nothing_fitted_nothing_saved(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="not fitted"):
        joint("number").save(tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_a_failing_save_leaves_the_old_file(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = saved.read_bytes()

    def full(_: int) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        fitted("two").save(saved)
    assert saved.read_bytes() == old
    assert list(saved.parent.iterdir()) == [saved]


def test_the_file_holds_no_code(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    members = read_artifact(saved).members
    assert list(members) == ["engine_0.clearset", "engine_1.clearset", "follow_on.clearset"]
    for name in ("load", "loads", "Unpickler"):
        monkeypatch.setattr(pickle, name, lambda *_, **__: pytest.fail("something was unpickled"))
    cs.load(saved)


def test_the_parts_are_models_by_themselves(saved: Path, tmp_path: Path) -> None:
    for name, content in read_artifact(saved).members.items():
        (tmp_path / name).write_bytes(content)
    model, engine = cs.load(saved), cs.load(tmp_path / "engine_0.clearset")
    assert np.array_equal(engine.transform(FRAME["words"]), model.engines["words"].transform(FRAME["words"]))
    table = model.estimates(FRAME)
    assert np.array_equal(cs.load(tmp_path / "follow_on.clearset").predict(table), model.predict(FRAME))


def test_damaged_members_are_refused(saved: Path, tmp_path: Path) -> None:
    content, damaged = saved.read_bytes(), tmp_path / "damaged"
    for place in (*np.linspace(0, len(content) - 1, 40).astype(int), *range(-22, -1)):
        changed = bytearray(content)
        changed[place] ^= 1
        damaged.write_bytes(changed)
        try:
            again = cs.load(damaged)
        except cs.ArtifactError:
            continue
        # What a zip says of dates and systems is not read.
        assert np.array_equal(again.predict(FRAME), cs.load(saved).predict(FRAME))


@pytest.mark.parametrize("share", [0.1, 0.4, 0.5, 0.7, 0.9, 0.99])
def test_a_file_that_was_cut_off_is_refused(saved: Path, tmp_path: Path, share: float) -> None:
    """A part that is still whole is not taken for the model."""
    content = saved.read_bytes()
    (tmp_path / "damaged").write_bytes(content[: int(share * len(content))])
    with pytest.raises(cs.ArtifactError, match="damaged"):
        cs.load(tmp_path / "damaged")


Change = Callable[[dict[str, Any], dict[str, bytes]], Any]
FIRST, SECOND, LAST = "engine_0.clearset", "engine_1.clearset", "follow_on.clearset"


def setting(*keys: Any, to: Any) -> Change:
    """Give a change of one entry of the document."""

    def change(document: dict[str, Any], _: dict[str, bytes]) -> None:
        place: Any = document
        for key in keys[:-1]:
            place = place[key]
        place[keys[-1]] = to

    return change


def inside(name: str, **entries: Any) -> Change:
    """Give a change of the document of a member."""

    def change(_: dict[str, Any], members: dict[str, bytes]) -> None:
        part = unpack_artifact(members[name], name)
        members[name] = pack_artifact(replace(part, document={**part.document, **entries}))

    return change


def removing(key: str) -> Change:
    return lambda document, _: document.pop(key)


FORGERIES: dict[str, Change] = {
    "no columns": removing("columns"),
    "no engines": setting("columns", to=[]),
    "an engine less": lambda _, members: members.pop(FIRST),
    "an engine more": lambda _, members: members.update({"engine_2.clearset": members[FIRST]}),
    "a member more": lambda _, members: members.update({"more": b""}),
    "no follow-on model": lambda _, members: members.pop(LAST),
    "a column twice": setting("columns", to=["words", "words"]),
    "a column that is a number": setting("columns", 0, to=3),
    "a column of no names": setting("columns", 1, to=[]),
    "another column": setting("columns", 0, to="phrases"),
    "engines in another order": lambda _, members: members.update({FIRST: members[SECOND], SECOND: members[FIRST]}),
    "a follow-on model as an engine": lambda _, members: members.update({FIRST: members[LAST]}),
    "an engine as the follow-on model": lambda _, members: members.update({LAST: members[FIRST]}),
    "a joint model inside": lambda document, members: members.update(
        {FIRST: pack_artifact(Artifact("joint model", document, {}, dict(members)))}
    ),
    "an empty member": lambda _, members: members.update({FIRST: b""}),
    "a pickle": lambda _, members: members.update({FIRST: pickle.dumps({})}),
    "a member cut off": lambda _, members: members.update({LAST: members[LAST][:-30]}),
    "a changed member": lambda _, members: members.update({LAST: members[LAST].replace(b"shift", b"shirt")}),
    "a part that predicts": inside(FIRST, estimator="SemanticClassifier"),
    "a part of a wrong form": inside(SECOND, width=10**9),
    "a follow-on model of a wrong form": inside(LAST, n_features_in="two"),
    "other classes": inside(LAST, classes={"labels": ["bad", "fair", "odd"], "dtype": "<U4"}),
    "gain a string": setting("gain", to="much"),
    "history a string": setting("history", to=""),
    "history of numbers": setting("history", to=[1]),
    "parameters a list": setting("parameters", to=[]),
    "engines a number": setting("parameters", "engines", to=1),
    "parameters of an engine a string": setting("parameters", "engines", 0, 1, to="none"),
    "another estimator": setting("parameters", "follow_on", "estimator", to="os.system"),
    "no parameters of the follow-on model": setting("parameters", "follow_on", to={"estimator": "SetRegressor"}),
}


def forged(saved: Path, change: Change, path: Path) -> Path:
    """Change a file's content and put right checksums on it, as a forger would."""
    artifact = read_artifact(saved)
    document, members = json.loads(json.dumps(artifact.document)), dict(artifact.members)
    change(document, members)
    write_artifact(path, replace(artifact, document=document, members=members))
    return path


@pytest.mark.parametrize("what", FORGERIES)
def test_forged_files_are_refused(saved: Path, tmp_path: Path, what: str) -> None:
    with pytest.raises(cs.ArtifactError, match="forged"):
        cs.load(forged(saved, FORGERIES[what], tmp_path / "forged"))


def test_arrays_do_not_belong_there(saved: Path, tmp_path: Path) -> None:
    write_artifact(tmp_path / "forged", replace(read_artifact(saved), arrays={"more": np.zeros(2)}))
    with pytest.raises(cs.ArtifactError, match="forged"):
        cs.load(tmp_path / "forged")


def test_parts_of_a_later_version_are_refused(saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    part = unpack_artifact(read_artifact(saved).members[LAST], LAST)
    monkeypatch.setattr("clearset.artifact._write.VERSION", 2)
    later = pack_artifact(part)
    monkeypatch.undo()
    with pytest.raises(cs.ArtifactError, match=r"format version 2 .* Upgrade clearset"):
        cs.load(forged(saved, lambda _, members: members.update({LAST: later}), tmp_path / "later"))


@pytest.mark.parametrize(
    ("place", "message"),
    [
        (("nonsense",), r"JointModel has no parameters \['nonsense'\]"),
        (("epochs",), "epochs must be"),
        (("engines", 0, 1, "epochs"), "epochs must be"),
        (("follow_on", "parameters", "nonsense"), r"SetClassifier has no parameters \['nonsense'\]"),
    ],
)
def test_an_estimator_has_no_forged_parameters(saved: Path, tmp_path: Path, place: Any, message: str) -> None:
    """A model predicts without them; what fits checks them."""
    loaded = cs.load(forged(saved, setting("parameters", *place, to="many"), tmp_path / "forged"))
    assert np.array_equal(loaded.predict(FRAME), fitted("three").predict(FRAME))
    with pytest.raises(ValueError, match=message):
        cs.as_estimator(loaded)
