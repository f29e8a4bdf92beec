"""What every estimator over sets has in common."""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np
import torch
from sklearn.utils.validation import check_is_fitted

from clearset.estimators._curves import CalibratorCurve, calibrator_curves
from clearset.estimators._dependence import (
    PartialDependence,
    check_steps,
    dependence_of,
    label_of_dependence,
)
from clearset.estimators._drawn import DrawnModel
from clearset.estimators._explain import draw_sets, explain_sets, place_sets
from clearset.estimators._explanation import Explanation
from clearset.estimators._fitting import LabelledSets, Start, fit_set_function, split
from clearset.estimators._input import (
    check_weights,
    read_more_sets,
    read_sets_again,
    read_training_sets,
)
from clearset.estimators._parameters import check_parameters, count_threads, make_rng
from clearset.estimators._persistence import save_estimator
from clearset.estimators._progress import progress_bar
from clearset.estimators._restored import restored_on_failure
from clearset.kernels import TokenPositions
from clearset.setfunction import (
    Certificate,
    Loss,
    SetFunction,
    ShapeConstraints,
    certify,
    one_torch_thread,
    token_positions,
)
from clearset.sets import Binning, Feature, SetData, Trust, library_of

# Sets are scored in pieces of about this many tokens, so that memory stays bounded.
PIECE_TOKENS = 100_000


class TokenScores(NamedTuple):
    """Phi of every token, set after set.

    Attributes
    ----------
    scores
        ``(T, width)``; with several classes ``(T, classes, width)``.
    offsets
        ``(B + 1,)``: set b's tokens are ``scores[offsets[b]:offsets[b + 1]]``. An empty set has one token, all missing.
    """

    scores: np.ndarray
    offsets: np.ndarray


