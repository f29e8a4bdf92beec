import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import clearset as cs
from clearset.datasets import load_intent
from clearset.experiments._ngrams import NGramFeatures

NAMES = (
    "rate",
    "ending",
    "beginning",
    "log_count",
    "order",
    "interval",
    "letters",
    "position",
    "share",
    "words",
    "known",
)
TRAINING = [
    ("renew passport online", 1),
    ("renew passport", 1),
    ("passport renewal", 1),
    ("café renew", 0),
    ("café crème brûlée", 0),
    ("crème brûlée", 0),
    ("the the the cat", 0),
    ("the the cat", 1),
    ("online", 1),
    ("", 0),
    ("   ", 1),
    (" a  b\tc ", 0),
    ("日本語 パスポート", 1),
    ("日本語 天気", 0),
    ("renewing a passport the online", 0),
]
QUERIES = [
    "renew passport online",
    "the the the the",
    "online",
    "unknown",
    "",
    "  ",
    "brûlée crème",
    " crème   brûlée unknown renew ",
    "日本語 パスポート 日本語 天気",
    "a b",
    "passports renew passports",
    "the cat the cat x y z",
]


def grams(words: list[str], max_order: int) -> list[tuple[int, tuple[str, ...]]]:
    return [
        (start, tuple(words[start : start + order]))
        for order in range(1, max_order + 1)
        for start in range(len(words) - order + 1)
    ]


def rate(labels: list[int], shrinkage: float, prior: float) -> float:
    return (sum(labels) + shrinkage * prior) / (len(labels) + shrinkage)


def wilson_width(p: float, n: int) -> float:
    z = 1.959963984540054
    low, high = (
        (p + z * z / (2 * n) + sign * z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))) / (1 + z * z / n)
        for sign in (-1, 1)
    )
    return min(high, 1.0) - max(low, 0.0)


def by_hand(query: str, training: list[tuple[str, int]], max_order: int, min_count: int) -> list[list[float]]:
    prior = sum(label for _, label in training) / len(training)

    def holding(token: tuple[str, ...]) -> list[int]:
        return [y for text, y in training if token in {gram for _, gram in grams(text.split(), max_order)}]

    def part(text: str, *, end: bool) -> float:
        cut = slice(-3, None) if end else slice(0, 3)
        labels = [y for row, y in training if text[cut] in [word[cut] for word in row.split()]]
        return rate(labels, 5, prior) if len(labels) >= 5 else math.nan

    words = query.split()
    every = grams(words, max_order)
    known = [len(holding(gram)) >= min_count for _, gram in every]
    tokens = []
    for (start, gram), is_known in zip(every, known, strict=True):
        order, labels = len(gram), holding(gram)
        if not is_known and order > 1:
            continue
        tokens.append(
            [
                rate(labels, 2, prior) if is_known else math.nan,
                part(gram[-1], end=True),
                part(gram[0], end=False),
                math.log(1 + len(labels)) if is_known else math.nan,
                order,
                wilson_width(sum(labels) / len(labels), len(labels)) if is_known else math.nan,
                sum(map(len, gram)) / order,
                0.0 if order == len(words) else start / (len(words) - order),
                order / len(words),
                len(words),
                sum(known) / len(known),
            ]
        )
    return tokens


@pytest.mark.parametrize(("max_order", "min_count"), [(3, 2), (2, 1), (1, 3)])
@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_features_are_those_of_plain_python(max_order: int, min_count: int, kind: pa.DataType) -> None:
    # Some more, so that some endings and beginnings are in five queries.
    training = [*TRAINING, ("sport on", 1), ("report on", 0), ("passing on", 1), ("a passport", 0)]
    texts, y = zip(*training, strict=True)
    features = NGramFeatures(max_order, min_count).fit(pa.array(texts, kind), y)
    queries = [*QUERIES, *texts]
    sets = features.transform(pa.array(queries, kind))
    assert sets.feature_names == NAMES
    assert len(sets) == len(queries)
    for place, query in enumerate(queries):
        expected = by_hand(query, training, max_order, min_count)
        np.testing.assert_allclose(
            sets[place].values, np.array(expected).reshape(-1, len(NAMES)), rtol=1e-12, err_msg=query
        )
    missing = np.isnan(sets.values).mean(axis=0)
    assert (missing[[0, 1, 2, 3, 5]] > 0).all()
    assert (missing[:6] < 1).all()
    assert (missing[[4, 6, 7, 8, 9, 10]] == 0).all()


def test_chunks_slices_and_nulls() -> None:
    texts, y = map(list, zip(*TRAINING, strict=True))
    features = NGramFeatures().fit(pa.array(texts), y)
    whole = features.transform(pa.array([*QUERIES, ""]))
    others: list[Any] = [
        pa.chunked_array([pa.array(QUERIES[:5]), pa.array([*QUERIES[5:], None])]),
        pa.array(["first", *QUERIES, None, "last"])[1:-1],
    ]
    for other in others:
        found = features.transform(other)
        np.testing.assert_array_equal(found.values, whole.values)
        np.testing.assert_array_equal(found.offsets, whole.offsets)


def test_no_words_at_all() -> None:
    features = NGramFeatures().fit(pa.array(["", " "]), [0, 1])
    for queries, tokens in ((["", "a b"], 2), ([""], 0), ([], 0)):
        sets = features.transform(pa.array(queries, pa.string()))
        assert (len(sets), sets.n_tokens) == (len(queries), tokens)


def test_the_rate_is_of_the_second_class() -> None:
    texts = pa.array(["a", "a", "b", "b"])
    sets = NGramFeatures().fit(texts, ["other", "gov", "other", "other"]).transform(texts)
    assert sets.column("rate")[0].tolist() == pytest.approx([2.5 / 4, 2.5 / 4, 3.5 / 4, 3.5 / 4])


def test_errors() -> None:
    with pytest.raises(ValueError, match=r"y holds 3 classes, \[0, 1, 2\]"):
        NGramFeatures().fit(pa.array(["a", "b", "c"]), [0, 1, 2])
    with pytest.raises(TypeError, match="texts is a list"):
        NGramFeatures().fit(["a"], [0])


def test_queries() -> None:
    """Known words of the real queries tell the label, and a model may rise with the rate."""
    try:
        queries = load_intent(length_matched=True)
    except FileNotFoundError as error:
        pytest.skip(str(error))
    X, y = queries.X[:9000], queries.y[:9000]
    features = NGramFeatures().fit(X[:4000], y[:4000])
    training, test = features.transform(X[4000:8000]), features.transform(X[8000:])
    model = cs.SetClassifier(
        [cs.Feature("rate", monotonic="increasing"), cs.Feature("ending", monotonic="increasing"), "known"],
        epochs=20,
        random_state=0,
    ).fit(training, y[4000:8000])
    assert model.score(test, y[8000:]) > 0.55
