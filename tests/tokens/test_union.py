"""Tables of several kinds of tokens, against counts by hand and against the members' own tables."""

import itertools
import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet
import pytest
from hypothesis import given, settings

import clearset as cs
import clearset.tokens
from clearset.artifact import ArtifactError
from clearset.tokens import Tokenizer, as_tokenizer, cross_fit, tokenizer_from_json, with_token, without_token
from clearset.tokens._edited_table import TokenRow

from . import plain_python
from .test_streamed_table import streamed
from .test_table import LABELS, same

PHRASES = ["olive oil", "black olive", "Oil", "oil", "", "words=oil", "a-b", "subsets=oil", "Æ oil"]
ROWS = st.lists(st.lists(st.sampled_from(PHRASES), max_size=5), min_size=1, max_size=25)
UNIONS = [
    cs.Union(cs.Items(), cs.Words()),
    cs.Union(cs.Words(), cs.Subsets(2)),
    cs.Union(cs.Subsets(), cs.Items(), cs.Words()),
]


def words_of(row: list[str]) -> set[str]:
    """Take the words of items, in plain Python."""
    letters = ["".join(letter if letter.isalnum() else " " for letter in item.lower()) for item in row]
    return {word for item in letters for word in item.split()}


def tokens_of(row: list[str], tokens: cs.Union) -> dict[str, set[tuple[str, ...]]]:
    """Return the tokens of an example by kind, without marks of their kind."""
    found = {}
    for kind, member in zip(tokens.kinds, tokens.members, strict=True):
        if kind == "subsets":
            found[kind] = plain_python.subsets(row, member.max_size)  # type: ignore[attr-defined]
        else:
            found[kind] = {(item,) for item in (words_of(row) if kind == "words" else row)}
    return found


def marked(kind: str, token: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted(f"{kind}={item}" for item in token))


def of_kind(table: cs.TokenTable, kind: str) -> list[dict[str, Any]]:
    """Return the rows of a kind as the table of this kind alone would have them, by their tokens."""
    rows = [row for row in table.to_arrow().to_pylist() if row.pop("kind") == kind]
    for row in rows:
        row["token"] = sorted(item.removeprefix(f"{kind}=") for item in row["token"])
    return sorted(rows, key=lambda row: row["token"])


def alone(table: cs.TokenTable) -> list[dict[str, Any]]:
    return sorted(table.to_arrow().to_pylist(), key=lambda row: row["token"])


@pytest.mark.parametrize("tokens", UNIONS, ids=repr)
@given(rows=ROWS, seed=st.integers(0, 2**31), least=st.integers(1, 3), more=st.integers(1, 5))
@settings(max_examples=30, deadline=None)
def test_counts_by_hand(tokens: cs.Union, rows: list[list[str]], seed: int, least: int, more: int) -> None:
    y = np.random.default_rng(seed).choice(["x", "y", "z"], len(rows))
    filters = [cs.MinCount(least), cs.OfKind("words", cs.MinCount(more))]
    table = cs.TokenTable.build(rows, y, tokens, filters, task="classes")
    expected: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    for row, label in zip(rows, y.tolist(), strict=True):
        for kind, found in tokens_of(row, tokens).items():
            for token in found:
                expected[marked(kind, token)][label] += 1
    enough = {
        token: labels
        for token, labels in expected.items()
        if labels.total() >= (max(least, more) if token[0].startswith("words=") else least)
    }
    shown = {tuple(sorted(row["token"])): row for row in table.to_arrow().to_pylist()}
    assert shown.keys() == enough.keys()
    for token, labels in enough.items():
        row = table.lookup(token)
        assert row is not None
        assert row.count == labels.total()
        assert row.kind == token[0].partition("=")[0] == shown[token]["kind"]
        assert row.size == len(token)
        assert row.class_weights == {label: labels[label] for label in table.classes.tolist()}


