"""What an installed wheel must be able to do; it is run where nothing but the wheel and its dependencies are."""

import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np

import clearset as cs
from clearset.datasets import make_reviews
from clearset.engines import available_engines

assert shutil.which("cc") is None
assert shutil.which("g++") is None
assert "native" in available_engines(), available_engines()
assert "site-packages" in cs.__file__

reviews = make_reviews(60)
model = cs.SetRegressor([cs.Feature("star_rating", monotonic="increasing"), "price"], epochs=5, random_state=0)
model.fit(reviews.frame, reviews.sales)
assert model.verify()
predicted = model.predict(reviews.frame)
explanation = model.explain(reviews.frame)
rows = explanation.tokens.to_pylist() + explanation.of_sets.to_pylist()
sums = explanation.base.copy()
for row in rows:
    sums[row["set"]] += row["contribution"]
np.testing.assert_allclose(sums, predicted, rtol=1e-9)

recipes = [["salt", "lime"], ["salt", "feta"], ["lime", "chili"], ["feta", "olives"]] * 10
semantic = cs.SemanticClassifier(random_state=0).fit(recipes, ["thai", "greek"] * 20)
assert semantic.predict([["lime"], ["feta", "salt"]]).tolist() == ["thai", "greek"]

with tempfile.TemporaryDirectory() as folder:
    for kept, X in ((model, reviews.frame), (semantic, recipes)):
        kept.save(Path(folder) / "model")
        assert np.array_equal(cs.load(Path(folder) / "model").predict(X), kept.predict(X))
print(f"clearset {cs.__version__} on Python {sys.version.split()[0]}, numpy {np.__version__}")
