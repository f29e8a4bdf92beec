from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from clearset.datasets import load_intent

TABLE = {"query": ["tax forms", "12345", "soup"], "label": [1, 0, 0], "length_matched": [True, False, True]}


@pytest.mark.parametrize("file", ["intent.csv", "intent.parquet"])
def test_every_format(file: str, tmp_path: Path) -> None:
    if file.endswith(".csv"):
        rows = zip(*TABLE.values(), strict=True)
        text = "\n".join(",".join(map(str, row)) for row in [TABLE, *rows])
        (tmp_path / file).write_text(text)
    else:
        pq.write_table(pa.table(TABLE), tmp_path / file)
    queries = load_intent(tmp_path)
    assert queries.X.to_pylist() == TABLE["query"]
    assert queries.y.tolist() == [1, 0, 0]
    matched = load_intent(tmp_path, length_matched=True)
    assert matched.X.to_pylist() == ["tax forms", "soup"]
    assert matched.y.tolist() == [1, 0]


def test_nothing_says_what_is_length_matched(tmp_path: Path) -> None:
    (tmp_path / "intent.csv").write_text("query,label\na,1\n")
    with pytest.raises(ValueError, match="no column 'length_matched'"):
        load_intent(tmp_path, length_matched=True)


def test_real(real) -> None:
    queries = real(load_intent)
    assert (queries.n, int(queries.y.sum())) == (99_723, 19_719)
    assert len(queries.X.unique()) == 99_723
    matched = real(load_intent, length_matched=True)
    assert (matched.n, int(matched.y.sum())) == (34_366, 17_183)
