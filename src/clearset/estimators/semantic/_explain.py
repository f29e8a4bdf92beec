"""Explanations of semantic estimators: what each token of a set is known for, and what it adds."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import torch
from sklearn.utils.validation import check_is_fitted

from clearset.estimators._base import TokenScores
from clearset.estimators._columns import column_names, numbers
from clearset.estimators._dependence import DRAWN, drawn_slots
from clearset.estimators._explain import assemble, calibrated
from clearset.estimators._explanation import Explanation, joined
from clearset.estimators._parameters import count_threads
from clearset.estimators.semantic._changes import ChangeableTokens
from clearset.estimators.semantic._covers import covered
from clearset.estimators.semantic._crossing import Crossing, Occurrences
from clearset.estimators.semantic._details import read_details
from clearset.estimators.semantic._trial import occurrences
from clearset.kernels import CrossedTokens
from clearset.setfunction import CrossedSets, SetFunction, one_torch_thread
from clearset.tokens import PER_SET, Found, TokenTable

if TYPE_CHECKING:
    from clearset.estimators.semantic._model import SemanticModel

Reader: TypeAlias = tuple[Crossing, SetFunction]

SemanticExplanation = Explanation

# Scores are kept of about this many tokens x classes at a time, so that memory stays bounded.
PIECE_SCORES = 2_000_000


def explain(estimator: "SemanticModel", X: Any, label: Any, *, effects: bool) -> Explanation:
    """Take the predictions of a fitted estimator apart."""
    found, reader = _prepared(estimator, X)
    if not len(found.counts):
        raise ValueError("X holds 0 sample(s), that is, no examples, while a minimum of 1 is required.")
    table = estimator.token_table_
    items, _ = read_details(X, estimator.setting_.details)
    spelled, covers = table.spelled(found.found.tokens), covered(table, items, found.found)
    parts, start = [], 0
    for piece in _pieces(found, reader):
        n_tokens = len(piece.rows)
        shown = {"token": spelled.slice(start, n_tokens), "covers": covers.slice(start, n_tokens)}
        parts.append(_explained(estimator, piece, reader, shown, label, effects))
        start += n_tokens
    return joined(parts)


def changeable(estimator: "SemanticModel", X: Any, label: Any) -> Iterator[ChangeableTokens]:
    """Find the tokens of examples, and give them in pieces whose features can be changed."""
    found, reader = _prepared(estimator, X)
    for piece in _pieces(found, reader):
        yield _changeable(estimator, piece, reader, label)


def phi(estimator: "SemanticModel", X: Any) -> TokenScores:
    """Score every token, for every class."""
    found, (crossing, model) = _prepared(estimator, X)
    crossed = crossing.cross(found)
    with torch.no_grad(), one_torch_thread():
        scores = crossed.scores(model, count_threads(estimator.n_jobs)).numpy()
    return TokenScores(scores[:, 0] if scores.shape[1] == 1 else scores, crossed.tokens.offsets.numpy())


def _prepared(estimator: "SemanticModel", X: Any) -> tuple[Occurrences, Reader]:
    check_is_fitted(estimator)
    threads, details = count_threads(estimator.n_jobs), estimator.setting_.details
    found = occurrences(estimator.token_table_, (), estimator.setting_.cover, X, None, details, threads)
    return found, estimator._reader()


def _changeable(
    estimator: "SemanticModel", found: Occurrences, reader: Reader, label: Any
) -> ChangeableTokens:
    crossing, model = reader
    return ChangeableTokens(
        estimator, model, crossing.cross(found), crossing.rows.values, found.counts, label
    )


def _pieces(found: Occurrences, reader: Reader) -> Iterator[Occurrences]:
    """Cut examples into runs of about as many tokens as memory should hold scores of, at least one example each."""
    offsets, start, n = found.found.offsets, 0, len(found.counts)
    limit = PIECE_SCORES // reader[0].rows.values.shape[1]
    if not n:
        yield found
    while start < n:
        stop = int(np.searchsorted(offsets, offsets[start] + limit, side="right")) - 1
        stop = min(max(stop, start + 1), n)
        tokens = slice(int(offsets[start]), int(offsets[stop]))
        yield Occurrences(
            Found(found.found.tokens[tokens], offsets[start : stop + 1] - offsets[start]),
            found.rows[tokens],
            found.sizes[tokens],
            found.n_items[start:stop],
            {name: detail[tokens] for name, detail in found.details.items()},
        )
        start = stop


def drawn(estimator: "SemanticModel", label: Any) -> ChangeableTokens:
    """Draw sets of one token, their features each by itself."""
    crossing, model = estimator._reader()
    slots = drawn_slots(estimator.binning_, DRAWN)
    rng, n_classes = np.random.default_rng(1), crossing.rows.values.shape[1]
    keypoints = np.asarray(estimator.binning_.keypoints[0]) - crossing.first
    values = rng.choice(keypoints, (DRAWN, n_classes))
    rows, corrections = np.arange(DRAWN, dtype=np.int32), np.full(DRAWN, -1, np.int32)
    tensors = (slots[1:], np.zeros(slots[1:].shape), np.arange(DRAWN + 1), rows, corrections)
    crossed = CrossedSets(
        CrossedTokens(*map(torch.from_numpy, tensors)), torch.from_numpy(values), torch.from_numpy(keypoints)
    )
    counts = np.ones(DRAWN, np.int64)
    return ChangeableTokens(estimator, model, crossed, values + crossing.first, counts, label)


def _explained(
    estimator: "SemanticModel",
    found: Occurrences,
    reader: Reader,
    shown: dict[str, pa.Array],
    label: Any,
    effects: bool,
) -> Explanation:
    sets = _changeable(estimator, found, reader, label)
    labels = None
    if estimator._has_classes():
        # Of two classes there is one column, which speaks for the second.
        labels = estimator.classes_[sets.columns + (sets.means.shape[1] == 1)]
    known, table = sets.present, estimator.token_table_
    places = pa.array(np.cumsum(known) - 1, mask=~known)
    columns = sets.columns[sets.set_of][known]
    further = {
        "estimate": numbers(sets.estimate),
        "refined": numbers(sets.refined),
        "statistics": _statistics(table, found.found.tokens, columns).take(places),
        "covers": shown["covers"].take(places),
    }
    slots, fractions = sets.positions()
    tables = estimator.set_function_.phi.calibration.detach().numpy()[None]
    values = calibrated(tables, np.zeros(len(known), np.int64), slots, fractions)
    return assemble(
        sets,
        labels,
        shown["token"].take(places),
        _features(found, reader[0], sets),
        values,
        further,
        effects=effects,
    )


def _statistics(table: TokenTable, tokens: npt.NDArray[Any], columns: npt.NDArray[np.int64]) -> pa.Array:
    """Give what the table knows of tokens: examples, mean label or share of the class, and its 95% interval."""
    stated = {"count": pa.array(table.counts[tokens])}
    for name, values in zip(("mean", "low", "high"), (table.means, *table.intervals), strict=True):
        stated[name] = numbers(values[tokens] if values.ndim == 1 else values[tokens, columns])
    return pa.StructArray.from_arrays(list(stated.values()), list(stated))


def _features(found: Occurrences, crossing: Crossing, sets: ChangeableTokens) -> dict[str, pa.Array]:
    """Give the features of every token by name; a detail that is called as a column of the frame is marked as one."""
    features = [feature.name for feature in crossing.binning.features]
    columns = [numbers(sets.refined)]
    for name in features[1:]:
        if name in PER_SET:
            values = found.of_sets(name)[sets.set_of]
        else:
            values = np.full(len(sets.present), np.nan)
            own = crossing.rows.own
            values[sets.present] = own[name][found.rows] if name in own else found.of_tokens(name)
        columns.append(numbers(values))
    return dict(zip(column_names(features, " (detail)"), columns, strict=True))
