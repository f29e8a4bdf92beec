import itertools
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings

import clearset as cs

from . import plain_python

ITEMS = ["salt", "lime", "", "Æ", "new\nline", "\x1f", "<b>"]
ROWS = st.lists(st.lists(st.sampled_from(ITEMS), max_size=6), min_size=1, max_size=25)


def same(a: cs.TokenTable, b: cs.TokenTable) -> None:
    """Check that two tables agree to the last bit."""
    assert a.vocabulary.to_pylist() == b.vocabulary.to_pylist()
    for name in ("items", "parents", "levels", "masks"):
        assert getattr(a.index, name).tolist() == getattr(b.index, name).tolist()
    for name in ("counts", "weights", "sizes", "means", "variances", "class_weights"):
        one, other = getattr(a, name), getattr(b, name)
        assert (one is None) == (other is None), name
        if one is not None:
            assert one.dtype == other.dtype
            assert one.tobytes() == other.tobytes(), name
    assert a.n_examples == b.n_examples
    assert (a.classes is None) == (b.classes is None)
    if a.classes is not None and b.classes is not None:
        assert a.classes.tolist() == b.classes.tolist()
    assert np.asarray(a.prior).tobytes() == np.asarray(b.prior).tobytes()


def by_token(table: cs.TokenTable) -> dict[tuple[str, ...], dict[str, Any]]:
    return {tuple(sorted(row["token"])): row for row in table.to_arrow().to_pylist()}


LABELS = {
    "two": lambda rng, n: rng.integers(0, 2, n),
    "three": lambda rng, n: rng.choice(["x", "y", "z"], n),
    "number": lambda rng, n: rng.normal(1e6, 1.7, n),
}


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("weighted", [False, True])
@given(rows=ROWS, seed=st.integers(0, 2**31))
@settings(max_examples=20)
def test_statistics_by_brute_force(kind: str, weighted: bool, rows: list[list[str]], seed: int) -> None:
    rng = np.random.default_rng(seed)
    y = LABELS[kind](rng, len(rows))
    w = rng.uniform(0.5, 2, len(rows)) if weighted else None
    task = "number" if kind == "number" else "classes"
    table = cs.TokenTable.build(rows, y, cs.Subsets(3), task=task, sample_weight=w)
    expected = plain_python.count([plain_python.subsets(row, 3) for row in rows], y, w)
    found = by_token(table)
    assert found.keys() == expected.keys()
    for token, row in found.items():
        known = expected[token]
        labels = pd.Series(known["labels"])
        assert (row["count"], row["size"]) == (known["count"], len(token))
        assert row["weight"] == pytest.approx(known["weight"])
        if kind == "number":
            mean = np.average(labels, weights=known["weights"])
            spread = np.average((labels - mean) ** 2, weights=known["weights"])
            assert row["mean"] == pytest.approx(mean, rel=1e-12)
            if known["count"] > 1:
                assert row["variance"] == pytest.approx(
                    spread * known["count"] / (known["count"] - 1), rel=1e-6, abs=1e-9
                )
        elif kind == "two" or len(table.classes) == 2:
            share = np.average(labels == table.classes[1], weights=known["weights"])
            assert row["mean"] == pytest.approx(share)
            assert row["variance"] == pytest.approx(share * (1 - share))
        else:
            shares = [np.average(labels == c, weights=known["weights"]) for c in table.classes]
            np.testing.assert_allclose(row["mean"], shares)
            np.testing.assert_allclose(row["class_weights"], np.array(shares) * known["weight"])


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("tokens", [cs.Subsets(3), cs.NGrams(3)], ids=repr)
@given(rows=ROWS, seed=st.integers(0, 2**31), weighted=st.booleans())
@settings(max_examples=20)
def test_batches_in_any_order_give_the_same_bits(
    kind: str, tokens: Any, rows: list[list[str]], seed: int, weighted: bool
) -> None:
    rng = np.random.default_rng(seed)
    y = LABELS[kind](rng, len(rows))
    w = rng.uniform(0, 2, len(rows)) if weighted else np.ones(len(rows))
    task = "number" if kind == "number" else "classes"
    options: dict[str, Any] = {"tokens": tokens, "filters": [cs.MinCount(2)], "task": task}

    def weights(chosen: Any) -> Any:
        return w[chosen] if weighted else None

    def part(chosen: Any) -> tuple[list[list[str]], Any, Any]:
        return [rows[place] for place in chosen], y[chosen], weights(chosen)

    everything = np.arange(len(rows))
    at_once = cs.TokenTable.build(*part(everything)[:2], sample_weight=weights(everything), **options)
    batches = [b for b in np.array_split(rng.permutation(len(rows)), 7) if len(b)]
    tables = []
    for batch in batches:
        X, labels, weight = part(batch)
        tables.append(cs.TokenTable.build(X, labels, sample_weight=weight, **options))
    merged = tables[0]
    for table in tables[1:]:
        merged = merged + table if rng.integers(2) else table + merged
    same(merged, at_once)
    X, labels, weight = part(batches[0])
    updated = cs.TokenTable.build(X, labels, sample_weight=weight, **options)
    for batch in batches[1:]:
        updated = updated.update(*part(batch))
    same(updated, at_once)


