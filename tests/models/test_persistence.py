"""Saving and loading: the same model to the last bit, and nothing else from the file."""

import hashlib
import io
import json
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from safetensors.numpy import load as read_tensors
from safetensors.numpy import save as write_tensors

import clearset as cs

FEATURES = [
    cs.Feature("stars", monotonic="increasing", keypoints=5, bounds=(0, None), lattice_size=3),
    cs.Feature("words", shape="concave"),
    cs.Feature("shop", kind="categorical", monotonic=[("fair", "web")]),
    cs.Feature("code", kind="categorical"),
    cs.Feature("price", monotonic="decreasing", bounds=(None, 9.5)),
    cs.Feature(cs.SIZE, monotonic="increasing"),
]
TRUSTS = [cs.Trust("stars", by="words"), cs.Trust("stars", by=cs.SIZE)]


def frame(n_sets: int, seed: int) -> pa.Table:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(0, 5, size=n_sets)
    return pa.table(
        {
            "stars": [rng.integers(1, 6, size=n).astype(float).tolist() for n in sizes],
            "words": [[None if w < 0.2 else w for w in rng.uniform(size=n).tolist()] for n in sizes],
            "shop": [rng.choice(["fair", "web", "öffnen"], size=n).tolist() for n in sizes],
            "code": [rng.choice([1, 2, 30], size=n).tolist() for n in sizes],
            "price": rng.uniform(1, 20, size=n_sets),
        }
    )


@pytest.fixture(scope="module")
def model() -> cs.SetRegressor:
    y = np.random.default_rng(1).normal(size=120)
    model = cs.SetRegressor(
        FEATURES, 2, trusts=TRUSTS, epochs=3, validation_fraction=0.5, random_state=np.int64(3), n_jobs=1
    )
    return model.fit(frame(120, 0), y)


def restored(path: Path, **options: Any) -> Any:
    """Load a model, as the estimator that fitted it."""
    return cs.as_estimator(cs.load(path, **options))


def assert_same(first: Any, second: Any, X: Any) -> None:
    assert type(second) is type(first)
    assert np.array_equal(first.predict(X), second.predict(X))
    for name in ("predict_proba", "decision_function"):
        if hasattr(first, name):
            assert np.array_equal(getattr(first, name)(X), getattr(second, name)(X))
    for mine, other in zip(first.phi(X), second.phi(X), strict=True):
        assert np.array_equal(mine, other)
    assert second.certificate_ == first.certificate_
    assert second.verify(X) == first.verify(X)
    assert second.history_ == first.history_
    for name in ("features_", "trusts_", "n_iter_", "best_epoch_", "interrupted_", "smoothness_", "n_features_in_"):
        assert getattr(second, name) == getattr(first, name), name
    assert hasattr(first, "feature_names_in_") == hasattr(second, "feature_names_in_")
    mine, other = first.get_params(), second.get_params()
    for name, value in mine.items():
        same = tuple(other[name]) == tuple(value) if isinstance(value, list | tuple) else other[name] == value
        assert same, name


def test_every_declaration_comes_back(model: cs.SetRegressor, tmp_path: Path) -> None:
    model.save(tmp_path / "model")
    again = restored(tmp_path / "model")
    assert_same(model, again, frame(60, 5))
    assert again.features == FEATURES
    again.save(str(tmp_path / "second"))
    assert (tmp_path / "second").read_bytes() == (tmp_path / "model").read_bytes()


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["no", "yes"]),
        np.array(["naïve", "", "a longer label"]),
        np.array([3, 7]),
        np.array([-1, 0, 1], dtype=np.int8),
        np.array([False, True]),
        np.array([0.5, 1.0, 1.5]) * 2,
        np.array(["no", "yes"], dtype=object),
    ],
    ids=str,
)
def test_classes_of_every_type(labels: np.ndarray, tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(30, 2))
    y = labels[np.arange(30) % len(labels)]
    model = cs.SetClassifier(epochs=1, random_state=0, n_jobs=1).fit(X, y)
    model.save(tmp_path / "model")
    again = restored(tmp_path / "model")
    assert again.classes_.dtype == model.classes_.dtype
    assert again.classes_.tolist() == model.classes_.tolist()
    assert [type(label) for label in again.classes_.tolist()] == [type(label) for label in model.classes_.tolist()]
    assert_same(model, again, X)