class SetEstimator(DrawnModel, ABC):
    """The shared part of `SetRegressor` and `SetClassifier`: fitting, scoring, looking inside.

    Subclasses say what labels are: `_numbers` turns them into numbers, `_outputs` is how many set functions they need.
    """

    _losses: Sequence[str]

    features: Sequence[str | Feature] | None
    trusts: Sequence[Trust]
    n_jobs: int | None
    random_state: Any

    features_: tuple[Feature, ...]
    trusts_: tuple[Trust, ...]
    binning_: Binning
    set_function_: SetFunction
    certificate_: Certificate
    loss_: str
    sets_of_one_: bool
    history_: list[dict[str, float]]
    n_iter_: int
    best_epoch_: int
    interrupted_: bool

    @abstractmethod
    def _numbers(self, labels: Any, n_sets: int, *, reset: bool) -> np.ndarray:
        """Check labels and give them as numbers; ``reset`` where they say which labels there are."""

    def _outputs(self) -> int:
        return 1

    def _loss(self) -> Loss:
        parameters = self.get_params(deep=False)
        return Loss(parameters["loss"], parameters.get("quantile", 0.5))

    @restored_on_failure
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, validation_data: tuple[Any, Any] | None = None
    ) -> Self:
        """Fit the set function.

        Parameters
        ----------
        X
            One row is one set: a frame (pandas, polars, Arrow) whose list columns are token features and whose plain
            columns are set features, a `SetData`, or a 2-D array (sets of one token).
        y
            One label for each set.
        sample_weight
            One weight for each set. Whole numbers below 2^53 count as repetitions: 2 is the set given twice, 0 the set
            left out. Of other weights only the ratios matter.
        validation_data
            ``(X, y)`` to choose the best epoch by, in place of a share of the training data.
        """
        options = self.get_params(deep=False)
        check_parameters(options, self._losses)
        rng = make_rng(self.random_state)
        start = None
        if options["warm_start"] and hasattr(self, "set_function_"):
            start = Start(self.binning_, self.set_function_)
            sets, features, trusts = read_sets_again(self, X), self.features_, self.trusts_
        else:
            sets, features, trusts = read_training_sets(self, X, self.features, self.trusts)
        weights = check_weights(sample_weight, len(sets))
        data = LabelledSets(sets, self._numbers(y, len(sets), reset=start is None), weights)
        self._check_declarations(features, trusts)
        self.features_, self.trusts_ = features, trusts
        self.sets_of_one_ = bool((sets.sizes == 1).all())
        data = data[np.flatnonzero(weights)]
        validation: LabelledSets | None = None
        if validation_data is not None:
            validation = self._validation(validation_data)
        elif options["early_stopping"]:
            data, validation = split(
                data, options["validation_fraction"], rng, stratify=hasattr(self, "classes_")
            )
        with progress_bar(options) as on_epoch:
            self.binning_, self.set_function_, progress = fit_set_function(
                data,
                validation,
                features,
                trusts,
                outputs=self._outputs(),
                loss=self._loss(),
                options=options,
                threads=count_threads(self.n_jobs),
                rng=rng,
                start=start,
                on_epoch=on_epoch,
            )
        self.history_, self.n_iter_ = progress.history, len(progress.history)
        self.best_epoch_, self.interrupted_ = progress.best_epoch, progress.interrupted
        self.loss_ = options["loss"]
        if self.interrupted_:
            warnings.warn(
                f"Training was interrupted after {self.n_iter_} of {options['epochs']} epochs. The best model so far "
                "is kept.",
                stacklevel=3,
            )
        self.certificate_ = self.verify()
        if not self.certificate_:
            raise RuntimeError(
                f"The fitted model breaks a declared constraint, which is a bug.\n{self.certificate_}"
            )
        return self

    def _check_declarations(self, features: Sequence[Feature], trusts: Sequence[Trust]) -> None:
        """Refuse what cannot be promised, before any training; a single output can promise everything."""

    def _validation(self, validation_data: Any) -> LabelledSets:
        if not isinstance(validation_data, tuple | list) or len(validation_data) != 2:
            raise TypeError(
                f"validation_data is a pair (X, y); received {type(validation_data).__name__}. Pass sets and labels."
            )
        X, y = validation_data
        sets = read_more_sets(self, X)
        return LabelledSets(sets, self._numbers(y, len(sets), reset=False), np.ones(len(sets)))

    def _outputs_of(self, X: Any) -> np.ndarray:
        """Give the set functions' ``(B, C)`` outputs."""
        check_is_fitted(self)
        outputs, _ = self._applied(self.set_function_, read_more_sets(self, X))
        return outputs

    def phi(self, X: Any) -> TokenScores:
        """Score every token.

        Parameters
        ----------
        X
            Sets, as for `fit`.

        Returns
        -------
        TokenScores
            The scores, and where each set's begin. Their mean over a set's tokens is what rho turns into the output.
        """
        check_is_fitted(self)
        scores, sizes = self._applied(self.set_function_.phi.scores, read_more_sets(self, X))
        if self._outputs() > 1:
            scores = scores.reshape(len(scores), self._outputs(), -1)
        return TokenScores(scores, np.concatenate([[0], np.cumsum(sizes)]))

    def _applied(
        self, function: Callable[[TokenPositions, int], torch.Tensor], sets: SetData
    ) -> tuple[np.ndarray, np.ndarray]:
        """Apply a part of the set function to sets, piece by piece; the results, and the sets' numbers of tokens."""
        results, sizes, threads = [], [], count_threads(self.n_jobs)
        with torch.no_grad(), one_torch_thread():
            for piece in _pieces(sets):
                positions = self.binning_.positions(piece, np.float64)
                results.append(function(token_positions(positions), threads).numpy())
                sizes.append(np.diff(positions.offsets))
        return np.concatenate(results), np.concatenate(sizes)

    def rho(self, means: Any) -> np.ndarray:
        """Apply rho to means of token scores.

        Parameters
        ----------
        means
            ``(B, width)`` values in [-1, 1], for one output; a single column may be given as ``(B,)``.

        Returns
        -------
        numpy.ndarray
            ``(B,)`` outputs in the unit of `decision_function` (classes) or of the model's output (numbers).
        """
        check_is_fitted(self)
        rows = np.asarray(means, dtype=np.float64).reshape(-1, self.set_function_.phi.calibration.shape[0])
        with torch.no_grad():
            outputs: np.ndarray = self.set_function_.rho(torch.from_numpy(rows)).numpy()
        return outputs[:, 0] if self._outputs() == 1 else outputs

    def explain(self, X: Any, label: Any = None, *, effects: bool = False) -> Explanation:
        """Say what each token of each set adds to the prediction.

        Parameters
        ----------
        X
            Sets, as for `fit`.
        label
            Of several classes the one to explain; None takes each set's predicted class. The scores of two classes
            always speak for the second.
        effects
            Whether to find out as well what a change of each feature of each token would do.
        """
        check_is_fitted(self)
        explanation = explain_sets(self, _pieces(read_more_sets(self, X)), label, effects=effects)
        return replace(explanation, frames=library_of(X))

    def partial_dependence(
        self, feature: str, X: Any = None, n: int = 50, *, label: Any = None
    ) -> PartialDependence:
        """Say how predictions depend on one feature of one token.

        Parameters
        ----------
        feature
            Its name.
        X
            Sets to predict for, as for `fit`. None: sets of one token, whose features are drawn each by itself among
            their keypoints, which stand where the training data did, or their categories.
        n
            Values that a numeric feature goes through, from its first keypoint to its last. A categorical one goes
            through its categories.
        label
            Of several classes the one whose probability is told; of two it is the second.
        """
        check_is_fitted(self)
        n, binning = check_steps(n), self.binning_
        binning.slots_of(feature)  # refuses an unknown feature, before any work
        label = label_of_dependence(getattr(self, "classes_", None), label)
        if X is None:
            return dependence_of([draw_sets(self, label)], feature, label, binning, n, made_up=True)
        pieces = (place_sets(self, piece, label) for piece in _pieces(read_more_sets(self, X)))
        return dependence_of(pieces, feature, label, binning, n, made_up=False)

    def calibrators(self) -> dict[str, CalibratorCurve]:
        """Give the curves of phi's calibrators, by feature."""
        check_is_fitted(self)
        return calibrator_curves(self.binning_, self.set_function_)

    def verify(self, X: Any = None) -> Certificate:
        """Check every declared constraint, in the parameters and by probing.

        Parameters
        ----------
        X
            Sets to probe with; random ones where None.
        """
        check_is_fitted(self)
        positions = None if X is None else self.binning_.positions(read_more_sets(self, X), np.float64)
        model = self.set_function_
        shape = ShapeConstraints.of(model, self.binning_, self.trusts_)
        return certify(model, shape, self.binning_, self.trusts_, positions)

    def save(self, path: Any) -> None:
        """Write the model to one file that holds no code; `clearset.load` reads it.

        Parameters
        ----------
        path
            Where to; an existing file is replaced only once the new one is complete.
        """
        check_is_fitted(self)
        save_estimator(self, path)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "set_function_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _pieces(sets: SetData) -> Iterator[SetData]:
    """Cut sets into runs of about `PIECE_TOKENS` tokens, at least one set each."""
    offsets, start = sets.offsets, 0
    while start < len(sets):
        stop = int(np.searchsorted(offsets, offsets[start] + PIECE_TOKENS, side="right")) - 1
        stop = min(max(stop, start + 1), len(sets))
        yield sets[start:stop]
        start = stop
