"""Runtime models: the same predictions and contributions as the models they were written from."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from tests.models.test_contributions import BASKETS, LABELS, QUICK, SETS, randomise

import clearset as cs
from clearset import runtime
from clearset.functions import Support

N = 200
BASKETS_, SETS_ = BASKETS[:N], {name: values[:N] for name, values in SETS.items()}
TEXTS = [" ".join(basket).upper() + ", ÉTÉ!" for basket in BASKETS_]
PAIRS = [(left, right) for left, right in zip(BASKETS_, BASKETS_[1:] + BASKETS_[:1], strict=True)]
FEATURES = ["stars", cs.Feature("colour", kind="categorical"), "price", cs.SIZE]
TOKENS = {
    "items": (cs.Items(), BASKETS_),
    "subsets": (cs.Subsets(max_size=2), BASKETS_),
    "words": (cs.NGrams(2), TEXTS),
    "crosses": (cs.Cross(), PAIRS),
    "differences": (cs.Difference(max_size=2), PAIRS),
    "words of items": (cs.Words(), [[f"{item} Ünd {item}s" for item in basket] for basket in BASKETS_]),
    "kinds": (cs.Union(cs.Words(), cs.Subsets(2)), [[f"{item} OF b" for item in basket] for basket in BASKETS_]),
    "kinds of pairs": (cs.Union(cs.Cross(), cs.Difference()), PAIRS),
}


def written(model, tmp_path):
    model.to_runtime(tmp_path / "model.runtime")
    return runtime.load(tmp_path / "model.runtime")


def compare(model, scorer, X, sets, label=None):
    expected = model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)[:, None]
    estimates = scorer.estimates(sets)
    shown = np.hstack([1 - estimates, estimates]) if expected.shape[1] == 2 else estimates
    np.testing.assert_allclose(shown, expected, rtol=1e-10, atol=1e-12)
    assert (scorer.predict(sets) == model.predict(X)).all() or not hasattr(model, "predict_proba")
    explained, told = scorer.explain(sets, label), model.explain(X, label=label)
    frame = told.tokens
    np.testing.assert_allclose(explained.prediction, told.prediction, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(explained.base, told.base, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(explained.contributions, frame["contribution"].to_numpy(), rtol=1e-7, atol=1e-10)
    of_sets = sum(explained.of_sets.values(), np.zeros(len(explained.prediction)))
    totals = np.add.reduceat(explained.contributions, explained.offsets[:-1]) + of_sets
    np.testing.assert_allclose(explained.base + totals, explained.prediction, atol=1e-9)
    return explained, told


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("width", [1, 2])
def test_sets_of_numbers_and_categories(labels, width, tmp_path):
    estimator = cs.SetRegressor if labels == "number" else cs.SetClassifier
    model = estimator(FEATURES, width=width, **QUICK).fit(pa.table(SETS_), LABELS[labels][:N]).as_model()
    randomise(model.function, np.random.default_rng(width))
    function = replace(model.function, support=replace(model.function.support, tokens=3))
    model = replace(model, function=function)
    explained, _ = compare(model, written(model, tmp_path), pa.table(SETS_), SETS_)
    assert set(explained.of_sets) == {"price", cs.SIZE}


@pytest.mark.parametrize("kind", TOKENS)
@pytest.mark.parametrize("labels", LABELS)
def test_sets_of_strings(kind, labels, tmp_path):
    tokens, X = TOKENS[kind]
    estimator = cs.SemanticRegressor if labels == "number" else cs.SemanticClassifier
    options = {
        "tokens": tokens,
        "filters": [cs.MinCount(2)],
        "features": ["mean_label", "count", "kind" if tokens.kinds else "whole", "items", "tokens"],
    }
    model = estimator(width=2, refine=True, **options, **QUICK).fit(X, LABELS[labels][:N]).as_model()
    randomise(model.function, np.random.default_rng(1))
    scorer = written(model, tmp_path)
    unknown = {
        "items": [["nothing"], []],
        "subsets": [["nothing"], []],
        "words": ["", "unknown"],
        "kinds": [["nothing"], []],
    }.get(kind, [])
    explained, told = compare(model, scorer, [*X, *unknown], [*X, *unknown])
    spelled = [None if token is None else tuple(token) for token in told.tokens["token"].to_pylist()]
    assert explained.tokens == spelled


def test_the_class_to_explain(tmp_path):
    model = cs.SemanticClassifier(tokens=cs.Items(), **QUICK).fit(BASKETS_, LABELS["three"][:N])
    scorer = written(model, tmp_path)
    compare(model, scorer, BASKETS_, BASKETS_, label="b")
    with pytest.raises(ValueError, match="'d' cannot be explained"):
        scorer.explain(BASKETS_, "d")


@pytest.mark.parametrize("options", [{"lattices": "ensemble"}, {"lattice_size": 3}, {"loss": "hinge"}])
def test_layouts_and_losses(options, tmp_path):
    model = cs.SetClassifier(FEATURES, **options, **QUICK).fit(pa.table(SETS_), LABELS["three"][:N]).as_model()
    outputs = model.read(pa.table(SETS_)).outputs()
    np.testing.assert_allclose(written(model, tmp_path).estimates(SETS_), model.link.estimates(outputs), rtol=1e-10)


def test_a_share_for_each_class(tmp_path):
    model = cs.SemanticClassifier(tokens=cs.Items(), loss="binary_log_loss", **QUICK).fit(BASKETS_, LABELS["three"][:N])
    compare(model, written(model, tmp_path), BASKETS_, BASKETS_)


def test_counts(tmp_path):
    model = cs.SetRegressor(FEATURES, loss="poisson", **QUICK).fit(pa.table(SETS_), np.arange(N) % 4)
    compare(model, written(model, tmp_path), pa.table(SETS_), SETS_)


def test_rows_of_a_plain_table(tmp_path):
    rng = np.random.default_rng(0)
    table = {"age": [None, *rng.normal(40, 9, N).tolist()], "job": [None, *rng.choice(["a", "b"], N).tolist()]}
    features = ["age", cs.Feature("job", kind="categorical")]
    model = cs.SetRegressor(features, **QUICK).fit(pa.table(table), rng.normal(size=N + 1))
    explained, _ = compare(model, written(model, tmp_path), pa.table(table), table)
    assert set(explained.of_sets) == {"age", "job"}


def test_support_of_no_training(tmp_path):
    model = cs.SetRegressor(["stars"], **QUICK).fit(pa.table(SETS_), LABELS["number"][:N]).as_model()
    bare = replace(model, function=replace(model.function, support=Support.unknown(1, 1, model.binning.n_slots)))
    compare(bare, written(bare, tmp_path), pa.table(SETS_), SETS_)
