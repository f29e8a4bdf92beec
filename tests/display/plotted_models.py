"""Models of all kinds to draw, and what is seen of a figure."""

from functools import cache

import numpy as np
import pyarrow as pa

import clearset as cs

HOSTILE = ["<script>alert(1)</script>", "$\\frac{_x_$", "_" + "x" * 10_000, "\u202e\u05e9\u05dc\u05d5\u05dd\n"]
QUICK = {"epochs": 1, "early_stopping": False, "random_state": 0, "n_jobs": 1}


def make_sets(n, seed=0, stores=("flea_market", "$flagship$", "kiosk")):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(0, 6, n)
    sizes[0] = 5

    def ragged(draw, kind):
        rows = [[None if rng.random() < 0.1 else draw() for _ in range(size)] for size in sizes]
        return pa.array(rows, pa.list_(kind))

    return pa.table(
        {
            "star_rating": ragged(lambda: float(rng.integers(1, 6)), pa.float64()),
            "words": ragged(lambda: float(np.round(rng.lognormal(3.0, 2.0))), pa.float64()),
            "store": ragged(lambda: str(rng.choice(stores)), pa.string()),
            "price": pa.array([None if rng.random() < 0.1 else float(rng.gamma(2.0)) for _ in range(n)]),
        }
    )


FEATURES = ["star_rating", "words", cs.Feature("store", kind="categorical"), "price", cs.SIZE]
DATA = make_sets(120)
LABELS = {
    "number": np.random.default_rng(1).normal(50.0, 20.0, 120),
    "two": np.random.default_rng(1).choice(["no", "yes"], 120),
    "three": np.random.default_rng(1).choice(["a", "b", "_c"], 120),
}
CASES = {
    "number": (cs.SetRegressor, "number", {}),
    "number, width 4": (cs.SetRegressor, "number", {"width": 4}),
    "two": (cs.SetClassifier, "two", {}),
    "hinge": (cs.SetClassifier, "two", {"loss": "hinge"}),
    "three": (cs.SetClassifier, "three", {}),
    "three, width 4": (cs.SetClassifier, "three", {"width": 4}),
    "three, hinge": (cs.SetClassifier, "three", {"loss": "hinge"}),
}
BASKETS = [
    np.random.default_rng(seed).choice(["salt", "lime", "feta", "$a_b$"], seed % 4).tolist() for seed in range(80)
]
KINDS = np.array(["thai" if "lime" in basket else "greek" for basket in BASKETS])
SEMANTIC = {
    "semantic number": (cs.SemanticRegressor, [float(len(basket)) + 0.5 for basket in BASKETS], {}),
    "semantic two": (cs.SemanticClassifier, KINDS, {}),
    "semantic three, width 4": (cs.SemanticClassifier, np.arange(80) % 3, {"width": 4}),
    "engine": (cs.SemanticFeatureEngine, KINDS, {}),
}
ALL = [*CASES, *SEMANTIC]


@cache
def fitted(case):
    """Return a model with random parameters, sets and labels."""
    if case in CASES:
        kind, labels, options = CASES[case]
        model, X, y = kind(FEATURES, **options, **QUICK), DATA, LABELS[labels]
    else:
        kind, y, options = SEMANTIC[case]
        model, X = kind(tokens=cs.Subsets(2), refine=False, **options, **QUICK), BASKETS
    model.fit(X, y)
    rng = np.random.default_rng(len(case))
    for name, table in model.set_function_.tables.items():
        low = 0.0 if name in ("phi.calibration", "rho.calibrators") else -1.0
        table[:] = rng.uniform(low, 1.0, table.shape)
    return model, X, y


@cache
def trained(case):
    """Return a model as it was fitted, so that what adds up does, and sets."""
    if case in CASES:
        kind, labels, options = CASES[case]
        return kind(FEATURES, **options, **QUICK | {"epochs": 10}).fit(DATA, LABELS[labels]), DATA
    kind, y, options = SEMANTIC[case]
    model = kind(tokens=cs.Subsets(2), refine=False, **options, **QUICK | {"epochs": 10})
    return model.fit(BASKETS, y), BASKETS


def render(figure):
    """Draw a figure in full: warnings, such as of text that cannot be laid out, are errors."""
    from matplotlib.figure import Figure

    assert isinstance(figure, Figure)
    figure.draw_without_rendering()
    return figure


def lines(axes, gid):
    return [line for line in axes.get_lines() if line.get_gid() == gid]


def texts(figure):
    found = [text.get_text() for text in figure.texts]
    for axes in figure.axes:
        found += [axes.get_title(loc="left"), axes.get_xlabel(), axes.get_ylabel()]
        found += [text.get_text() for text in (*axes.get_xticklabels(), *axes.get_yticklabels())]
    return found
