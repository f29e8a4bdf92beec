"""Products with reviews, and sales that follow a known set function of them."""

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from clearset.datasets._arguments import Seed, check_count, make_generator
from clearset.datasets._list_columns import Floats, Ints, list_column
from clearset.sets import offsets_from_sizes

_LARGEST = 30


@dataclass(frozen=True, eq=False)
class ReviewData:
    """Products, their reviews and their sales, as `make_reviews` returns them.

    Attributes
    ----------
    frame : pyarrow.Table
        One row a product: ``product``, ``price``, and a list column for each of ``star_rating``,
        ``word_count``, ``num_helpful`` and ``photo``.
    long : pyarrow.Table
        The same with one row a review; ``product`` and ``price`` are repeated.
    sales : ndarray of shape (n_products,)
        What was sold: the truth with noise.
    truth : ndarray of shape (n_products,)
        What would be sold without noise, which is also the mean of `sales` given the reviews.

    Examples
    --------
    >>> from clearset.datasets import make_reviews
    >>> data = make_reviews(100)
    >>> data.frame.num_rows == len(data.sales) == len(data.truth), data.long.num_rows > 100
    (True, True)
    """

    frame: pa.Table = field(repr=False)
    long: pa.Table = field(repr=False)
    sales: Floats = field(repr=False)
    truth: Floats = field(repr=False)


def make_reviews(n_products: int = 1000, *, random_state: Seed = 0, noise: float = 0.2) -> ReviewData:
    """Make products with 1 to 30 reviews each, and their sales.

    With ``s`` the stars, ``w`` the words, ``h`` the helpful votes and ``c`` the photo of a review (one half where it is
    missing), and ``M`` the number of reviews and ``p`` the price of its product, ::

        phi = (s - 3) / 2 * (0.15 + 0.85 * w / (w + 40) * h / (h + 3))
              + 0.1 * c + 0.4 * log(M) / log(30) - 0.15 * log(p / 20)
        truth = 100 * exp(2.5 * mean of phi over the reviews)

    so sales rise with the stars of every review and with the number of reviews, and a long, helpful review
    counts several times as much as a short one that nobody voted for. Averaging the columns first loses that.

    Parameters
    ----------
    n_products : int, default=1000
        The number of sets.
    random_state : int, Generator or None, default=0
        The seed; None gives other data at every call.
    noise : float, default=0.2
        Standard deviation of the logarithm of the noise that the truth is multiplied with.

    Returns
    -------
    ReviewData
        Frame, long table, sales and truth.

    Examples
    --------
    >>> from clearset.datasets import make_reviews
    >>> reviews = make_reviews(100)
    >>> reviews.frame.column_names
    ['product', 'price', 'star_rating', 'word_count', 'num_helpful', 'photo']
    >>> len(reviews.frame) == len(reviews.sales) == 100
    True
    """
    check_count("n_products", n_products)
    if not 0 <= noise < np.inf:
        raise ValueError(f"noise must be a finite number of at least 0, got {noise!r}.")
    rng = make_generator(random_state)

    popularity = rng.gamma(1.2, 5.0, n_products)
    sizes = np.minimum(1 + rng.poisson(popularity), _LARGEST)
    offsets = offsets_from_sizes(sizes)
    product = np.repeat(np.arange(n_products), sizes)
    price = np.round(rng.lognormal(np.log(20), 0.5, n_products), 2)
    tokens = _draw_reviews(rng, rng.normal(0.8, 0.7, n_products)[product])

    truth = _sales(tokens, sizes, offsets, price)
    sales = truth * np.exp(noise * rng.standard_normal(n_products) - noise**2 / 2)
    keys = pa.array(np.arange(n_products))
    frame = pa.table(
        {"product": keys, "price": price, **{name: list_column(values, offsets) for name, values in tokens.items()}}
    )
    long = pa.table(
        {
            "product": product,
            "price": price[product],
            **{name: pa.array(values, from_pandas=True) for name, values in tokens.items()},
        }
    )
    return ReviewData(frame, long, sales, truth)


def _draw_reviews(rng: np.random.Generator, quality: Floats) -> dict[str, Floats]:
    """Draw one review for each entry of `quality`, the liking its product meets with."""
    n = len(quality)
    # A wide spread, cut at both ends, gives the many fives that real ratings have.
    star_rating = np.clip(np.round(3.2 + 1.1 * quality + 1.6 * rng.standard_normal(n)), 1, 5)
    # The unhappy write more.
    length = np.log(35) + 0.12 * (5 - star_rating) + 0.9 * rng.standard_normal(n)
    word_count = np.clip(np.round(np.exp(length)), 1, 600)
    num_helpful = rng.poisson(rng.gamma(0.5, 0.08 * word_count + 1.0)).astype(np.float64)
    photo = (rng.random(n) < 0.2).astype(np.float64)
    photo[rng.random(n) < 0.15] = np.nan
    return {"star_rating": star_rating, "word_count": word_count, "num_helpful": num_helpful, "photo": photo}


def _sales(tokens: dict[str, Floats], sizes: Ints, offsets: Ints, price: Floats) -> Floats:
    stars, words, helpful = tokens["star_rating"], tokens["word_count"], tokens["num_helpful"]
    weight = 0.15 + 0.85 * (words / (words + 40)) * (helpful / (helpful + 3))
    photo = np.nan_to_num(tokens["photo"], nan=0.5)
    means = np.add.reduceat((stars - 3) / 2 * weight + 0.1 * photo, offsets[:-1]) / sizes
    means += 0.4 * np.log(sizes) / np.log(_LARGEST) - 0.15 * np.log(price / 20)
    truth: Floats = 100 * np.exp(2.5 * means)
    return truth
