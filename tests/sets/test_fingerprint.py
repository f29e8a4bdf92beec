"""Fingerprints: the same for the same data however they come, others for other data."""

import datetime as dt
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pytest

from clearset.engines import MOST_LANES
from clearset.sets import Feature, Fingerprint, SetData, SetStream, _fingerprint, as_stream, read_sets

FEATURES = [Feature("stars"), Feature("store", kind="categorical"), Feature("price")]


def products(n: int = 40) -> pa.Table:
    rng = np.random.default_rng(0)
    sizes = rng.integers(0, 4, n)
    stars = [[None if rng.random() < 0.1 else float(rng.integers(1, 6)) for _ in range(size)] for size in sizes]
    stores = [[str(name) for name in rng.choice(["north", "south", "süd"], size)] for size in sizes]
    return pa.table({"stars": stars, "store": stores, "price": rng.normal(size=n)})


def streamed(table: pa.Table, rows: tuple[int, int] | None = None, gather=None, max_memory: int = 10**9) -> SetStream:
    return SetStream(as_stream(ds.dataset(table)), FEATURES, max_memory, rows, gather)


def test_frames_files_and_pieces_agree(tmp_path) -> None:
    table = products()
    wanted = read_sets(table, FEATURES).fingerprint()
    assert read_sets(table.to_pandas(), FEATURES).fingerprint() == wanted
    assert read_sets(table.select(["price", "store", "stars"]), FEATURES[::-1]).fingerprint() == wanted
    assert streamed(table).fingerprint() == wanted
    ds.write_dataset(table, tmp_path / "parts", format="parquet", max_rows_per_file=7, max_rows_per_group=7)
    in_files = SetStream(as_stream(str(tmp_path / "parts")), FEATURES, 24 * 300)
    assert in_files.fingerprint() == wanted
    assert wanted.n_sets == 40
    assert wanted.n_tokens == sum(len(row) for row in table["stars"].to_pylist())
    assert [(column.name, column.kind, column.of) for column in wanted.columns] == [
        ("price", "numeric", "set"),
        ("stars", "numeric", "token"),
        ("store", "categorical", "token"),
    ]


@pytest.mark.parametrize("count", [1, 2, 3, 16])
@pytest.mark.parametrize("n", [3, 16, 40])
def test_processes_share_the_parts(n: int, count: int) -> None:
    table = products(n)
    edges = [-(-(rank * MOST_LANES // count) * n // MOST_LANES) for rank in range(count + 1)]
    shares = [streamed(table, rows) for rows in pairwise(edges)]
    for share in shares:
        list(share.pieces())
    digests = [share._digests for share in shares]
    sizes = [share._seen[0] for share in shares]

    def gather(array: np.ndarray) -> list[np.ndarray]:
        return digests if array.dtype == np.uint8 else sizes

    told = streamed(table, (edges[0], edges[1]), gather)
    assert told.fingerprint() == read_sets(table, FEATURES).fingerprint()


def test_parts_are_lanes() -> None:
    assert _fingerprint._PARTS == MOST_LANES  # which several processes share


def changed(table: pa.Table, **columns: list) -> pa.Table:
    for name, values in columns.items():
        table = table.set_column(table.column_names.index(name), name, pa.array(values))
    return table


def test_every_change_is_another_fingerprint() -> None:
    table = products()
    stars, stores, prices = (table[name].to_pylist() for name in table.column_names)
    row = next(place for place, values in enumerate(stars) if len(values) > 1 and values[0] != values[1])
    swapped = [*stars[:row], stars[row][1::-1] + stars[row][2:], *stars[row + 1 :]]
    moved = [0, 1] if len(stars[0]) != len(stars[1]) else [0, 2]
    others = [
        changed(table, price=[prices[0] + 1e-12, *prices[1:]]),
        changed(table, stars=swapped),
        changed(table, store=[["north" for _ in values] for values in stores]),
        table.take([1, 0, *range(2, 40)]),
        table[:39],
        changed(table, stars=[[value or 1.0 for value in values] for values in stars]),
    ]
    found = {read_sets(each, FEATURES).fingerprint().sha256 for each in (table, *others)}
    assert len(found) == len(others) + 1, moved


def test_zeros_and_missing_values_have_one_form() -> None:
    odd = np.array([np.uint64(0x7FF8000000000123)]).view(np.float64)[0]
    one = SetData([0.0, np.nan], [0, 2], ["x"]).fingerprint()
    assert SetData([-0.0, odd], [0, 2], ["x"]).fingerprint() == one
    assert SetData([0.0, 0.0], [0, 2], ["x"]).fingerprint() != one


def test_codes_of_categories_do_not_matter() -> None:
    one = SetData([0, 1, np.nan], [0, 1, 3], ["x"], categories={"x": ["a", "b"]}).fingerprint()
    assert SetData([1, 0, np.nan], [0, 1, 3], ["x"], categories={"x": ["b", "a"]}).fingerprint() == one
    assert SetData([1, 0, np.nan], [0, 1, 3], ["x"], categories={"x": ["a", "b"]}).fingerprint() != one


def test_labels_and_weights_count() -> None:
    sets = SetData([1.0, 2.0], [0, 1, 2], ["x"]).fingerprint()
    ones = np.ones(2)
    told = [
        sets,
        sets.with_labels(np.array([0.0, 1.0]), ones),
        sets.with_labels(np.array([1.0, 0.0]), ones),
        sets.with_labels(np.array([0.0, 1.0]), 2 * ones),
        sets.with_labels(np.array([0, 1]), ones, np.array(["no", "yes"])),
        sets.with_labels(np.array([0, 1]), ones, np.array(["no", "yet"])),
    ]
    days = np.array([dt.date(2026, 1, 1), dt.date(2026, 1, 2)], object)
    told += [
        sets.with_labels(np.array([0, 1]), ones, days),
        sets.with_labels(np.array([0, 1]), ones, days + days[0].resolution),
    ]
    assert len({each.sha256 for each in told}) == len(told)
    assert Fingerprint.from_json(told[1].to_json()) == told[1]
    with pytest.raises(TypeError):
        Fingerprint.from_json({**told[1].to_json(), "n_sets": "2"})
