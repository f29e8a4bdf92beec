"""What is measured of models."""

from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score


def mean_absolute_error(model: Any, X: Any, y: Any) -> dict[str, float]:
    """Of numbers."""
    return {"MAE": float(np.abs(model.predict(X) - y).mean())}


def mean_squared_error(model: Any, X: Any, y: Any) -> dict[str, float]:
    """Of numbers."""
    return {"MSE": float(np.square(model.predict(X) - y).mean())}


def accuracy_and_auc(model: Any, X: Any, y: Any) -> dict[str, float]:
    """Of two classes, 0 and 1."""
    shares = model.predict_proba(X)[:, 1]
    return {"accuracy": float(((shares > 0.5) == y).mean()), "AUC": float(roc_auc_score(y, shares))}


def precision_at(model: Any, X: Any, y: Any) -> dict[str, float]:
    """Of many classes: precision at 1 and at 3, and the accuracy of "is it this class?" over all classes."""
    shares = model.predict_proba(X)
    truth = y[:, None] == np.asarray(model.classes_)
    best = np.argsort(-shares, axis=1, kind="stable")[:, :3]
    right = np.take_along_axis(truth, best, axis=1)
    return {
        "prec@1": float(right[:, 0].mean()),
        "prec@3": float(right.any(axis=1).mean()),
        "binary accuracy": float(((shares > 0.5) == truth).mean()),
    }
