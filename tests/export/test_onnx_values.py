"""Models over sets of numbers and categories as ONNX: the same as in Python, for every option."""

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from tests import random_models

import clearset as cs

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
from onnx.reference import ReferenceEvaluator  # noqa: E402
from tests.export.onnx_runs import Written, differences  # noqa: E402
from tests.export.supports import with_support  # noqa: E402

CLOSE = 1e-9
QUICK = {"epochs": 1, "early_stopping": False, "random_state": 0, "n_jobs": 1}
FEATURES = ["stars", "words", cs.Feature("store", kind="categorical"), "price", cs.SIZE]


def unlike_training(rng, n):
    """Make sets with unknown categories and values beyond the training data."""
    table = random_models.sets(rng, n)
    stores = [[rng.choice([*random_models.STORES, "kiosk", None]) for _ in row] for row in table["store"].to_pylist()]
    words = [[None if word is None else 40 * word - 900 for word in row] for row in table["words"].to_pylist()]
    table = table.set_column(table.column_names.index("store"), "store", pa.array(stores, pa.list_(pa.string())))
    return table.set_column(table.column_names.index("words"), "words", pa.array(words, pa.list_(pa.float64())))


def test_random_models(tmp_path):
    rng = np.random.default_rng(0)
    for place, (model, _) in enumerate(random_models.of_sets(rng)):
        if place % 3 == 1:  # the others have all kinds of labels, widths and features
            continue
        random_models.randomise(model, rng)
        model = with_support(model, rng) if place % 3 else model.as_model()
        X = unlike_training(rng, 200)
        found = Written.of(model, tmp_path / "model.onnx")(X)
        worst = differences(model, X, found)
        assert set(worst) >= {"prediction", "scores", "contributions", "base", "empty_contributions"}
        assert ("set_contributions" in worst) == bool({"price", cs.SIZE} & {f.name for f in model.binning.features})
        assert max(worst.values()) < CLOSE, (model, worst)
        parts = found["empty_contributions"] + found.get("set_contributions", np.zeros((200, 1))).sum(axis=1)
        sizes = [len(row) for row in X["stars"].to_pylist()]
        np.add.at(parts, np.repeat(np.arange(200), sizes), found["contributions"])
        np.testing.assert_allclose(found["base"] + parts, found["prediction"], atol=1e-9)


@pytest.mark.parametrize("loss", ["absolute_error", "quantile", "poisson"])
def test_losses(loss, tmp_path):
    rng = np.random.default_rng(1)
    X, y = random_models.sets(rng, 60), rng.poisson(3.0, 60)
    model = cs.SetRegressor(FEATURES, 2, loss=loss, **QUICK).fit(X, y)
    written = Written.of(model, tmp_path / "model.onnx")
    assert max(differences(model, X, written(X)).values()) < CLOSE
    assert written.told["loss"] == loss


@pytest.mark.parametrize("labels", [[True, False], [3, 7, 9], [-1.0, 2.0], ["a", "b"]])
def test_labels(labels, tmp_path):
    rng = np.random.default_rng(2)
    X, y = random_models.sets(rng, 60), np.array(labels)[np.arange(60) % len(labels)]
    model = cs.SetClassifier(FEATURES, **QUICK).fit(X, y)
    random_models.randomise(model, rng)
    written = Written.of(model, tmp_path / "model.onnx", explanations=False)
    found = written(X)
    assert found["label"].tolist() == model.predict(X).tolist()
    assert set(found) == {"prediction", "label", "probabilities"}
    np.testing.assert_allclose(found["probabilities"], model.predict_proba(X), atol=1e-12)
    assert json.loads(written.told["classes"]) == sorted(labels)


