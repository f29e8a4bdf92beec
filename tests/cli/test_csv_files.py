"""CSV files as people have them; those of the property test are written by Python's own csv module."""

import csv
import io
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

import clearset as cs
from clearset.cli import main
from clearset.cli._options import CsvFormat
from clearset.cli._table_files import read_table

EUROPEAN = CsvFormat(delimiter=";", decimal=",", encoding="latin-1")
words = st.text("aé;,|\t\n\"'. ß", max_size=12).map(lambda text: f"t{text}t")
# CSV ends lines by \r\n, and a lone \n within quotes stays as it is.


@given(
    delimiter=st.sampled_from([",", ";", "\t", "|"]),
    decimal=st.sampled_from([".", ","]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "latin-1", "cp1252", "utf-16", "utf-16-le"]),
    rows=st.lists(st.tuples(words, st.floats(-1e6, 1e6), st.integers(-1000, 1000)), min_size=1, max_size=20),
)
def test_what_is_written_is_read(tmp_path_factory, delimiter: str, decimal: str, encoding: str, rows) -> None:
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter)
    writer.writerow(["größe", "x", "n"])
    writer.writerows([word, f"{number:.6f}".replace(".", decimal), whole] for word, number, whole in rows)
    path = tmp_path_factory.mktemp("csv") / "t.csv"
    path.write_bytes(text.getvalue().encode(encoding))
    table = read_table(path, CsvFormat(delimiter=delimiter, decimal=decimal, encoding=encoding))
    assert table.column_names == ["größe", "x", "n"]
    assert table["größe"].to_pylist() == [word for word, _, _ in rows]
    assert table["x"].to_pylist() == [float(f"{number:.6f}") for _, number, _ in rows]
    assert table["n"].to_pylist() == [whole for _, _, whole in rows]


