"""Tokens, tables and the cover in plain Python, straight from their definitions."""

import itertools
import math
from collections import defaultdict
from typing import Any

import numpy as np


def subsets(items: Any, max_size: int | None = None) -> set[tuple[str, ...]]:
    distinct = sorted(set(items))
    largest = len(distinct) if max_size is None else min(max_size, len(distinct))
    return {token for size in range(1, largest + 1) for token in itertools.combinations(distinct, size)}


def ngrams(words: list[str], max_order: int) -> set[tuple[str, ...]]:
    return {
        tuple(words[start : start + order])
        for order in range(1, max_order + 1)
        for start in range(len(words) - order + 1)
    }


def count(rows: list[set[tuple[str, ...]]], y: Any, w: Any = None) -> dict[tuple[str, ...], dict[str, Any]]:
    """Return counts, weights, means and variances of numbers, and the labels of every token."""
    weights = np.ones(len(rows)) if w is None else np.asarray(w)
    holders = defaultdict(list)
    for place, tokens in enumerate(rows):
        for token in tokens:
            holders[token].append(place)
    return {
        token: {
            "count": len(places),
            "weight": math.fsum(weights[places]),
            "labels": [y[place] for place in places],
            "weights": weights[places],
        }
        for token, places in holders.items()
    }


def cover(tokens: set[tuple[str, ...]]) -> set[tuple[str, ...]]:
    """Return the tokens that the fallback takes of those in the table."""
    kept: set[tuple[str, ...]] = set()
    covered: set[str] = set()
    for size in sorted({len(token) for token in tokens}, reverse=True):
        chosen = {token for token in tokens if len(token) == size and set(token) - covered}
        kept |= chosen
        covered |= {item for token in chosen for item in token}
    return kept
