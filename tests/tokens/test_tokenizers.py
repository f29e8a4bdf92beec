import json
import re
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given

import clearset as cs
import clearset.tokens
from clearset.tokens import OwnTokenizer, Tokenizer, as_tokenizer, tokenizer_from_json
from clearset.tokens._codes import Joining

VOCABULARY = pa.array(["left=a", "left=b", "right=a"], pa.large_string())


@pytest.mark.parametrize(
    "tokenizer",
    [
        cs.Items(),
        cs.Subsets(),
        cs.Subsets(3),
        cs.NGrams(2),
        cs.Cross(),
        cs.Cross("a", "b"),
        cs.Difference("x", 1, max_size=None),
    ],
)
def test_json_and_repr(tokenizer: Tokenizer) -> None:
    assert tokenizer_from_json(tokenizer.to_json()) == tokenizer
    assert eval(repr(tokenizer), vars(clearset.tokens)) == tokenizer  # noqa: S307
    assert type(tokenizer).from_json(tokenizer.to_json()) == tokenizer


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: cs.Subsets(0), ValueError),
        (lambda: cs.Subsets(True), TypeError),
        (lambda: cs.Subsets(2.5), TypeError),
        (lambda: cs.NGrams(0), ValueError),
        (lambda: cs.NGrams(None), TypeError),
        (lambda: cs.NGrams(2, split=" "), TypeError),
        (lambda: cs.Cross(1, 1), ValueError),
        (lambda: cs.Cross(-1, 1), ValueError),
        (lambda: cs.Cross(None, 1), TypeError),
        (lambda: cs.Cross("a", "a=b"), ValueError),
        (lambda: cs.Cross("right", 1), ValueError),
        (lambda: cs.Difference(0, 1, max_size=-1), ValueError),
        (lambda: as_tokenizer("subsets"), TypeError),
        (lambda: tokenizer_from_json({"kind": "letters"}), ValueError),
    ],
)
def test_arguments_are_checked(make: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        make()


def test_joinings() -> None:
    assert cs.Items().joining(VOCABULARY) == Joining("subsets", 1)
    assert cs.Subsets(4).joining(VOCABULARY) == Joining("subsets", 4)
    assert cs.NGrams(4).joining(VOCABULARY) == Joining("ngrams", 4)
    assert cs.Cross().joining(VOCABULARY) == Joining("crosses", 2, boundary=2)


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=20), max_size=6))
def test_words_are_lower_cased_runs_of_letters_and_digits(texts: list[str]) -> None:
    simple = [text for text in texts if text.isascii()]
    expected = [re.findall(r"[a-z0-9]+", text.lower()) for text in simple]
    assert cs.NGrams().parts(pa.array(simple, pa.string())).to_pylist() == expected
    for words in cs.NGrams().parts(pa.array(texts, pa.string())).to_pylist():
        assert all(words)
        assert not any(re.search(r"[\s_!-/:-@\[-`{-~]", word) for word in words)


def test_words_of_other_scripts() -> None:
    texts = ["ΑΒΓ δ-ε", "Ça va?", "नमस्ते दुनिया", "北京 2024年", None, "...", ""]
    expected = [["αβγ", "δ", "ε"], ["ça", "va"], ["नमस्ते", "दुनिया"], ["北京", "2024年"], [], [], []]
    assert cs.NGrams().parts(texts).to_pylist() == expected


def test_own_split_and_given_words() -> None:
    assert cs.NGrams(split=str.split).parts(["A  b", "", None]).to_pylist() == [["A", "b"], [], []]
    assert cs.NGrams(split=str.split).parts(["", ""]).to_pylist() == [[], []]
    assert cs.NGrams().parts([["A", "b c", ""]]).to_pylist() == [["A", "b c", ""]]
    with pytest.raises(ValueError, match="files hold no code"):
        tokenizer_from_json(cs.NGrams(split=str.split).to_json())
    again = tokenizer_from_json(cs.NGrams(split=str.split).to_json(), tokens=cs.NGrams(split=str.split))
    assert again == cs.NGrams(split=str.split)


ITEMS = st.lists(st.sampled_from("abcd"), max_size=5)


@given(st.lists(st.tuples(ITEMS, ITEMS), min_size=1, max_size=6))
def test_difference(pairs: list[tuple[list[str], list[str]]]) -> None:
    expected = [[item for item in left if item not in right] for left, right in pairs]
    assert cs.Difference().parts(pairs).to_pylist() == expected


@given(st.lists(st.tuples(ITEMS, ITEMS), min_size=1, max_size=6))
def test_cross_names_columns(pairs: list[tuple[list[str], list[str]]]) -> None:
    expected = [[f"left={item}" for item in left] + [f"right={item}" for item in right] for left, right in pairs]
    assert cs.Cross().parts(pairs).to_pylist() == expected
    lists = pa.list_(pa.string())
    frame = pa.table({"u": pa.array([p[0] for p in pairs], lists), "v": pa.array([p[1] for p in pairs], lists)})
    named = cs.Cross("v", "u").parts(frame).to_pylist()
    assert named == [[f"v={item}" for item in right] + [f"u={item}" for item in left] for left, right in pairs]


