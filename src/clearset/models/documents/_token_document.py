"""The part of a token table that goes into a document: as many tokens as fit, the most important ones first."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from clearset.models._arrays import FloatArray, IntArray
from clearset.models.documents._histogram import histogram_of
from clearset.sets import number, numbers
from clearset.tokens import OWN, OwnTokenizer, Statistics, TokenTable

if TYPE_CHECKING:
    from clearset.models._semantic_model import SemanticModel

MOST_BYTES = 2_300_000
"""The largest size of the tokens in a document, so that the page stays under 3 MB."""

_MOST_TOKENS = 60_000


def token_document(
    model: SemanticModel, wanted: IntArray | None = None, most_bytes: int = MOST_BYTES
) -> dict[str, Any]:
    """Describe tokens and their statistics, from which values follow as in `clearset.tokens.token_values`.

    Parameters
    ----------
    model : SemanticModel
        The model that has them.
    wanted : ndarray of int64, optional
        The numbers of tokens that come first; others follow.
    most_bytes : int, default=2300000
        The largest size of the description as JSON.

    Returns
    -------
    dict
        The tokens that fit, the token table's setting, and the prior.
    """
    table = model.table
    order = _order(model, np.empty(0, np.int64) if wanted is None else wanted)
    n_tokens = min(len(order), _MOST_TOKENS)
    while True:
        found = described_tokens(model, np.sort(order[:n_tokens]))
        size = len(json.dumps(found, ensure_ascii=False, separators=(",", ":")).encode(errors="replace"))
        if size <= most_bytes or not n_tokens:
            break
        n_tokens = min(n_tokens - 1, int(n_tokens * 0.95 * most_bytes / size))
    prior = np.atleast_1d(np.asarray(table.prior, dtype=np.float64))
    return {
        "tokeniser": table.tokenizer.to_json(),
        "in_order": table.tokenizer.in_order,
        "own": isinstance(table.tokenizer, OwnTokenizer),
        "cover": bool(model.setting.cover),
        "setting": str(model.setting),
        "value": model.binning.features[0].name,
        "table_classes": 0 if table.classes is None else len(table.classes),
        "prior": numbers(prior, 15),
        "shrinkage": number(model.setting.shrinkage, 15),
        "n_examples": int(table.n_examples),
        "n_tokens": len(table),
        **found,
    }


def _order(model: SemanticModel, wanted: IntArray) -> IntArray:
    """Rank tokens: those wanted, then by the better of two ranks, by their counts and by their effect."""
    rows = model.reader.rows
    table = model.table
    if not len(table):
        return np.empty(0, np.int64)
    values = rows.values - np.average(rows.values, axis=0, weights=np.maximum(table.weights, 1e-9))
    effects = np.abs(values).max(axis=1) * np.sqrt(table.counts)
    places = np.minimum(_places(-effects), _places(-table.counts.astype(np.float64)))
    places[wanted] = -1
    return np.argsort(places, kind="stable")


def _places(keys: FloatArray) -> IntArray:
    places = np.empty(len(keys), np.int64)
    places[np.argsort(keys, kind="stable")] = np.arange(len(keys))
    return places


def described_tokens(model: SemanticModel, tokens: IntArray) -> dict[str, Any]:
    """Describe some tokens.

    Parameters
    ----------
    model : SemanticModel
        The model that has them.
    tokens : ndarray of int64
        Their numbers in the token table.

    Returns
    -------
    dict
        Their items, with the vocabulary that they need, and what is known of them.
    """
    table = model.table
    rows = model.reader.rows
    items, statistics = table.items_of(tokens), table.statistics.take(tokens)
    used, codes = np.unique(items.codes, return_inverse=True)
    own = {
        name: numbers(rows.own[name][tokens], 12) for name in OWN if name in rows.own and name not in ("count", "size")
    }
    return {
        "vocabulary": table.vocabulary.take(pa.array(used)).to_pylist(),
        "items": [row.tolist() for row in np.split(codes, items.offsets[1:-1])] if len(tokens) else [],
        "sizes": statistics.sizes.tolist(),
        "counts": numbers(statistics.counts),
        "labels": _labels(statistics),
        "corrections": _corrections(table, tokens),
        "own_features": own,
    }


def _labels(statistics: Statistics) -> list[Any]:
    """Return what is known of the labels: [weight, mean] of numbers; of classes [class, weight, class, weight, ...]."""
    if statistics.class_weights is None:
        return numbers(np.stack([statistics.weights, statistics.means], axis=1), 12)
    tokens, classes = np.nonzero(statistics.class_weights)
    pairs = np.stack([classes, statistics.class_weights[tokens, classes]], axis=1)
    starts = np.searchsorted(tokens, np.arange(1, len(statistics)))
    return [numbers(part.ravel(), 12) for part in np.split(pairs, starts)] if len(statistics) else []


def _corrections(table: TokenTable, tokens: IntArray) -> dict[str, Any]:
    """Return the corrections of those tokens that have one, by their places."""
    if table.corrections is None:
        return {"places": [], "amounts": []}
    places = table.corrections.places(len(table))[tokens]
    known = np.flatnonzero(places >= 0)
    amounts = np.round(table.corrections.amounts[places[known]], 9)
    return {"places": known.tolist(), "amounts": amounts.tolist()}


def table_histogram(model: SemanticModel, d: int) -> dict[str, Any] | None:
    """Count a feature over all tokens, as often as they were seen; None for one that only examples have."""
    rows = model.reader.rows
    counts = model.table.counts.astype(np.float64)
    name, of = model.binning.features[d].name, (model.binning.keypoints[d], len(model.binning.categories[d] or ()))
    if d == 0:
        values = rows.values
        return histogram_of(values.ravel(), *of, np.repeat(counts, values.shape[1]))
    return histogram_of(rows.own[name], *of, counts) if name in rows.own else None
