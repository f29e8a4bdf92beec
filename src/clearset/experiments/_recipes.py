"""Cuisines of recipes, by their ingredients."""

from functools import partial
from typing import Any

from clearset.baselines import DeepSetsClassifier, MultiHotDNNClassifier
from clearset.datasets import load_recipes
from clearset.estimators import SemanticClassifier
from clearset.experiments._own_models import AS_PAPER, EMBEDDING_SPACE, deep_sets, engines, model, network
from clearset.experiments._scores import precision_at
from clearset.experiments._sklearn_models import LINEAR_SPACE, linear_on_categories
from clearset.experiments._task import Measure, Method, Parts, Task, as_sets, split
from clearset.experiments._token_sets import TokenSets
from clearset.tokens import Items, MaxSize, MinCount, Subsets, Union, Words

PAPER: dict[str, Any] = {"tokens": Subsets(3), "filters": [MinCount(5)], "cover": True}
SINGLE: dict[str, Any] = {"tokens": Items(), "filters": [MinCount(2)], "cover": False}
PAIRS: dict[str, Any] = {"tokens": Subsets(2), "filters": [MinCount(5) | (MinCount(2) & MaxSize(1))], "cover": False}
UNION: dict[str, Any] = PAIRS | {"tokens": Union(Subsets(2), Words())}
_SPACE = {
    "filters": [
        [MinCount(count) | (MinCount(least) & MaxSize(1))] for count, least in ((5, 2), (10, 2), (5, 3), (20, 2))
    ],
    "keypoints": [10, 5, 20],
}
_WORDS_SPACE = {"filters": [[MinCount(count)] for count in (2, 3, 5)], "keypoints": [10, 5, 20]}
_MEASURES = ("prec@1", "prec@3", "binary accuracy")


def _figures(*figures: float) -> dict[str, float]:
    return dict(zip(_MEASURES, figures, strict=True))


_engines = partial(engines, SemanticClassifier)
_dnn = partial(network, MultiHotDNNClassifier)
_PAPER_ENGINES = {1: _figures(0.710, 0.880, 0.973), 4: _figures(0.729, 0.890, 0.974)}
_PAPER_DEEP_SETS = _figures(0.707, 0.888, 0.973)


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
    measures=tuple(Measure(name, 4) for name in _MEASURES),
    methods=(
        *_engines("the paper's tokens and features", "ingredients", PAPER | AS_PAPER, _PAPER_ENGINES),
        *_engines("the paper's tokens", "ingredients", PAPER | {"refine": False}, {1: {}}),
        *_engines("ingredients and pairs, refined", "ingredients", PAIRS | {"refine": 1}, _PAPER_ENGINES, _SPACE),
        *_engines(
            "ingredients and their words, refined",
            "ingredients and words",
            SINGLE | {"refine": 1},
            {1: {}},
            _WORDS_SPACE,
        ),
        *_engines("ingredients, pairs and their words, refined", "ingredients", UNION | {"refine": 2}, {1: {}, 4: {}}),
        Method("SemanticClassifier, no options", partial(model, SemanticClassifier), "ingredients"),
        deep_sets(DeepSetsClassifier, "the paper's tokens", _PAPER_DEEP_SETS, large=True),
        deep_sets(DeepSetsClassifier, "ingredients and pairs", _PAPER_DEEP_SETS, large=True),
        Method("DNN on ingredients", _dnn, "ingredients", EMBEDDING_SPACE, _figures(0.728, 0.883, 0.974)),
        *(
            Method(f"logistic regression on {inputs}", linear_on_categories, inputs, LINEAR_SPACE)
            for inputs in ("ingredients", "ingredients and words")
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
        "width 1": "SFE, ingredients, pairs and their words, refined, width 1",
        "wider": "SFE, ingredients, pairs and their words, refined, width 4",
        "Deep Sets": "Deep Sets, ingredients and pairs",
        "averaged or DNN": "DNN on ingredients",
        "today's alternative": "logistic regression on ingredients",
    },
)
