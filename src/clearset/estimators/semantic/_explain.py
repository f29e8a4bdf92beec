"""Explanations of semantic estimators: what each token of a set is known for, and what it adds."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import torch
from sklearn.utils.validation import check_is_fitted

from clearset.estimators._base import TokenScores
from clearset.estimators._parameters import count_threads
from clearset.estimators.semantic._crossing import Crossing, Occurrences
from clearset.estimators.semantic._fit import outputs_of
from clearset.estimators.semantic._trial import occurrences
from clearset.frozen import estimates, say_prior
from clearset.setfunction import CrossedSets, RefinedSetFunction, SetFunction, one_torch_thread
from clearset.tokens import PER_SET

if TYPE_CHECKING:
    from clearset.estimators.semantic._base import SemanticEstimator

FloatArray = npt.NDArray[np.float64]

_COLUMNS = ("set", "label", "token", "estimate", "refined", "score", "contribution")


@dataclass(frozen=True, eq=False, repr=False)
class SemanticExplanation:
    """Predictions for B sets taken apart: f(x) = rho(sum of the tokens' contributions).

    Attributes
    ----------
    prediction
        ``(B,)``: the predicted number, or the probability of the class that is explained.
    label
        ``(B,)``: that class; None where labels are numbers.
    output
        ``(B,)``: what rho gives, before it becomes a probability or a mean.
    aggregate
        ``(B, width)``: what rho is given; the sum of the contributions of a set's tokens.
    tokens
        One row for each token, see `to_frame`.

    Examples
    --------
    >>> import clearset as cs
    >>> baskets = [["bread", "milk"], ["beer", "crisps"], ["milk"], ["beer"]] * 10
    >>> model = cs.SemanticClassifier(tokens=cs.Items(), random_state=0).fit(baskets, [0, 1, 0, 1] * 10)
    >>> explanation = model.explain([["beer", "milk"], []])
    >>> explanation
    SemanticExplanation(2 sets, 2 tokens)
    >>> explanation.to_frame()["token"].to_pylist()
    [['beer'], ['milk'], None]
    """

    prediction: FloatArray
    label: npt.NDArray[Any] | None
    output: FloatArray
    aggregate: FloatArray
    tokens: pa.Table

    def __len__(self) -> int:
        return len(self.prediction)

    def __repr__(self) -> str:
        column = self.tokens["token"]
        return f"SemanticExplanation({len(self):,} sets, {len(column) - column.null_count:,} tokens)"

    def to_frame(self) -> pa.Table:
        """Give one row for each token, as an Arrow table.

        ``set`` is the number of the set and ``token`` the list of the token's items; a set without tokens has one row,
        whose token is null. Then come the features as phi reads them, null where missing; ``estimate``, the value that
        the table has counted for the token, and ``refined``, the same with the learned correction; ``score``, phi of
        the token, and ``contribution``, the score divided by the set's number of tokens. With a width above 1 these
        two are lists. Where labels are classes, ``label`` is the one that the row speaks of.
        """
        return self.tokens


def explain(estimator: "SemanticEstimator", X: Any, label: Any) -> SemanticExplanation:
    """Take the predictions of a fitted estimator apart."""
    found, crossing, model, threads = _prepared(estimator, X)
    crossed = crossing.cross(found)
    outputs = outputs_of(model, crossed, threads)
    said = say_prior(outputs.copy(), found.counts, estimator.token_table_.prior, estimator.loss_)
    columns = _columns(estimator, said, label)
    rows = np.arange(len(outputs))
    sizes = np.diff(crossed.tokens.offsets.numpy())
    estimate, refined = _values(crossing, crossed, model, np.repeat(columns, sizes))
    scores = _scores_of_values(crossed, model, refined - crossing.first, threads)
    contributions = scores / np.repeat(sizes, sizes)[:, None]
    starts = crossed.tokens.offsets.numpy()[:-1]
    aggregate = np.add.reduceat(contributions, starts, axis=0) if len(rows) else contributions
    labels = None
    if estimator._has_classes():
        # Of two classes there is one column, which speaks for the second.
        labels = estimator.classes_[columns + (outputs.shape[1] == 1)]
    known = estimate == estimate
    frame = {"set": pa.array(np.repeat(rows, sizes))}
    if labels is not None:
        frame["label"] = pa.array(np.repeat(labels, sizes))
    spelled = estimator.token_table_.spelled(found.found.tokens)
    frame["token"] = spelled.take(pa.array(np.cumsum(known) - 1, mask=~known))
    frame |= _features(found, crossing, refined, known, sizes)
    frame |= {"estimate": _numbers(estimate), "refined": _numbers(refined)}
    frame |= {"score": _lists(scores), "contribution": _lists(contributions)}
    prediction = estimates(said, estimator.loss_)[rows, columns]
    return SemanticExplanation(prediction, labels, outputs[rows, columns], aggregate, pa.table(frame))


def phi(estimator: "SemanticEstimator", X: Any) -> TokenScores:
    """Score every token, for every class."""
    found, crossing, model, threads = _prepared(estimator, X)
    crossed = crossing.cross(found)
    with torch.no_grad(), one_torch_thread():
        scores = crossed.scores(model, threads).numpy()
    return TokenScores(scores[:, 0] if scores.shape[1] == 1 else scores, crossed.tokens.offsets.numpy())


def _prepared(estimator: "SemanticEstimator", X: Any) -> tuple[Occurrences, Crossing, SetFunction, int]:
    check_is_fitted(estimator)
    threads, details = count_threads(estimator.n_jobs), estimator.setting_.details
    found = occurrences(estimator.token_table_, (), estimator.setting_.cover, X, None, details, threads)
    return found, *estimator._reader(), threads


def _columns(estimator: "SemanticEstimator", outputs: FloatArray, label: Any) -> npt.NDArray[np.int64]:
    """Give the column of outputs that is explained for each set: by default that of the predicted class."""
    if label is None:
        return np.asarray(outputs.argmax(axis=1))
    if not estimator._has_classes():
        raise ValueError(f"label={label!r} names a class, but the labels are numbers. Leave it out.")
    classes = estimator.classes_
    places = np.flatnonzero(classes == label)
    if not len(places):
        raise ValueError(f"label={label!r} is not among the classes fitted, {classes.tolist()[:20]}.")
    if outputs.shape[1] > 1:
        return np.full(len(outputs), places[0])
    if places[0] == 0:
        raise ValueError(
            f"label={label!r} is the first of two classes; scores speak for the second, {classes.tolist()[1]!r}, and "
            "lower ones for the first. Leave label out."
        )
    return np.zeros(len(outputs), np.int64)


def _values(
    crossing: Crossing, crossed: CrossedSets, model: SetFunction, columns: npt.NDArray[np.int64]
) -> tuple[FloatArray, FloatArray]:
    """Give each token's value in its column, as counted and with its correction; NaN where it is missing."""
    rows, corrections = crossed.tokens.rows.numpy(), crossed.tokens.refined.numpy()
    estimate = np.full(len(rows), np.nan)
    known = rows >= 0
    estimate[known] = crossing.rows.values[rows[known], columns[known]]
    refined = estimate.copy()
    if isinstance(model, RefinedSetFunction):
        corrected = corrections >= 0
        amounts = model.corrections.detach().numpy()
        refined[corrected] += amounts[corrections[corrected], columns[corrected]]
    return estimate, refined


def _scores_of_values(
    crossed: CrossedSets, model: SetFunction, values: FloatArray, threads: int
) -> FloatArray:
    """Score tokens by a value of their own, from the first keypoint on, ``(T, K)``; other classes are not looked at."""
    missing = np.isnan(values)
    rows = np.where(missing, -1, np.arange(len(values))).astype(np.int32)
    tokens = crossed.tokens._replace(
        rows=torch.from_numpy(rows), refined=torch.full((len(rows),), -1, dtype=torch.int32)
    )
    column = torch.from_numpy(np.where(missing, 0.0, values)[:, None])
    plain = SetFunction(model.phi, model.rho)
    with torch.no_grad(), one_torch_thread():
        scores = CrossedSets(tokens, column, crossed.keypoints).scores(plain, threads)
    return np.asarray(scores[:, 0].numpy())


def _features(
    found: Occurrences,
    crossing: Crossing,
    values: FloatArray,
    known: npt.NDArray[np.bool_],
    sizes: npt.NDArray[np.int64],
) -> dict[str, pa.Array]:
    """Give the features of every token by name; a detail that is called as a column of the frame is marked as one."""
    value, *plain = (feature.name for feature in crossing.binning.features)
    columns = {value: _numbers(values)}
    for name in plain:
        if name in PER_SET:
            numbers = np.repeat(found.of_sets(name), sizes)
        else:
            numbers = np.full(len(known), np.nan)
            own = crossing.rows.own
            numbers[known] = own[name][found.rows] if name in own else found.of_tokens(name)
        columns[f"{name} (detail)" if name in _COLUMNS else name] = _numbers(numbers)
    return columns


def _numbers(values: FloatArray) -> pa.Array:
    return pa.array(values, mask=np.isnan(values))


def _lists(values: FloatArray) -> pa.Array:
    if values.shape[1] == 1:
        return pa.array(values[:, 0])
    return pa.FixedSizeListArray.from_arrays(pa.array(values.ravel()), values.shape[1])