def test_fitted_on_arrays_frames_and_set_data(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    for number, data in enumerate(
        (X, pa.table({"a": X[:, 0], "b": X[:, 1]}), cs.SetData(X, np.arange(31), ["a", "b"]))
    ):
        model = cs.SetRegressor(epochs=1, random_state=0, n_jobs=1).fit(data, y)
        model.save(tmp_path / str(number))
        assert_same(model, restored(tmp_path / str(number)), data)


def test_a_loaded_model_can_be_fitted_on(model: cs.SetRegressor, tmp_path: Path) -> None:
    model.save(tmp_path / "model")
    y = np.random.default_rng(1).normal(size=120)
    first, second = (restored(tmp_path / "model").set_params(warm_start=True) for _ in range(2))
    assert np.array_equal(
        first.fit(frame(120, 0), y).predict(frame(9, 2)), second.fit(frame(120, 0), y).predict(frame(9, 2))
    )


def test_nothing_in_the_file_is_code(model: cs.SetRegressor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model.save(tmp_path / "model")

    def forbidden(*_: Any, **__: Any) -> None:
        pytest.fail("something was unpickled")

    for name in ("load", "loads", "Unpickler"):
        monkeypatch.setattr(pickle, name, forbidden)
    cs.load(tmp_path / "model")
    with zipfile.ZipFile(tmp_path / "model") as archive:
        assert sorted(archive.namelist()) == ["arrays.safetensors", "manifest.json", "model.json"]
        for name in archive.namelist():
            assert not archive.read(name).startswith(b"\x80")


Change = Callable[[dict[str, Any], dict[str, np.ndarray]], None]


def rewritten(path: Path, change: Change) -> Path:
    """Change a file's content and put right checksums on it, as a forger would."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    document, arrays = json.loads(members["model.json"]), dict(read_tensors(members["arrays.safetensors"]))
    change(document, arrays)
    members["model.json"] = json.dumps(document).encode()
    members["arrays.safetensors"] = write_tensors(arrays)
    manifest = json.loads(members["manifest.json"])
    manifest["sha256"] = {name: hashlib.sha256(members[name]).hexdigest() for name in manifest["sha256"]}
    members["manifest.json"] = json.dumps(manifest).encode()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    forged = path.with_name("forged")
    forged.write_bytes(buffer.getvalue())
    return forged


def setting(*keys: Any, to: Any) -> Change:
    """Give a change of one entry of the document."""

    def change(document: dict[str, Any], _: dict[str, np.ndarray]) -> None:
        place: Any = document
        for key in keys[:-1]:
            place = place[key]
        place[keys[-1]] = to

    return change


def removing(key: str) -> Change:
    return lambda document, _: document.pop(key)


def array(name: str, change: Callable[[np.ndarray], np.ndarray]) -> Change:
    return lambda _, arrays: arrays.update({name: change(arrays[name])})


FORGERIES: dict[str, Change] = {
    "NaN in an array": array("phi.vertices", lambda a: a * np.nan),
    "infinity in an array": array("rho.output", lambda a: a + np.inf),
    "another shape": array("phi.calibration", lambda a: a[:, :-1].copy()),
    "another dimension": array("rho.vertices", lambda a: a[None]),
    "an array of whole numbers": array("rho.vertices", lambda a: a.astype(np.int64)),
    "an array less": lambda _, arrays: arrays.__delitem__("rho.vertices"),
    "an array more": lambda _, arrays: arrays.update({"more": np.zeros(2)}),
    "width a string": setting("width", to="2"),
    "width a float": setting("width", to=2.0),
    "width 0": setting("width", to=0),
    "width huge": setting("width", to=10**9),
    "width too large for a lattice": setting("width", to=40),
    "outputs huge": setting("outputs", to=10**12),
    "outputs negative": setting("outputs", to=-1),
    "rho keypoints huge": setting("rho_keypoints", to=10**13),
    "rho keypoints a list": setting("rho_keypoints", to=[20]),
    "width of many gigabytes": setting("width", to=27),
    "layout huge": setting("layout", to={"sizes": [2] * 6, "subsets": [[0, 1, 2, 3, 4, 5]] * 100_000}),
    "sizes huge": setting("layout", "sizes", to=[10**9] * 6),
    "sizes of strings": setting("layout", "sizes", to=["2"] * 6),
    "no layout": removing("layout"),
    "layout a list": setting("layout", to=[]),
    "subset beyond the features": setting("layout", "subsets", to=[[0, 99]]),
    "unknown estimator": setting("estimator", to="os.system"),
    "estimator a list": setting("estimator", to=[]),
    "parameters a list": setting("parameters", to=[]),
    "no binning": removing("binning"),
    "keypoints that fall": setting("binning", "keypoints", 0, to=[5.0, 4.0, 3.0, 2.0, 1.0]),
    "keypoints of strings": setting("binning", "keypoints", 0, to=["a", "b", "c", "d", "e"]),
    "keypoints beyond all numbers": setting("binning", "keypoints", 0, to=[0, 1, 2, 3, 10**400]),
    "feature of an unknown kind": setting("binning", "features", 0, "kind", to="odd"),
    "feature without a name": setting("binning", "features", 0, "name", to=None),
    "categories twice": setting("binning", "categories", 2, to=["web", "web", "web"]),
    "trust on an unknown feature": setting("trusts", to=[{"feature": "a", "by": "b", "shape": "edgeworth"}]),
    "trust of an unknown shape": setting("trusts", 0, "shape", to="odd"),
    "classes of a regression": setting("classes", to={"labels": [0, 1], "dtype": "<i8"}),
    "certificate a number": setting("certificate", to=1),
    "certificate of other things": setting("certificate", to=[{"odd": 1}]),
    "history a string": setting("history", to="losses"),
    "history a number": setting("history", to=3),
    "best epoch a string": setting("best_epoch", to="first"),
    "smoothness a string": setting("smoothness", to="auto"),
    "smoothness below 0": setting("smoothness", to=-1.0),
    "interrupted a string": setting("interrupted", to="no"),
    "number of features a string": setting("n_features_in", to="two"),
    "names of features a number": setting("feature_names_in", to=5),
}


@pytest.mark.parametrize("what", FORGERIES)
def test_forged_files_are_refused(model: cs.SetRegressor, tmp_path: Path, what: str) -> None:
    model.save(tmp_path / "model")
    forged = rewritten(tmp_path / "model", FORGERIES[what])
    with pytest.raises(cs.ArtifactError, match="forged"):
        cs.load(forged)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("nonsense", 1, r"SetRegressor has no parameters \['nonsense'\]"),
        ("width", "2", "width must be a whole number from 1 to 12; received '2'"),
        ("learning_rate", -1, "learning_rate must be a number above 0"),
    ],
)
def test_an_estimator_has_no_forged_parameters(
    model: cs.SetRegressor, tmp_path: Path, name: str, value: Any, message: str
) -> None:
    """A model predicts without them; what fits checks them."""
    model.save(tmp_path / "model")
    loaded = cs.load(rewritten(tmp_path / "model", setting("parameters", name, to=value)))
    assert np.array_equal(loaded.predict(frame(9, 2)), model.predict(frame(9, 2)))
    with pytest.raises(ValueError, match=message):
        cs.as_estimator(loaded)


@pytest.mark.parametrize(
    "change",
    [
        setting("classes", to=None),
        setting("classes", "labels", to=["a"]),
        setting("classes", "labels", to=["a", "b", "c"]),
        setting("classes", "labels", to=["b", "a"]),
        setting("classes", "dtype", to="odd"),
        setting("classes", "dtype", to=["<U1"]),
        setting("estimator", to="SetRegressor"),
    ],
)
def test_forged_classes_are_refused(tmp_path: Path, change: Change) -> None:
    X = np.arange(20.0)[:, None]
    cs.SetClassifier(epochs=1, n_jobs=1).fit(X, np.where(X[:, 0] > 9, "a", "b")).save(tmp_path / "model")
    cs.load(rewritten(tmp_path / "model", lambda *_: None))  # unchanged content is fine
    with pytest.raises(cs.ArtifactError):
        cs.load(rewritten(tmp_path / "model", change))


def test_a_failing_save_leaves_the_old_file(
    model: cs.SetRegressor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model"
    model.save(path)
    old = path.read_bytes()

    def full(_: int) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        model.save(path)
    monkeypatch.undo()
    assert path.read_bytes() == old
    assert list(tmp_path.iterdir()) == [path]
    unsaveable = restored(path).set_params(verbose=object())
    with pytest.raises(ValueError, match="verbose must be"):
        unsaveable.save(path)
    assert path.read_bytes() == old


def test_where_nothing_can_be_saved_or_loaded(model: cs.SetRegressor, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no folder"):
        model.save(tmp_path / "nowhere" / "model")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        model.save(tmp_path)
    with pytest.raises(FileNotFoundError, match="no such file"):
        cs.load(tmp_path / "nothing")
    (tmp_path / "pickled").write_bytes(pickle.dumps(model))
    with pytest.raises(cs.ArtifactError, match="pickle"):
        cs.load(tmp_path / "pickled")
