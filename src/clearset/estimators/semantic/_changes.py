"""What predictions of semantic estimators become if a token is left out, or if a feature is changed."""

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import torch

from clearset.estimators._changes import ChangeableSets, explained_columns
from clearset.estimators._parameters import count_threads
from clearset.frozen import estimates, say_prior
from clearset.setfunction import CrossedSets, RefinedSetFunction, SetFunction, one_torch_thread
from clearset.tokens import PER_SET

if TYPE_CHECKING:
    from clearset.estimators.semantic._model import SemanticModel

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

_COUNTER = "tokens"


class ChangeableTokens(ChangeableSets):
    """Sets of crossed tokens; of the value, the first feature, only that for the class explained is changed.

    Parameters
    ----------
    estimator
        A fitted one.
    model
        Its set function, with corrections.
    crossed
        The sets.
    values
        ``(R, C)``: what the tokens' rows point into, in the value's own unit.
    counts
        ``(B,)``: the tokens of each set, 0 for one without any.
    label
        The class to explain; None for the one predicted.

    Attributes
    ----------
    estimate, refined
        ``(T,)``: the value of each token for the class explained, as counted and with its correction; NaN where it is
        missing.
    """

    def __init__(
        self,
        estimator: "SemanticModel",
        model: SetFunction,
        crossed: CrossedSets,
        values: FloatArray,
        counts: IntArray,
        label: Any,
    ) -> None:
        self.binning, self.offsets = estimator.binning_, crossed.tokens.offsets.numpy()
        names = [feature.name for feature in self.binning.features]
        self.per_set = [name in PER_SET for name in names]
        self.counter = names.index(_COUNTER) if _COUNTER in names else None
        self.present = np.repeat(counts > 0, self.sizes)
        self.rho_keypoints = model.rho_keypoints
        self._model, self._crossed, self._counts = model, crossed, counts
        self._threads = count_threads(estimator.n_jobs)
        self._prior, self._loss = estimator.token_table_.prior, estimator.loss_
        outputs = self._said(self.outputs(self.means), np.arange(len(counts)))
        self.columns = explained_columns(getattr(estimator, "classes_", None), outputs, label)
        self.estimate, self.refined = self._values(values)

    def _values(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        rows, corrections = self._crossed.tokens.rows.numpy(), self._crossed.tokens.refined.numpy()
        columns, known = self.columns[self.set_of], rows >= 0
        estimate = np.full(len(rows), np.nan)
        estimate[known] = values[rows[known], columns[known]]
        refined = estimate.copy()
        if isinstance(self._model, RefinedSetFunction):
            corrected = corrections >= 0
            amounts = self._model.corrections.detach().numpy()
            refined[corrected] += amounts[corrections[corrected], columns[corrected]]
        return estimate, refined

    def positions(self) -> tuple[npt.NDArray[np.int32], FloatArray]:
        """Give slots and fractions of all features, ``(D, T)`` each, for the class explained."""
        name = self.binning.features[0].name
        slots, fractions = self.binning.place(name, self.refined, np.float64)
        tokens = self._crossed.tokens
        return np.vstack([slots, tokens.slots.numpy()]), np.vstack([fractions, tokens.fractions.numpy()])

    def scores(self, place: int | None = None, slots: Any = 0, fractions: Any = 0.0) -> FloatArray:
        """Score all tokens."""
        if place is None:
            return self._scores(self._crossed, self._model)
        if place == 0:
            scores = self.as_they_are.copy()
            scores[np.arange(len(scores)), self.columns[self.set_of]] = self._scores_at(slots + fractions)
            return scores
        tokens = self._crossed.tokens
        changed = tokens._replace(slots=tokens.slots.clone(), fractions=tokens.fractions.clone())
        changed.slots.numpy()[place - 1], changed.fractions.numpy()[place - 1] = slots, fractions
        return self._scores(CrossedSets(changed, self._crossed.values, self._crossed.keypoints), self._model)

    def _scores_at(self, places: Any) -> FloatArray:
        """Score tokens whose value stands at places between keypoints, ``(T, K)``; other classes are not looked at."""
        keypoints, n_tokens = self._crossed.keypoints.numpy(), len(self.set_of)
        values = np.interp(np.broadcast_to(places, n_tokens), np.arange(len(keypoints)), keypoints)
        rows, corrections = np.arange(n_tokens, dtype=np.int32), np.full(n_tokens, -1, np.int32)
        tokens = self._crossed.tokens._replace(
            rows=torch.from_numpy(rows), refined=torch.from_numpy(corrections)
        )
        crossed = CrossedSets(tokens, torch.from_numpy(values[:, None]), self._crossed.keypoints)
        return self._scores(crossed, SetFunction(self._model.phi, self._model.rho))[:, 0]

    def _scores(self, crossed: CrossedSets, model: SetFunction) -> FloatArray:
        with torch.no_grad(), one_torch_thread():
            return np.asarray(crossed.scores(model, self._threads).numpy())

    def outputs(self, means: FloatArray) -> FloatArray:
        """Apply rho."""
        rows = np.ascontiguousarray(means).reshape(-1, self._model.width)
        with torch.no_grad(), one_torch_thread():
            outputs: FloatArray = self._model.rho(torch.from_numpy(rows)).numpy()
        return outputs.reshape(means.shape[:2])

    def predictions(self, outputs: FloatArray, sets: IntArray) -> FloatArray:
        """Give the predicted number, or the probability of the class explained."""
        shares = estimates(self._said(outputs, sets), self._loss)
        return np.asarray(shares[np.arange(len(sets)), self.columns[sets]])

    def _said(self, outputs: FloatArray, sets: IntArray) -> FloatArray:
        return say_prior(outputs.copy(), self._counts[sets], self._prior, self._loss)
