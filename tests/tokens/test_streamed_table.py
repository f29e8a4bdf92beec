"""Tables of examples that are read in batches are those of examples in memory, to the last bit."""

import gc
import itertools
import tempfile
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings

import clearset as cs
from clearset.sets import as_stream
from clearset.tokens import TokenLimitError, _item_counts, _mining_passes, _streamed_table
from clearset.tokens._filters import check_filters
from clearset.tokens._own_tokenizers import as_tokenizer
from clearset.tokens._streamed_columns import StreamedColumns

from .test_table import ITEMS, LABELS, same

ROWS = st.lists(st.lists(st.sampled_from([*ITEMS, "a", "b", "c"]), max_size=7), min_size=1, max_size=30)


class Neighbours:
    """A tokenizer of a user's own."""

    def tokens(self, example: list[str]) -> list[Any]:
        return [*example, *itertools.pairwise(example)]


SETS = {
    "items": cs.Items(),
    "pairs": cs.Subsets(2),
    "triples": cs.Subsets(3),
    "all subsets": cs.Subsets(),
    "bigrams": cs.NGrams(2),
    "4-grams": cs.NGrams(4),
}


def streamed(X: Any, tokens: Any, filters: Any = (), *, memory: int = 2000, **options: Any) -> cs.TokenTable:
    """Build a table within so little memory that nothing fits."""
    tokenizer, chosen = as_tokenizer(tokens), check_filters(filters)
    stream = as_stream(X)
    assert stream is not None
    columns = StreamedColumns.of(
        stream, options.get("column"), tokenizer, options.get("y", "label"), options.get("sample_weight")
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_mining_passes, "_check_size", lambda *_: None)
        patch.setattr(_streamed_table, "_check_size", lambda *_: None)
        patch.setattr(_item_counts, "_PARTITIONS", 4)
        found = _streamed_table.count_streamed(
            columns, options.get("task", "auto"), _streamed_table.Counting(tokenizer, chosen, 1, memory)
        )
    return cs.TokenTable(tokenizer=tokenizer, filters=chosen, **vars(found))


def data_set(table: pa.Table, cuts: list[int]) -> ds.Dataset:
    """Cut a table into the parts of a data set."""
    places = sorted({0, len(table), *(cut % (len(table) + 1) for cut in cuts)})
    parts = [table.slice(a, b - a) for a, b in itertools.pairwise(places)]
    return ds.dataset([ds.dataset(part) for part in parts]) if parts else ds.dataset(table)


@pytest.mark.parametrize("tokens", SETS.values(), ids=SETS)
@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("weighted", [False, True])
@given(
    rows=ROWS,
    seed=st.integers(0, 2**31),
    least=st.integers(1, 4),
    cuts=st.lists(st.integers(0, 100), max_size=4),
    memory=st.sampled_from([2000, 30_000, 10**8]),
)
@settings(max_examples=4, deadline=None)
def test_same_as_in_memory(
    tokens: Any, kind: str, weighted: bool, rows: list[list[str]], seed: int, least: int, cuts: list[int], memory: int
) -> None:
    rng = np.random.default_rng(seed)
    y = LABELS[kind](rng, len(rows))
    w = np.where(rng.random(len(rows)) < 0.8, rng.uniform(0.5, 2, len(rows)) * 10.0 ** rng.integers(-8, 8), 0.0)
    w[0] = 1.0
    task = "number" if kind == "number" else "classes"
    options = {"task": task, "sample_weight": w if weighted else None}
    expected = cs.TokenTable.build(pa.array(rows, pa.list_(pa.string())), y, tokens, [cs.MinCount(least)], **options)
    order = rng.permutation(len(rows))
    table = pa.table({"items": pa.array(rows, pa.list_(pa.string())), "label": y, "weight": w}).take(order)
    options["sample_weight"] = "weight" if weighted else None
    found = streamed(data_set(table, cuts), tokens, [cs.MinCount(least)], memory=memory, **options)
    same(found, expected)


PAIRS = {"cross": cs.Cross(), "named cross": cs.Cross("left", "right"), "difference": cs.Difference(max_size=2)}


