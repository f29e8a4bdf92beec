"""The log of edits in artifacts: optional, and checked when it is read."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import clearset as cs
from clearset.artifact import Artifact, read_artifact, write_artifact

RECIPES = [["salt", "lime"], ["salt", "feta"], ["lime", "chili"], ["feta", "olives"]] * 10


@pytest.fixture(scope="module")
def model() -> Any:
    return cs.SemanticClassifier(cs.Items(), epochs=2, random_state=0, n_jobs=1).fit(RECIPES, [1, 0, 1, 0] * 10)


@pytest.fixture
def artifact(model: Any, tmp_path: Path) -> Artifact:
    path = tmp_path / "edited"
    feature = model.features_[1].name
    model.edit().forbid(feature).drop_token("chili").pin_token("salt", 0.5).model.save(path)
    return read_artifact(path)


def test_models_without_edits_have_no_log(model: Any, artifact: Artifact, tmp_path: Path) -> None:
    model.save(tmp_path / "plain")
    assert "edits" not in read_artifact(tmp_path / "plain").document
    assert cs.load(tmp_path / "plain").edits == ()
    assert [entry["edit"]["kind"] for entry in artifact.document["edits"]] == ["forbid", "drop_token", "pin_token"]


def test_a_reader_without_the_log_predicts_as_the_edited_model(model: Any, artifact: Artifact, tmp_path: Path) -> None:
    expected = cs.load(tmp_path / "edited").decision_function(RECIPES)
    del artifact.document["edits"]
    write_artifact(tmp_path / "bare", artifact)
    assert np.array_equal(cs.load(tmp_path / "bare").decision_function(RECIPES), expected)
    assert not np.array_equal(model.decision_function(RECIPES), expected)


@pytest.mark.parametrize(
    "log",
    [
        "forbid",
        [1],
        [{}],
        [{"edit": {"kind": "explode"}, "replaced": {}, "certificate": []}],
        [{"edit": {"kind": "forbid", "feature": 3}, "replaced": {}, "certificate": []}],
        [{"edit": {"kind": "forbid", "feature": "count"}, "replaced": [], "certificate": []}],
        [{"edit": {"kind": "forbid", "feature": "count"}, "replaced": {}, "certificate": [{"holds": True}]}],
        [{"edit": {"kind": "forbid", "feature": "nowhere"}, "replaced": {}, "certificate": []}],
    ],
)
def test_logs_that_are_none(artifact: Artifact, tmp_path: Path, log: Any) -> None:
    artifact.document["edits"] = log
    write_artifact(tmp_path / "wrong", artifact)
    with pytest.raises(cs.ArtifactError, match="does not describe a model"):
        cs.load(tmp_path / "wrong")


@pytest.mark.parametrize(
    ("place", "name", "value"),
    [
        (0, "keypoints", [2.0, 1.0]),
        (0, "values", [[0.5]]),
        (0, "values", [["x"]]),
        (0, "missing", [None]),
        (1, "codes", [99]),
        (1, "codes", []),
        (1, "codes", [-1]),
        (1, "sums", [1.0]),
        (2, "correction", [1.0, 2.0, 3.0]),
        (2, "correction", ["x"]),
    ],
)
def test_what_was_replaced_must_fit(artifact: Artifact, tmp_path: Path, place: int, name: str, value: Any) -> None:
    """What does not fit raises an error when it is undone; no array of a wrong form reaches the kernels."""
    artifact.document["edits"][place]["replaced"][name] = value
    artifact.document["edits"][place]["replaced"]["corrections"] = True
    write_artifact(tmp_path / "wrong", artifact)
    editor = cs.load(tmp_path / "wrong").edit()
    for _ in range(2 - place):
        editor.undo()
    before = editor.model
    with pytest.raises((ValueError, TypeError, KeyError)):
        editor.undo()
    assert editor.model is before
