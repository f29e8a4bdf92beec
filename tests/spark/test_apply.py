"""Models applied to Spark DataFrames, against their own methods."""

import doctest

import numpy as np
import pyarrow as pa
import pytest

import clearset as cs
from clearset.spark._model_bytes import ModelBytes

N = 300


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(1)
    sizes = rng.integers(0, 5, N)
    stars = [None if i % 40 == 3 else rng.integers(1, 6, size).tolist() for i, size in enumerate(sizes)]
    words = [rng.choice(["lime", "salt", "feta", "chili", "oil"], size).tolist() for size in sizes]
    return pa.table(
        {
            "key": np.arange(N),
            "stars": pa.array(stars, pa.list_(pa.int64())),
            "price": pa.array(rng.random(N), mask=rng.random(N) < 0.1),
            "shop": pa.array(rng.choice(["a", "b"], N)),
            "words": words,
            "sales": rng.random(N) * 10,
            "kind": np.array(["x", "y", "z"])[rng.integers(0, 3, N)],
        }
    )


@pytest.fixture(scope="module")
def frame(spark, rows):
    return spark.createDataFrame(rows).repartition(2).persist()


QUICK = {"epochs": 2, "random_state": 0}


@pytest.fixture(scope="module")
def regressor(rows):
    return cs.SetRegressor(["stars", "price", cs.Feature("shop", kind="categorical")], **QUICK).fit(
        rows, rows["sales"].to_numpy()
    )


@pytest.fixture(scope="module")
def semantic(rows):
    return cs.SemanticClassifier(cs.Subsets(2), features=["log_odds", "count"], **QUICK).fit(
        rows.select(["words"]), rows["kind"]
    )


def in_order(df):
    return df.toArrow().sort_by("key")


def test_predict_numbers(frame, rows, regressor):
    found = cs.spark.predict(regressor, frame)
    assert found.columns == [*frame.columns, "prediction"]
    assert found.schema[:-1] == frame.schema
    table = in_order(found)
    np.testing.assert_array_equal(table["prediction"].to_numpy(), regressor.predict(rows))
    assert table["stars"].to_pylist() == rows["stars"].to_pylist()


def test_predict_classes_and_probabilities(frame, rows, semantic):
    found = cs.spark.predict_proba(semantic, cs.spark.predict(semantic, frame, output="best"), columns="words")
    table = in_order(found.select("key", "best", "probability"))
    assert table["best"].to_pylist() == semantic.predict(rows.select(["words"])).tolist()
    expected = semantic.predict_proba(rows.select(["words"]))
    np.testing.assert_array_equal(np.stack(table["probability"].to_numpy()), expected)


def test_transform_and_frozen_models(frame, rows, semantic):
    engine, X = semantic.as_model(), rows.select(["words"])
    found = cs.spark.transform(engine, frame).select("key", "words", "estimate")
    table = in_order(cs.spark.predict(semantic.freeze(), found, columns=["words"]))
    np.testing.assert_array_equal(np.stack(table["estimate"].to_numpy()), engine.transform(X))
    assert table["prediction"].to_pylist() == semantic.freeze().predict(X).tolist()


@pytest.mark.parametrize("details", [False, True])
def test_rows_of_explanations(frame, rows, regressor, semantic, details):
    for model, columns in ((regressor, ["stars", "price", "shop"]), (semantic, ["words"])):
        expected = model.explain(rows.select(columns)).to_frame(details=details)
        found = cs.spark.explain(model, frame, "key", details=details).toArrow()
        assert found.column_names == ["key", *expected.column_names[1:]]
        found = found.take(pa.array(np.argsort(found["key"].to_numpy(), kind="stable")))
        assert found["key"].to_pylist() == expected["set"].to_pylist()
        for name in expected.column_names[1:]:
            assert found[name].to_pylist() == expected[name].to_pylist(), name


def test_a_label_to_explain_and_several_keys(frame, semantic):
    found = cs.spark.explain(semantic, frame.limit(5), ["key", "shop"], label="y")
    assert found.columns[:2] == ["key", "shop"]
    assert {row["label"] for row in found.collect()} == {"y"}


def test_a_model_is_read_once_in_a_process(regressor):
    sent = ModelBytes.of(regressor)
    assert sent.load() is ModelBytes(*sent).load()
    assert sent.content[:2] == b"PK"  # an artifact, no pickle


def test_bad_input_is_refused(frame, rows, regressor, semantic):
    with pytest.raises(TypeError, match="DataFrame of Spark"):
        cs.spark.predict(regressor, rows)
    with pytest.raises(TypeError, match=r"df is a str"):
        cs.spark.explain(regressor, "rows.parquet", "key")
    with pytest.raises(ValueError, match="output="):
        cs.spark.predict(regressor, frame, output="key")
    with pytest.raises(ValueError, match="words"):
        cs.spark.predict(semantic, frame, columns="word")
    with pytest.raises(ValueError, match="key"):
        cs.spark.explain(semantic, frame, "kee")
    with pytest.raises(AttributeError, match="numbers"):
        cs.spark.predict_proba(regressor.as_model(), frame)
    with pytest.raises(TypeError, match="not explained in rows"):
        cs.spark.explain(semantic.freeze(), frame, "key")
    with pytest.raises(TypeError, match=r"clearset\.spark"):
        regressor.predict(frame)
    with pytest.raises(TypeError, match="fitted model"):
        ModelBytes.of(3)


@pytest.mark.parametrize("name", cs.spark.__all__)
def test_examples_of_doc_strings(spark, name):
    text = getattr(cs.spark, name).__doc__.replace("  # doctest: +SKIP", "")  # they need a session
    example = doctest.DocTestParser().get_doctest(text, {"session": spark}, name, None, 0)
    outcome = doctest.DocTestRunner().run(example)
    assert outcome.attempted
    assert not outcome.failed
