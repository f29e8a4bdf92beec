"""Sizes and values at the ends of what there is: finite predictions, without a warning."""

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import clearset as cs
from clearset import baselines

RNG = np.random.default_rng(0)
N_EXAMPLES = 120
ITEMS = [RNG.choice(list("abcdef"), RNG.integers(1, 4)).tolist() for _ in range(N_EXAMPLES)]
STARS = [[float(ord(item)) for item in row] for row in ITEMS]
WORTH = np.array([np.mean(row) for row in STARS])
NUMBERS = WORTH + 0.2 * RNG.normal(size=N_EXAMPLES)
CLASSES = np.where(np.median(WORTH) < WORTH, "high", "low")
FRAME = pa.table({"items": ITEMS, "worth": WORTH})
QUICK: dict[str, Any] = {"epochs": 3, "random_state": 0}
SEMANTIC: dict[str, Any] = {**QUICK, "tokens": cs.Items(), "n_jobs": 1}
ESTIMATORS = {
    "SetRegressor": lambda: cs.SetRegressor(**QUICK),
    "SetClassifier": lambda: cs.SetClassifier(**QUICK),
    "SemanticFeatureEngine": lambda: cs.SemanticFeatureEngine(**SEMANTIC),
    "SemanticRegressor": lambda: cs.SemanticRegressor(**SEMANTIC, refine=True),
    "SemanticClassifier": lambda: cs.SemanticClassifier(**SEMANTIC, refine=True),
    "JointModel": lambda: cs.JointModel(
        {"items": cs.SemanticFeatureEngine(**SEMANTIC)}, cs.SetRegressor(**QUICK), **QUICK
    ),
    **{
        name: lambda name=name: getattr(baselines, name)(**({} if name.startswith("Support") else QUICK))
        for name in baselines.__all__
        if name.endswith(("Classifier", "Regressor"))
    },
}


def examples_of(name: str) -> Any:
    """Give an estimator the column, or the columns, that it takes."""
    if name == "JointModel":
        return FRAME
    return ITEMS if name.startswith(("Semantic", "MultiHot")) else pa.table({"stars": STARS})


def outputs(name: str, labels: Any = None, weights: Any = None) -> Any:
    X, model = examples_of(name), ESTIMATORS[name]()
    if labels is None:
        labels = CLASSES if name.endswith("Classifier") else NUMBERS
    model.fit(X, labels, sample_weight=weights)
    return getattr(model, "predict_proba", getattr(model, "predict", getattr(model, "transform", None)))(X)


def fit(X: Any, y: Any, **options: Any) -> Any:
    cls = options.pop("cls", cs.SetRegressor)
    return cls(**{"epochs": 3, "random_state": 0, "n_jobs": 1} | options).fit(X, y)


TOKENS = 10_000_000


@pytest.fixture(scope="module")
def huge() -> np.ndarray:
    """The values of ten million tokens: from 0 to 1 in even steps, in an order of no meaning."""
    return (np.arange(TOKENS) * 7919 % TOKENS) / (TOKENS - 1)


def test_ten_million_tokens_in_one_set_at_predict(huge: np.ndarray) -> None:
    X = np.linspace(0, 1, 101)
    model = fit(X[:, None], np.exp(X), features=[cs.Feature("x0", monotonic="increasing")], epochs=20)
    predicted = model.predict(cs.SetData(huge, [0, TOKENS], ["x0"]))
    # The mean score over so many even steps is the score's integral, found here by the trapezoidal rule.
    grid = np.linspace(0, 1, 200_001)
    scores = model.phi(grid[:, None]).scores
    mean = np.trapezoid(scores[:, 0], grid)
    assert predicted == pytest.approx(model.rho([mean]), rel=1e-6)
    two = model.predict(cs.SetData(huge, [0, 1, TOKENS - 1, TOKENS], ["x0"]))
    assert two[1] == pytest.approx(predicted[0], rel=1e-5)
    assert two[0] == model.predict([[huge[0]]])[0]


