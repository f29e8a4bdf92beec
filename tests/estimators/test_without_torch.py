"""Every estimator is fitted, used, saved and loaded where torch is not installed."""

import re
import subprocess
import sys
from pathlib import Path

WITHOUT_TORCH = """
import sys
from importlib.machinery import PathFinder

find = PathFinder.find_spec


@classmethod
def find_others(cls, name, path=None, target=None):
    return None if name.partition(".")[0] == "torch" else find(name, path, target)


PathFinder.find_spec = find_others
"""

SCRIPT = (
    WITHOUT_TORCH
    + """
import numpy as np
import pyarrow as pa
import clearset as cs

rng = np.random.default_rng(0)
sets = [[float(x) for x in rng.uniform(size=rng.integers(1, 5))] for _ in range(60)]
means = np.array([np.mean(tokens) for tokens in sets])
X = pa.table({"stars": sets})
strings = [[f"item {i}" for i in rng.integers(0, 12, size=rng.integers(1, 5))] for _ in range(60)]
features = [cs.Feature("stars", monotonic="increasing")]
path = sys.argv[1]
for model, data, labels in (
    (cs.SetRegressor(features=features, epochs=3), X, means),
    (cs.SetRegressor(features=features, epochs=3, constraints="light_touch"), X, means),
    (cs.SetClassifier(features=features, epochs=3), X, means > 0.5),
    (cs.SemanticClassifier(epochs=3), strings, means > 0.5),
    (cs.SemanticClassifier(epochs=3, refine=1), strings, np.arange(60) % 3),
    (cs.SemanticRegressor(epochs=3), strings, means),
):
    expected = model.fit(data, labels).predict(data)
    model.explain(data)
    assert model.verify()
    model.report(path + "/report.html", data)
    model.save(path + "/model.clearset")
    np.testing.assert_array_equal(cs.load(path + "/model.clearset").predict(data), expected)
rows = pa.table({"items": strings * 5, "mean": np.tile(means, 5)})
for follow_on, labels in ((cs.SetRegressor(epochs=3), means), (cs.SetClassifier(epochs=3), np.arange(60) % 3)):
    model = cs.JointModel({"items": cs.SemanticFeatureEngine(epochs=3)}, follow_on, epochs=2)
    expected = model.fit(rows, np.tile(labels, 5)).predict(rows)
    assert len(model.history_) > 0
    model.explain(rows)
    assert model.verify()
    model.save(path + "/model.clearset")
    loaded = cs.load(path + "/model.clearset")
    np.testing.assert_array_equal(loaded.predict(rows), expected)
    np.testing.assert_array_equal(cs.as_estimator(loaded).predict(rows), expected)
assert "torch" not in sys.modules
"""
)


def test_fitted_used_saved_and_loaded(tmp_path):
    command = [sys.executable, "-c", SCRIPT, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)  # noqa: S603 -- its own script
    assert done.returncode == 0, done.stderr


def test_test_modules_that_need_torch_are_skipped():
    """Modules, and examples of doc strings: none is an error."""
    needing = ["tests/estimators/test_failed_fit.py", "src/clearset/baselines", "tests/engines/native_isa.py"]
    options = ["-q", "-rs", "-p", "no:cacheprovider", "--collect-only", *needing, "tests/sets/test_labels.py"]
    run = f"{WITHOUT_TORCH}\nimport pytest\nsys.exit(pytest.main({options!r}))"
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", run], capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2]
    )
    assert done.returncode == 0, done.stdout
    assert "test_labels_that_are_refused" in done.stdout
    for path in needing:
        assert re.search(rf"SKIPPED .* {path}.*: torch is not installed", done.stdout), path
