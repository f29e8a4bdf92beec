"""Recipes on Spark: count tokens, fit, predict and explain; the results are Parquet files.

Run it from the top of the project, with a folder for what it writes:

    spark-submit --master "local[2]" examples/spark_job.py demo/spark

On a cluster the folder is one that driver and executors share, and clearset is installed on all of them.
"""

import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession

import clearset as cs

CUISINES = {"greek": ["feta", "olives", "oregano"], "thai": ["lime", "chili", "coconut"], "french": ["butter", "wine"]}
COMMON = ["salt", "oil", "onion", "garlic"]


def recipes(n: int, seed: int = 0) -> pa.Table:
    """Generate recipes: items that a cuisine is known for, among items that all have."""
    rng = np.random.default_rng(seed)
    cuisines = rng.choice(list(CUISINES), n)
    items = [
        [*rng.choice(CUISINES[cuisine], rng.integers(0, 3)), *rng.choice(COMMON, rng.integers(1, 4), replace=False)]
        for cuisine in cuisines
    ]
    minutes = 10.0 * np.array([len(row) for row in items]) + rng.normal(size=n)
    lists = pa.array([[str(item) for item in row] for row in items])
    return pa.table({"recipe": np.arange(n), "items": lists, "cuisine": cuisines, "minutes": minutes})


def main(folder: Path) -> None:
    """Count, fit, predict and explain."""
    spark = SparkSession.builder.appName("clearset").getOrCreate()
    df = spark.createDataFrame(recipes(3000)).repartition(4)

    # Counted on the executors; the driver sees tokens that are frequent enough.
    table = cs.TokenTable.build(df.select("items", "cuisine"), "cuisine", cs.Subsets(2), [cs.MinCount(20)])
    print(table)
    table.save(folder / "tokens.parquet")

    # A model of a sample is applied to all rows where they are.
    sample = df.sample(fraction=0.5, seed=0).toArrow()
    model = cs.SemanticClassifier(cs.Subsets(2), epochs=20, random_state=0)
    model.fit(sample.select(["items"]), sample["cuisine"])
    predicted = cs.spark.predict(model, df)
    predicted.write.mode("overwrite").parquet((folder / "predictions").resolve().as_uri())
    right = predicted.where("prediction = cuisine").count() / df.count()
    print(f"{right:.0%} of the cuisines are predicted")

    explained = cs.spark.explain(model, df.limit(100), "recipe")
    explained.write.mode("overwrite").parquet((folder / "explanations").resolve().as_uri())
    model.save(folder / "model.clearset")
    spark.stop()


if __name__ == "__main__":
    target = Path(sys.argv[1] if len(sys.argv) > 1 else "demo/spark")
    target.mkdir(parents=True, exist_ok=True)
    main(target)
