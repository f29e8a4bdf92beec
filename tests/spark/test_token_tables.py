"""Token tables counted by Spark, against those that this process counts."""

import decimal

import numpy as np
import pyarrow as pa
import pytest

import clearset as cs

N = 700


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    words = np.array([*(f"w{i}" for i in range(20)), "ä ö", "", "日本", "w1=w2"])
    frequency = 1 / np.arange(1, len(words) + 1)

    def sets(most):
        drawn = [rng.choice(words, rng.integers(0, most), p=frequency / frequency.sum()) for _ in range(N)]
        return [None if i % 50 == 7 else [None if word == "w19" else str(word) for word in drawn[i]] for i in range(N)]

    scored = rng.normal(size=N) ** 3
    return pa.table(
        {
            "items": pa.array(sets(8), pa.list_(pa.string())),
            "others": pa.array(sets(4), pa.list_(pa.string())),
            "text": [" ".join(word for word in row or [] if word) or None for row in sets(9)],
            "numbers": pa.array([[int(i % 7), None, int(i % 3)] for i in range(N)], pa.list_(pa.int32())),
            "three": rng.choice(["a", "bb", "ccc"], N),
            "truth": rng.random(N) < 0.3,
            "score": scored,
            "grade": pa.array(rng.integers(1, 6, N), pa.int16()),
            "money": pa.array([decimal.Decimal(int(100 * x)) / 100 for x in scored], pa.decimal128(12, 2)),
            "weight": rng.random(N) * (rng.random(N) < 0.8),
        }
    )


@pytest.fixture(scope="module")
def frame(spark, rows):
    return spark.createDataFrame(rows).repartition(2).persist()


def assert_same_table(found, expected):
    assert found.vocabulary.equals(expected.vocabulary)
    for name in ("items", "parents", "levels", "masks"):
        np.testing.assert_array_equal(getattr(found.index, name), getattr(expected.index, name), name)
    for name in ("held", "sums", "sizes", "passes"):
        mine, theirs = getattr(found.statistics, name), getattr(expected.statistics, name)
        assert mine.dtype == theirs.dtype
        np.testing.assert_array_equal(mine, theirs, name)
    assert found.statistics.centre == expected.statistics.centre
    np.testing.assert_array_equal(found.prior, expected.prior)
    assert (found.classes is None) == (expected.classes is None)
    if expected.classes is not None:
        assert found.classes.dtype == expected.classes.dtype
        np.testing.assert_array_equal(found.classes, expected.classes)
    assert (found.n_examples, found.task, found.filters) == (expected.n_examples, expected.task, expected.filters)
    assert found.to_arrow().equals(expected.to_arrow())


class FirstAndLast:
    """Somebody's own tokenizer."""

    def tokens(self, example):
        words = [word for word in example if word]
        return [*words[:1], tuple(words[-2:])] if words else []


CASES = [
    (cs.Items(), ["items"], "three", None, [cs.MinCount(3)]),
    (cs.Subsets(), ["items"], "score", "weight", [cs.MinCount(5)]),
    (cs.Subsets(max_size=3), ["items"], "grade", "weight", [cs.MinCount(4), cs.MaxInterval(0.9)]),
    (cs.NGrams(4), ["items"], "money", None, [cs.MinCount(3)]),
    (cs.NGrams(2), ["text"], "three", "weight", []),
    (cs.Cross("others", "items"), ["items", "others"], "truth", None, [cs.MinCount(4)]),
    (cs.Difference(0, 1, max_size=2), ["items", "others"], "score", None, [cs.MinCount(3) | cs.MaxSize(1)]),
    (cs.Items(), ["numbers"], "score", None, [lambda statistics: statistics.means > 0]),
    (FirstAndLast(), ["items"], "truth", "weight", [cs.MinCount(2)]),
    (cs.Subsets(2), ["items"], "three", None, [cs.MinCount(10_000)]),
]