@pytest.mark.parametrize("tokens", UNIONS, ids=repr)
@pytest.mark.parametrize("kind", LABELS)
@given(rows=ROWS, seed=st.integers(0, 2**31), weighted=st.booleans(), least=st.integers(1, 3))
@settings(max_examples=10, deadline=None)
def test_each_kind_is_the_table_of_its_member(
    tokens: cs.Union, kind: str, rows: list[list[str]], seed: int, weighted: bool, least: int
) -> None:
    rng = np.random.default_rng(seed)
    y = LABELS[kind](rng, len(rows))
    how = {"task": "number" if kind == "number" else "classes"}
    weights = rng.uniform(0.5, 2, len(rows)) if weighted else None
    table = cs.TokenTable.build(rows, y, tokens, [cs.MinCount(least)], sample_weight=weights, **how)
    for name, member in zip(tokens.kinds, tokens.members, strict=True):
        own = cs.TokenTable.build(rows, y, member, [cs.MinCount(least)], sample_weight=weights, **how)
        # Rows are sorted by strings, which are sorted alike with and without their kind in front.
        assert json.dumps(of_kind(table, name)) == json.dumps(alone(own))


@pytest.mark.parametrize("tokens", UNIONS, ids=repr)
@given(rows=ROWS, later=ROWS, seed=st.integers(0, 2**31), least=st.integers(1, 3))
@settings(max_examples=30, deadline=None)
def test_tokens_and_their_cover_stay_within_their_kind(
    tokens: cs.Union, rows: list[list[str]], later: list[list[str]], seed: int, least: int
) -> None:
    y = np.random.default_rng(seed).integers(0, 2, len(rows))
    table = cs.TokenTable.build(rows, y, tokens, [cs.MinCount(least)])
    known = {tuple(sorted(token)) for token in table.spelled(np.arange(len(table))).to_pylist()}
    encoded = table.encode(later)
    for cover in (False, True):
        found = table.find(encoded, cover=cover)
        for place, row in enumerate(later):
            expected: set[tuple[str, ...]] = set()
            for kind, its in tokens_of(row, tokens).items():
                held = {marked(kind, token) for token in its} & known
                expected |= plain_python.cover(held) if cover else held
            some = found.tokens[found.offsets[place] : found.offsets[place + 1]]
            assert {tuple(sorted(token)) for token in table.spelled(some).to_pylist()} == expected
            assert (np.diff(some) > 0).all()
    distinct = [sum(len({i for t in its for i in t}) for its in tokens_of(row, tokens).values()) for row in later]
    assert encoded.n_items.tolist() == distinct


@pytest.mark.parametrize("tokens", UNIONS, ids=repr)
@given(rows=ROWS, seed=st.integers(0, 2**31))
@settings(max_examples=10, deadline=None)
def test_tables_without_folds(tokens: cs.Union, rows: list[list[str]], seed: int) -> None:
    rng = np.random.default_rng(seed)
    y, folds = rng.normal(size=len(rows)), rng.integers(0, 2, len(rows))
    filters = [cs.MinCount(2)]
    table, rest = cross_fit(rows, y, tokens, filters, folds, 2)
    views = [table.statistics, *rest]
    for name, member in zip(tokens.kinds, tokens.members, strict=True):
        own, own_rest = cross_fit(rows, y, member, filters, folds, 2)
        for view, own_view in zip(views, [own.statistics, *own_rest], strict=True):
            chosen = view.take(np.flatnonzero(view.of_kind(name)))
            assert sorted(zip(chosen.held, chosen.passes, chosen.sums.tolist(), strict=True)) == sorted(
                zip(own_view.held, own_view.passes, own_view.sums.tolist(), strict=True)
            )


@pytest.mark.parametrize("tokens", UNIONS, ids=repr)
@given(rows=ROWS, more=ROWS, seed=st.integers(0, 2**31))
@settings(max_examples=10, deadline=None)
def test_tables_merge_and_update(tokens: cs.Union, rows: list[list[str]], more: list[list[str]], seed: int) -> None:
    y = np.random.default_rng(seed).choice(["x", "y"], len(rows) + len(more))
    filters = [cs.MinCount(2), cs.OfKind("words", cs.MinCount(3))]

    def build(X: list[list[str]], labels: Any) -> cs.TokenTable:
        return cs.TokenTable.build(X, labels, tokens, filters, task="classes")

    everything, first, second = build(rows + more, y), build(rows, y[: len(rows)]), build(more, y[len(rows) :])
    same(first + second, everything)
    same(second + first, everything)
    same(first.update(more, y[len(rows) :]), everything)
    assert (first + second).to_arrow().equals(everything.to_arrow())


