"""A fitted token table with its set function, and what can be asked of them."""

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from sklearn.utils.validation import check_is_fitted

from clearset.estimators._base import TokenScores
from clearset.estimators._curves import CalibratorCurve, calibrator_curves
from clearset.estimators._dependence import (
    PartialDependence,
    check_steps,
    dependence_of,
    label_of_dependence,
)
from clearset.estimators._drawn import DrawnModel
from clearset.estimators._explanation import Explanation
from clearset.estimators._parameters import count_threads
from clearset.estimators.semantic._crossing import Crossing
from clearset.estimators.semantic._explain import changeable, drawn, explain, phi
from clearset.estimators.semantic._fit import outputs_of
from clearset.estimators.semantic._frozen import freeze
from clearset.estimators.semantic._setting import Setting
from clearset.estimators.semantic._storage import save_semantic
from clearset.estimators.semantic._trial import occurrences
from clearset.frozen import FrozenModel, say_prior
from clearset.setfunction import Certificate, RefinedSetFunction, SetFunction, ShapeConstraints, certify
from clearset.sets import Binning, Feature, Trust, library_of
from clearset.tokens import TokenTable


class SemanticModel(DrawnModel):
    """What a fitted semantic estimator is, and offers."""

    n_jobs: int | None

    token_table_: TokenTable
    set_function_: SetFunction
    binning_: Binning
    features_: tuple[Feature, ...]
    trusts_: tuple[Trust, ...]
    setting_: Setting
    choices_: list[dict[str, Any]]
    certificate_: Certificate
    classes_: npt.NDArray[Any]
    feature_names_in_: npt.NDArray[Any]
    loss_: str
    history_: list[dict[str, float]]
    best_epoch_: int
    interrupted_: bool

    def _has_classes(self) -> bool:
        return hasattr(self, "classes_")

    def _outputs(self, X: Any) -> npt.NDArray[np.float64]:
        """Give the set function's ``(B, C)`` outputs."""
        check_is_fitted(self)
        threads = count_threads(self.n_jobs)
        found = occurrences(
            self.token_table_, (), self.setting_.cover, X, None, self.setting_.details, threads
        )
        crossing, model = self._reader()
        outputs = outputs_of(model, crossing.cross(found), threads)
        return say_prior(outputs, found.counts, self.token_table_.prior, self.loss_)

    def _reader(self) -> tuple[Crossing, SetFunction]:
        """Give the table as the set function reads it, laid out once for each pair of the two."""
        cached = self.__dict__.get("_cache")
        if cached is None or cached[0] is not self.token_table_ or cached[1] is not self.set_function_:
            table, model = self.token_table_, self.set_function_
            if table.corrections is not None:
                amounts = torch.from_numpy(table.corrections.amounts.copy())
                model = RefinedSetFunction(model.phi, model.rho, amounts)
            crossing = Crossing.of_table(self.binning_, table, self.setting_.shrinkage)
            cached = (table, self.set_function_, crossing, model)
            self._cache = cached
        return cached[2], cached[3]

    def explain(self, X: Any, label: Any = None, *, effects: bool = False) -> Explanation:
        """Say what is known of each token of each set, and what it adds to the prediction.

        Parameters
        ----------
        X
            Examples, as for `fit`.
        label
            Of several classes the one to explain; None takes each example's predicted class. The scores of two
            classes always speak for the second.
        effects
            Whether to find out as well what a change of each feature of each token would do.

        Examples
        --------
        >>> import clearset as cs
        >>> baskets = [["bread", "milk"], ["beer", "crisps"], ["milk"], ["beer"]] * 10
        >>> model = cs.SemanticClassifier(tokens=cs.Items(), random_state=0).fit(baskets, [0, 1, 0, 1] * 10)
        >>> explanation = model.explain([["beer", "milk"], []])
        >>> explanation
        Explanation(2 sets, 2 tokens)
        >>> explanation.to_frame().select(["token", "covers"]).to_pydict()
        {'token': [['beer'], ['milk'], None], 'covers': [[0], [1], None]}
        """
        return replace(explain(self, X, label, effects=effects), frames=library_of(X))

    def partial_dependence(
        self, feature: str, X: Any = None, n: int = 50, *, label: Any = None
    ) -> PartialDependence:
        """Say how predictions depend on one feature of one token.

        Parameters
        ----------
        feature
            Its name, such as ``"log_odds"`` or ``"count"``.
        X
            Examples to predict for, as for `fit`. None: sets of one token, whose features are drawn each by itself
            among their keypoints.
        n
            Values that the feature goes through, from its first keypoint to its last.
        label
            Of several classes the one whose probability is told; of two it is the second. Where the feature is the
            value that the token table knows, only that for this class is changed.
        """
        check_is_fitted(self)
        n, binning = check_steps(n), self.binning_
        binning.slots_of(feature)  # refuses an unknown feature, before any work
        label = label_of_dependence(getattr(self, "classes_", None), label)
        pieces = [drawn(self, label)] if X is None else changeable(self, X, label)
        return dependence_of(pieces, feature, label, binning, n, made_up=X is None)

    def phi(self, X: Any) -> TokenScores:
        """Score every token; the mean over an example's tokens is what rho turns into the output.

        Parameters
        ----------
        X
            Examples, as for `fit`.
        """
        return phi(self, X)

    def freeze(self) -> FrozenModel:
        """Store phi of every token, so that sets can be scored by looking tokens up, without torch.

        Only where phi needs nothing but the token's own features: without ``whole``, ``items``, ``tokens`` and details.
        """
        return freeze(self)

    def calibrators(self) -> dict[str, CalibratorCurve]:
        """Give the curves of phi's calibrators, by feature."""
        check_is_fitted(self)
        return calibrator_curves(self.binning_, self.set_function_)

    def verify(self) -> Certificate:
        """Check every declared constraint, in the parameters and by probing."""
        check_is_fitted(self)
        model = self.set_function_
        shape = ShapeConstraints.of(model, self.binning_, self.trusts_)
        return certify(model, shape, self.binning_, self.trusts_)

    def save(self, path: Any) -> None:
        """Write the model to one file that holds no code and no examples; `clearset.load` reads it.

        The token table goes in as Parquet: tokens, counts and mean labels, but not the rows it was made of. A loaded
        model estimates as before, and takes `refresh_table` and `refit_set_function`.

        Parameters
        ----------
        path
            Where to; an existing file is replaced only once the new one is complete.
        """
        check_is_fitted(self)
        save_semantic(self, path)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "set_function_")

    def __getstate__(self) -> Any:
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_cache"}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.target_tags.required = True
        return tags
