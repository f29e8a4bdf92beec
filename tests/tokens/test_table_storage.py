import hashlib
import io
import json
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


def examples_of(path: Path) -> Path:
    """Return the file of examples beside a table."""
    (found,) = path.parent.glob(f"{path.name}.*.examples")
    return found


@pytest.mark.parametrize("y", LABELS.values(), ids=LABELS)
@pytest.mark.parametrize("tokens", [cs.Subsets(3), cs.NGrams(2), cs.Items()], ids=repr)
@pytest.mark.parametrize("weighted", [False, True])
def test_round_trips(y: Any, tokens: Any, weighted: bool, tmp_path: Path) -> None:
    w = RNG.uniform(0.1, 1, 40) if weighted else None
    table = cs.TokenTable.build(ROWS, y, tokens, [cs.MinCount(3) | cs.MaxInterval(0.9)], sample_weight=w)
    table.save(tmp_path / "table.parquet")
    again = cs.TokenTable.load(tmp_path / "table.parquet")
    same(table, again)
    assert again.tokenizer == table.tokenizer
    assert again.filters == table.filters
    same(again.update(ROWS[:9], y[:9]), table.update(ROWS[:9], y[:9]))
    same(again + table, table + again)
    encoded = again.encode(ROWS)
    assert again.find(encoded).tokens.tolist() == table.find(table.encode(ROWS)).tokens.tolist()
    again.save(tmp_path / "again.parquet")
    assert (tmp_path / "again.parquet").read_bytes() == (tmp_path / "table.parquet").read_bytes()
    one, other = (examples_of(tmp_path / f"{stem}.parquet") for stem in ("table", "again"))
    assert one.read_bytes() == other.read_bytes()


def test_crosses_and_empty_tables(tmp_path: Path) -> None:
    pairs = [(["a", "b"], ["a"]), (["a"], ["a", "c"]), (["b"], [])]
    for least in (1, 2, 9):
        for y in ([1, 0, 1], [0.5, 0.25, 0.125]):
            table = cs.TokenTable.build(pairs, y, cs.Cross(), cs.MinCount(least))
            table.save(tmp_path / "t.parquet")
            same(table, cs.TokenTable.load(tmp_path / "t.parquet"))


def test_without_examples(tmp_path: Path) -> None:
    table = cs.TokenTable.build(ROWS, LABELS["two"], cs.Subsets(2))
    path = tmp_path / "t.parquet"
    table.save(path)
    beside = examples_of(path)
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
    beside = examples_of(tmp_path / "a.parquet")
    examples_of(tmp_path / "b.parquet").replace(beside)
    with pytest.raises(ValueError, match=r"a\.parquet\.\w+\.examples': it does not hold the examples.* or remove it"):
        cs.TokenTable.load(tmp_path / "a.parquet")
    beside.unlink()
    table = cs.TokenTable.load(tmp_path / "a.parquet")
    assert table.examples is None
    same(table, cs.TokenTable.build(ROWS, LABELS["two"]))


def of_first_version(path: Path) -> None:
    """Write the files of a table as the first version did: without checksums, and the examples under another name."""
    rows, examples = pa.parquet.read_table(path), pa.parquet.read_table(examples_of(path))
    examples_of(path).unlink()
    task = json.loads(examples.schema.metadata[b"clearset_examples"])["task"]
    beside = path.with_name(f"{path.name}.examples")
    pa.parquet.write_table(examples.replace_schema_metadata({"clearset_examples": task}), beside, compression="zstd")
    document = json.loads(rows.schema.metadata[b"clearset_token_table"])
    document |= {"version": 1, "examples_sha256": hashlib.sha256(beside.read_bytes()).hexdigest()}
    pa.parquet.write_table(rows.replace_schema_metadata({"clearset_token_table": json.dumps(document)}), path)


def test_files_of_the_first_version(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    table = cs.TokenTable.build(ROWS, LABELS["texts"])
    table.save(path)
    of_first_version(path)
    again = cs.TokenTable.load(path)
    same(again.update(ROWS, LABELS["texts"]), table.update(ROWS, LABELS["texts"]))
    again.save(path)
    assert sorted(tmp_path.iterdir()) == [path, examples_of(path)]
    of_first_version(path)
    table.save(path, examples=False)
    assert list(tmp_path.iterdir()) == [path]


def test_names_that_differ_in_the_extension_have_examples_of_their_own(tmp_path: Path) -> None:
    tables = {
        tmp_path / name: cs.TokenTable.build(ROWS[:n], LABELS["two"][:n])
        for name, n in (("t.parquet", 20), ("t.pq", 30))
    }
    for path, table in tables.items():
        table.save(path)
    for path, table in tables.items():
        same(cs.TokenTable.load(path).update(ROWS, LABELS["two"]), table.update(ROWS, LABELS["two"]))


@pytest.mark.parametrize("parquet", [False, True])
@pytest.mark.parametrize("examples", [False, True])
def test_files_of_others_stay(parquet: bool, examples: bool, tmp_path: Path) -> None:
    others = [tmp_path / name for name in ("t.parquet.examples", f"t.parquet.{'0' * 16}.examples", ".t.parquet.bak")]
    for other in others:
        if parquet:
            pa.parquet.write_table(pa.table({"items": [1]}), other)
        else:
            other.write_text("mine")
    contents = [other.read_bytes() for other in others]
    cs.TokenTable.build(ROWS, LABELS["two"]).save(tmp_path / "t.parquet", examples)
    assert [other.read_bytes() for other in others] == contents
    assert (cs.TokenTable.load(tmp_path / "t.parquet").examples is not None) == examples


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
    with pytest.raises(OSError, match="no folder"):
        cs.TokenTable.build([["a"]], [1]).save(tmp_path / "none" / "t.parquet")
    with pytest.raises(OSError, match="name of a file"):
        cs.TokenTable.build([["a"]], [1]).save(tmp_path)