@given(rows=ROWS, seed=st.integers(0, 2**31))
@settings(max_examples=20)
def test_order_and_repeats_of_items_do_not_matter(rows: list[list[str]], seed: int) -> None:
    rng = np.random.default_rng(seed)
    y = rng.normal(size=len(rows))
    shuffled = [[*rng.permutation(row).tolist(), *row[:2]] for row in rows]
    tables = [cs.TokenTable.build(X, y, cs.Subsets(), task="number") for X in (rows, shuffled)]
    same(*tables)
    places = rng.permutation(len(rows))
    same(tables[0], cs.TokenTable.build([rows[p] for p in places], y[places], cs.Subsets(), task="number"))


@given(rows=ROWS, seed=st.integers(0, 2**31), least=st.integers(1, 4))
@settings(max_examples=30)
def test_filtering_later_is_filtering_at_once(rows: list[list[str]], seed: int, least: int) -> None:
    y = np.random.default_rng(seed).integers(0, 2, len(rows))
    at_once = cs.TokenTable.build(rows, y, cs.Subsets(3), [cs.MinCount(least), cs.MaxInterval(0.7)])
    later = cs.TokenTable.build(rows, y, cs.Subsets(3)).filter(cs.MinCount(least), cs.MaxInterval(0.7))
    same(at_once, later)
    same(at_once.update(rows, y), later.update(rows, y))
    expected = cs.TokenTable.build(rows, y, cs.Subsets(3))
    kept = (expected.counts >= least) & (expected.interval_widths <= 0.7)
    assert by_token(at_once).keys() == {
        tuple(sorted(row["token"])) for row, keep in zip(expected.to_arrow().to_pylist(), kept, strict=True) if keep
    }


@given(rows=ROWS, queries=ROWS, least=st.integers(1, 3))
@settings(max_examples=40)
def test_finding_by_brute_force(rows: list[list[str]], queries: list[list[str]], least: int) -> None:
    table = cs.TokenTable.build(rows, [0] * len(rows), cs.Subsets(3), [cs.MinCount(least)])
    known = by_token(table).keys()
    queries = [[*query, "unknown"] for query in queries]
    encoded = table.encode(queries)
    assert encoded.n_items.tolist() == [len(set(query)) for query in queries]
    for cover in (False, True):
        found = table.find(encoded, cover)
        for place, query in enumerate(queries):
            tokens = found.tokens[found.offsets[place] : found.offsets[place + 1]]
            expected = plain_python.subsets(query, 3) & known
            expected = plain_python.cover(expected) if cover else expected
            assert {tuple(sorted(table.spell(int(token)))) for token in tokens} == expected
            assert len(tokens) == len(expected)


@given(rows=ROWS, queries=ROWS)
@settings(max_examples=30)
def test_ngrams_do_not_reach_over_unknown_words(rows: list[list[str]], queries: list[list[str]]) -> None:
    table = cs.TokenTable.build(rows, [0] * len(rows), cs.NGrams(3))
    known = set().union(*(plain_python.ngrams(row, 3) for row in rows))
    assert {tuple(row["token"]) for row in table.to_arrow().to_pylist()} == known
    queries = [[*query[:2], "unknown", *query[2:]] for query in queries]
    encoded = table.encode(queries)
    assert encoded.n_items.tolist() == [len(query) for query in queries]
    found = table.find(encoded, cover=False)
    for place, query in enumerate(queries):
        tokens = found.tokens[found.offsets[place] : found.offsets[place + 1]]
        assert {table.spell(int(token)) for token in tokens} == plain_python.ngrams(query, 3) & known