def test_items_are_read_as_written(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes("früchte;x\n03;1,5\nNA;NA\n".encode("latin-1"))
    table = read_table(path, EUROPEAN, ["früchte"])
    assert table.to_pydict() == {"früchte": ["03", "NA"], "x": [1.5, None]}


def test_a_mark_at_the_beginning_is_no_part_of_a_name(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"\xef\xbb\xbfx,y\r\n1,2\r\n")
    assert read_table(tmp_path / "t.csv", CsvFormat()).column_names == ["x", "y"]


def test_tsv(tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_text("x\ty\n1,5\t2\n")
    assert read_table(tmp_path / "t.tsv", CsvFormat(decimal=",")).to_pydict() == {"x": [1.5], "y": [2]}


def test_columns_without_a_name(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(",x,, \n0,1,,\n1,2,,\n")
    assert read_table(tmp_path / "t.csv", CsvFormat()).column_names == ["Unnamed: 0", "x", "Unnamed: 2", "Unnamed: 3"]


@pytest.mark.parametrize("rows", [10, 1_000_000])
@pytest.mark.parametrize("texts", [[], ["y"]])
def test_a_quote_that_is_not_closed(tmp_path: Path, rows: int, texts: list[str]) -> None:
    path = tmp_path / "t.csv"
    for end in ("\n", "\r\n"):
        path.write_text(f'x,y{end}1,a{end}2,"b{end}' + f"3,c{end}" * rows, newline="")
        with pytest.raises(ValueError, match="begins with a quote that is not closed"):
            read_table(path, CsvFormat(), texts)
    path.write_text('x,y\n1,a\n2,5" pipe\n3,"two\n""lines"""\n4,"two\nlines"\n')
    assert read_table(path, CsvFormat(), texts)["y"].to_pylist() == ["a", '5" pipe', 'two\n"lines"', "two\nlines"]


@pytest.mark.parametrize(
    ("content", "form", "message"),
    [
        (b"x;y\n1,5;2\n", CsvFormat(), r"'x;y', holds no ',' but ';'\..* --delimiter ';'"),
        (b"x;y\n1;2\n", CsvFormat(), r"--delimiter ';'"),
        (b"\xef\xbb\xbfx;y\n1;2\n", CsvFormat(), r"first line, 'x;y', .*--delimiter ';'"),
        (b"x\ty\n1\t2\n", CsvFormat(), "--delimiter tab"),
        (b"x|y\n1|2\n", CsvFormat(), r"--delimiter '\|'"),
        (b"x,y\n1,2\n", CsvFormat(delimiter=";"), "--delimiter ','"),
        ("größe,y\n1,2\n".encode("latin-1"), CsvFormat(), "encoding is not utf-8 .*0xf6.*--encoding latin-1"),
        ("x,y\nsüß,2\n".encode("latin-1"), CsvFormat(), "encoding is not utf-8.*--encoding latin-1"),
        ("x,y\n1,2\n".encode("utf-16"), CsvFormat(), "--encoding utf-16"),
        ("x,y\n1,2\n".encode("utf-16-le"), CsvFormat(), "--encoding utf-16-le"),
        ("x,y\nü,2\n".encode(), CsvFormat(encoding="ascii"), "encoding is not ascii .*0xc3.*--encoding"),
        (b"x,y\n1,2\n3,4\n5,6,7\n", CsvFormat(), "Row #4: Expected 2 columns, got 3.*quotes.*--delimiter"),
        (b"", CsvFormat(), "is empty"),
        (b"\r\n\r\n", CsvFormat(delimiter=";"), "is empty"),
        (b"x,y\n", CsvFormat(), "no rows"),
        (b"x,y,x\n1,2,3\n", CsvFormat(), "more than one column named 'x'"),
    ],
)
def test_one_error_that_names_the_option(tmp_path: Path, content: bytes, form: CsvFormat, message: str) -> None:
    (tmp_path / "t.csv").write_bytes(content)
    for texts in ([], ["x"]):
        with pytest.raises(ValueError, match=message):
            read_table(tmp_path / "t.csv", form, texts)


def test_the_same_name_twice_in_parquet(tmp_path: Path) -> None:
    twice = pa.Table.from_arrays([pa.array([1.0]), pa.array([2.0])], ["x", "x"])
    pa.parquet.write_table(twice, tmp_path / "t.parquet")
    with pytest.raises(ValueError, match="more than one column named 'x'"):
        read_table(tmp_path / "t.parquet", CsvFormat())


@pytest.mark.parametrize("given", [{"delimiter": ";"}, {"decimal": "."}, {"encoding": "utf-8"}])
def test_parquet_has_no_format_to_name(tmp_path: Path, given: dict[str, str]) -> None:
    pa.parquet.write_table(pa.table({"x": [1]}), tmp_path / "t.parquet")
    with pytest.raises(ValueError, match=f"--{next(iter(given))} is for CSV files"):
        read_table(tmp_path / "t.parquet", CsvFormat(**given))


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--delimiter", ";;", "';;' is not one character"),
        ("--delimiter", "", "'' is not one character"),
        ("--delimiter", "§", "'§' is not one character"),
        ("--delimiter", "\n", "is not one character"),
        ("--decimal", "'", "is neither , nor the usual point"),
        ("--encoding", "latin-0", "'latin-0' is unknown"),
        ("--encoding", "hex", "'hex' is unknown"),
        ("--encoding", "a\0b", "is unknown"),
    ],
)
def test_refused_values(option: str, value: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["predict", "no", "no.csv", option, value]) == 2
    assert message in capsys.readouterr().err


@pytest.fixture(scope="module")
def european(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder with products as a European program writes them, the same as usual, and a model of the latter."""
    folder = tmp_path_factory.mktemp("european")
    rows = [(f"Maß {place}", place % 5 + place / 64, f"süß;{'tee' if place % 5 > 2 else 'öl'}") for place in range(80)]
    for name, delimiter, decimal, encoding in (("de.csv", ";", ",", "latin-1"), ("en.csv", ",", ".", "utf-8")):
        with (folder / name).open("w", encoding=encoding, newline="") as file:
            writer = csv.writer(file, delimiter=delimiter)
            writer.writerow(["größe", "wert", "dinge", "preis"])
            for key, number, items in rows:
                cells = [key, f"{number:.6f}", items, f"{2 * number:.6f}"]
                writer.writerow([key, cells[1].replace(".", decimal), items, cells[3].replace(".", decimal)])
    for model, options in (("model", []), ("items", ["--column", "dinge", "--tokens", "items"])):
        fit = ["fit", str(folder / "en.csv"), "--label", "preis", "-o", str(folder / model), *options]
        assert main([*fit, "--epochs", "2", "--seed", "0", "--quiet"]) == 0
    return folder


FORM = ["--delimiter", ";", "--decimal", ",", "--encoding", "latin-1"]


def test_every_command_takes_the_format(european: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, model, items = (str(european / name) for name in ("de.csv", "model", "items"))
    new = str(european / "new")
    training = ["--label", "preis", "--epochs", "2", "--seed", "0", "-o", new]
    for options, expected in (([], model), (["--column", "dinge", "--tokens", "items"], items)):
        assert main(["fit", data, *training, *options, "--validation", data, *FORM, "--quiet"]) == 0
        assert cs.load(new).calibrators().keys() == cs.load(expected).calibrators().keys()
        outputs = []
        for name, form in (("de.csv", FORM), ("en.csv", [])):
            assert main(["predict", expected, str(european / name), *form]) == 0
            outputs.append(capsys.readouterr().out)
        assert outputs[0] == outputs[1]
        assert len(outputs[0].splitlines()) == 81
    assert main(["explain", model, data, *FORM]) == 0
    assert main(["verify", model, data, *FORM]) == 0
    assert main(["report", model, data, "--label", "preis", "-o", str(european / "r.html"), *FORM]) == 0
    table = ["--column", "dinge", "--label", "preis", "--tokens", "items"]
    parts = [str(european / "table.parquet"), str(european / "both.parquet")]
    assert main(["table", "build", data, *table, "-o", parts[0], *FORM]) == 0
    assert cs.TokenTable.load(parts[0]).lookup("öl").count == 48
    assert main(["table", "update", parts[0], data, *table[:4], "-o", parts[1], *FORM]) == 0
    assert cs.TokenTable.load(parts[1]).lookup("öl").count == 96


def test_tune_takes_the_format(european: Path) -> None:
    pytest.importorskip("optuna")
    options = ["--label", "preis", "--epochs", "1", "--budget", "1", "--quiet", "-o", str(european / "tuned")]
    assert main(["tune", str(european / "de.csv"), *options, *FORM]) == 0


@pytest.mark.parametrize("command", ["report", "verify"])
def test_a_format_without_data(european: Path, command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, str(european / "model"), "--decimal", ","]) == 1
    assert "no DATA was given" in capsys.readouterr().err
