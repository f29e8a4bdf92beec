"""One content in many containers: what a model learns depends on the sets, not on how they came."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.interpolate import RegularGridInterpolator
from sklearn.base import clone

import clearset as cs

FEATURES = [
    cs.Feature("stars", monotonic="increasing"),
    cs.Feature("words"),
    cs.Feature("shop", kind="categorical"),
    cs.Feature("price"),
    cs.Feature(cs.SIZE),
]


class Sets:
    """Sets as plain Python lists, from which every container is made."""

    def __init__(self, n_sets: int, seed: int, smallest: int = 0) -> None:
        rng = np.random.default_rng(seed)
        sizes = rng.integers(smallest, 6, size=n_sets)
        self.stars = [rng.integers(1, 6, size=n).astype(float).tolist() for n in sizes]
        self.words = [rng.lognormal(3, 1, size=n).tolist() for n in sizes]
        self.shop = [rng.choice(["town", "web", "fair"], size=n).tolist() for n in sizes]
        self.price = rng.choice([1.0, 2.0, 5.0, 9.0], size=n_sets).tolist()
        for row in range(0, n_sets, 7):  # gaps of every kind
            if self.words[row]:
                self.words[row][0], self.shop[row][0] = None, None
            self.price[row] = None
        means = [np.mean(stars) if stars else 3.0 for stars in self.stars]
        self.labels = np.array(means) + 0.1 * sizes + 0.1 * rng.normal(size=n_sets)

    def columns(self) -> dict[str, list[Any]]:
        return {"stars": self.stars, "words": self.words, "shop": self.shop, "price": self.price}

    def arrow(self) -> pa.Table:
        return pa.table(self.columns())

    def pandas_objects(self) -> pd.DataFrame:
        frame = pd.DataFrame({name: pd.Series(column, dtype=object) for name, column in self.columns().items()})
        return frame.assign(price=[np.nan if p is None else p for p in self.price])

    def pandas_arrow(self) -> pd.DataFrame:
        return self.arrow().to_pandas(types_mapper=pd.ArrowDtype)

    def polars(self) -> pl.DataFrame:
        return pl.DataFrame(self.columns())

    def flat(self) -> cs.SetData:
        shops = ("web", "fair", "town")  # in an order of its own
        stars = np.array([s for row in self.stars for s in row])
        words = np.array([np.nan if w is None else w for row in self.words for w in row])
        codes = np.array([np.nan if s is None else float(shops.index(s)) for row in self.shop for s in row])
        return cs.SetData(
            np.stack([stars, words, codes], axis=1),
            np.concatenate([[0], np.cumsum([len(row) for row in self.stars])]),
            ["stars", "words", "shop"],
            set_values=np.array([np.nan if p is None else p for p in self.price]),
            set_feature_names=["price"],
            categories={"shop": shops},
        )


CONTAINERS = ("arrow", "pandas_objects", "pandas_arrow", "polars", "flat")


def fit(X: Any, y: Any, features: Any = FEATURES, **options: Any) -> cs.SetRegressor:
    return cs.SetRegressor(features, **{"epochs": 5, "random_state": 0, "n_jobs": 1} | options).fit(X, y)


@pytest.fixture(scope="module")
def sets() -> Sets:
    return Sets(120, seed=0)


@pytest.fixture(scope="module")
def model(sets: Sets) -> cs.SetRegressor:
    return fit(sets.arrow(), sets.labels, width=2, lattice_size=3)


@pytest.mark.parametrize("container", CONTAINERS)
def test_every_container_gives_the_same_model(sets: Sets, container: str) -> None:
    expected = fit(sets.arrow(), sets.labels).predict(sets.arrow())
    X = getattr(sets, container)()
    assert np.array_equal(fit(X, sets.labels).predict(X), expected)


@pytest.mark.parametrize("container", CONTAINERS)
def test_a_model_predicts_from_every_container(model: cs.SetRegressor, container: str) -> None:
    later = Sets(50, seed=1)
    X = getattr(later, container)()
    assert np.array_equal(model.predict(X), model.predict(later.arrow()))
    scores, expected = model.phi(X), model.phi(later.arrow())
    assert np.array_equal(scores.scores, expected.scores)
    assert np.array_equal(scores.offsets, expected.offsets)


@pytest.mark.parametrize("fitted_on", CONTAINERS)
@pytest.mark.parametrize("container", CONTAINERS)
def test_without_declarations_containers_can_be_mixed(sets: Sets, fitted_on: str, container: str) -> None:
    def numeric(container: str) -> Any:
        X = getattr(sets, container)()
        if isinstance(X, pl.DataFrame | pa.Table):
            return X.select(["stars", "words", "price"])
        if isinstance(X, pd.DataFrame):
            return X[["stars", "words", "price"]]
        values = {"set_values": X.set_values, "set_feature_names": X.set_feature_names}
        return cs.SetData(X.values[:, :2], X.offsets, ["stars", "words"], **values)

    model = fit(numeric(fitted_on), sets.labels, features=None, epochs=1)
    assert [feature.name for feature in model.features_] == ["stars", "words", "price", cs.SIZE]
    assert np.array_equal(model.predict(numeric(container)), model.predict(numeric(fitted_on)))


def test_sets_of_one_token_in_every_container() -> None:
    rng = np.random.default_rng(2)
    array = rng.normal(size=(80, 2))
    array[::9, 1] = np.nan
    y = array[:, 0]
    columns = {f"x{d}": array[:, d] for d in range(2)}
    lists = {name: [[value] for value in column] for name, column in columns.items()}
    expected = fit(array, y, features=None).predict(array)
    containers = [
        array.tolist(),
        pd.DataFrame(array),
        pd.DataFrame(columns),
        pl.DataFrame(columns),
        pl.DataFrame(columns, nan_to_null=True),
        pa.table(columns),
        pa.table(lists),
        pl.DataFrame(lists),
        cs.SetData(array, np.arange(81), ["x0", "x1"]),
        np.asfortranarray(array),
    ]
    for X in containers:
        assert np.array_equal(fit(X, y, features=list(columns)).predict(X), expected), type(X)
    for X in containers[:6]:
        assert np.array_equal(fit(X, y, features=None).predict(X), expected), type(X)


def test_whole_numbers_and_booleans_are_numbers() -> None:
    ints = pa.table({"a": [[1, 2], [3], [4, 0]], "b": [[True, False], [True], [False, False]]})
    floats = pa.table({"a": [[1.0, 2.0], [3.0], [4.0, 0.0]], "b": [[1.0, 0.0], [1.0], [0.0, 0.0]]})
    y = [1.0, 2.0, 3.0]
    assert np.array_equal(fit(ints, y, None).predict(ints), fit(floats, y, None).predict(floats))


@pytest.mark.parametrize("wrap", [list, tuple, pd.Series, pl.Series, pa.array, lambda y: pa.chunked_array([y])])
def test_labels_and_weights_in_every_container(sets: Sets, wrap: Any) -> None:
    X, weights = sets.arrow(), np.linspace(0.5, 2.0, len(sets.labels))
    expected = cs.SetRegressor(FEATURES, epochs=2, random_state=0, n_jobs=1).fit(X, sets.labels, weights)
    model = cs.SetRegressor(FEATURES, epochs=2, random_state=0, n_jobs=1).fit(X, wrap(sets.labels), wrap(weights))
    assert np.array_equal(model.predict(X), expected.predict(X))


@pytest.mark.parametrize("kind", [int, np.int64, np.uint8, np.float32, bool, np.bool_])
def test_labels_that_are_objects_are_numbers(kind: type) -> None:
    X, numbers = [[1.0], [2.0], [3.0]] * 12, np.array([0, 1, 1] * 12)
    plain, objects = numbers.astype(kind), np.array([kind(number) for number in numbers], dtype=object)
    for estimator in (cs.SetClassifier(epochs=2, random_state=0), cs.SetRegressor(epochs=2, random_state=0)):
        models = [clone(estimator).fit(X, y, validation_data=(X, y)) for y in (plain, objects)]
        np.testing.assert_array_equal(models[1].predict(X), models[0].predict(X))
        assert models[1].score(X, objects) == models[0].score(X, plain)
    assert cs.SetClassifier(epochs=2).fit(X, objects).classes_.dtype.kind == plain.dtype.kind.replace("u", "i")


def test_extra_columns_and_their_order_do_not_count(model: cs.SetRegressor, sets: Sets) -> None:
    expected = model.predict(sets.polars())
    more = sets.polars().with_columns(
        pl.lit("text").alias("note"), pl.lit([[1.0, 2.0]]).alias("other_tokens"), pl.lit(None).alias("nothing")
    )
    order = ["price", "nothing", "shop", "other_tokens", "words", "note", "stars"]
    assert np.array_equal(model.predict(more.select(order)), expected)
    assert np.array_equal(
        fit(more.select(order), sets.labels).predict(more), fit(sets.polars(), sets.labels).predict(more)
    )


def test_the_order_of_tokens_does_not_count(model: cs.SetRegressor) -> None:
    later, permuted, rng = Sets(60, seed=3), Sets(60, seed=3), np.random.default_rng(0)
    for row, stars in enumerate(later.stars):
        order = rng.permutation(len(stars))
        for name in ("stars", "words", "shop"):
            getattr(permuted, name)[row] = [getattr(later, name)[row][i] for i in order]
    difference = model.predict(later.arrow()) - model.predict(permuted.arrow())
    assert np.abs(difference).max() < 1e-12


def test_the_order_of_sets_does_not_count(model: cs.SetRegressor) -> None:
    frame, order = Sets(60, seed=3).polars(), np.random.default_rng(0).permutation(60)
    assert np.array_equal(model.predict(frame[order]), model.predict(frame)[order])
    alone = np.array([model.predict(frame[row])[0] for row in range(10)])
    assert np.array_equal(alone, model.predict(frame[:10]))


def test_a_set_feature_equals_its_copies_on_the_tokens() -> None:
    """With few distinct values both have the same keypoints, so the whole model is the same."""
    sets = Sets(90, seed=4, smallest=1)
    price = [[p] * len(stars) for p, stars in zip(sets.price, sets.stars, strict=True)]
    per_set, copied = sets.arrow(), pa.table(sets.columns() | {"price": price})
    first, second = fit(per_set, sets.labels), fit(copied, sets.labels)
    assert np.array_equal(first.predict(per_set), second.predict(copied))
    assert np.array_equal(first.predict(copied), second.predict(per_set))


def test_size_equals_a_column_that_says_so(sets: Sets) -> None:
    frame = sets.polars().with_columns(pl.col("stars").list.len().alias("size"))
    built_in = fit(frame, sets.labels, ["stars", cs.Feature(cs.SIZE, monotonic="increasing")])
    explicit = fit(frame, sets.labels, ["stars", cs.Feature("size", monotonic="increasing")])
    assert np.array_equal(built_in.predict(frame), explicit.predict(frame))
    assert built_in.verify()


def test_without_declarations_the_size_is_a_feature(sets: Sets) -> None:
    numbers = ["stars", "words", "price"]
    frame = sets.arrow().select(numbers)
    usual, declared = (fit(frame, sets.labels, features) for features in (None, [*numbers, cs.SIZE]))
    assert usual.features_ == declared.features_
    assert np.array_equal(usual.predict(frame), declared.predict(frame))
    assert list(usual.feature_names_in_) == numbers
    assert cs.SIZE not in fit(frame.select(["price"]), sets.labels, None).calibrators()


def test_models_fitted_without_the_size_go_on_without_it(sets: Sets, tmp_path: Path) -> None:
    """As earlier versions fitted them where nothing was declared."""
    numbers = ["stars", "words", "price"]
    frame = sets.arrow().select(numbers)
    earlier = fit(frame, sets.labels, numbers).set_params(features=None, warm_start=True)
    earlier.save(tmp_path / "earlier")
    expected = earlier.predict(frame)
    loaded = cs.as_estimator(cs.load(tmp_path / "earlier"))
    assert np.array_equal(loaded.predict(frame), expected)
    loaded.fit(frame, sets.labels)
    assert [feature.name for feature in loaded.features_] == numbers
    again = fit(frame, sets.labels, None, warm_start=True)
    again.fit(frame, sets.labels)
    assert [feature.name for feature in again.features_] == [*numbers, cs.SIZE]


def test_empty_null_and_wholly_missing_sets(model: cs.SetRegressor) -> None:
    empty = {"stars": [[]], "words": [[]], "shop": [[]], "price": [2.0]}
    null = {"stars": [None], "words": [None], "shop": [None], "price": [2.0]}
    types = pa.schema(
        {
            "stars": pa.list_(pa.float64()),
            "words": pa.list_(pa.float64()),
            "shop": pa.list_(pa.string()),
            "price": pa.float64(),
        }
    )
    predictions = [model.predict(pa.table(columns, schema=types)) for columns in (empty, null)]
    assert np.isfinite(predictions[0]).all()
    assert np.array_equal(*predictions)
    missing = {"stars": [[None, None]], "words": [[None, None]], "shop": [[None, None]], "price": [None]}
    assert np.isfinite(model.predict(pa.table(missing, schema=types))).all()
    assert np.isfinite(model.predict(pa.table(missing))).all()  # columns without a type


def test_an_empty_set_is_one_token_with_everything_missing(sets: Sets) -> None:
    features = ["stars", "price"]
    model = fit(sets.arrow(), sets.labels, features)
    empty = pa.table({"stars": pa.array([[]], pa.list_(pa.float64())), "price": [2.0]})
    token = pa.table({"stars": pa.array([[None]], pa.list_(pa.float64())), "price": [2.0]})
    assert np.array_equal(model.predict(empty), model.predict(token))
    assert len(model.phi(empty).scores) == 1


def test_fitting_on_sets_some_of_which_are_empty_and_all_of_which_miss_a_feature() -> None:
    nothing = pa.array([[None], [], [None, None], None] * 5, pa.list_(pa.float64()))
    some = pa.array([[1.0], [], [2.0, 3.0], None] * 5, pa.list_(pa.float64()))
    frame = pa.table({"nothing": nothing, "some": some})
    model = fit(frame, np.arange(20.0), [cs.Feature("nothing", monotonic="increasing"), "some"])
    assert np.isfinite(model.predict(frame)).all()
    later = pa.table({"nothing": [[5.0]], "some": [[1.0]]})
    assert np.isfinite(model.predict(later)).all()
    assert model.verify(frame)


@pytest.mark.parametrize("library", ["pandas", "polars", "arrow"])
def test_columns_of_categories_are_features_without_declaration(library: str) -> None:
    """The same bits as with a declaration; categories that only the dtype lists are as unseen ones."""
    rng = np.random.default_rng(8)
    shop, size = rng.choice(["town", "web"], 80).tolist(), rng.choice([3, 10], 80).tolist()
    y = np.where(np.array(shop) == "web", 2.0, 0.0) + rng.normal(0, 0.1, 80)

    def frame(shop: list[Any]) -> Any:
        if library == "pandas":
            return pd.DataFrame({"shop": pd.Categorical(shop, ["moon", "town", "web"]), "size": pd.Categorical(size)})
        table = pa.table({"shop": pa.array(shop).dictionary_encode(), "size": pa.array(size).dictionary_encode()})
        if library == "arrow":
            return table
        columns = {"shop": pl.Series(shop, dtype=pl.Enum(["moon", "town", "web"])), "size": list(map(str, size))}
        return pl.DataFrame(columns, schema_overrides={"size": pl.Categorical})

    declared = [cs.Feature("shop", kind="categorical"), cs.Feature("size", kind="categorical")]
    model, expected = fit(frame(shop), y, None), fit(frame(shop), y, declared)
    assert model.features_ == tuple(declared)
    assert model.binning_.categories[0] == ("town", "web")
    assert np.array_equal(model.predict(frame(shop)), expected.predict(frame(shop)))
    unseen, missing = model.predict(frame(["moon"] * 80)), model.predict(frame([*[None] * 79, "web"]))
    assert np.array_equal(unseen[:79], missing[:79])


def test_unseen_categories_count_as_missing(model: cs.SetRegressor) -> None:
    unseen, missing = Sets(20, seed=5), Sets(20, seed=5)
    unseen.shop = [["moon"] * len(row) for row in unseen.shop]
    missing.shop = [[None] * len(row) for row in missing.shop]
    assert np.array_equal(model.predict(unseen.arrow()), model.predict(missing.arrow()))
    assert np.isfinite(model.predict(unseen.arrow())).all()


def test_values_beyond_the_data_are_as_at_its_ends(model: cs.SetRegressor) -> None:
    def predict(stars: float) -> float:
        return model.predict(pa.table({"stars": [[stars]], "words": [[20.0]], "shop": [["web"]], "price": [2.0]}))[0]

    assert predict(1e300) == predict(5.0)
    assert predict(-1e300) == predict(1.0)


@pytest.mark.parametrize("library", ["arrow", "polars", "pandas"])
def test_a_long_table_gives_the_same_sets(library: str) -> None:
    sets = Sets(60, seed=6, smallest=1)
    rows = [
        (key, price, *token)
        for key, price, *tokens in zip(range(60), sets.price, sets.stars, sets.words, sets.shop, strict=True)
        for token in zip(*tokens, strict=True)
    ]
    columns = dict(zip(("key", "price", "stars", "words", "shop"), map(list, zip(*rows, strict=True)), strict=True))
    makers = {"arrow": pa.table, "polars": pl.DataFrame, "pandas": lambda c: pa.table(c).to_pandas()}
    wide = cs.from_long(makers[library](columns), by="key", set_columns=("price",))
    assert list(wide["key"].to_pylist() if library == "arrow" else wide["key"]) == list(range(60))
    expected = fit(sets.arrow(), sets.labels)
    assert np.array_equal(expected.predict(wide), expected.predict(sets.arrow()))
    assert np.array_equal(fit(wide, sets.labels).predict(wide), expected.predict(sets.arrow()))


def test_the_input_is_not_changed(sets: Sets) -> None:
    frame, data = sets.pandas_objects(), sets.flat()
    copies = frame.copy(deep=True), data.values.copy(), data.set_values.copy()
    labels, weights = sets.labels.copy(), np.ones(len(sets.labels))
    for X in (frame, data):
        cs.SetRegressor(FEATURES, epochs=1, n_jobs=1).fit(X, labels, weights).predict(X)
    pd.testing.assert_frame_equal(frame, copies[0])
    assert np.array_equal(data.values, copies[1], equal_nan=True)
    assert np.array_equal(data.set_values, copies[2], equal_nan=True)
    assert np.array_equal(labels, sets.labels)
    assert (weights == 1).all()


@pytest.mark.parametrize(("width", "lattice_size", "lattices"), [(1, 2, "full"), (3, 3, "full"), (2, 2, "ensemble")])
def test_predictions_are_what_the_parameters_say(sets: Sets, width: int, lattice_size: int, lattices: str) -> None:
    """Work the six layers out again, token by token, with NumPy's and SciPy's interpolation."""
    options = {"width": width, "lattice_size": lattice_size, "lattices": lattices, "epochs": 10}
    model = fit(sets.arrow(), sets.labels, **options)
    curves, layout = model.calibrators(), model.set_function_.layout
    tables = model.set_function_.tables
    places = np.linspace(-1, 1, model.rho_keypoints)
    later = Sets(15, seed=7)

    def calibrated(k: int, name: str, value: Any) -> float:
        curve = curves[name]
        if value is None or value != value:
            return curve.missing[k]
        if curve.categories is not None:
            return curve.values[k, curve.categories.index(value)]
        return np.interp(value, curve.keypoints, curve.values[k])

    def phi(k: int, token: list[Any]) -> float:
        inputs = [calibrated(k, feature.name, value) for feature, value in zip(FEATURES, token, strict=True)]
        values, start = [], 0
        for subset in layout.subsets:
            sizes = [layout.sizes[d] for d in subset]
            vertices = tables["phi.vertices"][k, start : start + np.prod(sizes)].reshape(sizes)
            axes = [np.linspace(0, 1, size) for size in sizes]
            values.append(RegularGridInterpolator(axes, vertices)([inputs[d] for d in subset])[0])
            start += int(np.prod(sizes))
        return float(np.mean(values))

    expected, scores = [], []
    for row in range(15):
        columns = [later.stars[row], later.words[row], later.shop[row]]
        tokens = list(zip(*columns, strict=True)) or [(None, None, None)]
        size = float(len(later.stars[row]))
        table = [[phi(k, [*token, later.price[row], size]) for k in range(width)] for token in tokens]
        inner = [np.interp(np.mean(table, axis=0)[k], places, tables["rho.calibrators"][k]) for k in range(width)]
        corners = tables["rho.vertices"][0].reshape((2,) * width)
        fused = RegularGridInterpolator([[0, 1]] * width, corners)(inner)[0]
        expected.append(np.interp(fused, places, tables["rho.output"][0]))
        scores += table
    assert model.predict(later.arrow()) == pytest.approx(np.array(expected), rel=1e-6)
    assert model.phi(later.arrow()).scores == pytest.approx(np.array(scores), abs=1e-9)
    assert np.ptp(expected) > 0.1


def test_rows_of_tokens_are_not_taken_for_sets() -> None:
    sets = pa.table({"x": [[1.0, 2.0], [3.0], [4.0, 5.0]]})
    model = cs.SetRegressor(epochs=1).fit(sets, [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match=r"no column of X holds lists.*from_long"):
        model.predict(pa.table({"x": [1.0, 2.0, 3.0]}))
    with pytest.raises(ValueError, match="no column of X holds lists"):
        model.verify(pa.table({"x": [1.0, 2.0, 3.0]}))
    assert len(model.predict(pa.table({"x": [[1.0], [2.0], [3.0]]}))) == 3