def test_ten_million_tokens_in_one_set_in_fit(huge: np.ndarray) -> None:
    small = np.linspace(0, 1, 60)
    data = cs.SetData(np.concatenate([small, huge]), np.concatenate([np.arange(61), [60 + TOKENS]]), ["x0"])
    y = np.append(small, 0.5)
    model = fit(data, y, features=[cs.Feature("x0", monotonic="increasing")], epochs=2)
    predicted = model.predict(data)
    assert np.isfinite(predicted).all()
    assert (np.diff(predicted[:60]) >= 0).all()
    assert model.certificate_


@pytest.mark.parametrize("cls", [cs.SetRegressor, cs.SetClassifier])
@pytest.mark.parametrize("n_rows", [2, 3])
def test_hardly_any_data(cls: Any, n_rows: int) -> None:
    X = np.arange(n_rows, dtype=float)[:, None]
    model = fit(X, np.arange(n_rows), cls=cls, width=2)
    assert np.isin(model.predict(X), [0, 1, 2]).all() or np.isfinite(model.predict(X)).all()
    assert model.verify(X)


def test_one_set() -> None:
    model = fit(pa.table({"x": [[1.0, 2.0]]}), [7.0])
    assert model.predict(pa.table({"x": [[1.0, 2.0], [5.0], []]})) == pytest.approx(np.full(3, 7.0), abs=1.0)


@pytest.mark.parametrize("scale", [1e-300, 5e-324, 1e-150, 1e150, 1e300, 1.7e308], ids=lambda scale: f"{scale:g}")
def test_features_of_every_magnitude(scale: float) -> None:
    unit = np.linspace(-1, 1, 200)
    x = unit * scale
    y = np.exp(unit)
    frame = pa.table({"x0": x, "x1": x[::-1]})
    model = fit(frame, y, features=[cs.Feature("x0", monotonic="increasing"), "x1"], epochs=40)
    predicted = model.predict(frame)
    assert np.isfinite(predicted).all()
    assert model.certificate_
    if scale >= 1e-300:
        assert np.mean((predicted - y) ** 2) < 0.2 * np.var(y)


@pytest.mark.parametrize("shape", ["convex", "concave"])
@pytest.mark.parametrize("monotonic", ["increasing", "decreasing", None])
@pytest.mark.parametrize("sides", [(1,), (-1,), (-1, 1)], ids=str)
def test_shapes_of_heavy_tailed_features(shape: Any, monotonic: Any, sides: tuple[int, ...]) -> None:
    sign = -1 if monotonic == "decreasing" else 1
    for seed, sigma in enumerate([3.0, 5.0, 8.0, 150.0]):
        rng = np.random.default_rng(seed)
        x = np.sort(rng.lognormal(0.0, sigma, 120) * rng.choice(sides, 120))
        frame = pa.table({"x0": x, "x1": rng.lognormal(0.0, sigma, 120)})
        features = [
            cs.Feature("x0", monotonic="increasing"),
            cs.Feature("x1", monotonic=monotonic, shape=shape, bounds=(None, 1e300)),
        ]
        trusts = [cs.Trust("x0", by="x1")]
        model = fit(frame, sign * np.arange(120.0), features=features, trusts=trusts, epochs=1)
        assert model.verify(frame)
        features = [cs.Feature("x0", monotonic=monotonic, shape=shape)]
        model = fit(x[:, None], sign * np.arange(120.0), features=features, epochs=2)
        assert model.verify(x[:, None])
        assert np.isfinite(predicted := model.predict(x[:, None])).all()
        if monotonic is not None:
            assert (sign * np.diff(predicted) >= -1e-9).all()