def test_crosses() -> None:
    pairs = [(["a", "b"], ["a"]), (["a"], ["a", "c"]), (["b"], [])]
    table = cs.TokenTable.build(pairs, [1, 0, 1], cs.Cross())
    assert {tuple(row["token"]): row["count"] for row in table.to_arrow().to_pylist()} == {
        ("left=a",): 2,
        ("left=b",): 2,
        ("right=a",): 2,
        ("right=c",): 1,
        ("left=a", "right=a"): 2,
        ("left=b", "right=a"): 1,
        ("left=a", "right=c"): 1,
    }
    found = table.find(table.encode([(["b"], ["c"])]))
    assert [table.spell(int(token)) for token in found.tokens] == [("left=b",), ("right=c",)]
    same(table.filter(cs.MinCount(2)), cs.TokenTable.build(pairs, [1, 0, 1], cs.Cross(), cs.MinCount(2)))


def tokens_of(table: cs.TokenTable, example: list[str]) -> set[frozenset[str]]:
    found = table.find(table.encode([example]))
    return {frozenset(table.spell(int(token))) for token in found.tokens}


def test_the_fallback_of_the_paper() -> None:
    table = cs.TokenTable.build([["a", "b", "c"], ["b", "d"], ["c", "d"]], [0, 1, 0], cs.Subsets(3))
    assert tokens_of(table, ["a", "b", "c", "d"]) == {frozenset("abc"), frozenset("bd"), frozenset("cd")}


def test_the_recipe_of_the_paper() -> None:
    rows = [["salt", "water", "fennel bulb"]] * 17 + [["salt", "water", "sugar"]] * 510
    rows += [["grapefruit juice"]] * 10
    y = [1] + [0] * 16 + [1] * 22 + [0] * 488 + [1, 1] + [0] * 8
    table = cs.TokenTable.build(rows, y, cs.Subsets(3))
    recipe = ["sugar", "salt", "fennel bulb", "water", "lemon olive oil", "grapefruit juice"]
    encoded = table.encode([recipe])
    tokens = table.find(encoded).tokens
    found = {
        frozenset(table.spell(int(t))): (round(table.means[t], 3), table.counts[t], table.sizes[t]) for t in tokens
    }
    assert found == {
        frozenset(["salt", "water", "fennel bulb"]): (0.059, 17, 3),
        frozenset(["salt", "water", "sugar"]): (0.043, 510, 3),
        frozenset(["grapefruit juice"]): (0.2, 10, 1),
    }
    assert encoded.n_items.tolist() == [6]


def test_the_film_of_the_paper() -> None:
    rows = [["Alice", "Carol"]] * 67 + [["Bob", "Carol"]] * 51 + [["David"]]
    table = cs.TokenTable.build(rows, [1] * len(rows), cs.Subsets(3))
    expected = {frozenset(["Alice", "Carol"]), frozenset(["Bob", "Carol"]), frozenset(["David"])}
    assert tokens_of(table, ["Alice", "Bob", "Carol", "David"]) == expected


class Neighbours:
    """Words, and pairs of neighbours."""

    def tokens(self, example: list[str]) -> list[Any]:
        return [*example, *itertools.pairwise(example)]


def test_own_tokenizers(tmp_path: Any) -> None:
    rows = [["a", "b", "c"], ["a", "b"], ["c"]]
    table = cs.TokenTable.build(rows, [1, 1, 0], Neighbours())
    assert {tuple(r["token"]): (r["count"], r["size"]) for r in table.to_arrow().to_pylist()} == {
        ("a",): (2, 1),
        ("b",): (2, 1),
        ("c",): (2, 1),
        ("a", "b"): (2, 2),
        ("b", "c"): (1, 2),
    }
    assert table.lookup(("a", "b")).mean == 1
    assert table.lookup("c").count == 2
    assert table.lookup(("b", "a")) is None
    encoded = table.encode([["x", "a", "b", "a", "c"]])
    assert encoded.n_items.tolist() == [4]
    found = {table.spell(int(t)) for t in table.find(encoded).tokens}
    assert found == {("a", "b"), ("c",)}
    assert len(table.find(encoded, cover=False).tokens) == 4
    same(table, cs.TokenTable.build(rows[:1], [1], Neighbours()).update(rows[1:], [1, 0]))
    same(
        table.filter(cs.MinCount(2)),
        cs.TokenTable.build(rows[:2], [1, 1], Neighbours(), cs.MinCount(2))
        + cs.TokenTable.build(rows[2:], [0], Neighbours(), cs.MinCount(2)),
    )
    table.save(tmp_path / "own.parquet")
    same(table, cs.TokenTable.load(tmp_path / "own.parquet", tokens=Neighbours()))
    with pytest.raises(ValueError, match="files hold no code"):
        cs.TokenTable.load(tmp_path / "own.parquet")


