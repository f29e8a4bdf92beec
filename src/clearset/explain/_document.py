"""The document of a model: plain data with all that is needed to show and to evaluate it elsewhere."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from clearset.explain._examples import Examples
from clearset.explain._item_examples import ItemExamples
from clearset.explain._plain import entries, numbers
from clearset.explain._quality import quality
from clearset.explain._set_examples import SetExamples
from clearset.explain._tokens import MOST_BYTES, table_histogram, token_document
from clearset.sets import SIZE
from clearset.tokens import PER_SET

_LONGEST_PARAMETER = 400


def report_document(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    names: Sequence[str | None] | None = None,
    title: str | None = None,
) -> dict[str, Any]:
    """Describe a fitted model as plain data, ready for `json`.

    Parameters
    ----------
    model : SetRegressor, SetClassifier, SemanticFeatureEngine, SemanticClassifier or SemanticRegressor
        The model.
    X
        Sets, as for `fit`: for histograms, and for examples to begin with.
    y
        Their labels: for the quality.
    names
        What to call each of the sets; by default by their rows.
    title
        What the page is called; by default as the estimator is.

    Returns
    -------
    dict
        ``features`` with their keypoints or categories, ``function`` with all parameters, ``link`` from outputs to
        predictions, ``certificate``, ``history``, ``parameters``; of a token table ``tokens``; from X
        and y ``examples``, each feature's ``histogram``, ``quality``.

    Examples
    --------
    >>> import clearset as cs
    >>> from clearset.explain import report_document
    >>> model = cs.SetRegressor(random_state=0).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 4.0])
    >>> document = report_document(model)
    >>> document["estimator"], document["link"], document["features"][0]["keypoints"]
    ('SetRegressor', 'identity', [0.0, 1.0, 2.0])
    """
    check_is_fitted(model)
    if y is not None and X is None:
        raise ValueError("y has the labels of X, but X is None. Pass both, or neither.")
    if names is not None and X is None:
        raise ValueError("names are of the sets of X, but X is None. Pass both, or neither.")
    document = described_model(model, None if X is None else read_examples(model, X, y, names))
    return document | {"title": title or document["title"]}


def read_examples(model: Any, X: Any, y: Any = None, names: Sequence[str | None] | None = None) -> Examples:
    """Read sets as a model does; parameters as for `Examples`."""
    kind = ItemExamples if hasattr(model, "token_table_") else SetExamples
    return kind(model, X, y, names)


def described_model(model: Any, data: Examples | None, *, tokens: bool = True) -> dict[str, Any]:
    """Describe a fitted model, with examples that are read already, as `report_document` does.

    Parameters
    ----------
    model
        The model.
    data
        Examples.
    tokens
        Whether a token table's tokens, as many as fit, are part of it: a page that can ask for them needs none.
    """
    semantic, certificate = hasattr(model, "token_table_"), model.certificate_
    document: dict[str, Any] = {
        "title": type(model).__name__,
        "estimator": type(model).__name__,
        "semantic": semantic,
        "features": [_feature(model, d, data) for d in range(len(model.features_))],
        "function": _function(model),
        "loss": model.loss_,
        "link": _link(model),
        "classes": [str(label) for label in model.classes_.tolist()] if hasattr(model, "classes_") else None,
        "trusts": [
            {"feature": trust.feature, "by": trust.by, "shape": trust.shape} for trust in model.trusts_
        ],
        "certificate": [
            entries(described) | {"holds": check.holds}
            for described, check in zip(certificate.to_json(), certificate.checks, strict=True)
        ],
        "history": [entries(epoch) for epoch in model.history_],
        "best_epoch": int(model.best_epoch_),
        "parameters": {name: _shown(value) for name, value in model.get_params(deep=False).items()},
        "examples": [] if data is None else data.examples(),
        "n_sets": None if data is None else len(data),
        "quality": None if data is None or data.labels is None else quality(model, data),
    }
    if semantic:
        wanted = data.tokens_shown() if tokens and data is not None else None
        document["tokens"] = token_document(model, wanted, MOST_BYTES if tokens else 0)
    return document


def _feature(model: Any, d: int, data: Examples | None) -> dict[str, Any]:
    binning, feature = model.binning_, model.features_[d]
    keypoints, categories = binning.keypoints[d], binning.categories[d]
    monotonic = feature.monotonic
    return {
        "name": feature.name,
        "first": int(binning.slot_offsets[d]),
        "keypoints": None if keypoints is None else keypoints.tolist(),
        "categories": None if categories is None else [str(category) for category in categories],
        "monotonic": [list(map(str, pair)) for pair in feature.pairs] if feature.pairs else monotonic,
        "shape": feature.shape,
        "scope": _scope(model, feature.name, data),
        "histogram": _histogram(model, d, data),
    }


def _scope(model: Any, name: str, data: Examples | None) -> str:
    """Say what a feature's value belongs to: each token, the whole set, or its number of tokens."""
    if hasattr(model, "token_table_"):
        return "set" if name in PER_SET else "token"
    if name == SIZE:
        return "size"
    return "token" if data is None else data.scope(name)  # only data tell what belongs to whole sets


def _histogram(model: Any, d: int, data: Examples | None) -> dict[str, Any] | None:
    if data is not None and len(data):
        return data.histogram(d)
    return table_histogram(model, d) if hasattr(model, "token_table_") else None


def _function(model: Any) -> dict[str, Any]:
    function = model.set_function_
    tables = {name: numbers(table.detach().numpy()) for name, table in function.tables.items()}
    layout = function.phi.layout
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


def _link(model: Any) -> str:
    """Say how outputs become predictions."""
    if not hasattr(model, "classes_"):
        return "exp" if model.loss_ == "poisson" else "identity"
    if model.loss_ == "hinge":
        return "margin"
    if len(model.classes_) == 2:
        return "sigmoid"
    return "shares" if model.loss_ == "binary_log_loss" else "softmax"


def _shown(value: Any) -> str:
    with np.printoptions(threshold=20):
        text = repr(value)
    return text if len(text) <= _LONGEST_PARAMETER else f"{text[:_LONGEST_PARAMETER]} …"