def test_sizes_of_numpy_become_plain_numbers() -> None:
    two = np.int64(2)
    for tokenizer in (cs.Subsets(two), cs.NGrams(two), cs.Difference(max_size=two)):  # type: ignore[arg-type]
        assert json.loads(json.dumps(tokenizer.to_json())) == tokenizer.to_json()
        assert repr(tokenizer) == repr(eval(repr(tokenizer), vars(cs)))  # noqa: S307
        assert "int64" not in repr(tokenizer)


class Letters:
    """Every letter, and the whole word as a token of all its letters."""

    def tokens(self, example: str) -> list[Any]:
        return [*example, tuple(example)] if example else []


def test_own_tokenizers() -> None:
    tokenizer = as_tokenizer(Letters())
    assert tokenizer == OwnTokenizer(Letters())
    assert tokenizer.parts(["ab", ""]).to_pylist() == [["a", "b", "a\x1fb"], []]
    keys = pa.array([["a"], ["a\x1fb"]], pa.large_list(pa.large_string()))
    assert tokenizer.spell(keys).to_pylist() == [["a"], ["a", "b"]]
    assert tokenizer.unspell(tokenizer.spell(keys)) == keys
    assert tokenizer_from_json(tokenizer.to_json(), tokens=Letters()) == tokenizer
    with pytest.raises(ValueError, match=r"Letters.*tokens=\.\.\."):
        tokenizer_from_json(tokenizer.to_json())
    with pytest.raises(ValueError, match="was given"):
        tokenizer_from_json(tokenizer.to_json(), tokens=cs.Items())


@pytest.mark.parametrize("token", ["a\x1fb", (), 7, ("a", 7)])
def test_bad_tokens_of_own_tokenizers(token: Any) -> None:
    class Bad:
        def tokens(self, _: Any) -> list[Any]:
            return [token]

    with pytest.raises(ValueError, match=r"Bad\.tokens gave .* for example 0"):
        as_tokenizer(Bad()).parts([["x"]])


def test_own_tokenizers_see_the_examples_as_they_are() -> None:
    seen = []

    class Spy:
        def tokens(self, example: Any) -> list[str]:
            seen.append(example)
            return []

    for X in (["ab"], [["a"]], pa.array([["a"]]), pa.table({"u": [["a"]], "v": ["b"]}), np.array([["a", "b"]])):
        as_tokenizer(Spy()).parts(X)
    assert seen == ["ab", ["a"], ["a"], (["a"], "b"), ("a", "b")]


def test_missing_rows_are_not_passed_on() -> None:
    class Length:
        def tokens(self, example: Any) -> list[str]:
            return [str(len(example))]

    for X in (["ab", None], pa.array(["ab", None]), pd.Series(["ab", None]), ["ab", float("nan")]):
        assert OwnTokenizer(Length()).parts(X).to_pylist() == [["2"], []]
    assert cs.NGrams(1, lambda text: [text + "!"]).parts(["ab", None]).to_pylist() == [["ab!"], []]


@pytest.mark.parametrize("answer", [None, "word", 7])
def test_functions_that_give_no_list(answer: Any) -> None:
    class Bad:
        def tokens(self, example: Any) -> Any:
            return answer if example == "b" else [example]

    def bad(text: str) -> Any:
        return Bad().tokens(text)

    with pytest.raises(TypeError, match=rf"Bad\.tokens gave {answer!r} for example 1"):
        OwnTokenizer(Bad()).parts(["a", "b"])
    with pytest.raises(TypeError, match=rf"bad gave {answer!r} for example 1"):
        cs.NGrams(1, bad).parts(["a", "b"])


def test_equality_of_own_tokenizers_with_slots_or_arrays() -> None:
    class Slots:
        __slots__ = ("n",)

        def tokens(self, example: Any) -> Any:
            return example

    class Arrays:
        def __init__(self) -> None:
            self.n = np.arange(3)

        def tokens(self, example: Any) -> Any:
            return example

    for kind in (Slots, Arrays):
        one, other = kind(), kind()
        assert OwnTokenizer(one) == OwnTokenizer(one)
        assert OwnTokenizer(one) != OwnTokenizer(other)


def test_own_tokenizers_are_known_by_the_class_alone() -> None:
    described = OwnTokenizer(Letters()).to_json()
    moved = type("Letters", (Letters,), {"__module__": "elsewhere"})()
    assert tokenizer_from_json(described, moved) == OwnTokenizer(moved)
    with pytest.raises(ValueError, match="Letters"):
        tokenizer_from_json(described, type("Words", (Letters,), {})())


def test_names_of_earlier_versions_keep_working() -> None:
    old = clearset.tokens
    assert old.Tokeniser is Tokenizer  # former spelling
    assert old.OwnTokeniser is OwnTokenizer  # former spelling
    assert old.as_tokeniser is as_tokenizer  # former spelling
    assert old.tokeniser_from_json is tokenizer_from_json  # former spelling
    assert cs.TokenTable.build([["a"]], [1]).tokeniser == cs.Subsets()  # former spelling
