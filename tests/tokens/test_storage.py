import io
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import clearset as cs
from clearset.tokens import Statistics

from .test_table import ITEMS, same

RNG = np.random.default_rng(3)
ROWS = [list(RNG.choice(ITEMS, RNG.integers(0, 5))) for _ in range(40)]
LABELS: dict[str, Any] = {
    "two": RNG.integers(0, 2, 40),
    "bool": RNG.integers(0, 2, 40).astype(bool),
    "one": ["only"] * 40,
    "texts": RNG.choice(["Ä", "b", "c\n"], 40),
    "floats": RNG.integers(0, 3, 40).astype(float),
    "number": RNG.normal(size=40) / 3,
}


@pytest.mark.parametrize("y", LABELS.values(), ids=LABELS)
@pytest.mark.parametrize("tokens", [cs.Subsets(3), cs.NGrams(2), cs.Items()], ids=repr)
@pytest.mark.parametrize("weighted", [False, True])
def test_round_trips(y: Any, tokens: Any, weighted: bool, tmp_path: Path) -> None:
    w = RNG.uniform(0.1, 1, 40) if weighted else None
    table = cs.TokenTable.build(ROWS, y, tokens, [cs.MinCount(3) | cs.MaxInterval(0.9)], sample_weight=w)
    table.save(tmp_path / "table.parquet")
    again = cs.TokenTable.load(tmp_path / "table.parquet")
    same(table, again)
    assert again.tokeniser == table.tokeniser
    assert again.filters == table.filters
    same(again.update(ROWS[:9], y[:9]), table.update(ROWS[:9], y[:9]))
    same(again + table, table + again)
    encoded = again.encode(ROWS)
    assert again.find(encoded).tokens.tolist() == table.find(table.encode(ROWS)).tokens.tolist()
    again.save(tmp_path / "again.parquet")
    for name in ("{}.parquet", "{}.examples.parquet"):
        one, other = (pa.parquet.read_table(tmp_path / name.format(stem)) for stem in ("table", "again"))
        assert one.equals(other)


def test_crosses_and_empty_tables(tmp_path: Path) -> None:
    pairs = [(["a", "b"], ["a"]), (["a"], ["a", "c"]), (["b"], [])]
    for least in (1, 2, 9):
        for y in ([1, 0, 1], [0.5, 0.25, 0.125]):
            table = cs.TokenTable.build(pairs, y, cs.Cross(), cs.MinCount(least))
            table.save(tmp_path / "t.parquet")
            same(table, cs.TokenTable.load(tmp_path / "t.parquet"))


def test_without_examples(tmp_path: Path) -> None:
    table = cs.TokenTable.build(ROWS, LABELS["two"], cs.Subsets(2))
    path, beside = tmp_path / "t.parquet", tmp_path / "t.examples.parquet"
    table.save(path)
    assert beside.exists()
    table.save(path, examples=False)
    assert not beside.exists()
    alone = cs.TokenTable.load(path)
    same(table, alone)
    assert alone.examples is None
    table.save(path)
    beside.unlink()
    assert cs.TokenTable.load(path).examples is None
    assert sorted(p.name for p in tmp_path.iterdir()) == ["t.parquet"]


def test_files_in_memory() -> None:
    table = cs.TokenTable.build(ROWS, LABELS["texts"], cs.Subsets(2))
    file = io.BytesIO()
    table.write_parquet(file)
    same(table, cs.TokenTable.read_parquet(file.getvalue()))
    file.seek(0)
    assert cs.TokenTable.read_parquet(file).examples is None


def test_examples_of_another_table(tmp_path: Path) -> None:
    for name, y in (("a", LABELS["two"]), ("b", LABELS["texts"])):
        cs.TokenTable.build(ROWS, y).save(tmp_path / f"{name}.parquet")
    (tmp_path / "b.examples.parquet").replace(tmp_path / "a.examples.parquet")
    with pytest.raises(ValueError, match=r"a\.examples\.parquet' does not hold the examples"):
        cs.TokenTable.load(tmp_path / "a.parquet")


def test_own_filters(tmp_path: Path) -> None:
    def frequent(s: Statistics) -> Any:
        return s.counts > 3

    table = cs.TokenTable.build(ROWS, LABELS["two"], cs.Subsets(2), [frequent])
    table.save(tmp_path / "t.parquet")
    again = cs.TokenTable.load(tmp_path / "t.parquet")
    same(table, again)
    with pytest.raises(ValueError, match="frequent"):
        again.update(ROWS, LABELS["two"])
    again = cs.TokenTable.load(tmp_path / "t.parquet", filters=[frequent])
    same(again.update(ROWS, LABELS["two"]), table.update(ROWS, LABELS["two"]))


def test_what_is_no_table(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no such file"):
        cs.TokenTable.load(tmp_path / "t.parquet")
    (tmp_path / "t.parquet").write_text("token,count")
    with pytest.raises(ValueError, match="is no token table"):
        cs.TokenTable.load(tmp_path / "t.parquet")
    pa.parquet.write_table(pa.table({"token": [1]}), tmp_path / "t.parquet")
    with pytest.raises(ValueError, match="no token table"):
        cs.TokenTable.load(tmp_path / "t.parquet")
    with pytest.raises(OSError, match="folder that exists"):
        cs.TokenTable.build([["a"]], [1]).save(tmp_path / "none" / "t.parquet")
    with pytest.raises(OSError, match="name of a file"):
        cs.TokenTable.build([["a"]], [1]).save(tmp_path)
