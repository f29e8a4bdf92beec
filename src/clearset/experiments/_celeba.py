"""Attractive faces, by their attributes."""

from functools import partial
from typing import Any

from clearset.baselines import DeepSetsClassifier, MultiHotDNNClassifier
from clearset.datasets import load_celeba
from clearset.estimators import SemanticClassifier
from clearset.experiments._own_models import AS_PAPER, EMBEDDING_SPACE, deep_sets, engines, model, network
from clearset.experiments._scores import accuracy_and_auc
from clearset.experiments._sklearn_models import (
    BOOSTING_SPACE,
    LINEAR_SPACE,
    boosting_on_categories,
    linear_on_categories,
)
from clearset.experiments._task import Measure, Method, Parts, Task, as_sets, split
from clearset.experiments._token_sets import TokenSets
from clearset.tokens import Items, MaxInterval, Subsets

PAPER: dict[str, Any] = {"tokens": Subsets(), "filters": [MaxInterval(0.2)], "cover": True}
PAIRS: dict[str, Any] = {"tokens": Subsets(2), "filters": [MaxInterval(0.2)], "cover": False}
VALUES: dict[str, Any] = {"tokens": Items(), "filters": [MaxInterval(0.2)], "cover": False}
_SPACE = {"filters": [[MaxInterval(width)] for width in (0.2, 0.1, 0.4)], "refine": [2, 1], "keypoints": [10, 5, 20]}
_engines = partial(engines, SemanticClassifier)
_dnn = partial(network, MultiHotDNNClassifier)


def _load(folder: Any, seed: int, most: int | None, *, values: bool = False) -> Parts:
    return split(load_celeba(folder, values=values), seed, most)


def _token_sets(folder: Any, seed: int, most: int | None, *, setting: Any, values: bool = False) -> Parts:
    return as_sets(_load(folder, seed, most, values=values), TokenSets(**setting, random_state=seed))


CELEBA = Task(
    name="celeba",
    title="Attractive faces (CelebA)",
    text="""
Accuracy and AUC, random splits 70/10/20 of 202,599 faces. A face is the set of its attributes that are
present, out of 39. Tokens are subsets of attributes whose share of attractive faces is known to within an
interval of 0.2 (or what was chosen). Deep Sets see the statistics of the tokens named, out of fold; of pairs
and of attribute=value, 6 million tokens, for at most 15 epochs. "attribute=value" has a category for an
absent attribute too.
""",
    measures=(Measure("accuracy", 4), Measure("AUC", 4)),
    methods=(
        *_engines("the paper's tokens and features", "attributes", PAPER | AS_PAPER, {1: {"accuracy": 0.785}}),
        *_engines(
            "pairs, refined",
            "attributes",
            PAIRS | {"refine": 2},
            {1: {"accuracy": 0.785}, 4: {"accuracy": 0.786}},
            _SPACE,
        ),
        Method("SemanticClassifier, no options", partial(model, SemanticClassifier), "attributes"),
        deep_sets(DeepSetsClassifier, "the paper's tokens", {"accuracy": 0.785}),
        deep_sets(DeepSetsClassifier, "pairs", {"accuracy": 0.785}, large=True),
        deep_sets(DeepSetsClassifier, "attribute=value", {}, large=True),
        Method("DNN on attributes", _dnn, "attributes", EMBEDDING_SPACE, {"accuracy": 0.790}),
        Method("logistic regression on attributes", linear_on_categories, "attributes", LINEAR_SPACE),
        Method("gradient boosting on attributes", boosting_on_categories, "attributes", BOOSTING_SPACE),
    ),
    inputs={
        "attributes": _load,
        "the paper's tokens": partial(_token_sets, setting=PAPER),
        "pairs": partial(_token_sets, setting=PAIRS),
        "attribute=value": partial(_token_sets, setting=VALUES, values=True),
    },
    score=accuracy_and_auc,
    loaders=(load_celeba,),
    highlights={
        "width 1": "SFE, pairs, refined, width 1",
        "wider": "SFE, pairs, refined, width 4",
        "Deep Sets": "Deep Sets, pairs",
        "averaged or DNN": "DNN on attributes",
        "today's alternative": "gradient boosting on attributes",
    },
)
