"""What token tables and semantic estimators promise, tried at full size."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sklearn.metrics import roc_auc_score

import clearset as cs
from benchmarks._results import write_table
from clearset.datasets import load_recipes

RECIPES: dict[str, Any] = {"tokens": cs.Subsets(3), "filters": [cs.MinCount(5)]}


def same_table(a: cs.TokenTable, b: cs.TokenTable) -> bool:
    """Compare every column to the last bit."""
    return bool(a.to_arrow().equals(b.to_arrow()))


def merged() -> str:
    """Build the table of all recipes at once, in 7 random batches merged in random order, and by updates."""
    data = load_recipes()
    rng = np.random.default_rng(0)
    parts = [data.take(rows) for rows in np.array_split(rng.permutation(len(data.y)), 7)]
    whole = cs.TokenTable.build(*data, **RECIPES)
    tables = [cs.TokenTable.build(*part, **RECIPES) for part in parts]
    added = tables[3]
    for place in (6, 0, 5, 1, 4, 2):
        added = added + tables[place]
    updated = tables[5]
    for place in (2, 0, 6, 1, 3, 4):
        updated = updated.update(*parts[place])
    return f"{len(whole):,} tokens; merged {same_table(whole, added)}, updated {same_table(whole, updated)}"


def permuted() -> str:
    """Score 50,000 recipes and the same with their items in another order."""
    data = load_recipes()
    rng = np.random.default_rng(0)
    model = cs.SemanticClassifier(**RECIPES, cover=True, refine=False, epochs=3, random_state=0).fit(*data)
    chosen = data.take(rng.integers(len(data.y), size=50_000)).X
    shuffled = pa.array([list(rng.permutation(items)) for items in chosen.to_pylist()])
    table = model.token_table_
    one, other = table.find(table.encode(chosen)), table.find(table.encode(shuffled))
    tokens = np.array_equal(one.tokens, other.tokens) and np.array_equal(one.offsets, other.offsets)
    outputs = np.array_equal(model.predict_proba(chosen), model.predict_proba(shuffled))
    return f"identical tokens {tokens}, identical outputs {outputs}"


def random_labels() -> str:
    """Fit random labels of sets of rare items; nothing may be known of them."""
    inside, fresh = [], []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        items = pa.array([f"item {item}" for item in range(5_000)])
        sets = pa.FixedSizeListArray.from_arrays(items.take(pa.array(rng.integers(5_000, size=5 * 20_000))), 5)
        lists, labels = sets.cast(pa.list_(pa.string())), rng.integers(2, size=20_000)
        engine = cs.SemanticFeatureEngine(tokens=cs.Items(), random_state=seed)
        known = engine.fit_transform(lists[:10_000], labels[:10_000])
        inside.append(roc_auc_score(labels[:10_000], known[:, 0]))
        fresh.append(roc_auc_score(labels[10_000:], engine.transform(lists[10_000:])[:, 0]))
    return (
        f"AUC on the training rows {min(inside):.3f} to {max(inside):.3f} (mean {np.mean(inside):.3f}), on fresh ones "
        f"{min(fresh):.3f} to {max(fresh):.3f} (mean {np.mean(fresh):.3f})"
    )


def large_set() -> str:
    """Count the subsets up to 3 of a set of 2,000 items, alone and among recipes."""
    items = [f"item {place}" for place in range(2000)]
    try:
        cs.TokenTable.build([items], [1], cs.Subsets(3), task="classes")
        answer = "counted"
    except cs.TokenLimitError as error:
        answer = f"refused: {str(error)[:100]}..."
    data = load_recipes()
    sets = [*data.X.to_pylist(), items]
    table = cs.TokenTable.build(sets, [*data.y, "thai"], **RECIPES)
    return f"alone without a filter {answer}; among recipes with MinCount(5): {len(table):,} tokens"


def many_items() -> str:
    """Count five million distinct items."""
    n = 5_000_000
    items = pc.binary_join_element_wise("item", pa.array(np.arange(n)).cast(pa.string()), " ")
    sets = pa.ListArray.from_arrays(pa.array(np.arange(0, n + 1, 5), pa.int32()), items)
    labels = np.random.default_rng(0).integers(2, size=n // 5)
    table = cs.TokenTable.build(sets, labels, cs.Items())
    return f"{len(table):,} tokens"


def long_text() -> str:
    """Count and score a text of 1 MB, and items of any Unicode."""
    words = np.random.default_rng(0).integers(20_000, size=200_000)
    text = " ".join(f"w{word}" for word in words)[: 2**20]
    texts = [text, "short", "a line\nbreak", "né 漢字 \U0001f600 \u202e right to left"] * 30
    model = cs.SemanticClassifier(tokens=cs.NGrams(2), filters=[cs.MinCount(2)], epochs=2, random_state=0)
    model.fit(texts, [0, 1, 1, 0] * 30)
    odd = [["a\nb", "\x1f", "", "\U0001f600", "\u202e"], ["plain"]] * 20
    table = cs.TokenTable.build(odd, [0, 1] * 20, cs.Subsets(2))
    return f"1 MB text scored {model.predict([text])[0]}; odd items {len(table)} tokens"


PROMISES: dict[str, Callable[[], str]] = {
    "the same table at once, merged from 7 batches, updated": merged,
    "50,000 examples with permuted items": permuted,
    "random labels, sets of 5 of 5,000 items, 5 seeds": random_labels,
    "a set of 2,000 items, subsets up to 3": large_set,
    "5 million distinct items": many_items,
    "a text of 1 MB; odd items": long_text,
}


def main() -> None:
    """Try everything."""
    rows = []
    for name, promise in PROMISES.items():
        begun = time.perf_counter()
        answer = promise()
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        rows.append((name, answer, f"{time.perf_counter() - begun:.0f} s", f"{memory:.1f} GB"))
        print(*rows[-1], sep=" | ", file=sys.stderr)
    write_table(
        "promises",
        "Promises of tokens, tried at full size",
        "Memory is the most that the process has had so far.",
        ("what", "seen", "time", "memory"),
        rows,
    )


if __name__ == "__main__":
    main()