def test_lookups() -> None:
    table = cs.TokenTable.build([["a", "b"], ["b", "c"], ["b"]], ["x", "y", "y"], cs.Subsets(2))
    one = table.lookup(["b", "a"])
    assert (set(one.token), one.count, one.mean, one.class_weights) == ({"a", "b"}, 1, 0.0, {"x": 1.0, "y": 0.0})
    assert table.lookup("b").mean == pytest.approx(2 / 3)
    assert table.lookup(iter(["b", "b"])).count == 3
    for absent in ("z", ["a", "z"], ["a", "c"], [], ["a", "b", "c"]):
        assert table.lookup(absent) is None
    many = table.lookup_many(["b", "z", ["a", "b"]])
    assert many["count"].to_pylist() == [3, None, 1]
    assert many["token"].to_pylist() == [["b"], ["z"], ["a", "b"]]
    phrases = cs.TokenTable.build([["a", "b", "a"]], [1], cs.NGrams(2))
    assert phrases.lookup(["b", "a"]) is not None
    assert phrases.lookup(["a", "a"]) is None


def test_top_and_what_is_shown() -> None:
    table = cs.TokenTable.build([["<b>", "a"], ["a"]], [1.5, 2.5], cs.Subsets(2))
    assert table.top(1)["token"].to_pylist() == [["a"]]
    assert table.top(5, by="mean")["mean"].to_pylist() == [2.0, 1.5, 1.5]
    assert "3 tokens of 2 items, from 2 examples of a number" in repr(table)
    page = table._repr_html_()
    assert "&lt;b&gt;" in page
    assert "<b>" not in page
    with pytest.raises(ValueError, match="choose one of: count"):
        table.top(by="size of it")
    several = cs.TokenTable.build([["a"]] * 3, ["x", "y", "z"])
    assert "3 classes" in several._repr_html_()
    with pytest.raises(ValueError, match="3 classes"):
        several.top(by="mean")


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        ([0, 0], [0, 1]),
        ([True, True], [False, True]),
        ([1.0, 0.0], [0, 1]),
        (["a", "a"], ["a"]),
        ([3, 7], [3, 7]),
        (pd.Series(["b", "a"], dtype="category"), ["a", "b"]),
        ([0.5, 1], None),
        (pa.array([1, 2]), [1, 2]),
    ],
)
def test_what_labels_are(y: Any, classes: list[Any] | None) -> None:
    table = cs.TokenTable.build([["u"], ["v"]], y)
    assert (None if table.classes is None else table.classes.tolist()) == classes
    assert (table.means.ndim == 2) == (classes is not None and len(classes) != 2)
    assert np.sum(table.prior) == (1 if classes else 0.75)


def test_many_numbers_are_a_measurement() -> None:
    rows = [["a"]] * 101
    assert cs.TokenTable.build(rows, range(101)).task == "number"
    assert cs.TokenTable.build(rows[:100], range(100)).task == "classes"
    assert cs.TokenTable.build(rows, range(101), task="classes").means.shape == (1, 101)


def test_examples_of_weight_zero_are_none() -> None:
    rows = [["a", "b"], ["b"], ["c"]]
    same(
        cs.TokenTable.build(rows, ["x", "y", "z"], sample_weight=[1, 1, 0]),
        cs.TokenTable.build(rows[:2], ["x", "y"], sample_weight=[1, 1]),
    )


@pytest.mark.parametrize("y", [[7.5, 8.5, 9.5], [0, 1, 1], ["x", "y", "z"]], ids=str)
def test_weights_too_small_to_be_added_to_others_say_nothing(y: list[Any]) -> None:
    weights = [1e100, 1e-100, 1e-100]
    table = cs.TokenTable.build([["a"], ["b"], ["b"]], y, cs.Items(), sample_weight=weights)
    a, b = table.lookup(["a"]), table.lookup(["b"])
    assert np.isfinite(a.mean).all()
    assert b.count == 2
    assert b.weight == 0.0
    assert np.isnan(b.mean).all()
    assert table.to_arrow().num_rows == 2  # intervals included, without a warning


