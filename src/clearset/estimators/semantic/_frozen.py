"""Freezing: phi of every token of the table, calculated in advance."""

from typing import TYPE_CHECKING

import numpy as np
import torch
from sklearn.utils.validation import check_is_fitted

from clearset.estimators._parameters import count_threads
from clearset.estimators.semantic._crossing import Occurrences
from clearset.frozen import FrozenModel, FrozenRho
from clearset.setfunction import one_torch_thread
from clearset.tokens import OWN, Found

if TYPE_CHECKING:
    from clearset.estimators.semantic._base import SemanticEstimator


def freeze(estimator: "SemanticEstimator") -> FrozenModel:
    """Score every token of the table, and the missing one."""
    check_is_fitted(estimator)
    value, *plain = [feature.name for feature in estimator.features_]
    of_sets = [name for name in plain if name not in OWN]
    if of_sets:
        kept = [value, *(name for name in plain if name in OWN)]
        raise ValueError(
            f"The scores of tokens cannot be stored, for they depend on the set they stand in, by the features "
            f"{', '.join(map(repr, of_sets))}. Fit with features={kept}, and freeze that."
        )
    crossing, model = estimator._reader()
    table = estimator.token_table_.without_examples()
    n_tokens = len(table)
    tokens = np.arange(n_tokens)
    # One set for each token, and an empty one, whose token is the missing one.
    alone = Occurrences(
        Found(tokens.astype(np.int32), np.append(np.arange(n_tokens + 1), n_tokens)),
        tokens,
        table.sizes,
        np.ones(n_tokens + 1, np.int64),
        {},
    )
    with torch.no_grad(), one_torch_thread():
        scores = crossing.cross(alone).scores(model, count_threads(estimator.n_jobs)).numpy()
    rho = model.rho
    return FrozenModel(
        table=table,
        scores=scores[:-1].copy(),
        missing=scores[-1].copy(),
        rho=FrozenRho(
            rho.calibrators.detach().numpy().copy(),
            rho.vertices.detach().numpy()[0].copy(),
            rho.output.detach().numpy()[0].copy(),
        ),
        cover=estimator.setting_.cover,
        loss=estimator.loss_,
        classes=estimator.classes_ if estimator._has_classes() else None,
    )