@pytest.mark.parametrize("shape", ["convex", "concave"])
@pytest.mark.parametrize("monotonic", ["increasing", "decreasing", None])
@pytest.mark.parametrize(
    "values",
    [[5e-324, 1e-310, 2e-310], [0.0, 5e-324, 3e-308, 1e-305, 1e-300], [-1e307, -1e300, -1.0, 1e-310, 1e200, 1e307]],
    ids=str,
)
def test_shapes_of_features_of_every_magnitude(shape: Any, monotonic: Any, values: list[float]) -> None:
    x = np.resize(values, 60)[:, None]
    model = fit(x, np.arange(60.0), features=[cs.Feature("x0", monotonic=monotonic, shape=shape)], epochs=2)
    assert model.verify(x)
    assert np.isfinite(model.predict(x)).all()


def test_constant_and_wholly_missing_features() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=100)
    X = np.stack([x, np.full(100, 3.0), np.full(100, np.nan), np.zeros(100)], axis=1)
    features = [cs.Feature(f"x{d}", monotonic="increasing") for d in range(4)]
    model = fit(X, x, features=features, epochs=40)
    assert model.score(X, x) > 0.8
    assert np.isfinite(model.predict(rng.normal(size=(50, 4)) * 100)).all()
    nothing = fit(X[:, 1:3], x)
    assert nothing.predict(X[:5, 1:3]) == pytest.approx(np.full(5, x.mean()), abs=0.5)


@pytest.mark.parametrize("size", [1e-12, 1.0, 1e12])
@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "quantile"])
def test_labels_of_every_magnitude(loss: str, size: float) -> None:
    x = np.linspace(0, 1, 150)
    y = size * np.exp(2 * x)
    model = fit(x[:, None], y, loss=loss, features=[cs.Feature("x0", monotonic="increasing")], epochs=60)
    assert np.abs(model.predict(x[:, None]) - y).max() < 0.2 * np.ptp(y)
    assert model.history_[-1]["loss"] < model.history_[0]["loss"]
    assert model.certificate_


@pytest.mark.parametrize("size", [1.0, 1e12])
def test_counts_of_every_magnitude(size: float) -> None:
    x = np.linspace(0, 1, 150)
    y = size * np.exp(2 * x)
    model = fit(x[:, None], y, loss="poisson", features=[cs.Feature("x0", monotonic="increasing")], epochs=60)
    assert np.abs(model.predict(x[:, None]) / y - 1).max() < 0.3


def test_labels_that_are_all_alike() -> None:
    X = np.random.default_rng(0).normal(size=(60, 2))
    for label in (0.0, 0.1, -1e12):
        assert fit(X, np.full(60, label)).predict(X) == pytest.approx(np.full(60, label), rel=1e-6, abs=1.0)


@pytest.mark.parametrize("scale", [1e-95, 1e-20, 1e40, 1e95])
@pytest.mark.parametrize("name", ["SetRegressor", "SemanticFeatureEngine", "SemanticRegressor"])
def test_predictions_scale_with_the_labels(name: str, scale: float) -> None:
    scaled = outputs(name, NUMBERS * scale)
    assert scaled / scale == pytest.approx(outputs(name), rel=1e-6)


