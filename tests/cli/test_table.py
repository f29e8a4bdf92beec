from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import clearset as cs
from clearset.cli import main

ITEMS = [["salt", "lime"], ["salt"], [], ["lime", "salt", "chili"], None, ["[b]chili[/b]", "two\nlines"]]
LABELS = ["thai", "greek", "greek", "thai", "thai", "greek"]
WEIGHTS = [1.0, 2.0, 1.0, 0.5, 1.0, 1.0]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    table = pa.table({"items": ITEMS, "cuisine": LABELS, "weight": WEIGHTS})
    pa.parquet.write_table(table, tmp_path / "data.parquet")
    texts = [None if row is None else " ; ".join(row) for row in ITEMS]
    pa.csv.write_csv(table.set_column(0, "items", pa.array(texts)), tmp_path / "data.csv")
    return tmp_path


def build(folder: Path, *options: str, name: str = "table.parquet", data: str = "data.parquet") -> int:
    common = ["--column", "items", "--label", "cuisine", "-o", str(folder / name)]
    return main(["table", "build", str(folder / data), *common, *options])


def arrow(path: Path) -> pa.Table:
    return cs.TokenTable.load(path).to_arrow()


@pytest.mark.parametrize("source", ["data.parquet", "data.csv"])
def test_build(data: Path, source: str, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--tokens", "subsets:2", "--min-count", "2", "--max-interval", "0.9", "--weight", "weight"]
    assert build(data, *options, data=source) == 0
    assert "from 6 examples of 2 classes" in capsys.readouterr().out
    expected = cs.TokenTable.build(
        ITEMS, LABELS, cs.Subsets(2), [cs.MinCount(2), cs.MaxInterval(0.9)], sample_weight=WEIGHTS
    )
    assert arrow(data / "table.parquet").equals(expected.to_arrow())
    assert len(expected) == 3


@pytest.mark.parametrize(
    ("text", "tokenizer"),
    [("items", cs.Items()), ("subsets", cs.Subsets()), ("ngrams:2", cs.NGrams(2)), ("ngrams", cs.NGrams())],
)
def test_tokenizers(data: Path, text: str, tokenizer: object) -> None:
    assert build(data, "--tokens", text, "--quiet") == 0
    assert cs.TokenTable.load(data / "table.parquet").tokenizer == tokenizer


def test_two_columns(tmp_path: Path) -> None:
    frame = pa.table({"left": ["a;b", "c"], "right": ["b", "c;d"], "y": [1, 0]})
    pa.csv.write_csv(frame, tmp_path / "data.csv")
    arguments = ["table", "build", str(tmp_path / "data.csv"), "--column", "left", "--column", "right", "--label", "y"]
    assert main([*arguments, "--tokens", "cross", "-o", str(tmp_path / "cross.parquet"), "--quiet"]) == 0
    assert cs.TokenTable.load(tmp_path / "cross.parquet").lookup(["left=c", "right=d"]).count == 1
    assert main([*arguments, "--tokens", "difference:2", "-o", str(tmp_path / "d.parquet"), "--quiet"]) == 0
    assert arrow(tmp_path / "d.parquet")["token"].to_pylist() == [["a"]]


def test_texts_in_parquet_are_split_if_asked_for(tmp_path: Path) -> None:
    pa.parquet.write_table(pa.table({"items": ["a|b", "a", None], "cuisine": [1, 0, 0]}), tmp_path / "data.parquet")
    assert build(tmp_path, "--quiet", "--separator", "|") == 0
    assert arrow(tmp_path / "table.parquet").num_rows == 3
    assert build(tmp_path, "--quiet") == 0
    assert sorted(arrow(tmp_path / "table.parquet")["token"].to_pylist()) == [["a"], ["a|b"]]


def test_update_and_merge(data: Path) -> None:
    assert build(data, "--quiet") == 0
    assert build(data, "--quiet", name="other.parquet", data="data.csv") == 0
    tables = [str(data / name) for name in ("table.parquet", "other.parquet")]
    assert main(["table", "merge", *tables, "-o", str(data / "merged.parquet"), "--quiet"]) == 0
    source = [str(data / "data.csv"), "--column", "items", "--label", "cuisine", "--quiet"]
    assert main(["table", "update", tables[0], *source, "-o", str(data / "updated.parquet")]) == 0
    assert main(["table", "update", tables[0], *source]) == 0
    expected = cs.TokenTable.build(ITEMS * 2, LABELS * 2, cs.Subsets(3), [cs.MinCount(1)]).to_arrow()
    for name in ("merged", "updated", "table"):
        assert arrow(data / f"{name}.parquet").equals(expected)


def test_show(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    build(data, "--quiet")
    path = str(data / "table.parquet")
    assert main(["table", "show", path, "--top", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("TokenTable(Subsets(max_size=3)")
    assert lines[2].split()[-1] == "salt"
    assert len(lines) == 4
    assert main(["table", "show", path, "--search", "CHILI", "--by", "mean"]) == 0
    rows = capsys.readouterr().out.splitlines()[2:]
    assert len(rows) == 6
    assert all("chili" in row for row in rows)
    assert "[b]chili[/b], two lines" in " ".join(rows) or "two lines, [b]chili[/b]" in " ".join(rows)
    assert main(["table", "show", path, "--token", "lime; salt"]) == 0
    assert capsys.readouterr().out.splitlines()[1].split()[:2] == ["2", "1"]


def test_show_of_several_classes(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = cs.TokenTable.build([["a"]] * 4, ["x", "y", "z", "y"])
    table.save(data / "several.parquet", examples=False)
    assert main(["table", "show", str(data / "several.parquet")]) == 0
    assert "y 0.5" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--tokens", "letters"], "choose items, words, subsets"),
        (["--tokens", "items:3"], "choose items, words, subsets"),
        (["--tokens", "subsets:x"], "a whole number"),
        (["--tokens", "subsets:0"], "max_size is 0"),
        (["--tokens", "cross"], "needs 2 --column"),
        (["--min-count", "0"], "MinCount is 0"),
        (["--weight", "wieght"], "Did you mean 'weight'?"),
        (["--task", "number"], "task is 'number'"),
    ],
)
def test_errors_of_build(data: Path, arguments: list[str], message: str, capsys) -> None:
    assert build(data, *arguments) == 1
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not (data / "table.parquet").exists()


def test_other_errors(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    build(data, "--quiet", "--no-examples")
    path, out = str(data / "table.parquet"), str(data / "out.parquet")
    for arguments, message in (
        (["show", str(data / "none.parquet")], "no such file"),
        (["show", str(data / "data.parquet")], "no token table"),
        (["show", path, "--token", "salt;soap"], "has no token 'salt;soap'"),
        (["show", path, "--token", "salt", "--search", "salt"], "not both"),
        (["show", path, "--by", "colour"], "choose one of: count"),
        (["merge", path, path, "-o", out], "cannot be merged"),
        (["update", path, str(data / "data.csv"), "--column", "items", "--label", "cuisine"], "cannot be updated"),
    ):
        assert main(["table", *arguments]) == 1
        assert message in capsys.readouterr().err


def test_a_command_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["table"]) == 2
    assert "Missing command" in capsys.readouterr().err


def test_items_of_csv_are_taken_as_written(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("items,cuisine\n03,a\nNA,b\nTrue,a\nnull;3,b\n,a\n")
    assert build(tmp_path, "--tokens", "items", data="data.csv") == 0
    assert build(tmp_path, "--tokens", "ngrams:1", data="data.csv", name="words.parquet") == 0
    tokens = arrow(tmp_path / "table.parquet")["token"].to_pylist()
    assert sorted(tokens) == [["03"], ["3"], ["NA"], ["True"], ["null"]]
    words = arrow(tmp_path / "words.parquet")["token"].to_pylist()
    assert sorted(words) == [["03"], ["3"], ["na"], ["null"], ["true"]]


def test_data_are_not_overwritten(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = (data / "data.parquet").read_bytes()
    assert build(data, name="../" + data.name + "/data.parquet") == 1
    assert "saved over its data" in capsys.readouterr().err
    assert (data / "data.parquet").read_bytes() == before


def test_separator_in_columns_of_categories(tmp_path: Path) -> None:
    items = pa.array(["a, b", "c", None, "a, b"]).dictionary_encode()
    pa.parquet.write_table(pa.table({"items": items, "cuisine": [1, 0, 1, 0]}), tmp_path / "data.parquet")
    assert build(tmp_path, "--tokens", "items", "--separator", ",") == 0
    assert sorted(arrow(tmp_path / "table.parquet")["token"].to_pylist()) == [["a"], ["b"], ["c"]]


def test_a_checkpoint_changes_nothing_and_is_for_files(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options, checkpoint = ["--max-memory", "100MB", "--quiet"], ["--checkpoint", str(data / "checkpoint")]
    assert build(data, *options) == 0
    assert build(data, *options, *checkpoint, name="other.parquet") == 0
    assert arrow(data / "other.parquet").equals(arrow(data / "table.parquet"))
    assert not (data / "checkpoint").exists()
    assert build(data, *checkpoint, "--quiet") == 1
    assert "--checkpoint is for data read in batches" in capsys.readouterr().err