def test_new_classes_and_items_may_come_later() -> None:
    first = cs.TokenTable.build([["a"]], ["x"]).update([["b"], ["a", "b"]], ["z", "y"])
    same(first, cs.TokenTable.build([["a"], ["a", "b"], ["b"]], ["x", "y", "z"]))
    same(
        cs.TokenTable.build([["a"]], [0]) + cs.TokenTable.build([["a"]], [2]),
        cs.TokenTable.build([["a"], ["a"]], [2, 0]),
    )


def test_tables_without_examples() -> None:
    table = cs.TokenTable.build([["a", "b"], ["a"]], [0, 1])
    alone = table.without_examples()
    assert "without its examples" in repr(alone)
    same(alone.filter(cs.MinCount(2)), table.filter(cs.MinCount(2)))
    with pytest.raises(ValueError, match=r"cannot be updated.*Build it again"):
        alone.update([["a"]], [1])
    with pytest.raises(ValueError, match="cannot be merged"):
        table + alone


def test_tables_built_otherwise_are_not_merged() -> None:
    rows, y = [["a", "b"], ["a"]], [0, 1]
    table = cs.TokenTable.build(rows, y)
    for other in (
        cs.TokenTable.build(rows, y, cs.Subsets(2)),
        cs.TokenTable.build(rows, y, filters=cs.MinCount(2)),
        cs.TokenTable.build(rows, y, task="number"),
    ):
        with pytest.raises(ValueError, match="built alike"):
            table + other
    with pytest.raises(TypeError, match="labels of one type"):
        table.update(rows, ["x", "y"])
    with pytest.raises(TypeError):
        table + 1


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"y": [1]}, ValueError, "X has 2 examples but y has 1"),
        ({"y": [1, None]}, ValueError, "missing in row 1"),
        ({"y": [1.5, np.inf]}, ValueError, "inf in row 1"),
        ({"y": ["a", "b"], "task": "number"}, TypeError, "task is 'number'"),
        ({"task": "ranking"}, ValueError, "choose 'auto'"),
        ({"y": ["a", 1]}, TypeError, "values of one type"),
        ({"y": np.zeros((2, 2))}, ValueError, r"shape \(2, 2\)"),
        ({"sample_weight": [1, -1]}, ValueError, "-1.0 in row 1"),
        ({"sample_weight": [1e308, 1e308]}, ValueError, "sum of sample_weight is infinite"),
        ({"y": [10**400, 1]}, ValueError, "y holds a whole number of more than 64 bits"),
        ({"y": pa.array([["a"], ["b"]])}, TypeError, "Give one label an example"),
        ({"y": pa.DictionaryArray.from_arrays([0, 0], pa.array([["a"]]))}, TypeError, "Give one label"),
        ({"sample_weight": [0, 0]}, ValueError, "All weights are 0"),
        ({"sample_weight": ["a", "b"]}, TypeError, "one number an example"),
        ({"engine": "spark"}, ValueError, "'auto', 'local' or a SparkSession"),
        ({"tokens": "subsets"}, TypeError, "tokens is 'subsets'"),
        ({"filters": [5]}, TypeError, r"MinCount\(5\)"),
        ({"filters": [lambda s: s.counts]}, ValueError, "a boolean for each"),
        ({"X": [], "y": []}, ValueError, r"0 sample\(s\)"),
        ({"threads": 0}, ValueError, "threads is 0"),
    ],
)
def test_bad_arguments(arguments: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        cs.TokenTable.build(**{"X": [["a"], ["b"]], "y": [0, 1], **arguments})


def test_too_many_tokens() -> None:
    with pytest.raises(cs.TokenLimitError, match="MinCount"):
        cs.TokenTable.build([[str(n) for n in range(2000)]], [1], cs.Subsets(3))


@pytest.mark.parametrize("rows", [[[], []], [["a"], ["b"]]])
def test_tables_without_tokens(rows: list[list[str]]) -> None:
    table = cs.TokenTable.build(rows, [0, 1], filters=[cs.MinCount(2)])
    assert len(table) == 0
    assert table.to_arrow().num_rows == 0
    assert table.find(table.encode([["a"], []])).offsets.tolist() == [0, 0, 0]
    assert table.lookup("a") is None
    assert table.top().num_rows == 0
    assert table.encode([["a"], []]).n_items.tolist() == [1, 0]


def test_a_million_items() -> None:
    n = 1_000_000
    codes = np.random.default_rng(0).permutation(2 * n) % n
    items = pa.array(codes).cast(pa.string())
    rows = pa.LargeListArray.from_arrays(pa.array(np.arange(0, 2 * n + 1, 4)), items.cast(pa.large_string()))
    table = cs.TokenTable.build(rows, np.arange(n // 2) % 2, cs.Items())
    assert len(table) == n
    assert table.counts.sum() == len(np.unique(np.arange(2 * n) // 4 * n + codes))
    assert table.lookup("999999").count >= 1


def test_filters_in_lists_or_none_at_all() -> None:
    rows, y = [["a", "b"], ["a"], ["a", "b", "c"], ["c"]], [1, 0, 1, 1]
    table = cs.TokenTable.build(rows, y, filters=None)
    same(table, cs.TokenTable.build(rows, y))
    filters = [cs.MinCount(2), cs.MaxSize(1)]
    same(table.filter(filters), table.filter(*filters))
    assert table.filter(filters).filters == tuple(filters)
    assert len(table.filter(filters)) == 3


def test_lookups_of_items_that_are_no_strings() -> None:
    table = cs.TokenTable.build([[1, 2], [2], [2, 3]], [1, 0, 1], cs.Subsets(2))
    for one in (1, "1", np.int64(1)):
        assert table.lookup(one).count == 1
    assert table.lookup([2, 1]).count == 1
    assert table.lookup_many([2, [1, 2], 9])["count"].to_pylist() == [3, 1, None]
    truths = cs.TokenTable.build([[True], [False], [True]], [1, 0, 1])
    assert truths.lookup(True).count == 2
    for nothing in (None, [None], ["a", None]):
        with pytest.raises(TypeError, match=r"The token is .*None.* give an item"):
            table.lookup(nothing)


@pytest.mark.parametrize("threads", [1.5, "2", True])
def test_threads_are_whole_numbers(threads: Any) -> None:
    with pytest.raises(TypeError, match=r"threads is .* whole number"):
        cs.TokenTable.build([["a"]], [1], threads=threads)


def test_tables_of_other_tasks_say_what_to_do() -> None:
    numbers, classes = (cs.TokenTable.build([["a"], ["b"]], [1, 0], task=task) for task in ("number", "classes"))
    with pytest.raises(ValueError, match="same task="):
        numbers + classes


@pytest.mark.parametrize("tokens", [cs.Subsets(3), cs.Difference(max_size=None)], ids=repr)
def test_tokens_are_spelled_in_alphabetical_order(tokens: Any, tmp_path: Any) -> None:
    """Whatever is rare in one table and frequent in the other, so that they can be joined on their tokens."""
    rows = [["é", "b", "a"], ["b", "a"], ["a"], ["Z", "é", "b"]]
    mirrored = [["é", "b", "a"], ["é", "b"], ["é"], ["Z", "é", "b"]]
    tables = [
        cs.TokenTable.build([(row, []) for row in X] if isinstance(tokens, cs.Difference) else X, y, tokens)
        for X, y in ((rows, [1, 0, 1, 0]), (mirrored, [0, 1, 1, 0]))
    ]
    assert tables[0].vocabulary.to_pylist() != sorted(tables[0].vocabulary.to_pylist())
    for table, X in zip(tables, (rows, mirrored), strict=True):
        held = {part for row in X for n in (1, 2, 3) for part in itertools.combinations(sorted(row), n)}
        assert {tuple(token) for token in table.to_arrow()["token"].to_pylist()} == held
        assert table.lookup(["é", "Z", "b"]).token == ("Z", "b", "é")
        assert [table.spell(number) for number in table.numbers_of(list(held))] == list(held)
        table.save(tmp_path / "t.parquet")
        back = cs.TokenTable.load(tmp_path / "t.parquet")
        same(back, table)
        assert back.to_arrow().equals(table.to_arrow())


def test_crosses_are_spelled_in_alphabetical_order(tmp_path: Any) -> None:
    frame = pd.DataFrame({"z": [["p"], ["p", "q"]], "b": [["y", "x"], ["y"]]})
    table = cs.TokenTable.build(frame, [1, 0], cs.Cross("z", "b"))
    pairs = {tuple(token) for token in table.to_arrow()["token"].to_pylist() if len(token) == 2}
    assert pairs == {("b=y", "z=p"), ("b=x", "z=p"), ("b=y", "z=q")}
    assert table.lookup(["z=p", "b=y"]).count == 2
    table.save(tmp_path / "t.parquet")
    same(cs.TokenTable.load(tmp_path / "t.parquet"), table)