@pytest.mark.parametrize("scale", [1e-160, 1e160, 1e306])
@pytest.mark.parametrize("name", [name for name in ESTIMATORS if not name.endswith("Classifier")])
def test_labels_whose_squares_are_no_floats_are_refused(name: str, scale: float) -> None:
    with pytest.raises(ValueError, match=r"takes labels from 1e-100 to 1e\+100.*Multiply y"):
        outputs(name, NUMBERS * scale)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_whole_numbers_that_are_no_floats_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match=r"y holds a whole number (that is too large|of more than 64 bits)"):
        outputs(name, [10**400, *[1, 2] * (N_EXAMPLES // 2)][:N_EXAMPLES])
    with pytest.raises(ValueError, match="sample_weight holds a whole number that is too large"):
        outputs(name, weights=[10**400] + [1] * (N_EXAMPLES - 1))


def test_features_that_are_no_floats_are_refused() -> None:
    with pytest.raises(ValueError, match="X holds a whole number that is too large"):
        fit([[10**400], [1]], [1.0, 2.0])
    with pytest.raises(TypeError, match=r"Column 'x' cannot be read.*too large"):
        fit(pd.DataFrame({"x": [[10**400], [1]]}), [1.0, 2.0], features=["x"])


EVERY_OTHER = np.arange(N_EXAMPLES) % 2 == 0


@pytest.mark.parametrize(
    ("weights", "plain"),
    [
        (np.full(N_EXAMPLES, 1e308), np.ones(N_EXAMPLES)),
        (np.full(N_EXAMPLES, 5e-324), np.ones(N_EXAMPLES)),
        (np.where(EVERY_OTHER, 1e300, 1e-300), np.where(EVERY_OTHER, 2.0, 0.0)),
        (np.where(EVERY_OTHER, 1.5e308, 0.5e308), np.where(EVERY_OTHER, 1.5, 0.5)),
    ],
    ids=["large", "small", "both", "ratios"],
)
@pytest.mark.parametrize("name", ESTIMATORS)
def test_weights_of_every_magnitude(name: str, weights: Any, plain: Any) -> None:
    """Beyond the numbers that can be counted, only ratios of weights matter; a mean of 1 is the count of the sets."""
    assert outputs(name, weights=weights) == pytest.approx(outputs(name, weights=plain), rel=1e-9)


def test_fifty_thousand_categories() -> None:
    rng = np.random.default_rng(0)
    names = np.array([f"item {number}" for number in range(50_000)])
    lists = pa.ListArray.from_arrays(np.arange(0, 50_001, 50), pa.array(rng.permutation(names)))
    frame = pa.table({"item": lists})
    model = fit(frame, rng.normal(size=1000), features=[cs.Feature("item", kind="categorical")], early_stopping=False)
    assert model.binning_.n_slots == 50_001
    assert np.isfinite(model.predict(frame)).all()
    assert model.verify(frame)


def test_sixty_features() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 60))
    y = X[:, :5].sum(axis=1)
    features = [cs.Feature(f"x{d}", monotonic="increasing" if d < 5 else None) for d in range(60)]
    model = fit(X, y, features=features, epochs=100)
    assert {d for subset in model.set_function_.layout.subsets for d in subset} == set(range(60))
    assert model.score(X, y) > 0.5
    assert model.certificate_
    assert np.isfinite(model.predict(X * 1e6)).all()


@pytest.mark.parametrize("label", [0.1, 0.3, 0.7, 7.7, 1e-8, -1e-8, 0.0, 5.0, 1e12])
def test_constant_labels_of_items(label):
    rng = np.random.default_rng(0)
    X = [[f"w{i}" for i in rng.choice(30, rng.integers(2, 7), replace=False)] for _ in range(200)]
    model = cs.SemanticRegressor(random_state=0, epochs=3).fit(X, np.full(200, label))
    np.testing.assert_allclose(model.predict(X), label, rtol=0.05, atol=0.01)


@pytest.mark.parametrize("number", [1e98, -1e98, 1e-98, 0.0])
def test_items_whose_labels_are_all_the_same(number: float) -> None:
    model = cs.SemanticRegressor(tokens=cs.Items(), epochs=1, random_state=0).fit(
        [["a"], ["b"], ["a", "b"]] * 5, [number] * 15
    )
    assert model.predict([["a"], ["unknown"]]) == pytest.approx(np.full(2, number), rel=1e-6, abs=0.1)


@pytest.mark.parametrize("scale", [1e-98, 1e98])
def test_no_token_passes_and_labels_are_of_any_size(scale: float) -> None:
    model = cs.SemanticRegressor(tokens=cs.Items(), filters=[cs.MinCount(9)], epochs=1, random_state=0)
    with pytest.warns(UserWarning, match="No token passed"):
        model.fit([["a"], ["b"]] * 4, scale * np.arange(8.0))
    assert model.predict([["a"]]) == pytest.approx([3.5 * scale])
