"""Signed files of every kind: who has the key reads them, and reads nothing else."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

import clearset as cs
from clearset import runtime
from clearset.artifact import ArtifactError

KEY, OTHER = bytes(range(32)), bytes(range(1, 33))
ROWS = [["salt", "lime"], ["salt", "feta"], ["lime", "chili"], ["feta", "olives"]] * 10
LABELS = ["thai", "greek"] * 20
KINDS = ("set", "semantic", "joint", "frozen", "table", "runtime")


@pytest.fixture(scope="module")
def fitted() -> SimpleNamespace:
    frame = pa.table({"words": ROWS, "price": np.arange(40.0)})
    classifier = cs.SemanticClassifier(cs.Items(), features=["log_odds", "count"], random_state=0, epochs=2)
    semantic = classifier.fit(ROWS, LABELS)
    joint = cs.JointModel({"words": cs.SemanticFeatureEngine(cs.Items())}, cs.SetRegressor(epochs=2), random_state=0)
    return SimpleNamespace(
        set=cs.SetRegressor(random_state=0, epochs=2).fit([[0.0], [1.0], [2.0]] * 4, [0.0, 1.0, 4.0] * 4),
        semantic=semantic,
        joint=joint.fit(frame, np.arange(40.0)),
        frozen=semantic.freeze(),
        table=semantic.token_table_,
        runtime=SimpleNamespace(save=semantic.to_runtime),
    )


def load(kind: str, path: Path, key: object) -> object:
    if kind == "frozen":
        return cs.FrozenModel.load(path, key=key)
    if kind == "table":
        return cs.TokenTable.load(path, key=key)
    return runtime.load(path, key=key) if kind == "runtime" else cs.load(path, key=key)


@pytest.fixture(scope="module", params=KINDS)
def signed(request: pytest.FixtureRequest, fitted: SimpleNamespace, tmp_path_factory) -> tuple[str, bytes]:
    path = tmp_path_factory.mktemp("signed") / "file"
    getattr(fitted, request.param).save(path, key=KEY)
    return request.param, path.read_bytes()


def test_with_the_key_and_without_one_it_loads(signed: tuple[str, bytes], tmp_path: Path) -> None:
    kind, content = signed
    (tmp_path / "file").write_bytes(content)
    load(kind, tmp_path / "file", KEY)
    load(kind, tmp_path / "file", None)


def test_with_another_key_it_is_refused(signed: tuple[str, bytes], tmp_path: Path) -> None:
    kind, content = signed
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(ValueError, match=r"^Cannot read .*file'?: its signature is not that of this key and content\."):
        load(kind, tmp_path / "file", OTHER)


def test_unsigned_files_are_refused(signed: tuple[str, bytes], fitted: SimpleNamespace, tmp_path: Path) -> None:
    kind, _ = signed
    getattr(fitted, kind).save(tmp_path / "file")
    load(kind, tmp_path / "file", None)
    with pytest.raises(ValueError, match="it is not signed, but a key was given"):
        load(kind, tmp_path / "file", KEY)


def test_changed_files_are_refused(signed: tuple[str, bytes], tmp_path: Path) -> None:
    kind, content = signed
    rng = np.random.default_rng(0)
    for bit in rng.choice(8 * len(content), 100, replace=False).tolist():
        changed = bytearray(content)
        changed[bit // 8] ^= 1 << bit % 8
        (tmp_path / "file").write_bytes(changed)
        with pytest.raises(ValueError, match=r"signature|signed|checksum|artifact|Parquet"):
            load(kind, tmp_path / "file", KEY)


def test_signing_again_gives_the_same_bytes(signed: tuple[str, bytes], fitted, tmp_path: Path) -> None:
    kind, content = signed
    if kind in ("set", "semantic", "runtime", "joint"):
        getattr(fitted, kind).save(tmp_path / "file", key=KEY)
        assert (tmp_path / "file").read_bytes() == content


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("key", [b"short", "a text of more than thirty-two characters"])
def test_what_is_no_key_is_refused_before_anything_is_written(kind, key, fitted, tmp_path: Path) -> None:
    with pytest.raises((TypeError, ValueError), match="at least 32 random bytes"):
        getattr(fitted, kind).save(tmp_path / "file", key=key)
    assert not list(tmp_path.iterdir())
    getattr(fitted, kind).save(tmp_path / "file")
    with pytest.raises((TypeError, ValueError), match="at least 32 random bytes"):
        load(kind, tmp_path / "file", key)


def test_a_signature_is_not_carried_over(fitted: SimpleNamespace, tmp_path: Path) -> None:
    fitted.set.save(tmp_path / "signed", key=KEY)
    again = cs.load(tmp_path / "signed", key=KEY)
    for place, model in enumerate((again, again.edit().model, cs.as_estimator(again))):
        model.save(tmp_path / str(place))
        with pytest.raises(cs.ArtifactError, match="not signed"):
            cs.load(tmp_path / str(place), key=KEY)


def test_examples_of_a_table_are_signed_too(tmp_path: Path) -> None:
    table = cs.TokenTable.build(ROWS, LABELS, cs.Items())
    table.save(tmp_path / "table", key=KEY)
    (beside,) = tmp_path.glob("*.examples")
    assert cs.TokenTable.load(tmp_path / "table", key=KEY).update(ROWS[:4], LABELS[:4]).n_examples == 44
    table.save(tmp_path / "unsigned")
    (unsigned,) = tmp_path.glob("unsigned.*.examples")
    beside.write_bytes(unsigned.read_bytes())
    with pytest.raises(cs.ArtifactError):
        cs.TokenTable.load(tmp_path / "table", key=KEY)
    beside.unlink()
    assert cs.TokenTable.load(tmp_path / "table", key=KEY).examples is None


def test_a_member_of_a_signed_file_is_not_taken_for_a_signed_file(fitted: SimpleNamespace, tmp_path: Path) -> None:
    fitted.joint.save(tmp_path / "joint", key=KEY)
    from clearset.artifact import read_artifact

    for content in read_artifact(tmp_path / "joint", KEY).members.values():
        (tmp_path / "member").write_bytes(content)
        with pytest.raises(cs.ArtifactError, match="not signed"):
            cs.load(tmp_path / "member", key=KEY)


def test_pairs_of_keys(fitted: SimpleNamespace, tmp_path: Path) -> None:
    ed25519 = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.ed25519", reason="needs cryptography")
    private = ed25519.Ed25519PrivateKey.generate()
    for kind in KINDS:
        getattr(fitted, kind).save(tmp_path / kind, key=private)
        load(kind, tmp_path / kind, private.public_key())
        with pytest.raises(ValueError, match="signature"):
            load(kind, tmp_path / kind, ed25519.Ed25519PrivateKey.generate().public_key())
        with pytest.raises(ValueError, match="signature"):
            load(kind, tmp_path / kind, KEY)


@pytest.mark.parametrize("kind", ["frozen", "table"])
def test_files_of_other_kinds_are_called_that(fitted: SimpleNamespace, kind: str, tmp_path: Path) -> None:
    getattr(fitted, kind).save(tmp_path / "file", key=KEY)
    for key in (None, KEY, OTHER):
        with pytest.raises(ArtifactError, match=r"is a Parquet file; FrozenModel.load reads frozen models"):
            cs.load(tmp_path / "file", key=key)
