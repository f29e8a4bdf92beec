"""Sets of a stream are those of the whole table, in whatever pieces they are read."""

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from clearset.sets import PLACE, SIZE, Binning, Feature, Observed, SetStream, as_stream, read_sets

N = 60
TINY = 24 * 300  # bytes: a few rows in a piece


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    sizes = rng.integers(0, 6, N)
    offsets = pa.array(np.concatenate([[0], np.cumsum(sizes)]), pa.int32())
    values = pa.array(rng.normal(size=sizes.sum()), mask=rng.random(sizes.sum()) < 0.2)
    shops = pa.array(rng.choice(["market", "corner", "mall"], sizes.sum()))
    return pa.table(
        {
            "stars": pa.ListArray.from_arrays(offsets, values),
            "shop": pa.ListArray.from_arrays(offsets, shops),
            "price": pa.array(rng.normal(size=N), mask=rng.random(N) < 0.2),
        }
    )


FEATURES = [Feature("stars"), Feature("shop", kind="categorical"), Feature("price"), Feature(SIZE), Feature(PLACE)]


def streamed(table, features, tmp_path, group=7, max_memory=TINY, rows=None):
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=group)
    return SetStream(as_stream(tmp_path / "rows.parquet"), features, max_memory, rows)


def decoded(data, feature):
    values, per_set = data.column(feature.name)
    if feature.kind == "categorical":
        known = [*data.categories[feature.name], None]
        return [known[-1 if np.isnan(code) else int(code)] for code in values], per_set
    return values, per_set


def assert_same_sets(pieces, whole, features):
    assert sum(len(piece) for piece in pieces) == len(whole)
    np.testing.assert_array_equal(np.concatenate([piece.sizes for piece in pieces]), whole.sizes)
    for feature in features:
        expected, per_set = decoded(whole, feature)
        found = [decoded(piece, feature) for piece in pieces]
        assert {each for _, each in found} == {per_set}
        np.testing.assert_array_equal(np.concatenate([values for values, _ in found]), expected)


@pytest.mark.parametrize("group", [1, 7, N])
@pytest.mark.parametrize("max_memory", [TINY, 10**9])
def test_pieces_make_up_the_table(table, tmp_path, group, max_memory):
    sets, whole = streamed(table, FEATURES, tmp_path, group, max_memory), read_sets(table, FEATURES)
    pieces = list(sets.pieces())
    assert (len(pieces) > 5) == (group < N or max_memory == TINY)
    assert_same_sets(pieces, whole, FEATURES)
    assert len(sets) == N
    np.testing.assert_array_equal(sets.sizes, whole.sizes)
    names = [feature.name for feature in FEATURES]
    np.testing.assert_array_equal(sets.sizes_known(names), whole.sizes_known(names))
    assert [sets.is_of_sets(name) for name in names] == [whole.is_of_sets(name) for name in names]


def test_sizes_are_known_before_the_first_pass(table, tmp_path):
    whole = read_sets(table, FEATURES)
    np.testing.assert_array_equal(streamed(table, FEATURES, tmp_path).sizes, whole.sizes)


def test_rows_without_lists_are_sets_of_one_token(tmp_path):
    table = pa.table({"x": [1.0, None, 3.0, None], "z": [None, None, 5, 6]})
    features = [Feature("x"), Feature("z")]
    sets, whole = streamed(table, features, tmp_path, 2), read_sets(table, features)
    assert_same_sets(list(sets.pieces()), whole, features)
    np.testing.assert_array_equal(sets.sizes_known(["x", "z"]), [1, 0, 1, 1])
    np.testing.assert_array_equal(sets.sizes_known(["x", "z"]), whole.sizes_known(["x", "z"]))
    assert not sets.is_of_sets("x")
    assert sets.is_of_sets(SIZE)


def test_some_of_the_rows(table, tmp_path):
    features = FEATURES[:3]
    sets = streamed(table, features, tmp_path, rows=(5, 33))
    whole = read_sets(table.slice(5, 28), features)
    assert sets.n_read == 28
    assert sets.first == 5
    assert_same_sets(list(sets.pieces()), whole, features)
    np.testing.assert_array_equal(sets.sizes, whole.sizes)


@pytest.mark.parametrize("sample_weight", [None, np.arange(N) % 3])
def test_keypoints_and_categories_are_those_of_the_table(table, tmp_path, sample_weight):
    found = Binning.fit(streamed(table, FEATURES, tmp_path), FEATURES, sample_weight=sample_weight)
    expected = Binning.fit(read_sets(table, FEATURES), FEATURES, sample_weight=sample_weight)
    assert len(found.keypoints) == len(FEATURES)
    for mine, theirs in zip(found.keypoints, expected.keypoints, strict=True):
        np.testing.assert_array_equal(mine, theirs)
    assert found.categories[1] == expected.categories[1] == ("corner", "mall", "market")


def gathered(shares):
    """Return what a process gathers of several: in place of the others, their calls are made one after the other."""
    sent = [[] for _ in shares]
    for share, own in zip(shares, sent, strict=True):
        share.gathered(lambda array, own=own: [own.append(array) or array])
    calls = iter(zip(*sent, strict=True))
    return shares[0].gathered(lambda _: list(next(calls)))


def test_observed_shares_make_up_the_whole(table, tmp_path):
    sets = [streamed(table, FEATURES, tmp_path, rows=share) for share in ((0, 20), (20, 21), (21, N))]
    shares = [Observed.of(share, FEATURES) for share in (sets[1], sets[2], sets[0])]
    merged = gathered(shares)
    whole = Observed.of(read_sets(table, FEATURES), FEATURES)
    assert merged.categories == whole.categories
    for name, sample in whole.samples.items():
        np.testing.assert_array_equal(merged.samples[name].values()[0], sample.values()[0])


def test_dictionaries_of_pieces_may_differ(tmp_path):
    for name, shops in (("a", ["x", "y"]), ("b", ["z", "x"])):
        column = pa.array(shops).dictionary_encode()
        pq.write_table(pa.table({"shop": column, "label": [1.0, 2.0]}), tmp_path / f"{name}.parquet")
    feature = Feature("shop", kind="categorical")
    sets = SetStream(as_stream(tmp_path), [feature], 10**9)
    found = [name for piece in sets.pieces() for name in decoded(piece, feature)[0]]
    assert found == ["x", "y", "z", "x"]
    assert Binning.fit(sets, [feature]).categories == (("x", "y", "z"),)


def test_errors_name_the_rows(tmp_path):
    ragged = pa.table({"x": [[1.0], [2.0, 3.0], [4.0], [5.0]], "z": [[1.0], [2.0, 3.0], [4.0], [5.0, 6.0]]})
    sets = streamed(ragged, [Feature("x"), Feature("z")], tmp_path, 2, 10**9)
    with pytest.raises(ValueError, match="In the rows 2 to 3, here counted from 0: "):
        list(sets.pieces())


def test_no_rows(tmp_path):
    pq.write_table(pa.table({"x": pa.array([], pa.list_(pa.float64()))}), tmp_path / "none.parquet")
    sets = SetStream(as_stream(tmp_path), [Feature("x")], 10**9)
    assert len(sets) == 0
    assert list(sets.pieces()) == []
    assert sets.sizes.shape == (0,)


def test_a_data_set_in_memory():
    table = pa.table({"x": [[1.0], None, [2.0, 3.0]]})
    sets = SetStream(as_stream(ds.dataset(table)), [Feature("x")], 10**9)
    assert_same_sets(list(sets.pieces()), read_sets(table, [Feature("x")]), [Feature("x")])
