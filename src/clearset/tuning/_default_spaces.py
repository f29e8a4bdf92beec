"""The space that is searched for each estimator if none is named."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from clearset.estimators import JointModel, is_auto
from clearset.sets import read_labels
from clearset.tokens import Items, MaxInterval, MaxSize, MinCount, NGrams, Subsets, read_details
from clearset.training import smallest_tokens
from clearset.tuning._metric import tells_classes

# A tuple is a range, a list holds choices. The names are those of the classes, without Regressor or Classifier.
_SEMANTIC: Mapping[str, Any] = {
    "tokens": "by the examples: items, pairs and triples, or words and n-grams",
    "filters": "by the labels: least counts, and greatest widths of intervals",
    "cover": [True, False],
    "refine": [0, 1, 2],
    "width": (1, 4),
    "learning_rate": (0.005, 0.1, "log"),
    "epochs": (20, 120, "log"),
    "keypoints": (5, 20),
}
_NETWORK: Mapping[str, Any] = {
    "width": (8, 128, "log"),
    "learning_rate": (1e-4, 3e-2, "log"),
    "epochs": (10, 200, "log"),
    "weight_decay": (1e-7, 1e-1, "log"),
}
_SETS: Mapping[str, Any] = {
    "width": (1, 4),
    "learning_rate": (0.003, 0.3, "log"),
    "epochs": (30, 400, "log"),
    "keypoints": (4, 30, "log"),
    "smoothness": (1.0, 10_000.0, "log"),
}
SPACES: Mapping[str, Mapping[str, Any]] = {
    "Set": _SETS,
    # Engines choose their tokens themselves.
    "JointModel": {
        "learning_rate": (0.001, 0.02, "log"),
        **{f"follow_on__{name}": limits for name, limits in _SETS.items()},
    },
    "Semantic": _SEMANTIC,
    "SemanticFeatureEngine": _SEMANTIC,
    "AveragedLinear": {name: limits for name, limits in _NETWORK.items() if name != "width"},
    "AveragedDNN": _NETWORK,
    "DeepSets": _NETWORK,
    "MultiHotDNN": {"embedding": (8, 128, "log"), "combiner": ["sum", "mean"], **_NETWORK},
    "SupportDistribution": {"gamma": (1e-3, 10.0, "log"), "alpha": (1e-6, 10.0, "log")},
}
_COUNTS = (5, 10, 30)
# In standard deviations of the label.
_INTERVALS = (0.2, 0.4, 0.8)


def default_space(estimator: Any, X: Any, y: Any) -> dict[str, Any]:
    """Return the space that `tune` searches if none is named.

    Parameters
    ----------
    estimator : estimator
        One of this package.
    X, y : array-like
        The examples and their labels; tokens and thresholds depend on them.

    Returns
    -------
    dict
        The choices or the range of each parameter, as `tune` takes them.

    Examples
    --------
    >>> import clearset as cs
    >>> from clearset.tuning import default_space
    >>> default_space(cs.SetRegressor(), [[1.0], [2.0]], [1.0, 2.0])["learning_rate"]
    (0.003, 0.3, 'log')
    """
    estimator = declared_in_full(estimator, X, y)
    parameters = estimator.get_params()
    space = {name: limits for name, limits in _table_of(estimator).items() if name in parameters}
    if "filters" in space:
        # The deviation of labels, of which 0.5 is the largest for classes.
        classes = tells_classes(estimator, y)
        space["filters"] = _filters(0.5 if classes else float(np.std(read_labels(y, len(y), "number").values)))
        space["tokens"] = _tokens(X, parameters)
        if not space["tokens"]:
            del space["tokens"]
    return space


def declared_in_full(estimator: Any, X: Any, y: Any) -> Any:
    """Return an estimator; of a joint model one with the parts that it chooses by the data, so that these can be set.

    Parameters
    ----------
    estimator : estimator
        Any.
    X, y : array-like
        The examples and their labels.

    Returns
    -------
    estimator
        The estimator.
    """
    return estimator.declared(X, y) if isinstance(estimator, JointModel) else estimator


def _table_of(estimator: Any) -> Mapping[str, Any]:
    for kind in type(estimator).__mro__:
        name = kind.__name__.removesuffix("Regressor").removesuffix("Classifier")
        if kind.__module__.startswith("clearset.") and name in SPACES:
            return SPACES[name]
    raise ValueError(
        f"There is no default space for {type(estimator).__name__}. Name what to search, such as "
        "space={'alpha': (0.01, 100.0, 'log')}."
    )


def _tokens(X: Any, parameters: Mapping[str, Any]) -> list[Any]:
    """Return tokenizers of one, two and three items; none for pairs of columns and own tokenizers, which stay."""
    tokens = parameters["tokens"]
    if is_auto(tokens):
        tokens = smallest_tokens(read_details(X, parameters["details"])[0])
    if isinstance(tokens, NGrams):
        return [NGrams(order, split=tokens.split) for order in (1, 2, 3)]
    return [Items(), Subsets(2), Subsets(3)] if isinstance(tokens, Items) else []


def _filters(unit: float) -> list[Any]:
    """Return filters by count, and by interval in units of the labels' deviation."""
    widths = [float(f"{width * unit:.2g}") for width in _INTERVALS]
    return [
        [MinCount(5) | (MinCount(2) & MaxSize(1))],
        *([MinCount(count)] for count in _COUNTS),
        *([MaxInterval(width)] for width in widths if width > 0),
    ]
