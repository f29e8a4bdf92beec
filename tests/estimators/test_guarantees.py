"""Promises about the shape, tried out on the predictions of trained models and nothing else."""

from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import clearset as cs

PAIRS = 20_000
SHOPS = ("fair", "town", "web")
FEATURES = [
    cs.Feature("up", monotonic="increasing"),
    cs.Feature("down", monotonic="decreasing"),
    cs.Feature("free"),
    cs.Feature("shop", kind="categorical", monotonic=[("fair", "town"), ("town", "web")]),
    cs.Feature("level", monotonic="increasing"),
    cs.Feature(cs.SIZE, monotonic="increasing"),
]


class Tokens:
    """Random sets as flat arrays, from which changed copies are made."""

    def __init__(self, n_sets: int, seed: int, *, missing: float) -> None:
        rng = np.random.default_rng(seed)
        self.sizes = rng.integers(1, 7, size=n_sets)
        n = int(self.sizes.sum())
        self.tokens = {
            "up": rng.normal(size=n),
            "down": rng.normal(size=n),
            "free": rng.normal(size=n),
            "shop": rng.integers(3, size=n).astype(float),
        }
        self.level = rng.normal(size=n_sets)
        if missing:
            for column in (*self.tokens.values(), self.level):
                column[rng.uniform(size=len(column)) < missing] = np.nan

    @property
    def starts(self) -> np.ndarray:
        return np.concatenate([[0], np.cumsum(self.sizes)])

    def data(self) -> cs.SetData:
        return cs.SetData(
            np.stack(list(self.tokens.values()), axis=1),
            self.starts,
            list(self.tokens),
            set_values=self.level,
            set_feature_names=["level"],
            categories={"shop": SHOPS},
        )

    def labels(self, rng: np.random.Generator) -> np.ndarray:
        """Against every declaration in places, so that constraints bind; strong interactions; much noise."""
        up, down, free, shop = (np.nan_to_num(column) for column in self.tokens.values())
        scores = np.sin(2.5 * up) + 0.5 * up * free - np.cos(2 * down) + 0.6 * (shop == 1) - 0.4 * (shop == 2)
        means = np.add.reduceat(scores, self.starts[:-1]) / self.sizes
        return means + np.sin(2 * np.nan_to_num(self.level)) - 0.1 * (self.sizes - 3) ** 2 + rng.normal(size=len(means))


def train(seed: int, *, missing: float, classes: bool = False, **options: Any) -> Any:
    tokens = Tokens(200, seed, missing=missing)
    labels = tokens.labels(np.random.default_rng(seed + 100))
    cls = cs.SetClassifier if classes else cs.SetRegressor
    settings = {"epochs": 12, "learning_rate": 0.1, "smoothness": 0.0, "random_state": seed, "n_jobs": 1} | options
    return cls(FEATURES, **settings).fit(tokens.data(), labels > np.median(labels) if classes else labels)


def outputs(model: Any, data: cs.SetData) -> np.ndarray:
    return np.asarray(model.decision_function(data) if isinstance(model, cs.SetClassifier) else model.predict(data))