@pytest.mark.parametrize("tokens", PAIRS.values(), ids=PAIRS)
@given(rows=ROWS, seed=st.integers(0, 2**31), memory=st.sampled_from([2000, 10**8]))
@settings(max_examples=5, deadline=None)
def test_two_columns(tokens: Any, rows: list[list[str]], seed: int, memory: int) -> None:
    rng = np.random.default_rng(seed)
    lists = pa.array(rows, pa.list_(pa.string()))
    other = lists.take(pa.array(rng.permutation(len(rows))))
    y = rng.choice(["x", "y"], len(rows))
    pair = pa.table({"left": lists, "right": other})
    expected = cs.TokenTable.build(pair, y, tokens, [cs.MinCount(2)])
    table = pair.append_column("label", pa.array(y))
    found = streamed(ds.dataset(table), tokens, [cs.MinCount(2)], memory=memory, column=("left", "right"))
    same(found, expected)


@pytest.mark.parametrize("tokens", [cs.NGrams(3), cs.NGrams(2, split=str.split), Neighbours()])
def test_texts_and_own_tokenizers(tokens: Any) -> None:
    rng = np.random.default_rng(3)
    words = np.array(["Salt", "lime,", "chili", "and", "crème", "brûlée"])
    texts = [" ".join(rng.choice(words, rng.integers(0, 9))) for _ in range(60)]
    X: Any = [text.split() for text in texts] if isinstance(tokens, Neighbours) else texts
    y = rng.normal(size=60)
    expected = cs.TokenTable.build(X, y, tokens, [cs.MinCount(3), cs.MaxInterval(3.0)])
    assert len(expected) > 10
    table = pa.table({"label": y, "text": X})
    for memory in (2000, 10**8):
        same(streamed(ds.dataset(table), tokens, [cs.MinCount(3), cs.MaxInterval(3.0)], memory=memory), expected)


AUTO = {
    "strings": np.array(["b", "a", "longer"] * 50),
    "booleans": np.array([True, False, False] * 50),
    "few whole numbers": np.arange(150) % 100,
    "many whole numbers": np.arange(150) % 101,
    "whole floats": np.arange(150) % 5 * 1.0,
    "fractions": np.arange(150) % 5 + 0.5,
    "one class": np.ones(150, np.int64),
    "large whole numbers": 2**60 + np.arange(150) % 3,
}


