from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from clearset.cli import main
from clearset.datasets import make_reviews

FEATURES = """
features:
  - {name: star_rating, monotonic: increasing}
  - num_helpful
  - price
  - {name: cs.SIZE, monotonic: increasing}
trusts:
  - {feature: star_rating, by: num_helpful}
"""


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder with the same reviews as list columns, as a long table, and with classes, and a model."""
    folder = tmp_path_factory.mktemp("reviews")
    reviews = make_reviews(600)
    sales = pa.array(reviews.sales)
    frame = reviews.frame.append_column("sales", sales)
    long = reviews.long.append_column("sales", sales.take(reviews.long["product"].combine_chunks()))
    pa.parquet.write_table(frame, folder / "sets.parquet")
    pa.csv.write_csv(long, folder / "long.csv")
    median = sorted(reviews.sales)[75]
    level = pa.array(["high" if value > median else "low" for value in reviews.sales])
    pa.parquet.write_table(reviews.frame.append_column("level", level), folder / "classes.parquet")
    (folder / "features.yaml").write_text(FEATURES)
    common = ["--features", str(folder / "features.yaml"), "--epochs", "3", "--seed", "0", "--quiet"]
    for data, label, model in (("sets", "sales", "regressor"), ("classes", "level", "classifier")):
        path = folder / f"{data}.parquet"
        assert main(["fit", str(path), "--label", label, "--output", str(folder / model), *common]) == 0
    return folder
