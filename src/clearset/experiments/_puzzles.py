"""Sales of puzzles from their reviews."""

from functools import partial
from typing import Any

from clearset.baselines import (
    AveragedDNNRegressor,
    AveragedLinearRegressor,
    DeepSetsRegressor,
    SupportDistributionRegressor,
)
from clearset.datasets import load_puzzles
from clearset.estimators import SetRegressor
from clearset.experiments._own_models import model
from clearset.experiments._scores import mean_absolute_error
from clearset.experiments._sklearn_models import BOOSTING_SPACE, boosting_on_averages
from clearset.experiments._task import Measure, Method, Parts, Task, sample
from clearset.sets import SIZE, Feature

FEATURES = (
    Feature("star_rating", monotonic="increasing"),
    Feature("word_count"),
    Feature(SIZE, monotonic="increasing"),
)
_LATTICE: dict[str, Any] = {
    "learning_rate": (0.01, 0.1, "log"),
    "epochs": (50, 300, "log"),
    "keypoints": (5, 20),
    "smoothness": (10.0, 1000.0, "log"),
}
_NETWORK: dict[str, Any] = {
    "learning_rate": (3e-4, 3e-2, "log"),
    "epochs": (10, 300, "log"),
    "weight_decay": (1e-6, 1e-1, "log"),
}
_WIDE_LATTICE = _LATTICE | {"width": [2, 3, 4]}
_WIDE_NETWORK = _NETWORK | {"width": (8, 64, "log")}
_SUPPORT: dict[str, Any] = {"gamma": (0.01, 10.0, "log"), "alpha": (1e-3, 100.0, "log")}
# There are too few products to keep some aside for early stopping.
_OPTIONS: dict[str, Any] = {"features": FEATURES, "loss": "absolute_error", "early_stopping": False}
_set_function = partial(model, SetRegressor, **_OPTIONS)
_averaged_linear = partial(model, AveragedLinearRegressor, **_OPTIONS)
_averaged_dnn = partial(model, AveragedDNNRegressor, **_OPTIONS)
_deep_sets = partial(model, DeepSetsRegressor, **_OPTIONS)
_support = partial(model, SupportDistributionRegressor, features=FEATURES)
_boosting = partial(boosting_on_averages, features=FEATURES, loss="absolute_error")
# The paper's figures.
_WIDTH_1, _WIDER = {"MAE": 7502}, {"MAE": 7737}


def _load(folder: Any, seed: int, most: int | None) -> Parts:  # noqa: ARG001
    puzzles = load_puzzles(folder)
    return Parts(sample(puzzles.training, most), None, puzzles.test)


PUZZLES = Task(
    name="puzzles",
    title="Sales of puzzles from their reviews",
    text="""
Mean absolute error of the sales of 199 products in one half-year, learned from those of 155 products in an
earlier one. A token is a review with its stars and words; the number of reviews is a feature of the set;
stars and number may only raise sales. Every method learns from all training products, with 5 seeds; options
are the defaults, or chosen by 5-fold cross-validation on the training products, which so few can hardly tell
apart. 154 of the training products are among those of the later half-year: what follows single products closely
has less to lose there than on products that are new, of which cross-validation tells. The data are in other units
than the paper's: compare methods, not absolute errors.
""",
    measures=(Measure("MAE", 1, lower_is_better=True),),
    methods=(
        Method("set function, width 1, defaults", partial(_set_function, width=1), "reviews", paper=_WIDTH_1),
        Method("set function, width 2, defaults", partial(_set_function, width=2), "reviews", paper=_WIDER),
        Method("averaged, DNN, defaults", _averaged_dnn, "reviews"),
        Method("Deep Sets, defaults", _deep_sets, "reviews"),
        Method("set function, width 1, tuned", partial(_set_function, width=1), "reviews", _LATTICE, _WIDTH_1),
        Method("set function, width 2 to 4, tuned", partial(_set_function, width=2), "reviews", _WIDE_LATTICE, _WIDER),
        Method("averaged, linear", _averaged_linear, "reviews", _NETWORK, {"MAE": 8221}),
        Method("averaged, DNN, tuned", _averaged_dnn, "reviews", _WIDE_NETWORK),
        Method("Deep Sets, tuned", _deep_sets, "reviews", _WIDE_NETWORK, {"MAE": 8323}),
        Method("support distributions", _support, "reviews", _SUPPORT),
        Method("gradient boosting on averages", _boosting, "reviews", BOOSTING_SPACE),
    ),
    inputs={"reviews": _load},
    score=mean_absolute_error,
    loaders=(load_puzzles,),
    highlights={
        "width 1": "set function, width 1, tuned",
        "wider": "set function, width 2 to 4, tuned",
        "Deep Sets": "Deep Sets, tuned",
        "averaged or DNN": "averaged, linear",
        "today's alternative": "gradient boosting on averages",
    },
    scoring="neg_mean_absolute_error",
    seeds=5,
    folds=5,
)