def largest_fall(model: Any, seed: int, *, missing: float) -> dict[str, float]:
    """Raise one value of one token of each of many sets; give each feature's largest wrong move, per range."""
    rng = np.random.default_rng(seed + 1000)
    falls = {}
    for name, sign in (("up", 1), ("down", -1), ("shop", 1), ("level", 1), (cs.SIZE, 1)):
        before, after = (Tokens(PAIRS // 5, seed + 7, missing=missing) for _ in range(2))
        chosen = rng.integers(before.starts[:-1], before.starts[1:])
        if name == "shop":
            pairs = np.sort(np.stack([rng.permutation(3)[:2] for _ in range(100)]), axis=1)
            low, high = pairs[rng.integers(100, size=len(chosen))].T.astype(float)
        else:
            low = rng.normal(scale=1.5, size=len(chosen))
            high = low + rng.exponential(rng.choice([1e-9, 1e-3, 0.1, 2.0], size=len(chosen)))
        if name == "level":
            before.level, after.level = low, high
        elif name == cs.SIZE:
            # The same tokens twice over leave every mean alone, so only the size has grown.
            for column in after.tokens:
                parts = np.split(after.tokens[column], after.starts[1:-1])
                after.tokens[column] = np.concatenate([np.tile(part, 2) for part in parts])
            after.sizes = 2 * after.sizes
        else:
            before.tokens[name][chosen], after.tokens[name][chosen] = low, high
        first, second = outputs(model, before.data()), outputs(model, after.data())
        spread = np.ptp(np.concatenate([first, second]))
        falls[name] = float(np.max(sign * (first - second), initial=0.0) / (spread or 1.0))
    return falls


MODELS: dict[str, dict[str, Any]] = {
    "width 1": {"missing": 0.0},
    "width 1, missing values": {"missing": 0.15},
    "width 3, lattices of size 3": {"missing": 0.1, "width": 3, "lattice_size": 3, "lattices": "full", "epochs": 4},
    "width 8": {"missing": 0.0, "width": 8, "epochs": 5},
    "ensemble": {"missing": 0.1, "width": 2, "lattices": "ensemble", "lattice_size": 3},
    "light touch": {"missing": 0.1, "constraints": "light_touch", "width": 2},
    "adagrad": {"missing": 0.0, "optimizer": "adagrad"},
    "absolute error": {"missing": 0.1, "loss": "absolute_error"},
    "two classes": {"missing": 0.1, "classes": True},
    "two classes, hinge, width 3": {"missing": 0.0, "classes": True, "loss": "hinge", "width": 3},
}


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("name", MODELS)
def test_no_output_goes_the_wrong_way(name: str, seed: int) -> None:
    options = MODELS[name]
    model = train(seed, **options)
    falls = largest_fall(model, seed, missing=options["missing"])
    assert max(falls.values()) <= 1e-6, falls
    assert model.certificate_
    assert model.verify(Tokens(50, 9, missing=0.1).data())


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("constraints", ["project", "light_touch"])
def test_no_output_goes_the_wrong_way_after_training_in_single_precision(
    monkeypatch: pytest.MonkeyPatch, seed: int, constraints: str
) -> None:
    monkeypatch.setattr("clearset.training._prepared.DOUBLE_PRECISION_VALUES", 0)
    model = train(seed, missing=0.1, width=3, lattice_size=3, lattices="ensemble", constraints=constraints)
    falls = largest_fall(model, seed, missing=0.1)
    assert max(falls.values()) <= 1e-6, falls
    assert model.certificate_


def test_the_probing_of_these_tests_finds_violations() -> None:
    """Without declarations the same data lead to outputs that go the wrong way, by far."""
    tokens = Tokens(400, 0, missing=0.0)
    features = ["up", "down", "free", cs.Feature("shop", kind="categorical"), "level", cs.SIZE]
    model = cs.SetRegressor(features, epochs=60, learning_rate=0.1, smoothness=0.0, random_state=0, n_jobs=1)
    model.fit(tokens.data(), tokens.labels(np.random.default_rng(100)))
    falls = largest_fall(model, 0, missing=0.0)
    assert min(falls.values()) > 1e-3, falls


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("direction", ["increasing", "decreasing"])
@pytest.mark.parametrize(("constraints", "tolerance"), [("project", 1e-6), ("light_touch", 3e-3)])
def test_data_against_the_declaration_make_the_output_constant(
    direction: str, seed: int, constraints: str, tolerance: float
) -> None:
    """Up to rounding where every step is projected; penalties leave a remainder."""
    rng = np.random.default_rng(seed)
    x, other = rng.uniform(-1, 1, size=(2, 300))
    y = (-3.0 if direction == "increasing" else 3.0) * x + other
    features = [cs.Feature("x", monotonic=direction), "other"]
    frame = pl.DataFrame({"x": x, "other": other})
    model = cs.SetRegressor(features, epochs=80, random_state=seed, n_jobs=1, constraints=constraints).fit(frame, y)
    sweep = np.array([model.predict(frame.with_columns(x=pl.lit(value))) for value in np.linspace(-1, 1, 21)])
    assert np.ptp(sweep, axis=0).max() <= tolerance * np.ptp(y)
    assert np.ptp(sweep, axis=1).min() > 0.5  # of the other feature it has learned
    assert model.verify()


TABLES = ["phi.calibration", "phi.vertices", "rho.calibrators", "rho.vertices", "rho.output"]


@pytest.fixture(scope="module")
def shaped() -> cs.SetRegressor:
    """A model with every kind of constraint."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(300, 5))
    features = [
        cs.Feature("x0", monotonic="increasing"),
        cs.Feature("x1", monotonic="decreasing"),
        cs.Feature("x2", shape="concave"),
        cs.Feature("x3", shape="convex"),
        cs.Feature("x4"),
    ]
    trusts = [cs.Trust("x0", by="x2"), cs.Trust("x1", by="x4", shape="trapezoid")]
    y = X[:, 0] * X[:, 2] - X[:, 1] * X[:, 3] + 0.1 * rng.normal(size=300)
    model = cs.SetRegressor(features, 2, trusts=trusts, epochs=30, random_state=0, n_jobs=1)
    return model.fit(X, y)


@pytest.mark.parametrize("table", TABLES)
def test_the_certificate_notices_tampering(shaped: cs.SetRegressor, table: str) -> None:
    values = shaped.set_function_.tables[table]
    kept = values.copy()
    assert shaped.verify()
    changes = [("reversed", kept[:, ::-1])]
    falling = kept.copy()
    falling[0, 0] = falling[0, 1] + 1e-6  # the first feature is increasing, and so is all of rho
    changes.append(("falls a little", falling))
    if table != "rho.output":
        outside = kept.copy()
        outside[0, -1] = 1.5
        changes.append(("outside", outside))
    for what, changed in changes:
        if what == "falls a little" and table == "phi.vertices":
            changed = kept.copy()
            changed[0, 0] = changed[0, -1] + 1.0
        try:
            values[:] = changed
            assert not shaped.verify(), what
        finally:
            values[:] = kept
    assert shaped.verify()


def scores_at(model: Any, names: list[str], base: np.ndarray, **changed: np.ndarray) -> np.ndarray:
    """Score tokens, with some of their features changed."""
    columns = {name: base[:, d] for d, name in enumerate(names)} | changed
    return np.asarray(model.phi(pa.table(columns)).scores)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("direction", ["increasing", "decreasing"])
@pytest.mark.parametrize("options", [{}, {"lattice_size": 3}, {"lattices": "ensemble", "width": 2}])
@pytest.mark.parametrize("shape", ["edgeworth", "trapezoid"])
def test_trust_holds_for_token_scores(shape: str, options: dict[str, Any], direction: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    names, sign = ["main", "by", "other"], 1.0 if direction == "increasing" else -1.0
    X = rng.uniform(-1, 1, size=(200, 3))
    # The opposite of trust: the effect of the main feature fades with the other.
    y = sign * X[:, 0] * (1.2 - X[:, 1]) + np.sin(3 * X[:, 2]) * X[:, 0] + 0.3 * X[:, 1] + 0.1 * rng.normal(size=200)
    features = [cs.Feature("main", monotonic=direction), "by", "other"]
    model = cs.SetRegressor(
        features,
        trusts=[cs.Trust("main", by="by", shape=shape)],
        **{"epochs": 10, "learning_rate": 0.1, "smoothness": 0.0, "random_state": seed, "n_jobs": 1} | options,
    ).fit(pl.DataFrame(X, schema=names), y)
    assert model.certificate_

    tokens = rng.uniform(-1.2, 1.2, size=(4000, 3))
    low, high = np.sort(rng.uniform(-1.2, 1.2, size=(2, 4000)), axis=0)
    less, more = np.sort(rng.uniform(-1.2, 1.2, size=(2, 4000)), axis=0)
    if shape == "trapezoid":
        low, high = np.full(4000, X[:, 0].min()), np.full(4000, X[:, 0].max())
    score = {
        (m, b): scores_at(model, names, tokens, main=main, by=by)
        for m, main in (("low", low), ("high", high))
        for b, by in (("less", less), ("more", more))
    }
    if shape == "edgeworth":
        slope = {b: sign * (score["high", b] - score["low", b]) for b in ("less", "more")}
        fall = slope["less"] - slope["more"]
    else:
        upper = sign * (score["high", "less"] - score["high", "more"])
        lower = sign * (score["low", "more"] - score["low", "less"])
        fall = np.maximum(upper, lower)
    assert fall.max() <= 1e-9
    assert np.ptp(np.concatenate(list(score.values()))) > 0.01


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("shape", ["convex", "concave"])
@pytest.mark.parametrize("monotonic", ["increasing", "decreasing", None])
def test_scores_and_calibrators_keep_their_shape(shape: Any, monotonic: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.exponential(size=300)
    y = np.sin(4 * x) + 0.1 * rng.normal(size=300)  # bends both ways
    feature = cs.Feature("x", shape=shape, monotonic=monotonic, keypoints=12)
    model = cs.SetRegressor([feature], 2, epochs=15, random_state=seed, smoothness=0.0, n_jobs=1)
    model.fit(pl.DataFrame({"x": x}), y)
    sign = 1.0 if shape == "convex" else -1.0
    scores = model.phi(pl.DataFrame({"x": np.linspace(x.min(), x.max(), 200)})).scores
    assert (sign * np.diff(scores, n=2, axis=0)).min() >= -1e-9
    curve = model.calibrators()["x"]
    assert curve.keypoints is not None
    slopes = np.diff(curve.values, axis=1) / np.diff(curve.keypoints)
    turned = -1.0 if monotonic == "decreasing" else 1.0  # by the lattice behind the calibrator
    assert (turned * sign * np.diff(slopes, axis=1)).min() >= -1e-9
    if monotonic is not None:
        assert np.diff(curve.values, axis=1).min() >= 0.0  # the lattice behind it turns the direction
    assert model.certificate_


@pytest.mark.parametrize("shape", ["edgeworth", "trapezoid"])
def test_trust_holds_in_ensembles_whose_lattices_do_not_all_have_both_features(shape: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(300, 20))
    y = X[:, 0] + 2 * X[:, 1] + X[:, 2:].sum(axis=1)
    features = [cs.Feature("x0", monotonic="increasing"), *(f"x{d}" for d in range(1, 20))]
    trusts = [cs.Trust("x0", by="x1", shape=shape)]
    for seed in range(2):
        model = cs.SetRegressor(features, trusts=trusts, random_state=seed, epochs=15, n_jobs=1).fit(X, y)
        assert len(model.set_function_.layout.subsets) > 2
        assert model.verify()
