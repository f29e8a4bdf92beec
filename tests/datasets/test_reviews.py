import math
import statistics

import numpy as np
import pyarrow as pa
import pytest
from sklearn.linear_model import LinearRegression

from clearset.datasets import ReviewData, make_reviews

TOKENS = ["star_rating", "word_count", "num_helpful", "photo"]


@pytest.fixture(scope="module")
def reviews() -> ReviewData:
    return make_reviews(2000)


def test_truth_is_the_documented_set_function(reviews: ReviewData) -> None:
    def truth(row) -> float:
        size = len(row["star_rating"])
        scores = [
            (s - 3) / 2 * (0.15 + 0.85 * w / (w + 40) * h / (h + 3))
            + 0.1 * (0.5 if c is None else c)
            + 0.4 * math.log(size, 30)
            - 0.15 * math.log(row["price"] / 20)
            for s, w, h, c in zip(*(row[name] for name in TOKENS), strict=True)
        ]
        return 100 * math.exp(2.5 * statistics.fmean(scores))

    expected = [truth(row) for row in reviews.frame.to_pylist()]
    assert reviews.truth.tolist() == pytest.approx(expected, rel=1e-9)


def test_long_and_frame_hold_the_same(reviews: ReviewData) -> None:
    grouped: dict[int, list] = {}
    for row in reviews.long.to_pylist():
        grouped.setdefault(row["product"], []).append(row)
    for product in reviews.frame.to_pylist():
        rows = grouped.pop(product["product"])
        assert {row["price"] for row in rows} == {product["price"]}
        for name in TOKENS:
            assert [row[name] for row in rows] == product[name]
    assert not grouped


def test_distributions(reviews: ReviewData) -> None:
    sizes = [len(stars) for stars in reviews.frame["star_rating"].to_pylist()]
    assert (min(sizes), max(sizes)) == (1, 30)
    columns = {name: reviews.long[name].to_numpy(zero_copy_only=False) for name in TOKENS}
    stars, counts = np.unique(columns["star_rating"], return_counts=True)
    assert stars.tolist() == [1, 2, 3, 4, 5]
    assert counts.argmax() == 4
    for name in ("word_count", "num_helpful"):  # skewed to the right
        assert columns[name].mean() > 1.2 * np.median(columns[name])
        assert (columns[name] >= 0).all()
    assert 0.1 < np.isnan(columns["photo"]).mean() < 0.2
    assert set(columns["photo"][~np.isnan(columns["photo"])]) == {0, 1}


def test_noise(reviews: ReviewData) -> None:
    ratio = np.log(reviews.sales / reviews.truth)
    assert ratio.std() == pytest.approx(0.2, rel=0.1)
    assert (reviews.sales / reviews.truth).mean() == pytest.approx(1, abs=0.02)
    quiet = make_reviews(50, noise=0)
    np.testing.assert_array_equal(quiet.sales, quiet.truth)


def test_a_linear_model_of_averages_is_not_enough(reviews: ReviewData) -> None:
    rows = reviews.frame.to_pylist()
    averages = [
        [statistics.fmean(0.5 if v is None else v for v in row[name]) for name in TOKENS]
        + [row["price"], len(row["photo"])]
        for row in rows
    ]
    half = len(rows) // 2
    model = LinearRegression().fit(averages[:half], reviews.sales[:half])
    explained = np.corrcoef(reviews.truth[half:], reviews.sales[half:])[0, 1] ** 2
    assert model.score(averages[half:], reviews.sales[half:]) < explained - 0.15


def test_seed_and_errors() -> None:
    assert make_reviews(20).long.equals(make_reviews(20).long)
    assert not make_reviews(20).long.equals(make_reviews(20, random_state=1).long)
    assert isinstance(make_reviews(1).frame, pa.Table)
    with pytest.raises(ValueError, match="n_products must be at least 1, got -3"):
        make_reviews(-3)
    with pytest.raises(ValueError, match="noise must be a finite number of at least 0, got nan"):
        make_reviews(5, noise=float("nan"))