@pytest.mark.parametrize("tokens", UNIONS, ids=repr)
@given(rows=ROWS, seed=st.integers(0, 2**31), memory=st.sampled_from([2000, 10**8]))
@settings(max_examples=8, deadline=None)
def test_files_are_counted_as_in_memory(tokens: cs.Union, rows: list[list[str]], seed: int, memory: int) -> None:
    y = np.random.default_rng(seed).normal(size=len(rows))
    filters = [cs.MinCount(2), cs.OfKind("words", cs.MinCount(3))]
    expected = cs.TokenTable.build(rows, y, tokens, filters)
    table = pa.table({"items": pa.array(rows, pa.list_(pa.string())), "label": y})
    found = streamed(ds.dataset(table), tokens, filters, memory=memory)
    same(found, expected)
    assert found.to_arrow().equals(expected.to_arrow())


def recipes() -> tuple[list[list[str]], Any]:
    rng = np.random.default_rng(5)
    rows = [rng.choice(PHRASES, rng.integers(0, 6)).tolist() for _ in range(60)]
    return rows, rng.choice(["x", "y", "z"], 60)


@pytest.mark.parametrize("tokens", UNIONS, ids=repr)
def test_files_keep_tables(tokens: cs.Union, tmp_path: Path) -> None:
    rows, y = recipes()
    table = cs.TokenTable.build(rows, y, tokens, [cs.MinCount(2), cs.OfKind("words", cs.MaxInterval(0.9))])
    table.save(tmp_path / "t.parquet")
    loaded = cs.TokenTable.load(tmp_path / "t.parquet")
    assert (loaded.tokenizer, loaded.filters) == (tokens, table.filters)
    assert loaded.to_arrow().equals(table.to_arrow())
    assert loaded.kinds is not None
    same(loaded.update(rows, y), table.update(rows, y))
    fewer = loaded.filter(cs.OfKind("words", cs.MinCount(40)))
    kept = [row for row in table.to_arrow().to_pylist() if row["kind"] != "words" or row["count"] >= 40]
    assert 0 < len(kept) < len(table)
    assert fewer.to_arrow().to_pylist() == kept


def test_files_that_mix_kinds_are_refused(tmp_path: Path) -> None:
    rows, y = recipes()
    path = tmp_path / "t.parquet"
    cs.TokenTable.build(rows, y, cs.Union(cs.Subsets(2), cs.Words())).save(path, examples=False)
    content = pyarrow.parquet.read_table(path)
    document = json.loads(content.schema.metadata[b"clearset_token_table"]) | {"version": 1}
    document.pop("sha256", None)

    def written(tokens: list[list[str]]) -> None:
        changed = content.set_column(
            0, "token", pa.array(tokens, pa.large_list(pa.large_string()))
        ).replace_schema_metadata({"clearset_token_table": json.dumps(document)})
        pyarrow.parquet.write_table(changed, path)

    tokens = content["token"].to_pylist()
    written(tokens)
    assert len(cs.TokenTable.load(path)) == len(tokens)
    for old, new in (("words=olive", "olive"), ("words=olive", "subsets=olive"), ("subsets=oil", "words=zebra")):
        written([[new if item == old else item for item in token] for token in tokens])
        with pytest.raises(ArtifactError):
            cs.TokenTable.load(path)


@pytest.mark.parametrize("token", [["words=olive"], ["subsets=oil", "subsets=olive oil"], ["subsets=Oil"]])
def test_a_token_that_is_put_back(token: list[str]) -> None:
    rows, y = recipes()
    table = cs.TokenTable.build(rows, y, cs.Union(cs.Subsets(2), cs.Words()))
    number = int(table.numbers_of([token])[0])
    assert number >= 0
    fewer = without_token(table, number)
    assert fewer.lookup(token) is None
    back = with_token(fewer, TokenRow.of(table, number))
    same(back, table)
    assert back.to_arrow().equals(table.to_arrow())


def test_pairs_of_columns() -> None:
    rng = np.random.default_rng(0)
    pairs = [(rng.choice(list("abc"), 2).tolist(), rng.choice(list("abc"), 2).tolist()) for _ in range(30)]
    y = rng.integers(0, 2, 30)
    table = cs.TokenTable.build(pairs, y, cs.Union(cs.Difference(max_size=2), cs.Cross()))
    for kind, member in (("difference", cs.Difference(max_size=2)), ("cross", cs.Cross())):
        assert of_kind(table, kind) == alone(cs.TokenTable.build(pairs, y, member))
    found = table.find(table.encode([(["a", "b"], ["a"])]), cover=True)
    assert sorted(map(sorted, table.spelled(found.tokens).to_pylist())) == [
        ["cross=left=a", "cross=right=a"],
        ["cross=left=b", "cross=right=a"],
        ["difference=b"],
    ]