@pytest.mark.parametrize(("tokens", "columns", "label", "weight", "filters"), CASES)
def test_the_same_table_as_here(frame, rows, tokens, columns, label, weight, filters):
    chosen = frame.select(*columns, label, *([] if weight is None else [weight]))
    found = cs.TokenTable.build(chosen, label, tokens, filters, sample_weight=weight)
    weights = None if weight is None else rows[weight]
    expected = cs.TokenTable.build(rows.select(columns), rows[label], tokens, filters, sample_weight=weights)
    assert_same_table(found, expected)
    assert found.examples is None


def test_what_is_rare_does_not_reach_the_driver(frame, monkeypatch):
    from pyspark.sql.classic.dataframe import DataFrame

    collected, to_arrow = [], DataFrame.toArrow
    monkeypatch.setattr(DataFrame, "toArrow", lambda self: collected.append(to_arrow(self)) or collected[-1])
    table = cs.TokenTable.build(frame.select("items", "truth"), "truth", cs.Subsets(3), [cs.MinCount(9)])
    counted = [found for found in collected if {"item", "key"} & set(found.column_names)]
    assert len(counted) == 3
    assert min(found["count"].to_numpy().min() for found in counted) == 9
    assert sum(map(len, counted)) == len(table)
    assert max(map(len, collected)) <= 2 * len(table)  # two classes


def test_data_of_this_process_on_spark(spark, rows):
    items, labels = rows["items"].to_pylist(), rows["three"].to_pylist()
    weights = rows["weight"].to_numpy()
    found = cs.TokenTable.build(items, labels, cs.NGrams(2), [cs.MinCount(3)], sample_weight=weights, engine=spark)
    assert_same_table(found, cs.TokenTable.build(items, labels, cs.NGrams(2), [cs.MinCount(3)], sample_weight=weights))


def test_data_of_spark_in_this_process(frame, rows):
    found = cs.TokenTable.build(frame.select("items", "truth"), "truth", cs.Items(), engine="local")
    assert_same_table(found, cs.TokenTable.build(rows.select(["items"]), rows["truth"], cs.Items()))
    assert found.examples is not None


@pytest.mark.parametrize(
    ("columns", "y", "options", "error", "message"),
    [
        (["items", "truth"], [1, 2], {}, TypeError, "y is the name of one of its columns; received a list"),
        (["items", "truth"], "thruth", {}, ValueError, "truth"),
        (["items", "truth", "three"], "truth", {}, ValueError, "2 columns"),
        (["score", "truth"], "truth", {}, TypeError, "score|fractions|double"),
        (["items", "others"], "others", {}, TypeError, "'others' of labels holds list"),
        (["items", "three"], "three", {"task": "number"}, TypeError, "'three' of labels holds string"),
        (["items", "truth", "three"], "truth", {"sample_weight": "three"}, TypeError, "'three' of weights"),
        (["items", "truth", "score"], "truth", {"sample_weight": "score"}, ValueError, "below 0"),
        (["items", "text"], "text", {}, ValueError, "dropna"),
        (["items", "truth"], "truth", {"engine": "dask"}, ValueError, "SparkSession"),
        (["items", "truth"], "truth", {"engine": 3}, ValueError, "SparkSession"),
    ],
)
def test_bad_input_is_refused(frame, columns, y, options, error, message):
    with pytest.raises(error, match=message):
        cs.TokenTable.build(frame.select(*columns), y, cs.Items(), **options)


def test_no_examples(frame):
    chosen = frame.select("items", "truth", "weight")
    with pytest.raises(ValueError, match="no examples"):
        cs.TokenTable.build(chosen.where("1 = 0").drop("weight"), "truth", cs.Items())
    with pytest.raises(ValueError, match="All weights are 0"):
        cs.TokenTable.build(chosen.where("weight = 0"), "truth", cs.Items(), sample_weight="weight")


def test_models_name_the_functions_for_spark(frame):
    with pytest.raises(TypeError, match=r"clearset\.spark"):
        cs.SemanticClassifier(cs.Items()).fit(frame.select("items"), ["a"] * N)
    with pytest.raises(TypeError, match=r"clearset\.spark"):
        cs.SetRegressor().fit(frame.select("score"), np.zeros(N))