@pytest.mark.parametrize("width", [1, 5])
def test_rows_of_a_plain_table(width, tmp_path):
    rng = np.random.default_rng(3)
    table = {
        "age": [None, None, *rng.normal(40, 9, 90).tolist()],
        "job": [None, "unknown", *rng.choice(["a", "", "c"], 90).tolist()],
        "floor": [None, None, *rng.choice([1, 2, 5], 90).tolist()],
    }
    features = ["age", cs.Feature("job", kind="categorical"), cs.Feature("floor", kind="categorical")]
    model = cs.SetRegressor(features, width, **QUICK).fit(pa.table(table).slice(2), rng.normal(size=90))
    random_models.randomise(model, rng)
    model = with_support(model, rng)
    model = replace(model, link=replace(model.link, nothing=np.array([7.0])))
    written = Written.of(model, tmp_path / "model.onnx")
    assert "offsets" not in written.inputs
    assert written.inputs["job"]["missing"] == "missing"  # the empty string is a category
    found = written(pa.table(table))
    worst = differences(model, pa.table(table), found)
    assert max(worst.values()) < CLOSE
    assert found["set_contributions"].shape == (92, 3)
    assert found["prediction"][0] == 7.0 != found["prediction"][1]


def test_lattices_of_many_sizes_over_many_features(tmp_path):
    rng = np.random.default_rng(4)
    names = [f"x{d}" for d in range(7)]
    features = [cs.Feature(name, lattice_size=2 + d % 3) for d, name in enumerate(names)]
    for lattices in ("full", "ensemble"):
        X = rng.normal(size=(60, 7))
        X[rng.random(X.shape) < 0.1] = np.nan
        model = cs.SetClassifier(features, 2, lattices=lattices, **QUICK).fit(X, np.arange(60) % 3)
        random_models.randomise(model, rng)
        written = Written.of(model, tmp_path / "model.onnx")
        assert max(differences(model, X, written(pa.table(dict(zip(names, X.T, strict=True))))).values()) < CLOSE


@pytest.fixture(scope="module")
def classifier(tmp_path_factory):
    rng = np.random.default_rng(5)
    model = cs.SetClassifier(FEATURES, 2, **QUICK).fit(random_models.sets(rng, 60), np.arange(60) % 3)
    random_models.randomise(model, rng)
    model = with_support(model, rng)
    path = tmp_path_factory.mktemp("classifier") / "model.onnx"
    return model, Written.of(model, path), path


def test_batches_without_sets_or_tokens(classifier):
    model, written, _ = classifier
    X = random_models.sets(np.random.default_rng(6), 30)
    for name, values in written(X.slice(0, 0)).items():
        assert len(values) == 0, name
    empty = X.filter(pa.array([not row for row in X["stars"].to_pylist()]))
    assert len(empty)
    found = written(empty)
    assert max(differences(model, empty, found).values()) < CLOSE
    assert found["contributions"].shape == (0,)


def test_a_huge_set(classifier):
    model, written, _ = classifier
    X = random_models.sets(np.random.default_rng(7), 2, largest=60_000)
    assert max(differences(model, X, written(X)).values()) < CLOSE


def test_the_order_of_tokens_and_the_sets_of_a_batch_change_no_bit(classifier):
    _, written, _ = classifier
    rng = np.random.default_rng(8)
    X = random_models.sets(rng, 40, largest=30)
    whole = written(X)
    for start in (0, 20):
        part = written(X.slice(start, 20))
        assert (part["probabilities"] == whole["probabilities"][start : start + 20]).all()
    feeds = written.feeds(X)
    keys = np.repeat(np.arange(40), np.diff(feeds["offsets"])) + rng.random(feeds["offsets"][-1])
    order, of_tokens = np.argsort(keys), ("stars", "words", "store")
    moved = {name: values[order] if name in of_tokens else values for name, values in feeds.items()}
    assert (written.run(moved)["probabilities"] == whole["probabilities"]).all()


def test_another_runtime(classifier):
    """The reference of the standard, in numpy, knows nothing of ONNX Runtime."""
    model, written, path = classifier
    X = random_models.sets(np.random.default_rng(9), 30)
    found = ReferenceEvaluator(str(path)).run(None, written.feeds(X))
    names = [each.name for each in written.session.get_outputs()]
    assert max(differences(model, X, dict(zip(names, found, strict=True))).values()) < CLOSE


