"""Cuisines of recipes, by their ingredients."""

from functools import partial
from typing import Any

from clearset.baselines import DeepSetsClassifier, MultiHotDNNClassifier
from clearset.datasets import load_recipes
from clearset.estimators import SemanticClassifier
from clearset.experiments._alternatives import LINEAR_SPACE, linear_on_categories
from clearset.experiments._models import EMBEDDING_SPACE, LARGE, LARGE_SPACE, SIX, model, network
from clearset.experiments._scores import precision_at
from clearset.experiments._task import Measure, Method, Parts, Task, as_sets, split
from clearset.experiments._token_sets import TokenSets
from clearset.tokens import Items, MaxSize, MinCount, Subsets

PAPER: dict[str, Any] = {"tokens": Subsets(3), "filters": [MinCount(5)], "cover": True}
SINGLE: dict[str, Any] = {"tokens": Items(), "filters": [MinCount(2)], "cover": False}
PAIRS: dict[str, Any] = {
    "tokens": Subsets(2),
    "filters": [MinCount(5) | (MinCount(2) & MaxSize(1))],
    "cover": False,
}
_SPACE = {
    "filters": [
        [MinCount(count) | (MinCount(least) & MaxSize(1))]
        for count, least in ((5, 2), (10, 2), (5, 3), (20, 2))
    ],
    "keypoints": [10, 5, 20],
}
_WORDS_SPACE = {"filters": [[MinCount(count)] for count in (2, 3, 5)], "keypoints": [10, 5, 20]}


def _load(folder: Any, seed: int, most: int | None, *, words: bool = False) -> Parts:
    return split(load_recipes(folder, words=words), seed, most)


def _token_sets(folder: Any, seed: int, most: int | None, *, setting: Any) -> Parts:
    return as_sets(_load(folder, seed, most), TokenSets(**setting, random_state=seed))


RECIPES = Task(
    name="recipes",
    title="Cuisines of recipes",
    text="""
Precision at 1 and at 3 among 20 cuisines, and the accuracy of the 20 questions "is it this cuisine?"; random
splits 70/10/20 of 39,774 recipes, each a set of lower-cased, stemmed ingredients. Deep Sets see the
statistics of the tokens named, out of fold: for at most 15 epochs all 20 probabilities of a token at once,
and they give 20 outputs (the paper's see one cuisine at a time).
""",
    measures=(Measure("prec@1", 4), Measure("prec@3", 4), Measure("binary accuracy", 4)),
    methods=(
        Method(
            "SFE, the paper's tokens and features, width 1",
            partial(model, SemanticClassifier, **PAPER, features=SIX, refine=False, width=1),
            "ingredients",
            paper={"prec@1": 0.710, "prec@3": 0.880, "binary accuracy": 0.973},
        ),
        Method(
            "SFE, the paper's tokens and features, width 4",
            partial(model, SemanticClassifier, **PAPER, features=SIX, refine=False, width=4),
            "ingredients",
            paper={"prec@1": 0.729, "prec@3": 0.890, "binary accuracy": 0.974},
        ),
        Method(
            "SFE, the paper's tokens, width 1",
            partial(model, SemanticClassifier, **PAPER, refine=False, width=1),
            "ingredients",
        ),
        Method(
            "SFE, ingredients and pairs, refined, width 1",
            partial(model, SemanticClassifier, **PAIRS, refine=1, width=1),
            "ingredients",
            _SPACE,
            {"prec@1": 0.710, "prec@3": 0.880, "binary accuracy": 0.973},
        ),
        Method(
            "SFE, ingredients and pairs, refined, width 4",
            partial(model, SemanticClassifier, **PAIRS, refine=1, width=4),
            "ingredients",
            _SPACE,
            {"prec@1": 0.729, "prec@3": 0.890, "binary accuracy": 0.974},
        ),
        Method(
            "SFE, ingredients and their words, refined, width 1",
            partial(model, SemanticClassifier, **SINGLE, refine=1, width=1),
            "ingredients and words",
            _WORDS_SPACE,
        ),
        Method(
            "Deep Sets, the paper's tokens",
            partial(network, DeepSetsClassifier, **LARGE),
            "the paper's tokens",
            LARGE_SPACE,
            {"prec@1": 0.707, "prec@3": 0.888, "binary accuracy": 0.973},
        ),
        Method(
            "Deep Sets, ingredients and pairs",
            partial(network, DeepSetsClassifier, **LARGE),
            "ingredients and pairs",
            LARGE_SPACE,
            {"prec@1": 0.707, "prec@3": 0.888, "binary accuracy": 0.973},
        ),
        Method(
            "DNN on ingredients",
            partial(network, MultiHotDNNClassifier),
            "ingredients",
            EMBEDDING_SPACE,
            {"prec@1": 0.728, "prec@3": 0.883, "binary accuracy": 0.974},
        ),
        Method("logistic regression on ingredients", linear_on_categories, "ingredients", LINEAR_SPACE),
        Method(
            "logistic regression on ingredients and words",
            linear_on_categories,
            "ingredients and words",
            LINEAR_SPACE,
        ),
    ),
    inputs={
        "ingredients": _load,
        "ingredients and words": partial(_load, words=True),
        "the paper's tokens": partial(_token_sets, setting=PAPER),
        "ingredients and pairs": partial(_token_sets, setting=PAIRS),
    },
    score=precision_at,
    loaders=(load_recipes,),
    highlights={
        "width 1": "SFE, ingredients and pairs, refined, width 1",
        "wider": "SFE, ingredients and pairs, refined, width 4",
        "Deep Sets": "Deep Sets, ingredients and pairs",
        "averaged or DNN": "DNN on ingredients",
        "today's alternative": "logistic regression on ingredients",
    },
)
