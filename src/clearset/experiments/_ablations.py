"""Ablations: how much each choice beyond the paper improves results."""

import time
from collections.abc import Mapping
from typing import Any, NamedTuple

from clearset.datasets import load_recipes, load_wine
from clearset.estimators import SemanticClassifier, SemanticRegressor
from clearset.experiments import _recipes, _wine
from clearset.experiments._own_models import SIX, model
from clearset.experiments._scores import mean_squared_error, precision_at
from clearset.experiments._task import Effort, Measure, Method, Task, fit
from clearset.sets import Trust


class _Setting(NamedTuple):
    """Options that differ from the usual ones: for both data sets, and for each."""

    both: Mapping[str, Any] = {}
    recipes: Mapping[str, Any] = {}
    wine: Mapping[str, Any] = {}


def _trusting(value: str, *others: str) -> dict[str, Any]:
    return {"features": (value, *others), "trusts": (Trust(value, by="count"),)}


_USUAL = ("count", "size", "entropy", "items", "tokens")
_SETTINGS: Mapping[str, _Setting] = {
    "everything as usual": _Setting(),
    "no cross-fitting": _Setting({"cross_fit": None}),
    "no shrinkage": _Setting({"shrinkage": 0.0}),
    "no refinement": _Setting({"refine": False}),
    "the cover instead of all tokens": _Setting({"cover": True}),
    "the cover, no refinement": _Setting({"cover": True, "refine": False}),
    "the paper's six features": _Setting({"features": SIX}),
    "count says how far to trust the value": _Setting(
        recipes=_trusting("log_odds", *_USUAL), wine=_trusting("mean_label", "count", "size", "items", "tokens")
    ),
    "Adagrad instead of Adam": _Setting({"optimizer": "adagrad", "learning_rate": 0.3}),
    "Light Touch instead of projection": _Setting({"constraints": "light_touch"}),
}


# Training examples: enough to tell choices apart.
_MOST = 10_000


class AblationTask(Task):
    """Trains an engine on recipes and one on wine, with one choice changed."""

    def describe(self, method: Method) -> list[Any]:
        """Return all that a setting's results depend on."""
        return [_SETTINGS[method.name], _recipes.PAIRS, _wine.OURS, _MOST]

    def run(
        self,
        method: Method,
        options: Mapping[str, Any],  # noqa: ARG002
        seed: int,
        folder: Any,
        effort: Effort,
    ) -> dict[str, Any]:
        """Fit both engines of a setting on one split each, and measure them."""
        setting = _SETTINGS[method.name]
        usual = {"width": 1, **setting.both}
        recipes = {**_recipes.PAIRS, "refine": 1, **usual, **setting.recipes}
        wine = {**_wine.OURS, "refine": 2, **usual, **setting.wine}
        measures: dict[str, float] = {}
        seconds = 0.0
        for name, kind, chosen, load, score in (
            ("recipes", SemanticClassifier, recipes, self.inputs["recipes"], precision_at),
            ("wine", SemanticRegressor, wine, self.inputs["wine"], mean_squared_error),
        ):
            parts = load(folder, seed, effort.examples or _MOST)
            engine = model(kind, seed, **chosen)
            start = time.perf_counter()
            fit(engine, parts.training, parts.validation)
            seconds += time.perf_counter() - start
            measures |= {f"{name} {key}": value for key, value in score(engine, *parts.test).items()}
        return {"test": measures, "validation": {}, "seconds": seconds}


ABLATIONS = AblationTask(
    name="ablations",
    title="What each choice buys",
    text="""
The Semantic Feature Engine of the tables, width 1, with one choice changed at a time: on recipes (ingredients
and pairs, refined) and on wine (subsets up to 3, refined), three random splits, 10,000 training examples and
a third as many to validate and to test. Nothing is tuned here.
""",
    measures=(Measure("recipes prec@1", 4), Measure("recipes prec@3", 4), Measure("wine MSE", 3, lower_is_better=True)),
    methods=tuple(Method(name, SemanticClassifier, "both") for name in _SETTINGS),
    inputs={"recipes": _recipes.RECIPES.inputs["ingredients"], "wine": _wine.WINE.inputs["adjectives"]},
    score=precision_at,
    loaders=(load_recipes, load_wine),
)
