"""Sales from reviews: from a long table to a checked, saved model.

Run it from the top of the project: python examples/reviews.py
"""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv

import clearset as cs
from clearset.datasets import make_reviews

reviews = make_reviews(2000)
train, test = slice(0, 1600), slice(1600, 2000)
# With one row a review to begin with. pandas and polars frames work the same way.
products = cs.from_long(reviews.long, by="product", set_columns=["price"])

model = cs.SetRegressor(
    [
        cs.Feature("star_rating", monotonic="increasing"),
        "word_count",
        "num_helpful",
        "photo",
        "price",
        cs.Feature(cs.SIZE, monotonic="increasing"),
    ],
    trusts=[cs.Trust("star_rating", by="num_helpful")],
    random_state=0,
)
model.fit(products.slice(0, 1600), reviews.sales[train])

predicted = model.predict(products.slice(1600))
print(f"mean absolute error {np.abs(predicted - reviews.sales[test]).mean():.1f}")
print(f"of a constant       {np.abs(reviews.sales[train].mean() - reviews.sales[test]).mean():.1f}")
print(model.verify())

# The score of every review of the first test product: its sales follow from the mean of these.
scores, offsets = model.phi(products.slice(1600))
print(scores[offsets[0] : offsets[1], 0])

# The same from the command line:
#   clearset fit demo/reviews.csv --label sales --by product --set-columns price \
#       --features examples/features.yaml
folder = Path("demo")
folder.mkdir(exist_ok=True)
model.save(folder / "example.clearset")
sales = pa.array(reviews.sales[reviews.long["product"].to_numpy()])
pa.csv.write_csv(reviews.long.append_column("sales", sales), folder / "reviews.csv")
