"""Points of wines from the taste adjectives of their reviews."""

from functools import partial
from typing import Any

from clearset.baselines import DeepSetsRegressor, MultiHotDNNRegressor, SupportDistributionRegressor
from clearset.datasets import load_wine
from clearset.estimators import SemanticRegressor
from clearset.experiments._own_models import (
    AS_PAPER,
    EMBEDDING_SPACE,
    SUPPORT_SPACE,
    deep_sets,
    engines,
    model,
    network,
)
from clearset.experiments._scores import mean_squared_error
from clearset.experiments._sklearn_models import (
    BOOSTING_SPACE,
    RIDGE_SPACE,
    boosting_on_categories,
    ridge_on_categories,
)
from clearset.experiments._task import Measure, Method, Parts, Task, as_sets, split
from clearset.experiments._token_sets import TokenSets
from clearset.tokens import MinCount, Subsets

PAPER: dict[str, Any] = {"tokens": Subsets(), "filters": [MinCount(32)], "cover": True}
OURS: dict[str, Any] = {"tokens": Subsets(3), "filters": [MinCount(8)], "cover": False}
_SPACE = {
    "tokens": [Subsets(2), Subsets(3)],
    "filters": [[MinCount(count)] for count in (8, 16, 32)],
    "refine": [1, 2, 3],
    "keypoints": [5, 10, 20],
}
_WIDE_SPACE = _SPACE | {"width": [2, 4]}
_refined = partial(model, SemanticRegressor, **OURS, refine=2)
_dnn = partial(network, MultiHotDNNRegressor)
_support = partial(model, SupportDistributionRegressor)
_boosting = partial(boosting_on_categories, loss="squared_error")


def _load(folder: Any, seed: int, most: int | None) -> Parts:
    return split(load_wine(folder), seed, most)


def _token_sets(folder: Any, seed: int, most: int | None, setting: Any) -> Parts:
    return as_sets(_load(folder, seed, most), TokenSets(**setting, task="number", random_state=seed))


WINE = Task(
    name="wine",
    title="Points of wines from the adjectives of their reviews",
    text="""
Mean squared error of the points (80 to 100, variance 9.25), random splits 70/10/20. A wine is the set of
those of 39 frequent taste adjectives that its review uses. As close to the paper's task as public data allow:
the paper has 80,100 wines and does not name its adjectives; here are 61,360 reviews of the same magazine and
a list of our own. Set methods see subsets of adjectives with statistics out of fold.
""",
    measures=(Measure("MSE", 3, lower_is_better=True),),
    methods=(
        *engines(
            SemanticRegressor,
            "the paper's tokens and features",
            "adjectives",
            PAPER | AS_PAPER,
            {1: {"MSE": 7.19}, 4: {"MSE": 7.19}},
        ),
        Method("SFE, refined, width 1", partial(_refined, width=1), "adjectives", _SPACE, {"MSE": 7.19}),
        Method("SFE, refined, width 2 to 4", partial(_refined, width=4), "adjectives", _WIDE_SPACE, {"MSE": 7.19}),
        deep_sets(DeepSetsRegressor, "the paper's tokens", {"MSE": 7.26}),
        deep_sets(DeepSetsRegressor, "subsets up to 3", {"MSE": 7.26}),
        Method("DNN on categories", _dnn, "adjectives", EMBEDDING_SPACE, {"MSE": 7.20}),
        Method("support distributions, the paper's tokens", _support, "the paper's tokens", SUPPORT_SPACE),
        Method("ridge regression on categories", ridge_on_categories, "adjectives", RIDGE_SPACE),
        Method("gradient boosting on categories", _boosting, "adjectives", BOOSTING_SPACE),
    ),
    inputs={
        "adjectives": _load,
        "the paper's tokens": partial(_token_sets, setting=PAPER),
        "subsets up to 3": partial(_token_sets, setting=OURS),
    },
    score=mean_squared_error,
    loaders=(load_wine,),
    highlights={
        "width 1": "SFE, refined, width 1",
        "wider": "SFE, refined, width 2 to 4",
        "Deep Sets": "Deep Sets, subsets up to 3",
        "averaged or DNN": "DNN on categories",
        "today's alternative": "gradient boosting on categories",
    },
)
