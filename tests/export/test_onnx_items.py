"""Models over sets of strings as ONNX: the same tokens, predictions and contributions as in Python."""

import json
import re
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from tests import random_models

import clearset as cs

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
from onnx.reference import ReferenceEvaluator
from tests.export.onnx_runs import Written, differences
from tests.export.supports import with_support

CLOSE = 1e-9
QUICK = {"epochs": 1, "early_stopping": False, "random_state": 0, "n_jobs": 1}
ALL = ["log_odds", "count", "size", "interval", "whole", "items", "tokens"]


def baskets(rng, n, largest=8):
    """Make sets of items, some of them empty, with repeats and with items that no model knows."""
    names = [*random_models.ITEMS, "unknown", "another", "", "ünknown 鍵"]
    return [rng.choice(names, rng.integers(0, largest + 1)).tolist() for _ in range(n)]


def compare(model, X, found):
    worst = differences(model, X, found)
    assert max(worst.values()) < CLOSE, (model, worst)
    tokens = model.explain(X).tokens
    expected = [token for token in tokens["token"].to_pylist() if token is not None]
    named = [json.loads(token) if token.startswith('["') else [token] for token in found["tokens"]]
    assert named == expected
    sets = tokens["set"].to_numpy()[[token is not None for token in tokens["token"].to_pylist()]]
    assert (np.diff(found["token_offsets"]) == np.bincount(sets, minlength=len(X))).all()


def test_random_models(tmp_path):
    rng, refused = np.random.default_rng(0), []
    for place, (model, shown) in enumerate(random_models.of_items(rng)):
        if place % 2 and place < 14:  # the others have all kinds of tokens, labels and widths
            continue
        random_models.randomise(model, rng)
        pairs = isinstance(shown, list) and isinstance(shown[0], tuple)
        model = with_support(model, rng) if place % 4 else model.as_model()
        try:
            written = Written.of(model, tmp_path / "model.onnx")
        except ValueError as error:
            refused.append(str(error))
            continue
        X = baskets(rng, 200)
        X = list(zip(X, baskets(rng, 200), strict=True)) if pairs else X
        compare(model, X, written(X))
    assert len(refused) == 2
    assert "numbers of items ('pay')" in refused[0]
    assert "a function of yours; ONNX holds no code" in refused[1]


UNIONS = [
    (cs.Union(cs.Words(), cs.Subsets(2)), False),
    (cs.Union(cs.Subsets(2), cs.Words(), cs.Items()), False),
    (cs.Union(cs.Difference(max_size=2), cs.Cross()), True),
]


@pytest.mark.parametrize("cover", [True, False])
@pytest.mark.parametrize(
    ("tokens", "pairs"),
    [(cs.Difference(max_size=2), True), (cs.Cross(), True), (cs.Subsets(), False), (cs.NGrams(4), False), *UNIONS],
)
def test_tokens_that_depend_on_their_set(tokens, pairs, cover, tmp_path):
    rng = np.random.default_rng(1)

    def draw(n):
        return list(zip(baskets(rng, n), baskets(rng, n), strict=True)) if pairs else baskets(rng, n)

    X, y = draw(150), rng.choice(["a", "b", "c"], 150)
    features = [*ALL, "kind"] if tokens.kinds else ALL
    options = {"filters": [cs.MinCount(2)], "refine": 2, "cover": cover}
    options["features"] = [name for name in features if name != "whole" or not tokens.kinds]
    model = cs.SemanticClassifier(tokens=tokens, width=2, **options, **QUICK).fit(X, y)
    random_models.randomise(model, rng)
    model = with_support(model, rng)
    written = Written.of(model, tmp_path / "model.onnx")
    X = [*draw(150), *([(["item a"], []), ([], ["item a"]), ([], [])] if pairs else [["item a"] * 3, []])]
    found = written(X)
    compare(model, X, found)
    assert found["set_contributions"].shape == (len(X), 2)


def test_columns_with_names(tmp_path):
    rng = np.random.default_rng(2)
    frame = {"had": baskets(rng, 90), "wanted": baskets(rng, 90)}
    model = cs.SemanticRegressor(tokens=cs.Cross("had", "wanted"), features=["mean_label", "items"], **QUICK)
    model.fit(pa.table(frame), rng.normal(size=90))
    found = Written.of(model, tmp_path / "model.onnx")(list(zip(*frame.values(), strict=True)))
    np.testing.assert_allclose(found["prediction"], model.predict(pa.table(frame)), atol=CLOSE)
    assert any("had=item a" in token for token in found["tokens"])


def test_words_of_texts(tmp_path):
    texts = ["Crème BRÛLÉE, 2 eggs!", "two eggs; crème", "no eggs", "", "ΟΔΟΣ crème brûlée"] * 12
    model = cs.SemanticRegressor(tokens=cs.NGrams(2), **QUICK).fit(texts, np.arange(60.0))
    written = Written.of(model, tmp_path / "model.onnx")
    # What callers do in their own languages, letter by letter; here letters and digits are enough.
    words = [re.findall(r"[^\W_]+", "".join(letter.lower() for letter in text)) for text in texts]
    np.testing.assert_allclose(written(words)["prediction"], model.predict(texts), atol=CLOSE)