@given(rows=st.lists(st.none() | st.lists(st.none() | st.text(max_size=6), max_size=3), min_size=1, max_size=8))
@settings(max_examples=50, deadline=None)
def test_words_of_items_are_those_of_texts(rows: list[Any]) -> None:
    found = cs.Words().parts(pa.array(rows, pa.list_(pa.string()))).to_pylist()
    for row, words in zip(rows, found, strict=True):
        texts = cs.NGrams(1).parts(pa.array(row or [], pa.string())).to_pylist()
        assert words == list(itertools.chain.from_iterable(texts))
    texts = [None if row is None else " ".join(item or "" for item in row) for row in rows]
    assert cs.Words().parts(texts).to_pylist() == cs.NGrams(1).parts(texts).to_pylist()


@pytest.mark.parametrize(
    "tokens", [cs.Words(), *UNIONS, cs.Union(cs.Cross("a", "b"), cs.Difference("a", "b"))], ids=repr
)
def test_json_and_repr(tokens: Tokenizer) -> None:
    assert tokenizer_from_json(json.loads(json.dumps(tokens.to_json()))) == tokens
    assert eval(repr(tokens), vars(clearset.tokens)) == tokens  # noqa: S307
    assert hash(tokens) == hash(tokenizer_from_json(tokens.to_json()))


def test_unions_of_unions_and_of_one() -> None:
    inner = cs.Union(cs.Items(), cs.Words())
    assert cs.Union(inner, cs.Subsets(2)) == cs.Union(cs.Items(), cs.Words(), cs.Subsets(2))
    assert as_tokenizer(cs.Union(cs.Subsets(2))) == cs.Subsets(2)
    rows, y = recipes()
    same(cs.TokenTable.build(rows, y, cs.Union(cs.Items())), cs.TokenTable.build(rows, y, cs.Items()))


class Own:
    def tokens(self, example: list[str]) -> list[str]:
        return example


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: cs.Union(), ValueError, "has no members"),
        (lambda: cs.Union(cs.Items(), Own()), TypeError, r"its members are any of Items\(\), Words\(\)"),  # type: ignore[arg-type]
        (lambda: cs.Union(cs.Items(), cs.NGrams(2)), TypeError, "NGrams .* stand alone"),
        (lambda: cs.Union(cs.Subsets(2), cs.Subsets(3)), ValueError, "two members of the kind 'subsets'"),
        (lambda: cs.Union(cs.Items(), cs.Cross()), ValueError, "read different columns"),
        (lambda: cs.Union(cs.Difference(1, 0), cs.Cross()), ValueError, "read different columns"),
        (lambda: cs.OfKind("words"), ValueError, "at least one filter"),
        (lambda: cs.OfKind(cs.MinCount(2), cs.MinCount(2)), TypeError, "kind of tokens is MinCount"),  # type: ignore[arg-type]
        (lambda: cs.OfKind("words", 3), TypeError, "A filter is 3"),  # type: ignore[arg-type]
        (lambda: built(cs.Items(), cs.OfKind("words", cs.MinCount(2))), ValueError, "tokens are of one kind"),
        (lambda: built(UNIONS[0], cs.OfKind("pairs", cs.MinCount(2))), ValueError, "of the kinds 'items', 'words'"),
        (lambda: built(UNIONS[0], cs.MinCount(3) | cs.OfKind("w", cs.MinCount(2))), ValueError, "kind 'w'"),
        (lambda: built(UNIONS[0], cs.MinCount(3)).filter(cs.OfKind("w", cs.MinCount(2))), ValueError, "kind 'w'"),
        (
            lambda: tokenizer_from_json({"kind": "union", "members": [{"kind": "ngrams"}]}),
            ValueError,
            "'ngrams' is none",
        ),
    ],
)
def test_arguments_are_checked(make: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()


def built(tokens: Tokenizer, filters: Any) -> cs.TokenTable:
    return cs.TokenTable.build(*recipes(), tokens, filters)
