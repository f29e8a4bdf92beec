"""Fits on Spark DataFrames, against fits in this process."""

import numpy as np
import pyarrow as pa
import pytest

import clearset as cs

N = 2000


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(2)
    stars = [rng.integers(1, 6, size).astype(float).tolist() for size in rng.integers(1, 6, N)]
    sales = np.array([np.mean(row) for row in stars]) + 0.1 * rng.normal(size=N)
    return pa.table({"stars": stars, "price": rng.random(N), "sales": sales, "weight": rng.random(N)})


@pytest.fixture(scope="module")
def frame(spark, rows):
    return spark.createDataFrame(rows).coalesce(1)  # in the order of the rows


def estimator():
    features = [cs.Feature("stars", monotonic="increasing"), "price", cs.PLACE]
    return cs.SetRegressor(features, epochs=3, random_state=0)


def test_the_same_model_as_here(frame, rows, tmp_path):
    expected = estimator().fit(rows, rows["sales"].to_numpy(), sample_weight=rows["weight"].to_numpy())
    found = cs.spark.fit(estimator(), frame, "sales", sample_weight="weight", folder=tmp_path)
    np.testing.assert_array_equal(found.predict(rows), expected.predict(rows))
    assert list(tmp_path.iterdir()) == []


def test_two_processes_of_a_barrier_stage(frame, rows):
    pytest.importorskip("torch")
    expected = cs.spark.fit(estimator(), frame, "sales")
    found = cs.spark.fit(estimator(), frame, "sales", processes=2)
    assert isinstance(found, cs.SetRegressor)
    np.testing.assert_array_equal(found.predict(rows), expected.predict(rows))


def test_bad_input_is_refused(frame, rows, tmp_path):
    with pytest.raises(TypeError, match="DataFrame of Spark"):
        cs.spark.fit(estimator(), rows, "sales")
    with pytest.raises(TypeError, match="SetRegressor or a SetClassifier"):
        cs.spark.fit(cs.SemanticRegressor(), frame, "sales")
    with pytest.raises(TypeError, match="names of columns"):
        cs.spark.fit(estimator(), frame, rows["sales"])
    with pytest.raises(ValueError, match="sales"):
        cs.spark.fit(estimator(), frame, "sale")
    with pytest.raises(ValueError, match="processes is 0"):
        cs.spark.fit(estimator(), frame, "sales", processes=0)
    with pytest.raises(ValueError, match="no folder"):
        cs.spark.fit(estimator(), frame, "sales", folder=tmp_path / "missing")
