import json
import sys
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from clearset.datasets import load_recipes

RECIPES = [
    {"id": 3, "cuisine": "greek", "ingredients": ["Black Olives", "ripe olives", "salt"]},
    {"id": 1, "cuisine": "southern_us", "ingredients": []},
    {"id": 2, "cuisine": "thai", "ingredients": ["Salt", "(14 oz.) tomatoes", "salt"]},
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "train.json").write_text(json.dumps(RECIPES))
    return tmp_path


def test_stemmed_ingredients(folder: Path) -> None:
    data = load_recipes(folder)
    assert data.X.to_pylist() == [["black oliv", "ripe oliv", "salt"], [], ["salt", "14 oz tomato", "salt"]]
    assert data.y.tolist() == ["greek", "southern_us", "thai"]


def test_ingredients_as_they_are_spelled(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "snowballstemmer", None)  # which is not needed then
    data = load_recipes(folder, stem=False)
    assert data.X.to_pylist() == [["black olives", "ripe olives", "salt"], [], ["salt", "14 oz tomatoes", "salt"]]


@pytest.mark.parametrize("words", [False, True])
def test_names_without_letters_and_digits_are_no_items(tmp_path: Path, words: bool) -> None:
    recipes = [{"cuisine": "thai", "ingredients": [names]} for names in ("!!", "salt")]
    recipes.append({"cuisine": "thai", "ingredients": ["lime", "", "salt", " - "]})
    (tmp_path / "train.json").write_text(json.dumps(recipes))
    items = load_recipes(tmp_path, words=words).X.to_pylist()
    plain = [[item for item in row if not item.endswith(" (word)")] for row in items]
    assert plain == [[], ["salt"], ["lime", "salt"]]
    assert [len(row) for row in items] == ([0, 2, 4] if words else [0, 1, 2])


def test_words_beside_them_once(folder: Path) -> None:
    plain, both = load_recipes(folder), load_recipes(folder, words=True)
    for names, items in zip(plain.X.to_pylist(), both.X.to_pylist(), strict=True):
        words = {f"{word} (word)" for name in names for word in name.split()}
        assert items[: len(names)] == names
        assert sorted(items[len(names) :]) == sorted(words)


@pytest.mark.parametrize("words", [False, True])
def test_json_and_parquet_are_the_same(folder: Path, tmp_path: Path, words: bool) -> None:
    (tmp_path / "recipes").mkdir()
    pq.write_table(pa.Table.from_pylist(RECIPES), tmp_path / "recipes" / "recipes.parquet")
    by_json, by_parquet = load_recipes(folder, words=words), load_recipes(tmp_path / "recipes", words=words)
    assert by_json.X.equals(by_parquet.X)
    assert by_json.y.tolist() == by_parquet.y.tolist()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", r"train\.json is no JSON file"),
        ('{"id": 1}', r"should hold a list of recipes.*received \"\{'id': 1\}\""),
        ('[{"id": 1, "ingredients": ["salt"]}]', "lacks 'cuisine'; it has 'id', 'ingredients'"),
        ('[{"cuisine": "thai", "ingredients": "salt"}]', "'ingredients' .* holds string, but list"),
        ('[{"cuisine": "thai", "ingredients": ["salt", null]}]', "'ingredients' .* has missing values"),
        ('[{"cuisine": "thai", "ingredients": ["a"]}, {"cuisine": 1, "ingredients": []}]', "cannot be read"),
        ("[]", "lacks 'cuisine', 'ingredients'; it has no columns"),
    ],
)
def test_wrong_content(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "train.json").write_text(text)
    with pytest.raises(ValueError, match=message):
        load_recipes(tmp_path)


def test_without_the_stemmer(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "snowballstemmer", None)
    with pytest.raises(ImportError, match=r"pip install 'clearset\[reproduce\]'"):
        load_recipes(folder)


def test_real(real) -> None:
    data = real(load_recipes)
    assert data.n == 39_774
    counts = Counter(data.y.tolist())
    assert len(counts) == 20
    assert (counts["italian"], counts["mexican"], counts["brazilian"]) == (7838, 6438, 467)
    assert len(data.X.flatten()) == 428_275
    assert len(data.X.flatten().unique()) < 6_714
