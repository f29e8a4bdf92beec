"""What a web query is after, by its n-grams."""

from functools import partial
from typing import Any

from clearset.baselines import (
    AveragedDNNClassifier,
    AveragedLinearClassifier,
    DeepSetsClassifier,
    SupportDistributionClassifier,
)
from clearset.datasets import Labelled, load_intent
from clearset.estimators import SemanticClassifier, SetClassifier
from clearset.experiments._ngrams import NGramFeatures
from clearset.experiments._own_models import NETWORK_SPACE, SUPPORT_SPACE, model, network
from clearset.experiments._scores import accuracy_and_auc
from clearset.experiments._sklearn_models import (
    BOOSTING_SPACE,
    LINEAR_SPACE,
    boosting_on_averages,
    linear_on_categories,
)
from clearset.experiments._task import Measure, Method, Parts, Task, split
from clearset.sets import Feature
from clearset.tokens import MinCount, NGrams

_INCREASING = ("rate", "ending")
_OTHERS = (
    "beginning", "log_count", "order", "interval", "letters", "position", "share", "words", "known",
)  # fmt: skip
FEATURES = (*(Feature(name, monotonic="increasing") for name in _INCREASING), *map(Feature, _OTHERS))
# Of the training queries, those that the n-grams' statistics are made of; the others train the models.
_TOKEN_SHARE = 0.75
_LATTICE: dict[str, Any] = {
    "learning_rate": (0.003, 0.03, "log"),
    "smoothness": (10.0, 300.0, "log"),
    "keypoints": (5, 20),
}
_WIDE = _LATTICE | {"width": [2, 3, 4]}
_LINEAR_NETWORK = {name: limits for name, limits in NETWORK_SPACE.items() if name != "width"}


def _texts(folder: Any, seed: int, most: int | None, *, length_matched: bool) -> Parts:
    return split(load_intent(folder, length_matched=length_matched), seed, most, (0.8, 0.1, 0.1))


def _ngrams(folder: Any, seed: int, most: int | None, *, length_matched: bool) -> Parts:
    training, validation, test = _texts(folder, seed, most, length_matched=length_matched)
    for_tokens, for_models = training.split((_TOKEN_SHARE, 1 - _TOKEN_SHARE), random_state=seed)
    features = NGramFeatures().fit(*for_tokens)
    held = None if validation is None else Labelled(features.transform(validation.X), validation.y)
    return Parts(
        Labelled(features.transform(for_models.X), for_models.y), held, Labelled(features.transform(test.X), test.y)
    )


_sets = partial(
    model, SetClassifier, features=FEATURES, lattices="full", learning_rate=0.01, epochs=60, batch_size=64, patience=20
)  # fmt: skip
_linear, _dnn, _deep_sets = (
    partial(network, kind, features=FEATURES)
    for kind in (AveragedLinearClassifier, AveragedDNNClassifier, DeepSetsClassifier)
)
_support = partial(model, SupportDistributionClassifier, features=FEATURES)
_boosting = partial(boosting_on_averages, features=FEATURES)
_METHODS = (
    Method("set function, width 1", partial(_sets, width=1), "n-grams", _LATTICE, {"accuracy": 0.643}),
    Method("set function, width 2 to 4", partial(_sets, width=2), "n-grams", _WIDE, {"accuracy": 0.646}),
    Method("averaged, linear", _linear, "n-grams", _LINEAR_NETWORK, {"accuracy": 0.610}),
    Method("averaged, DNN", _dnn, "n-grams", NETWORK_SPACE, {"accuracy": 0.624}),
    Method("Deep Sets", _deep_sets, "n-grams", NETWORK_SPACE, {"accuracy": 0.643}),
    Method("support distributions", _support, "n-grams", SUPPORT_SPACE),
    Method("gradient boosting on averages", _boosting, "n-grams", BOOSTING_SPACE),
    Method(
        "logistic regression on n-grams (all training queries)",
        partial(linear_on_categories, tokens=NGrams(2)),
        "texts",
        LINEAR_SPACE,
    ),
    Method(
        "SFE, words and pairs of words, refined, width 1 (all training queries)",
        partial(model, SemanticClassifier, tokens=NGrams(2), cover=False, refine=1, width=1),
        "texts",
        {"filters": [[MinCount(count)] for count in (2, 5, 10)], "keypoints": [10, 5, 20]},
    ),
)
_TEXT = """
Is a query after government information? Accuracy and AUC, random splits 8/1/1 of {rows}. Of the training
queries, three quarters make the statistics of n-grams and one quarter trains the models. A token is an n-gram
of up to 3 words with eleven features: its rate, the rates of its ending and beginning, count, order,
interval, letters, position, share of the query, words of the query, and how much of the query is known. The
set functions may only rise with the rates of n-gram and ending. The paper's data are its own, so compare
methods, not figures. The last two rows learn from the words themselves, by all training queries.
"""


def _task(name: str, title: str, rows: str, *, length_matched: bool) -> Task:
    return Task(
        name=name,
        title=title,
        text=_TEXT.format(rows=rows),
        measures=(Measure("accuracy", 4), Measure("AUC", 4)),
        methods=_METHODS,
        inputs={
            "n-grams": partial(_ngrams, length_matched=length_matched),
            "texts": partial(_texts, length_matched=length_matched),
        },
        score=accuracy_and_auc,
        loaders=(partial(load_intent, length_matched=length_matched),),
        group="intent",
        seeds=5,
        highlights={
            "width 1": "set function, width 1",
            "wider": "set function, width 2 to 4",
            "Deep Sets": "Deep Sets",
            "averaged or DNN": "averaged, DNN",
            "today's alternative": "gradient boosting on averages",
        },
    )


INTENT = _task("intent", "Intent of queries", "99,723 queries", length_matched=False)
INTENT_LENGTH_MATCHED = _task(
    "intent-length-matched",
    "Intent of queries, lengths matched",
    "34,366 queries whose lengths are distributed alike in both classes",
    length_matched=True,
)
