"""Churn: how many predictions change when a model is trained again."""

import time
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from clearset.baselines import MultiHotDNNClassifier
from clearset.datasets import load_celeba, load_recipes
from clearset.estimators import SemanticClassifier
from clearset.experiments import _celeba, _recipes
from clearset.experiments._own_models import EMBEDDING_SPACE, model, network
from clearset.experiments._scores import accuracy_and_auc
from clearset.experiments._sklearn_models import LINEAR_SPACE, linear_on_categories
from clearset.experiments._task import Effort, Measure, Method, Task, fit
from clearset.models import churn

# Of the training examples, those that each training sees.
_SHARE = 0.8
# Training parts, at most.
_MOST = 20_000
# What is added to a seed for the other training on the same data.
_OTHER_SEED = 1000


class ChurnTask(Task):
    """Trains thrice: on a sample, on the same sample with another seed, and on another sample."""

    def run(self, method: Method, options: Mapping[str, Any], seed: int, folder: Any, effort: Effort) -> dict[str, Any]:
        """Train a method thrice on one split, and compare on its test part."""
        parts = self.inputs[method.inputs](folder, seed, effort.examples or _MOST)
        rng = np.random.default_rng(seed)
        n = round(_SHARE * parts.training.n)
        samples = [parts.training.take(np.sort(rng.permutation(parts.training.n)[:n])) for _ in range(2)]
        start = time.perf_counter()
        first, again, other = (
            fit(method.make(number).set_params(**options), sample, parts.validation)
            for number, sample in ((seed, samples[0]), (seed + _OTHER_SEED, samples[0]), (seed, samples[1]))
        )
        seconds = (time.perf_counter() - start) / 3
        by_seed, by_data = (churn(first, second, parts.test.X) for second in (again, other))
        right = [fitted.predict(parts.test.X) == parts.test.y for fitted in (first, again, other)]
        measures = {
            "accuracy": float(np.mean([each.mean() for each in right])),
            "changed by another seed": by_seed.changed,
            "changed by other data": by_data.changed,
        }
        return {"test": measures, "validation": {}, "seconds": seconds}


def _engine(setting: Mapping[str, Any], **options: Any) -> Any:
    return partial(model, SemanticClassifier, **setting, width=1, **options)


CHURN = ChurnTask(
    name="churn",
    title="Churn",
    text="""
The share of test examples whose predicted class changes when a model is trained again: with another seed on
the same data, and with the same seed on other data. Every training sees a random 80% of 20,000 training
examples, so two of them share about 80% of their examples; test and validation parts stay. The paper expects
less churn of the Semantic Feature Engine (SFE) than of a network. Accuracy stands beside it, for a model that
is more often right has less to change its mind about.
""",
    measures=(
        Measure("accuracy", 4),
        Measure("changed by another seed", 4, lower_is_better=True),
        Measure("changed by other data", 4, lower_is_better=True),
    ),
    methods=(
        Method("recipes: SFE, ingredients and pairs, refined", _engine(_recipes.PAIRS, refine=1), "recipes"),
        Method("recipes: SFE, the paper's tokens", _engine(_recipes.PAPER, refine=False), "recipes"),
        Method("recipes: DNN", partial(network, MultiHotDNNClassifier), "recipes", EMBEDDING_SPACE),
        Method("recipes: logistic regression", linear_on_categories, "recipes", LINEAR_SPACE),
        Method("CelebA: SFE, pairs, refined", _engine(_celeba.PAIRS, refine=2), "CelebA"),
        Method("CelebA: SFE, the paper's tokens", _engine(_celeba.PAPER, refine=False), "CelebA"),
        Method("CelebA: DNN", partial(network, MultiHotDNNClassifier), "CelebA", EMBEDDING_SPACE),
        Method("CelebA: logistic regression", linear_on_categories, "CelebA", LINEAR_SPACE),
    ),
    inputs={"recipes": _recipes.RECIPES.inputs["ingredients"], "CelebA": _celeba.CELEBA.inputs["attributes"]},
    score=accuracy_and_auc,
    loaders=(load_recipes, load_celeba),
)
