"""The document of a model: plain data with all that is needed to show and to evaluate it elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from clearset.functions import enough
from clearset.models._importance import importance_by_contribution
from clearset.models.documents._quality import quality
from clearset.models.documents._shown_examples import ShownExamples
from clearset.sets import entries, numbers

if TYPE_CHECKING:
    from clearset.models._model import Model

_LONGEST_PARAMETER = 400
# Features and tokens are ranked by about so many sets, and so many tokens are listed.
MOST_RANKED_SETS, MOST_RANKED_TOKENS = 2000, 30


def report_document(
    model: Any, X: Any = None, y: Any = None, *, names: Sequence[str | None] | None = None, title: str | None = None
) -> dict[str, Any]:
    """Describe a fitted model as plain data, ready for `json`.

    Parameters
    ----------
    model : Model, or a fitted estimator
        The model.
    X : frame, SetData or array-like, optional
        Sets, as for `fit`: for histograms, and for examples to begin with.
    y : array-like of shape (n,), optional
        Their labels: for the quality.
    names : sequence of str, optional
        What to call each of the sets; by default by their rows.
    title : str, optional
        The title of the page; by default the name of the estimator.

    Returns
    -------
    dict
        ``features`` with their keypoints or categories, ``function`` with all parameters, ``link`` from outputs to
        predictions, ``certificate``, ``edits`` in words, ``history``, ``parameters``; of a token table ``tokens``; from
        X and y ``examples``, each feature's ``histogram``, ``quality``, ``importance``.

    Examples
    --------
    >>> import clearset as cs
    >>> from clearset.models import report_document
    >>> model = cs.SetRegressor(random_state=0).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 4.0])
    >>> document = report_document(model)
    >>> document["estimator"], document["link"], document["features"][0]["keypoints"]
    ('SetRegressor', 'identity', [0.0, 1.0, 2.0])
    """
    if y is not None and X is None:
        raise ValueError("y has the labels of X, but X is None. Pass both, or neither.")
    if names is not None and X is None:
        raise ValueError("names are of the sets of X, but X is None. Pass both, or neither.")
    model = model.as_model()
    document = described_model(model, None if X is None else model.examples(X, y, names))
    return document | {"title": title or document["title"]}


def described_model(model: Model, data: ShownExamples | None, *, tokens: bool = True) -> dict[str, Any]:
    """Describe a fitted model, with examples that are read already, as `report_document` does.

    Parameters
    ----------
    model : Model
        A fitted model.
    data : ShownExamples or None
        The examples.
    tokens : bool, default=True
        Whether to include as many tokens of a token table as fit; pages can ask a server for them.

    Returns
    -------
    dict
        The document, ready for JSON.
    """
    certificate, classes = model.certificate, model.link.classes
    measured = None if data is None or data.labels is None else quality(model, data)
    document: dict[str, Any] = {
        "title": model.estimator,
        "estimator": model.estimator,
        "semantic": model.semantic,
        "told_apart": model.tells_features_apart,
        "features": [_feature(model, d, data) for d in range(len(model.binning.features))],
        "function": _function(model),
        "loss": model.link.loss,
        "link": model.link.name,
        "nothing": None if model.link.nothing is None else model.link.nothing.tolist(),
        "support": _support(model),
        "classes": None if classes is None else [str(label) for label in classes.tolist()],
        "trusts": [asdict(trust) for trust in model.trusts],
        "certificate": [
            entries(described) | {"holds": check.holds}
            for described, check in zip(certificate.to_json(), certificate.checks, strict=True)
        ],
        "edits": [str(logged) for logged in model.edits],
        "card": model.carded(measured).to_dict()["sections"],
        "history": [entries(epoch) for epoch in model.record.history],
        "best_epoch": int(model.record.best_epoch),
        "parameters": {name: _shown(value) for name, value in model.parameters.items()},
        "examples": [] if data is None else data.at(data.chosen),
        "n_sets": None if data is None else len(data),
        "quality": measured,
        "importance": None if data is None or not len(data) else _importance(model, data),
    }
    if model.semantic:
        document["tokens"] = model.token_document(data, with_tokens=tokens)
    return document | model.further_document(data)


def _feature(model: Model, d: int, data: ShownExamples | None) -> dict[str, Any]:
    binning, feature = model.binning, model.binning.features[d]
    keypoints, categories = binning.keypoints[d], binning.categories[d]
    monotonic = feature.monotonic
    return {
        "name": feature.name,
        "first": int(binning.slot_offsets[d]),
        "keypoints": None if keypoints is None else keypoints.tolist(),
        "categories": None if categories is None else [str(category) for category in categories],
        "monotonic": [list(map(str, pair)) for pair in feature.pairs] if feature.pairs else monotonic,
        "shape": feature.shape,
        "scope": model.scope(feature) if data is None else data.scope(feature),
        "histogram": data.histogram(d) if data is not None and len(data) else model.histogram(d),
    }


def _function(model: Model) -> dict[str, Any]:
    function = model.function
    tables = {name: numbers(table) for name, table in function.tables.items()}
    layout = function.layout
    return {
        "width": function.width,
        "outputs": function.outputs,
        "sizes": list(layout.sizes),
        "subsets": [list(subset) for subset in layout.subsets],
        "calibration": tables["phi.calibration"],
        "vertices": tables["phi.vertices"],
        "rho": {
            "calibrators": tables["rho.calibrators"],
            "vertices": tables["rho.vertices"],
            "output": tables["rho.output"],
        },
    }


def _support(model: Model) -> dict[str, Any]:
    support = model.support
    slots = [model.binning.slots_of(feature.name) for feature in model.binning.features]
    return {
        "base": support.base.tolist(),
        "tokens": support.tokens,
        "alone": support.share_of_one,
        "enough": enough(float(support.counts[slots[0].start : slots[0].stop + 1].sum())),
        "counts": numbers(support.counts),
        "usual": [numbers(support.usual(model.function.calibration, each), 15) for each in slots],
    }


def _importance(model: Model, data: ShownExamples) -> dict[str, Any]:
    """Rank features and tokens by their contributions to the predictions of some of the examples."""
    found = importance_by_contribution(model, data.reading, None, "pyarrow", MOST_RANKED_SETS)
    tokens = None if found.tokens is None else found.tokens.slice(0, MOST_RANKED_TOKENS).to_pylist()
    features = [{"name": row["feature"], "contribution": row["contribution"]} for row in found.features.to_pylist()]
    return {"features": features, "tokens": tokens, "unit": found.unit, "n_sets": found.n_sets}


def _shown(value: Any) -> str:
    with np.printoptions(threshold=20):
        text = repr(value)
    return text if len(text) <= _LONGEST_PARAMETER else f"{text[:_LONGEST_PARAMETER]} …"
