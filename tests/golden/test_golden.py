"""The same seeds give the same models as the version that wrote the golden files, and its artifacts load."""

import json
import os
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest

import clearset as cs

from . import cases

FOLDER = Path(__file__).parent

GOLDEN = json.loads((FOLDER / "golden.json").read_text())
# Files of version 0.1.0, written before training was native, and what they gave then.
ARTIFACTS = json.loads((FOLDER / "artifacts.json").read_text())
EMULATED = ("CLEARSET_ISA", "NPY_DISABLE_CPU_FEATURES", "ATEN_CPU_CAPABILITY", "OPENBLAS_CORETYPE")


def made_here():
    """Tell whether this machine rounds as the one that made the golden files."""
    native = pytest.importorskip("clearset._native")
    return (
        native.instruction_set() == "avx512"
        and version("numpy") == "2.4.6"
        and not any(os.environ.get(name) for name in EMULATED)
    )


def skip_elsewhere():
    if not made_here():
        pytest.skip("Models of strings are trained in single precision, which other processors round differently.")


def assert_same(found, golden, where):
    """Compare nested lists: numbers to rounding, all else exactly."""
    if isinstance(golden, dict):
        assert found.keys() == golden.keys(), where
        for key in golden:
            assert_same(found[key], golden[key], f"{where}, {key}")
        return
    numbers = [np.array(each, dtype=object).ravel() for each in (found, golden)]
    assert numbers[0].shape == numbers[1].shape, where
    for a, b in zip(*numbers, strict=True):
        if isinstance(b, float):
            assert a == pytest.approx(b, rel=1e-8, abs=1e-9), where
        else:
            assert a == b, where


@pytest.fixture(scope="module")
def fitted():
    return {name: (model, X) for name, model, X in cases.fitted_cases()}


@pytest.mark.parametrize("name", [name for name in GOLDEN if name != "out of fold"])
def test_models(fitted, name):
    if not name.startswith(("regressor", "classifier")):
        skip_elsewhere()
    model, X = fitted[name]
    assert_same(cases.kept(model, X), GOLDEN[name], name)


def test_out_of_fold_and_joint():
    skip_elsewhere()
    assert_same(cases.out_of_fold(), GOLDEN["out of fold"], "out of fold")


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.clearset")), ids=lambda path: path.stem)
def test_artifacts_load(path):
    name = path.stem.replace("_three", ", three").replace("_width_3", ", width 3").replace("_3", ", 3")
    X = cases.sets(40, seed=1)[0]
    if name not in ("regressor, width 3", "classifier, three"):
        X = [*cases.baskets(40, seed=1)[0], [], ["unheard"]]
    model, golden = cs.load(path), ARTIFACTS[name]
    if "predictions" in golden:
        assert_same(np.asarray(model.predict(X)).tolist(), golden["predictions"], name)
    else:
        assert_same(model.transform(X).tolist(), golden["transform"], name)
    assert_same(model.explain(X[:5]).aggregate.tolist(), golden["aggregate"], name)
