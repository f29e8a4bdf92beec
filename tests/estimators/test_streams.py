"""Fits on files have the same bits as fits in memory, however the files are stored and wherever tokens are kept."""

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import clearset as cs
from clearset.engines import _problem, available_engines
from clearset.estimators import _streams
from clearset.sets import ScratchArray, _arranged_sets, _set_stream
from clearset.training import _prepared

FEATURES = [
    cs.Feature("stars", monotonic="increasing"),
    cs.Feature("words"),
    cs.Feature("shop", kind="categorical"),
    cs.Feature("price"),
    cs.Feature(cs.SIZE),
]
PLAIN = [cs.Feature("price"), cs.Feature("age")]


def rows(n_sets=240, seed=0, smallest=0):
    """Sets with gaps of every kind, some of them empty, labels of several kinds, and weights."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(smallest, 6, size=n_sets)
    offsets, n = pa.array(np.concatenate([[0], np.cumsum(sizes)]), pa.int32()), int(sizes.sum())
    stars, price = rng.integers(1, 6, n).astype(float), rng.choice([1.0, 2.0, 5.0, 9.0], n_sets)
    score = np.bincount(np.repeat(np.arange(n_sets), sizes), stars, n_sets) / np.maximum(sizes, 1) + 0.2 * price
    score += 0.1 * rng.normal(size=n_sets)

    def gaps(values):
        return pa.array(values, mask=rng.random(len(values)) < 0.1)

    return pa.table(
        {
            "stars": pa.ListArray.from_arrays(offsets, pa.array(stars)),
            "words": pa.ListArray.from_arrays(offsets, gaps(rng.lognormal(3, 1, n))),
            "shop": pa.ListArray.from_arrays(offsets, gaps(rng.choice(["town", "web", "fair"], n))),
            "price": gaps(price),
            "age": gaps(rng.normal(size=n_sets)),
            "score": score,
            "good": score > np.median(score),
            "kind": np.digitize(score, np.quantile(score, [0.3, 0.7])).astype(str),
            "weight": rng.integers(0, 3, n_sets),
        }
    )


TRAIN, OTHER = rows(), rows(80, seed=1)


@pytest.fixture
def folder(tmp_path):
    """Three files with row groups of several sizes."""
    for number, group in enumerate([7, 50, 80]):
        part = TRAIN.slice(80 * number, 80)
        pq.write_table(part, tmp_path / f"part-{number}.parquet", row_group_size=group)
    return tmp_path


@pytest.fixture
def other(tmp_path_factory):
    path = tmp_path_factory.mktemp("other") / "other.parquet"
    pq.write_table(OTHER, path, row_group_size=33)
    return path


@pytest.fixture(params=["double", "packed", "scratch"])
def kept(request, monkeypatch):
    """Where training finds the tokens: as they are, packed in memory, or in a file in several parts and blocks."""
    if request.param != "double":
        monkeypatch.setattr(_prepared, "DOUBLE_PRECISION_VALUES", 0)
        monkeypatch.setattr(_problem, "PIECE_TOKENS", 100)
        if "native" in available_engines():
            monkeypatch.setattr("clearset.engines._native_trainer.BLOCK_TOKENS", 150)
    if request.param == "scratch":
        monkeypatch.setattr(_prepared, "PACKED_SHARE", 1e-12)
        monkeypatch.setattr(_arranged_sets, "_PART_BYTES", 1000)
    return request.param


def bits(model):
    """Everything that a fitted model knows, but for the parameters of its estimator."""
    one = model.as_model()
    tables = b"".join(np.asarray(table).tobytes() for table in one.function.tables.values())
    keypoints = b"".join(b"" if each is None else each.tobytes() for each in one.binning.keypoints)
    support = one.function.support
    shown = (support.base.tobytes(), support.tokens, support.counts.tobytes())
    nothing = None if one.link.nothing is None else one.link.nothing.tobytes()
    return tables, keypoints, one.binning.categories, shown, nothing, str(model.history_)


REGRESSOR, CLASSIFIER = cs.SetRegressor, cs.SetClassifier
CASES = {
    "regression": (REGRESSOR, FEATURES, "score", {}),
    "two classes": (CLASSIFIER, FEATURES, "good", {}),
    "several classes": (CLASSIFIER, FEATURES[1:], "kind", {}),
    "class weights": (CLASSIFIER, FEATURES[1:], "kind", {"class_weight": "balanced"}),
    "rows of one token": (REGRESSOR, PLAIN, "score", {}),
    "an ensemble, wider": (REGRESSOR, FEATURES, "score", {"width": 2, "lattices": "ensemble"}),
    "places": (REGRESSOR, [FEATURES[0], cs.Feature(cs.PLACE), cs.Feature(cs.PLACE_FROM_START)], "score", {}),
    "no early stopping": (REGRESSOR, FEATURES, "score", {"early_stopping": False}),
    "restarts": (REGRESSOR, FEATURES[:2], "score", {"restarts": 2}),
    "light touch": (REGRESSOR, FEATURES[:2], "score", {"constraints": "light_touch", "optimizer": "adagrad"}),
}


def make(case, **changes):
    estimator, features, label, parameters = CASES[case]
    defaults = {"epochs": 3, "random_state": 0, "batch_size": 16, "validation_fraction": 0.25}
    return estimator(features, **{**defaults, **parameters, **changes}), label


def sets_and_labels(model, table, label):
    names = [feature.name for feature in model.features if feature.name in table.column_names]
    return table.select(names), table[label].to_numpy(zero_copy_only=False)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.usefixtures("kept")
def test_same_bits_as_in_memory(folder, case):
    (streamed, label), (whole, _) = make(case), make(case)
    streamed.fit(folder, label)
    whole.fit(*sets_and_labels(whole, TRAIN, label))
    assert bits(streamed) == bits(whole)
    assert list(streamed.feature_names_in_) == list(whole.feature_names_in_)


def test_scratch_files_are_used_where_memory_is_short(folder, monkeypatch):
    monkeypatch.setattr(_prepared, "DOUBLE_PRECISION_VALUES", 0)
    monkeypatch.setattr(_prepared, "PACKED_SHARE", 1e-12)
    made = []
    start = ScratchArray.__init__
    monkeypatch.setattr(ScratchArray, "__init__", lambda self, *given: made.append(given) or start(self, *given))
    model, label = make("regression", early_stopping=True)
    model.fit(folder, label)
    assert len(made) == 2  # to train on, and to validate on


@pytest.mark.usefixtures("kept")
def test_weights_of_a_column(folder):
    (streamed, label), (whole, _) = make("regression"), make("regression")
    streamed.fit(folder, label, sample_weight="weight")
    whole.fit(*sets_and_labels(whole, TRAIN, label), sample_weight=TRAIN["weight"].to_numpy())
    assert bits(streamed) == bits(whole)
    given, _ = make("regression")
    given.fit(folder, TRAIN[label].to_numpy(), sample_weight=TRAIN["weight"].to_numpy())
    assert bits(given) == bits(whole)


@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize("case", ["regression", "several classes"])
def test_validation_data_in_files(folder, other, case):
    (streamed, label), (whole, _) = make(case), make(case)
    streamed.fit(folder, label, validation_data=(other, label))
    whole.fit(*sets_and_labels(whole, TRAIN, label), validation_data=sets_and_labels(whole, OTHER, label))
    assert bits(streamed) == bits(whole)
    mixed, _ = make(case)
    mixed.fit(folder, label, validation_data=sets_and_labels(whole, OTHER, label))
    assert bits(mixed) == bits(whole)


@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize("case", ["regression", "two classes"])
def test_warm_start(folder, other, case):
    (streamed, label), (whole, _) = make(case, warm_start=True), make(case, warm_start=True)
    streamed.fit(folder, label).fit(other, label)
    whole.fit(*sets_and_labels(whole, TRAIN, label)).fit(*sets_and_labels(whole, OTHER, label))
    assert bits(streamed) == bits(whole)


def test_features_by_default_are_the_other_columns(folder, tmp_path):
    table = TRAIN.select(["stars", "words", "price", "score", "weight"])
    pq.write_table(table, tmp_path / "some.parquet")
    streamed, whole = (cs.SetRegressor(epochs=2, random_state=0) for _ in range(2))
    streamed.fit(tmp_path / "some.parquet", "score", sample_weight="weight")
    whole.fit(table.drop_columns(["score", "weight"]), table["score"].to_numpy(), table["weight"].to_numpy())
    assert [feature.name for feature in streamed.features_] == ["stars", "words", "price", "cs.SIZE"]
    assert bits(streamed) == bits(whole)


@pytest.mark.usefixtures("kept")
def test_how_rows_are_stored_does_not_matter(folder, tmp_path_factory, monkeypatch):
    expected = bits(make("regression")[0].fit(folder, "score"))
    paths, one = sorted(folder.glob("*.parquet")), tmp_path_factory.mktemp("one")
    pq.write_table(TRAIN, one / "rows.parquet", row_group_size=11)
    stored = [str(folder), ds.dataset(folder), ds.dataset(paths[::-1]), one, one / "rows.parquet", ds.dataset(TRAIN)]
    for given in stored:
        assert bits(make("regression")[0].fit(given, "score")) == expected
    # And in pieces of a few rows.
    monkeypatch.setattr(_set_stream.SetStream, "pieces", in_small_pieces(_set_stream.SetStream.pieces))
    assert bits(make("regression")[0].fit(one, "score")) == expected


def in_small_pieces(pieces):
    def small(self):
        self._bytes_at_once = 500
        yield from pieces(self)

    return small


@pytest.mark.parametrize("case", ["regression", "two classes", "several classes", "rows of one token"])
def test_predictions_of_files(folder, other, case):
    model, label = make(case)
    model.fit(folder, label)
    X, _ = sets_and_labels(model, OTHER, label)
    np.testing.assert_array_equal(model.predict(other), model.predict(X))
    np.testing.assert_array_equal(model.predict(ds.dataset(other)), model.predict(X))
    np.testing.assert_array_equal(model.as_model().predict(str(other)), model.predict(X))
    if isinstance(model, cs.SetClassifier):
        np.testing.assert_array_equal(model.predict_proba(other), model.predict_proba(X))


def test_pieces_of_memory_hold_what_training_reads(folder):
    """Files may have columns that cannot be read as features; they are not looked at."""
    part = TRAIN.append_column("note", pa.array([b"\xff"] * len(TRAIN)))
    pq.write_table(part, folder / "part-0.parquet")
    for number in (1, 2):
        (folder / f"part-{number}.parquet").unlink()
    model, label = make("regression")
    assert bits(model.fit(folder, label)) == bits(make("regression")[0].fit(ds.dataset(TRAIN), label))


def wrong(changes, **fit):
    """A fit that must be refused."""
    table = TRAIN
    for name, column in changes.items():
        table = table.set_column(table.column_names.index(name), name, column)
    model, label = make(fit.pop("case", "regression"))
    return lambda: model.fit(ds.dataset(table), **{"y": label, **fit})


NULLS = pa.array([None, *TRAIN["score"].to_pylist()[1:]], pa.float64())
REFUSED = [
    (wrong({}, y="scores"), ValueError, "'scores'.*'score'"),
    (wrong({}, sample_weight="wait"), ValueError, "'wait'"),
    (wrong({"score": NULLS}), ValueError, "'score' has 1 missing values. Remove these rows"),
    (wrong({"weight": NULLS}, sample_weight="weight"), ValueError, "'weight' has 1 missing values"),
    (wrong({}, y="words"), ValueError, "'words' is a declared feature, but holds the labels"),
    (wrong({}, sample_weight="price"), ValueError, "'price' is a declared feature, but holds the labels or weights"),
    (wrong({}, case="rows of one token", y="words"), ValueError, "'words' holds lists; a label or weight is one value"),
    (wrong({}, y=TRAIN["score"].to_numpy()[:-1]), ValueError, "239"),
    (
        wrong({}, validation_data=(OTHER.drop_columns(["score"]), "score")),
        TypeError,
        "y is 'score', the name of a column",
    ),
    (wrong({}, validation_data=(ds.dataset(OTHER), "scores")), ValueError, "'scores'"),
    (wrong({}, validation_data=(ds.dataset(OTHER.drop_columns(["words"])), "score")), ValueError, "'words'"),
]


@pytest.mark.parametrize(("fit", "error", "message"), REFUSED)
def test_refused(fit, error, message):
    with pytest.raises(error, match=message):
        fit()


def test_a_name_is_no_label_of_a_frame():
    model, label = make("regression")
    with pytest.raises(TypeError, match=r"y is 'score', the name of a column, which is for data in files"):
        model.fit(TRAIN.drop_columns([label]), label)


def test_unknown_features_are_refused_before_anything_is_read(folder):
    model = cs.SetRegressor([cs.Feature("starz")])
    with pytest.raises(ValueError, match=r"'starz'"):
        model.fit(folder, "score")


def test_no_rows(tmp_path):
    pq.write_table(TRAIN.slice(0, 0), tmp_path / "none.parquet")
    model, label = make("regression")
    with pytest.raises(ValueError, match="no sets"):
        model.fit(tmp_path, label)
    model.fit(ds.dataset(TRAIN), label)
    with pytest.raises(ValueError, match="no sets"):
        model.predict(tmp_path)


@pytest.mark.parametrize("max_memory", ["2 bananas", "1MB", -1, 2.5, True])
def test_limits_that_are_none(max_memory):
    model, label = make("regression", max_memory=max_memory)
    with pytest.raises(ValueError, match="max_memory"):
        model.fit(TRAIN.drop_columns([label]), TRAIN[label].to_numpy())


def test_sets_that_are_too_many_for_a_limit_are_refused_before_they_are_read(folder, monkeypatch):
    model, label = make("regression", max_memory="64MB")
    monkeypatch.setattr(_streams, "SET_BYTES", 300_000)
    with pytest.raises(ValueError, match=r"each of 240 sets .* about 72 MB .* max_memory is 64 MB. Allow 90 MB"):
        model.fit(folder, label)
    model.set_params(max_memory="100MB").fit(folder, label)


def test_predictions_without_a_column(folder, tmp_path):
    model, label = make("regression")
    model.fit(folder, label)
    with pytest.raises(ValueError, match="'price'"):
        model.predict(ds.dataset(OTHER.drop_columns(["price"])))


def test_a_failed_fit_leaves_the_last_one(folder):
    model, label = make("regression")
    before = bits(model.fit(folder, label))
    with pytest.raises(ValueError, match="scores"):
        model.fit(folder, "scores")
    assert bits(model) == before


def test_labels_and_features_that_are_dictionaries(tmp_path):
    """Each file has a dictionary of its own."""
    shop = pa.array(np.where(np.arange(len(TRAIN)) % 7 < 3, "web", "town"))
    table = TRAIN.select(["stars", "kind"]).append_column("shop", shop)
    for start in (0, 100):
        part = table.slice(start, 100 if start == 0 else len(TRAIN)).combine_chunks()
        for name in ("kind", "shop"):
            encoded = part[name].combine_chunks().dictionary_encode()
            part = part.set_column(part.column_names.index(name), name, encoded)
        pq.write_table(part, tmp_path / f"{start}.parquet")
    streamed, whole = (cs.SetClassifier(epochs=2, random_state=0) for _ in range(2))
    streamed.fit(tmp_path, "kind")
    encoded = table["shop"].combine_chunks().dictionary_encode()
    whole.fit(pa.table({"stars": table["stars"], "shop": encoded}), table["kind"].to_numpy(zero_copy_only=False))
    declared = (cs.Feature("stars"), cs.Feature("shop", kind="categorical"), cs.Feature(cs.SIZE))
    assert streamed.features_ == whole.features_ == declared
    np.testing.assert_array_equal(streamed.classes_, ["0", "1", "2"])
    assert bits(streamed) == bits(whole)


def test_predictions_stand_as_the_data_set_lists_its_files(tmp_path):
    rng = np.random.default_rng(0)
    for name in "ab":
        pq.write_table(pa.table({"x": rng.normal(size=60), "y": rng.normal(size=60)}), tmp_path / f"{name}.parquet")
    listed = ds.dataset([str(tmp_path / "b.parquet"), str(tmp_path / "a.parquet")])
    model = cs.SetRegressor(["x"], epochs=2, random_state=0).fit(listed, "y")
    np.testing.assert_array_equal(model.predict(listed), model.predict(listed.to_table()))
    with pytest.raises(ValueError, match="y is given apart from the data set"):
        model.fit(listed, listed.to_table()["y"].to_numpy())
