"""What runtime models read: words as Arrow splits them, bad inputs, and no packages but numpy."""

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest

import clearset as cs
from clearset import runtime
from clearset.runtime._words import words
from clearset.tokens import NGrams

BLOCKED = ["narwhals", "pandas", "pyarrow", "rich", "safetensors", "scipy", "sklearn", "torch", "typer", "yaml"]
SETS = {"stars": [[5.0, 4.0], [1.0], [], [2.0, None]], "colour": [["red", "blue"], ["red"], [], [None, "green"]]}


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("runtime") / "model.runtime"
    features = ["stars", cs.Feature("colour", kind="categorical")]
    cs.SetRegressor(features, epochs=2, random_state=0).fit(pa.table(SETS), [1.0, 2.0, 3.0, 4.0]).to_runtime(path)
    return path


def test_words_of_all_letters():
    # Letters that only newer editions of Unicode know are told apart by whoever knows them.
    from unicodedata import category

    letters = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000 and category(chr(code)) != "Cn"]
    texts = [f"a{letter}B c" for letter in letters]
    expected = NGrams(1).parts(texts).to_pylist()
    different = [
        hex(ord(letter)) for letter, text, told in zip(letters, texts, expected, strict=True) if words(text) != told
    ]
    assert different == []


def test_only_numpy_is_imported(path):
    code = f"""
import sys
for name in {BLOCKED!r}: sys.modules[name] = None
from clearset import runtime
sets = {{"stars": [[1.0]], "colour": [["red"]]}}
scorer = runtime.load({str(path)!r})
print(scorer.predict(sets).shape, scorer.explain(sets).to_dicts()[0]["tokens"][0]["token"])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout.split() == ["(1,)", "0"]


@pytest.mark.parametrize(
    ("sets", "said"),
    [
        ([[1.0]], "give a dict"),
        ({"stars": [[1.0]]}, "'colour' is missing"),
        ({"stars": [[1.0]], "colour": [["red", "red"]]}, "other numbers of tokens"),
        ({"stars": [[1.0]], "colour": [["red"], ["red"]]}, "different numbers of sets"),
        ({"stars": [["many"]], "colour": [["red"]]}, "is to hold numbers"),
        ({"stars": [["5"]], "colour": [["red"]]}, "is to hold numbers"),
        ({"stars": [[[1.0]]], "colour": [["red"]]}, "is to hold numbers"),
        ({"stars": [[float("inf")]], "colour": [["red"]]}, "holds inf"),
        ({"stars": [[10**400]], "colour": [["red"]]}, "beyond 1.8e"),
        ({"stars": [[1.0], 2.0], "colour": [["red"], ["red"]]}, "a list for every set"),
        ({"stars": "55", "colour": ["red", "red"]}, "an entry for each set"),
        ({"stars": [[1.0]], "colour": [[3]]}, "categories like 'blue'"),
        ({"stars": [[1.0, 2.0]], "colour": [[{}, []]]}, "strings or numbers"),
        ({"stars": [5.0, 4.0], "colour": ["red", "blue"]}, "no feature holds lists"),
    ],
)
def test_bad_sets_of_values(path, sets, said):
    with pytest.raises((TypeError, ValueError), match=said):
        runtime.load(path).predict(sets)


def test_missing_values_and_unknown_categories(path):
    scorer = runtime.load(path)
    assert scorer.predict({"stars": [[None]], "colour": [["purple"]]}).shape == (1,)
    assert scorer.predict({"stars": [], "colour": []}).shape == (0,)
    empty, nothing = scorer.predict({"stars": [[]], "colour": [[]]}), {"stars": [None, None], "colour": [None, None]}
    assert (scorer.predict(nothing) == empty).all()
    numpy = {"stars": np.array([[1.0, 2.0]]), "colour": np.array([["red", "blue"]])}
    assert (scorer.predict(numpy) == scorer.predict({"stars": [[1.0, 2.0]], "colour": [["red", "blue"]]})).all()


def test_a_forbidden_feature_need_not_be_there(tmp_path):
    features = ["stars", cs.Feature("colour", kind="categorical")]
    model = cs.SetRegressor(features, epochs=2, random_state=0).fit(pa.table(SETS), [1.0, 2.0, 3.0, 4.0])
    editor = model.edit()
    editor.forbid("colour")
    editor.model.to_runtime(tmp_path / "edited.runtime")
    scorer, expected = runtime.load(tmp_path / "edited.runtime"), editor.model.predict(pa.table(SETS))
    for sets in (SETS, {"stars": SETS["stars"]}):
        np.testing.assert_allclose(scorer.predict(sets), expected, rtol=1e-12)
        assert (scorer.explain(sets).contributions == scorer.explain(SETS).contributions).all()


@pytest.mark.parametrize(
    ("sets", "said"),
    [
        ("salt", "one string"),
        ([["salt", 3]], "An item is a string"),
        ([["salt", ["lime"]]], "An item is a string"),
        ([b"salt"], "A set is a list of strings"),
        ([5], "A set is a list of strings"),
        (5, "a list of lists"),
        ([["\ud800"]], "no text"),
        ({"a": [], "b": []}, "one column"),
    ],
)
def test_bad_sets_of_items(tmp_path, sets, said):
    model = cs.SemanticRegressor(tokens=cs.Items(), epochs=2, random_state=0)
    model.fit([["salt"], ["lime"]] * 10, [1.0, 2.0] * 10).to_runtime(tmp_path / "items.runtime")
    with pytest.raises((TypeError, ValueError), match=said):
        runtime.load(tmp_path / "items.runtime").predict(sets)


def test_missing_items_and_strings_of_numpy(tmp_path):
    model = cs.SemanticRegressor(tokens=cs.Items(), epochs=2, random_state=0)
    model.fit([["salt"], ["lime"]] * 10, [1.0, 2.0] * 10).to_runtime(tmp_path / "items.runtime")
    scorer = runtime.load(tmp_path / "items.runtime")
    for X in ([["salt", None]], ["salt"], [None], [["salt", "salt"]], [{"salt", "lime"}], [np.array(["salt"])]):
        np.testing.assert_allclose(scorer.predict(X), model.predict(X), rtol=1e-12)


@pytest.mark.parametrize("sides", [(0, 1), (1, 0), (2, 0), ("p", "q"), ("q", "p")])
def test_columns_of_pairs(sides, tmp_path):
    rows = [(["a"], ["b", "c"], ["d"]), (["b"], ["c"], ["a"]), ([], ["a"], ["b", "d"]), (["c"], None, [])] * 5
    model = cs.SemanticRegressor(tokens=cs.Cross(*sides), epochs=2, random_state=0)
    table = pa.table(dict(zip("pqr", map(list, zip(*rows, strict=True)), strict=True)))
    model.fit(table, np.arange(20.0)).to_runtime(tmp_path / "pairs.runtime")
    scorer, expected = runtime.load(tmp_path / "pairs.runtime"), model.predict(table)
    np.testing.assert_allclose(scorer.predict(table.to_pydict()), expected, rtol=1e-12)
    assert len(set(expected[:4])) > 1
    if isinstance(sides[0], int):
        np.testing.assert_allclose(scorer.predict(rows), expected, rtol=1e-12)
        with pytest.raises(ValueError, match="is a pair"):
            scorer.predict(["ab"])
    else:
        for wrong, said in ((rows, "give a dict"), ({"x": [], "y": []}, "no column")):
            with pytest.raises((TypeError, ValueError), match=said):
                scorer.predict(wrong)


def test_what_cannot_be_carried(tmp_path):
    tokens = cs.NGrams(1, split=str.split)
    model = cs.SemanticRegressor(tokens=tokens, epochs=2, random_state=0).fit(["salt", "lime"] * 10, [1.0, 2.0] * 10)
    with pytest.raises(ValueError, match="holds no code"):
        model.to_runtime(tmp_path / "words.runtime")
    days = np.array(["2020-01-01", "2021-01-01"] * 2, dtype="datetime64[D]")
    dated = cs.SetClassifier(["stars"], epochs=2, random_state=0).fit(pa.table(SETS), days)
    with pytest.raises(TypeError, match="classes are of type date"):
        dated.to_runtime(tmp_path / "days.runtime")
    assert not list(tmp_path.iterdir())
