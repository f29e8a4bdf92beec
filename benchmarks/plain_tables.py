"""Small plain tables: set functions with the defaults beside linear models."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, log_loss, r2_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import clearset as cs
from benchmarks._results import write_table

SPLITS = 20
LOADERS: dict[str, Callable[..., Any]] = {
    "diabetes": load_diabetes,
    "breast cancer": load_breast_cancer,
    "wine": load_wine,
}


def scores(name: str, model: Any, parts: list[Any]) -> dict[str, float]:
    """Fit a model on one split; return how well it predicts the test part, more is better."""
    X_train, X_test, y_train, y_test = parts
    model.fit(X_train, y_train)
    if name == "diabetes":
        return {"R²": r2_score(y_test, model.predict(X_test))}
    shares = model.predict_proba(X_test)
    return {
        "accuracy": accuracy_score(y_test, model.predict(X_test)),
        "log likelihood": -log_loss(y_test, shares, labels=model.classes_),
    }


def compared() -> Iterator[tuple[object, ...]]:
    """Measure both models on every split of every table."""
    for name, load in LOADERS.items():
        X, y = load(return_X_y=True)
        found: dict[str, list[tuple[float, float]]] = {}
        for seed in range(SPLITS):
            of_classes = name != "diabetes"
            parts = train_test_split(X, y, test_size=0.25, random_state=seed, stratify=y if of_classes else None)
            linear = LogisticRegression(max_iter=1000) if of_classes else Ridge()
            ours = cs.SetClassifier(random_state=seed) if of_classes else cs.SetRegressor(random_state=seed)
            pair = [scores(name, model, parts) for model in (ours, make_pipeline(StandardScaler(), linear))]
            for measure in pair[0]:
                found.setdefault(measure, []).append((pair[0][measure], pair[1][measure]))
        for measure, pairs in found.items():
            own, other = np.array(pairs).T
            error = np.std(own - other, ddof=1) / np.sqrt(SPLITS)
            holds = "yes" if own.mean() >= other.mean() - error else "no"
            means = f"{own.mean():.4f}", f"{other.mean():.4f}", f"{(own - other).mean():+.4f} ± {error:.4f}"
            yield name, f"{len(X)} x {X.shape[1]}", measure, *means, f"{own.min():.4f}", f"{other.min():.4f}", holds


def main() -> None:
    """Compare the defaults with linear models."""
    write_table(
        "plain_tables",
        "Small plain tables",
        f"""
The tables that come with scikit-learn, of which each row is a set of one token: `SetRegressor()` and `SetClassifier()`
with nothing declared beside `Ridge()` and `LogisticRegression()` on scaled columns. Means over {SPLITS} random splits,
three quarters to train on; the difference with its standard error over the splits, whose training parts overlap. The
bar is the linear model's mean less one standard error.
""",
        (
            "table",
            "rows x columns",
            "measure",
            "set function",
            "linear",
            "difference",
            "worst split",
            "worst of linear",
            "bar",
        ),
        compared(),
    )


if __name__ == "__main__":
    main()
