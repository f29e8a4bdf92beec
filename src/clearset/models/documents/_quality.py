"""How good a model is on given data, as plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from clearset.display import reliability
from clearset.functions import Link
from clearset.models._arrays import FloatArray, IntArray
from clearset.models.documents._shown_examples import ShownExamples
from clearset.sets import number, numbers

if TYPE_CHECKING:
    from clearset.models._model import Model

_MOST_POINTS = 400


def quality(model: Model, data: ShownExamples) -> dict[str, Any]:
    """Measure the predictions for labelled sets, and those of always predicting the same (``constant``).

    Parameters
    ----------
    model : Model
        A fitted model.
    data : ShownExamples
        Examples with labels, as the model reads them.

    Returns
    -------
    dict
        The number of examples ``n``, the ``metrics``, and what charts of them need, ready for JSON.
    """
    # There are ``points`` (label, prediction) of numbers, ``reliability`` (predicted, observed, count) of
    # probabilities.
    labels, outputs = data.labels, data.reading.outputs()
    assert labels is not None  # noqa: S101
    if not len(labels):
        return {"n": 0, "metrics": [], "points": [], "reliability": []}
    if model.link.classes is None:
        return _of_numbers(labels.astype(np.float64), model.link.estimates(outputs)[:, 0])
    return _of_classes(labels.astype(np.int64), outputs, model.link)


def _of_numbers(labels: FloatArray, predicted: FloatArray) -> dict[str, Any]:
    errors, spread = predicted - labels, labels - labels.mean()
    metrics = [
        _metric("typical error (RMSE)", _root(errors), _root(spread)),
        _metric("mean error (MAE)", np.abs(errors).mean(), np.abs(labels - np.median(labels)).mean()),
    ]
    if spread.any():
        metrics.append(_metric("explained (R²)", 1 - (errors**2).sum() / (spread**2).sum(), 0.0))
    chosen = np.random.default_rng(0).permutation(len(labels))[:_MOST_POINTS]
    points = numbers(np.stack([labels[chosen], predicted[chosen]], axis=1), 5)
    return {"n": len(labels), "metrics": metrics, "points": points, "reliability": []}


def _of_classes(labels: IntArray, outputs: FloatArray, link: Link) -> dict[str, Any]:
    n_classes = len(np.asarray(link.classes))
    counts = np.bincount(labels, minlength=n_classes)
    two = outputs.shape[1] == 1
    chosen = (outputs[:, 0] > 0).astype(np.int64) if two else outputs.argmax(axis=1)
    metrics = [_metric("accuracy", (chosen == labels).mean(), counts.max() / len(labels))]
    if n_classes > 3:
        best = np.argsort(-outputs, axis=1, kind="stable")[:, :3]
        often = np.sort(counts)[-3:].sum() / len(labels)
        metrics.append(_metric("among the best 3", (best == labels[:, None]).any(axis=1).mean(), often))
    if two and counts.all():
        metrics.append(_metric("AUC", _auc(labels == 1, outputs[:, 0]), 0.5))
    points: list[Any] = []
    if link.has_probabilities:
        shares = link.probabilities(outputs)
        prior = counts[counts > 0] / len(labels)
        constant = -(prior * np.log(prior)).sum()
        eps = np.finfo(np.float64).eps
        losses = -np.log(np.clip(shares[np.arange(len(labels)), labels], eps, 1 - eps))
        metrics.append(_metric("log loss", losses.mean(), constant))
        said = shares[:, 1] if two else shares.max(axis=1)
        true = labels == 1 if two else chosen == labels
        points = numbers(np.stack(reliability(said, true), axis=1), 5)
    return {"n": len(labels), "metrics": metrics, "points": [], "reliability": points}


def _auc(positive: npt.NDArray[np.bool_], scores: FloatArray) -> float:
    """Return the chance that a positive example has a higher score than a negative one; ties count half."""
    _, places, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[places]
    n_positive = int(positive.sum())
    above = ranks[positive].sum() - n_positive * (n_positive + 1) / 2
    return float(above / (n_positive * (len(positive) - n_positive)))


def _root(errors: FloatArray) -> float:
    return float(np.sqrt(np.mean(errors**2)))


def _metric(name: str, value: Any, constant: Any) -> dict[str, Any]:
    return {"name": name, "value": number(value, 5), "constant": number(constant, 5)}
