import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from clearset.datasets import load_celeba, load_intent, load_puzzles, load_recipes, load_wine
from clearset.datasets._files import as_types, read_columns

PUBLIC = {
    load_puzzles: ("train.csv", "wbakst/puzzles_data"),
    load_recipes: ("recipes.parquet or train.json", "kaggle/recipe-ingredients-dataset"),
    load_celeba: ("list_attr_celeba.txt", "mmlab.ie.cuhk.edu.hk"),
    load_intent: ("intent.parquet or intent.csv", "castorini/anserini-tools"),
    load_wine: ("winemag-data-130k-v2.csv", "zynicide/wine-reviews"),
}


def write_queries(folder: Path, query: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "intent.csv").write_text(f"query,label\n{query},1\n")


@pytest.mark.parametrize("loader", PUBLIC)
def test_missing_files_say_what_where_and_whence(loader, tmp_path: Path) -> None:
    file, public = PUBLIC[loader]
    with pytest.raises(FileNotFoundError) as caught:
        loader(tmp_path / "nowhere")
    message = str(caught.value)
    for part in (file, public, str(tmp_path / "nowhere"), "--data DIR", "CLEARSET_DATA"):
        assert part in message
    assert "\n" not in message


def test_a_given_folder_is_the_only_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_queries(tmp_path / "variable", "from the variable")
    monkeypatch.setenv("CLEARSET_DATA", str(tmp_path / "variable"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError):
        load_intent(tmp_path / "empty")


def test_the_variable_comes_before_the_shared_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    write_queries(tmp_path / "shared" / "data" / "intent", "shared")
    monkeypatch.delenv("CLEARSET_DATA", raising=False)
    assert load_intent().X.to_pylist() == ["shared"]
    monkeypatch.setenv("CLEARSET_DATA", str(tmp_path / "variable"))
    assert load_intent().X.to_pylist() == ["shared"]
    write_queries(tmp_path / "variable", "from the variable")
    assert load_intent().X.to_pylist() == ["from the variable"]


def test_the_folder_of_the_task_comes_first(tmp_path: Path) -> None:
    write_queries(tmp_path, "itself")
    assert load_intent(str(tmp_path)).X.to_pylist() == ["itself"]
    write_queries(tmp_path / "intent", "of the task")
    assert load_intent(tmp_path).X.to_pylist() == ["of the task"]


def test_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", os.fspath(tmp_path))
    write_queries(tmp_path / "here", "at home")
    assert load_intent("~/here").X.to_pylist() == ["at home"]


def test_csv_and_parquet_are_the_same(tmp_path: Path) -> None:
    table = pa.table({"text": ["null", "two\nlines", "né, 漢", ""], "number": [1.5, 2, 3, 4], "other": [None] * 4})
    pq.write_table(table, tmp_path / "a.parquet")
    (tmp_path / "a.csv").write_text(
        '\ufeffother,text,number\n,null,1.5\n,"two\nlines",2\n,"né, 漢",3\n,"",4\n', encoding="utf-8"
    )
    columns = {"text": pa.string(), "number": pa.float64()}
    one, other = (read_columns(tmp_path / name, columns) for name in ("a.parquet", "a.csv"))
    assert one.to_pydict() == other.to_pydict() == table.select(["text", "number"]).to_pydict()


def test_types_are_made_alike() -> None:
    table = pa.table(
        {
            "word": pa.array(["a", "b"]).dictionary_encode(),
            "list": pa.array([["x"], []], pa.large_list(pa.large_string())),
        }
    )
    wanted = {"word": pa.string(), "list": pa.list_(pa.string())}
    read = as_types(Path("file"), table, wanted)
    assert read.schema == pa.schema(wanted)
    assert read.to_pydict() == {"word": ["a", "b"], "list": [["x"], []]}


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"query": ["a"]}, r"intent\.parquet lacks 'label'; it has 'query'"),
        ({"query": ["a", None], "label": [1, 0]}, r"'query' of .*intent\.parquet has missing values"),
        ({"query": [1], "label": [1]}, "'query' .* holds int64, but string is needed"),
        ({"query": ["a"], "label": ["one"]}, "'label' .* holds string, but int64 is needed"),
        ({"query": ["a"], "label": [0.5]}, "'label' .* cannot be read as int64"),
        ({"query": ["a"], "label": [2]}, r"Labels are 0 or 1, but .* holds \[2\]"),
    ],
)
def test_wrong_content(table: dict[str, list[object]], message: str, tmp_path: Path) -> None:
    pq.write_table(pa.table(table), tmp_path / "intent.parquet")
    with pytest.raises(ValueError, match=message):
        load_intent(tmp_path)


@pytest.mark.parametrize("text", ["", "query,label\na,one\n", "query,label\na\n", "query;label\na;1\n"])
def test_wrong_csv(text: str, tmp_path: Path) -> None:
    (tmp_path / "intent.csv").write_text(text)
    with pytest.raises(ValueError, match=r"intent\.csv (lacks|cannot be read)"):
        load_intent(tmp_path)


def test_no_parquet(tmp_path: Path) -> None:
    (tmp_path / "intent.parquet").write_text("query,label\n")
    with pytest.raises(ValueError, match=r"intent\.parquet is no Parquet file"):
        load_intent(tmp_path)
