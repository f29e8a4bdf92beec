"""Token tables and frozen models of the first version, which had no checksums, still load."""

from itertools import combinations
from pathlib import Path

import numpy as np

import clearset as cs

FOLDER = Path(__file__).parent / "version_1"
# What the files were made of, and what the version that wrote them predicted.
X = [["salt", "lime"], ["salt", "feta"], ["lime", "chili"], ["feta", "olives"]] * 10
Y = ["thai", "greek", "thai", "greek"] * 10
PROBABILITIES = [0.9997170489898254, 0.0003523670129659963, 0.5]


def test_token_tables_with_their_examples() -> None:
    table = cs.TokenTable.load(FOLDER / "table.parquet")
    for token in [("salt",), ("lime",), ("chili",), ("feta", "salt"), ("chili", "lime")]:
        holding = [label for row, label in zip(X, Y, strict=True) if set(token) <= set(row)]
        found = table.lookup(token)
        assert found is not None
        assert found.count == len(holding)
    assert len(table) == len({token for row in X for size in (1, 2) for token in combinations(sorted(row), size)})
    doubled = table.update(X, Y)
    assert doubled.n_examples == 80
    assert doubled.lookup(("lime",)).count == 40


def test_frozen_models() -> None:
    frozen = cs.FrozenModel.load(FOLDER / "frozen.parquet")
    found = frozen.predict_proba([["salt", "lime"], ["feta"], []])[:, 1]
    np.testing.assert_allclose(found, PROBABILITIES, rtol=1e-9)
