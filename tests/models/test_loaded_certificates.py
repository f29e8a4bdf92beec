"""Certificates of loaded models: what the parameters say, whatever the file says."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import clearset as cs
from clearset.artifact import Artifact, read_artifact, write_artifact

FEATURES = [cs.Feature("stars", monotonic="increasing"), cs.Feature("words", shape="concave")]
TRUSTS = [cs.Trust("stars", by="words")]


@pytest.fixture(scope="module")
def fitted() -> cs.SetRegressor:
    rng = np.random.default_rng(0)
    stars, words = rng.uniform(size=(2, 80))
    model = cs.SetRegressor(FEATURES, trusts=TRUSTS, epochs=2, random_state=0, n_jobs=1)
    return model.fit(pa.table({"stars": stars, "words": words}), stars - words**2)


@pytest.fixture
def artifact(fitted: cs.SetRegressor, tmp_path: Path) -> Artifact:
    fitted.save(tmp_path / "model")
    return read_artifact(tmp_path / "model")


def loaded(artifact: Artifact, path: Path) -> Any:
    write_artifact(path, artifact)  # with right checksums, as a forger would
    return cs.load(path)


@pytest.mark.parametrize("table", ["phi.vertices", "phi.calibration", "rho.calibrators", "rho.output"])
def test_changed_parameters_have_no_true_certificate(artifact: Artifact, tmp_path: Path, table: str) -> None:
    artifact.arrays[table] = artifact.arrays[table][:, ::-1].copy()
    model = loaded(artifact, tmp_path / "forged")
    assert not model.verify()
    assert model.certificate_ == model.verify()
    assert not model.certificate_


def _without_probing(checks: list[Any]) -> list[Any]:
    return [check for check in checks if "probing" not in check["evidence"]]


def _with(checks: list[Any], **changes: Any) -> list[Any]:
    return [*checks[:-1], {**checks[-1], **changes}]


@pytest.mark.parametrize(
    "forge",
    [
        lambda _: [],
        lambda checks: checks[1:],
        _without_probing,
        lambda checks: [*checks, {**checks[0], "constraint": "words increasing"}],
        lambda checks: _with(checks, constraint="words increasing"),
        lambda checks: _with(checks, scope="everything"),
        lambda checks: _with(checks, tolerance=1.0),
        lambda checks: [{**check, "violation": 0.5} for check in checks],
    ],
)
def test_changed_certificates_are_made_anew(fitted: cs.SetRegressor, artifact: Artifact, tmp_path: Path, forge) -> None:
    artifact.document["certificate"] = forge(artifact.document["certificate"])
    assert loaded(artifact, tmp_path / "forged").certificate_ == fitted.certificate_


def test_what_the_parameters_bear_out_is_not_probed_again(
    fitted: cs.SetRegressor, artifact: Artifact, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("clearset.models._verify._Probe", lambda *_: pytest.fail("sets were tried out"))
    assert loaded(artifact, tmp_path / "model").certificate_ == fitted.certificate_


def test_undoing_an_edit_trusts_no_certificate_either(fitted: cs.SetRegressor, tmp_path: Path) -> None:
    fitted.edit().forbid("words").model.save(tmp_path / "edited")
    artifact = read_artifact(tmp_path / "edited")
    artifact.document["edits"][0]["certificate"] = []
    edited = loaded(artifact, tmp_path / "forged")
    assert {check.constraint for check in edited.certificate_.checks} >= {"words has no effect"}
    assert edited.edit().undo().model.certificate == fitted.certificate_