@pytest.fixture(scope="module")
def subsets(tmp_path_factory):
    rng = np.random.default_rng(3)
    options = {"tokens": cs.Subsets(3), "cover": True, "features": ALL, "refine": False}
    model = cs.SemanticClassifier(**options, **QUICK).fit(baskets(rng, 200), rng.choice(["x", "y", "z"], 200))
    random_models.randomise(model, rng)
    return model, Written.of(model, tmp_path_factory.mktemp("subsets") / "model.onnx")


def test_batches_without_sets_or_items(subsets):
    model, written = subsets
    for name, values in written([]).items():
        assert len(values) == (name == "token_offsets"), name
    for X in ([[]], [[], ["never seen"], []]):
        compare(model, X, written(X))
        assert written(X)["contributions"].shape == (0,)


def test_order_and_batches_change_no_bit(subsets):
    _, written = subsets
    X = baskets(np.random.default_rng(4), 60)
    whole = written(X)["probabilities"]
    assert (written([row[::-1] for row in X])["probabilities"] == whole).all()
    assert (np.concatenate([written(X[:7])["probabilities"], written(X[7:])["probabilities"]]) == whole).all()


def test_another_runtime(subsets, tmp_path):
    """The reference of the standard, in numpy, knows nothing of ONNX Runtime."""
    model, written = subsets
    model.to_onnx(tmp_path / "model.onnx")
    X = baskets(np.random.default_rng(5), 30)
    found = ReferenceEvaluator(str(tmp_path / "model.onnx")).run(None, written.feeds(X))
    names = [each.name for each in written.session.get_outputs()]
    compare(model, X, dict(zip(names, found, strict=True)))


def test_many_items(tmp_path):
    rng = np.random.default_rng(6)
    names = np.array([f"word {number}" for number in range(3000)])
    X = [rng.choice(names, 20).tolist() for _ in range(2000)]
    model = cs.SemanticRegressor(tokens=cs.Items(), refine=False, **QUICK).fit(X, rng.normal(size=2000))
    huge = [rng.choice(names, 30_000).tolist(), [], names.tolist()]
    compare(model, huge, Written.of(model, tmp_path / "model.onnx")(huge))


def test_edited_tables(subsets, tmp_path):
    model, _ = subsets
    X = baskets(np.random.default_rng(7), 60)
    editor = model.edit().drop_token(["item a"]).pin_token(["item b"], 0.5, label="y")
    compare(editor.model, X, Written.of(editor.model, tmp_path / "model.onnx")(X))
    for token in editor.model.token_table_.spelled(np.arange(len(editor.model.token_table_))).to_pylist():
        editor.drop_token(token)
    assert len(editor.model.token_table_) == 0
    compare(editor.model, X, Written.of(editor.model, tmp_path / "model.onnx")(X))


@pytest.mark.parametrize("classes", [None, 2, 3])
def test_frozen_models(classes, tmp_path):
    rng = np.random.default_rng(8)
    X, y = baskets(rng, 150), rng.normal(size=150) if classes is None else rng.integers(0, classes, 150)
    estimator, value = (cs.SemanticRegressor, "mean_label") if classes is None else (cs.SemanticClassifier, "log_odds")
    options = {"tokens": cs.Subsets(2), "features": [value, "count"], "refine": True, "width": 3}
    model = estimator(**options, **QUICK).fit(X, y)
    random_models.randomise(model, rng)
    frozen = model.freeze()
    X = baskets(rng, 100)
    found = Written.of(frozen, tmp_path / "frozen.onnx")(X)
    compare(model, X, found)
    estimates = found["probabilities"] if (classes or 0) > 2 else found["prediction"][:, None]
    np.testing.assert_allclose(estimates, frozen.transform(X), atol=CLOSE)
    bare = replace(frozen, support=None)
    found = Written.of(bare, tmp_path / "frozen.onnx", explanations=False)(X)
    assert set(found) == ({"prediction"} if classes is None else {"prediction", "label", "probabilities"})
    estimates = found["probabilities"] if (classes or 0) > 2 else found["prediction"][:, None]
    np.testing.assert_allclose(estimates, bare.transform(X), atol=CLOSE)


def test_engines_for_other_models(tmp_path):
    rng = np.random.default_rng(9)
    X = baskets(rng, 120)
    for y in (rng.normal(size=120), rng.integers(0, 2, 120), rng.integers(0, 3, 120)):
        engine = cs.SemanticFeatureEngine(tokens=cs.Items(), **QUICK).fit(X, y)
        compare(engine, X, Written.of(engine, tmp_path / "model.onnx")(X))


def test_parts_of_joint_models(tmp_path):
    rng = np.random.default_rng(10)
    frame = pa.table({"words": baskets(rng, 120), "price": rng.normal(size=120)})
    engine = cs.SemanticFeatureEngine(tokens=cs.Items(), **QUICK)
    follow_on = cs.SetRegressor(["price"], **QUICK)
    joint = cs.JointModel({"words": engine}, follow_on, epochs=1, random_state=0).fit(frame, rng.normal(size=120))
    for each in (joint, joint.as_model()):
        with pytest.raises(ValueError, match=r"Write its parts, model\.engines\[column\]\.to_onnx"):
            each.to_onnx(tmp_path / "joint.onnx")
    model = joint.as_model()
    estimates = Written.of(model.engines["words"], tmp_path / "words.onnx")(frame["words"].to_pylist())["prediction"]
    (name,) = model.estimate_names
    found = Written.of(model.follow_on, tmp_path / "follow_on.onnx")(
        pa.table({name: estimates, "price": frame["price"]})
    )
    np.testing.assert_allclose(found["prediction"], joint.predict(frame), atol=CLOSE)