@pytest.mark.parametrize("y", AUTO.values(), ids=AUTO)
@pytest.mark.parametrize("weights", [None, "ones", "without a class"])
def test_task_is_chosen_as_in_memory(y: np.ndarray[Any, Any], weights: str | None) -> None:
    rows = [["a", "b"], ["a"], ["b", "c"]] * 50
    w = None
    if weights is not None:
        w = np.where((y == y[0]) & (weights != "ones") & (len(np.unique(y)) > 1), 0.0, 1.5)
    expected = cs.TokenTable.build(rows, y, cs.Subsets(2), sample_weight=w)
    table = pa.table({"items": rows, "label": y, "weight": np.ones(150) if w is None else w})
    found = streamed(ds.dataset(table), cs.Subsets(2), memory=3000, sample_weight=None if w is None else "weight")
    same(found, expected)
    assert found.task == expected.task
    if expected.classes is not None and found.classes is not None:
        assert found.classes.dtype == expected.classes.dtype


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Write 3,000 examples to a folder of three files."""
    rng = np.random.default_rng(0)
    rows = [[f"item {code}" for code in rng.zipf(1.5, 6) if code < 1000] for _ in range(3000)]
    table = pa.table({"items": rows, "label": rng.integers(0, 3, 3000), "weight": rng.uniform(size=3000)})
    (tmp_path / "parts").mkdir()
    for part in range(3):
        pq.write_table(table.slice(1000 * part, 1000), tmp_path / "parts" / f"{part}.parquet", row_group_size=300)
    return tmp_path / "parts"


def test_path_folder_and_data_set(folder: Path) -> None:
    whole = pq.read_table(folder)
    filters = [cs.MinCount(5)]
    expected = cs.TokenTable.build(whole["items"], whole["label"], cs.Subsets(3), filters)
    options = {"column": "items", "max_memory": "100MB"}
    same(cs.TokenTable.build(folder, "label", cs.Subsets(3), filters, **options), expected)
    same(cs.TokenTable.build(str(folder), "label", cs.Subsets(3), filters), expected)
    files = sorted(folder.iterdir(), reverse=True)
    same(cs.TokenTable.build(ds.dataset(files), "label", cs.Subsets(3), filters), expected)
    files[0].rename(folder / "00.parquet")  # the files in another order
    table = cs.TokenTable.build(folder, "label", cs.Subsets(3), filters)
    same(table, expected)
    assert "without its examples" in repr(table)
    with pytest.raises(ValueError, match="without its examples"):
        table.update([["a"]], [1])


def test_little_memory_for_many_rows(folder: Path) -> None:
    whole = pq.read_table(folder)
    expected = cs.TokenTable.build(
        whole["items"], whole["label"], cs.Subsets(), [cs.MinCount(4)], sample_weight=whole["weight"]
    )
    found = streamed(folder, cs.Subsets(), [cs.MinCount(4)], memory=200_000, sample_weight="weight")
    same(found, expected)
    assert expected.sizes.max() > 3


def scratch_files(folder: Path) -> list[str]:
    """Return the scratch files that this process has open, and those that are in a folder."""
    links = [str(each.readlink()) for each in Path("/proc/self/fd").iterdir() if each.is_symlink()]
    return [link for link in [*links, *map(str, folder.glob("*"))] if str(folder) in link]


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="open files are not told here")
@pytest.mark.parametrize("error", [None, ValueError, KeyboardInterrupt])
@pytest.mark.parametrize("where", ["_store", "mine_stored", "kept_tokens"])
def test_scratch_files_are_removed(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[BaseException] | None, where: str
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    seen = []
    original = getattr(_streamed_table, where)

    def watched(*arguments: Any, **options: Any) -> Any:
        seen.extend(scratch_files(scratch))
        found = original(*arguments, **options)
        if error is not None:
            raise error("from outside")
        return found

    monkeypatch.setattr(_streamed_table, where, watched)
    if error is None:
        streamed(folder, cs.Subsets(2), memory=20_000)
    else:
        with pytest.raises(error, match="from outside"):
            streamed(folder, cs.Subsets(2), memory=20_000)
    assert seen or where == "kept_tokens"
    gc.collect()
    assert not scratch_files(scratch)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"y": [1, 2]}, "y is a list; where X is a Parquet file"),
        ({"y": "labels"}, "'labels'"),
        ({"y": "label", "sample_weight": np.ones(3000)}, "sample_weight is a ndarray"),
        ({"y": "label", "column": "item"}, "Did you mean 'items'"),
        ({"y": "label", "column": ["items", "label"]}, "column names 2"),
        ({"y": "label", "tokens": cs.Cross()}, "2 column\\(s\\) of lists or strings are read, but X has 1"),
        ({"y": "label", "max_memory": 1000}, "at least 64 MB"),
        ({"y": "label", "task": "much"}, "task is 'much'"),
        ({"y": "items"}, "In the rows from 0 on: y holds list"),
    ],
)
def test_wrong_arguments(folder: Path, options: dict[str, Any], message: str) -> None:
    column = "items" if options["y"] == "items" else None
    with pytest.raises((TypeError, ValueError), match=message):
        cs.TokenTable.build(folder, **{"column": column, **options})


def test_options_of_streams_are_refused_in_memory() -> None:
    with pytest.raises(ValueError, match="column is 'items', but X is a list"):
        cs.TokenTable.build([["a"]], [1], column="items")
    with pytest.raises(FileNotFoundError, match="no_such"):
        cs.TokenTable.build("no_such.parquet", "label")


def test_errors_name_the_rows(tmp_path: Path) -> None:
    table = pa.table({"items": [["a"]] * 10, "label": [*range(7), None, 1, 2]})
    with pytest.raises(ValueError, match="In the rows from 5 on: y is missing in row 2"):
        streamed(data_set(table, [5]), cs.Items(), memory=10**8)
    weights = pa.table({"items": [["a"]] * 2, "label": [0, 1], "weight": [0.0, 0.0]})
    with pytest.raises(ValueError, match="All weights are 0"):
        streamed(ds.dataset(weights), cs.Items(), sample_weight="weight")


def test_tables_that_do_not_fit(folder: Path) -> None:
    tokenizer = cs.Subsets(3)
    stream = as_stream(folder)
    assert stream is not None
    columns = StreamedColumns.of(stream, None, tokenizer, "label", None)
    with pytest.raises(TokenLimitError, match=r"items are in 1 examples or more.*max_memory is 20,000"):
        _streamed_table.count_streamed(columns, "auto", _streamed_table.Counting(tokenizer, (), 1, 20_000))
    with pytest.raises(TokenLimitError, match=r"tokens, whose table takes .* max_memory allows 200,000"):
        _streamed_table.count_streamed(columns, "auto", _streamed_table.Counting(tokenizer, (), 1, 200_000))