def test_edited_models(tmp_path):
    rng = np.random.default_rng(10)
    X = random_models.sets(rng, 60)
    model = cs.SetRegressor(FEATURES, **QUICK).fit(X, rng.normal(size=60)).as_model()
    editor = model.edit()
    editor.forbid("price").flatten("words", 30.0, 80.0)
    written = Written.of(editor.model, tmp_path / "model.onnx")
    assert "price" not in written.inputs
    found, left_out = written(X), X.drop_columns("price")
    np.testing.assert_allclose(found["prediction"], editor.model.predict(left_out), atol=CLOSE)
    explanation = editor.model.explain(left_out)
    tokens = explanation.tokens
    real = np.array([token is not None for token in tokens["token"].to_pylist()])
    np.testing.assert_allclose(found["contributions"], tokens["contribution"].to_numpy()[real], atol=CLOSE)


def test_loaded_models_and_files_of_the_first_version(tmp_path):
    rng = np.random.default_rng(11)
    X = random_models.sets(rng, 60)
    model = cs.SetRegressor(FEATURES, **QUICK).fit(X, rng.normal(size=60))
    model.save(tmp_path / "model.clearset")
    again = cs.load(tmp_path / "model.clearset")
    assert again.set_columns == ("price",)
    assert max(differences(again, X, Written.of(again, tmp_path / "model.onnx")(X)).values()) < CLOSE
    # They do not tell which features are of sets: then each token has a value.
    older = replace(again, set_columns=())
    written = Written.of(older, tmp_path / "model.onnx")
    full = X.filter(pa.array([bool(row) for row in X["stars"].to_pylist()]))
    feeds = written.feeds(full)
    feeds["price"] = np.repeat(feeds["price"], np.diff(feeds["offsets"]))
    np.testing.assert_allclose(written.run(feeds)["prediction"], model.predict(full), atol=CLOSE)


def test_what_the_file_says(classifier, tmp_path):
    _, written, path = classifier
    file = onnx.load(path)
    onnx.checker.check_model(file, full_check=True)
    assert {each.domain for each in file.opset_import} == {"", "ai.onnx.ml"}
    assert {node.domain for node in file.graph.node} <= {"", "ai.onnx.ml"}
    shapes = {each.name: [size.dim_param for size in each.type.tensor_type.shape.dim] for each in file.graph.input}
    assert shapes == {
        "offsets": ["sets_and_one"], "stars": ["tokens"], "words": ["tokens"], "store": ["tokens"], "price": ["sets"],
    }  # fmt: skip
    assert all(each.doc_string for each in [*file.graph.input, *file.graph.output])
    told = written.told
    assert told["estimator"] == "SetClassifier"
    assert told["clearset_version"] == cs.__version__
    assert json.loads(told["set_contributions"]) == ["price", cs.SIZE]
    assert set(json.loads(told["outputs"])) == {each.name for each in file.graph.output}


def test_names_that_onnx_does_not_allow(tmp_path):
    names = ["label", "1st", "_v0_0", "a b", "a_b", *random_models.HOSTILE]
    rng = np.random.default_rng(12)
    X = pa.table({name: rng.normal(size=40) for name in names})
    features = [cs.Feature(name) for name in names]
    model = cs.SetRegressor(features, lattices="ensemble", **QUICK).fit(X, rng.normal(size=40))
    written = Written.of(model, tmp_path / "model.onnx")
    assert [told["name"] for told in written.inputs.values()] == names
    assert all(name.isidentifier() and name.isascii() for name in written.inputs)
    assert max(differences(model, X, written(X)).values()) < CLOSE


def test_without_onnx(tmp_path, monkeypatch):
    model = cs.SetRegressor(random_state=0, epochs=1).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 4.0])
    monkeypatch.setattr("clearset.export._onnx_graph.find_spec", lambda _: None)
    with pytest.raises(ImportError, match=r"pip install 'clearset\[onnx\]'"):
        model.to_onnx(tmp_path / "model.onnx")
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_not_there(tmp_path):
    model = cs.SetRegressor(random_state=0, epochs=1).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 4.0])
    with pytest.raises(OSError, match="missing"):
        model.to_onnx(tmp_path / "missing" / "model.onnx")
