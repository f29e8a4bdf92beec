"""Freezing: phi of every token of the table, calculated in advance."""

from typing import TYPE_CHECKING

import numpy as np

from clearset.engines import engine
from clearset.models._frozen_model import FrozenModel
from clearset.tokens import OWN, Found, Occurrences

if TYPE_CHECKING:
    from clearset.models._semantic_model import SemanticModel


def freeze(model: "SemanticModel") -> FrozenModel:
    """Score every token of the table, and the missing one."""
    value, *plain = [feature.name for feature in model.binning.features]
    of_sets = [name for name in plain if name not in OWN]
    if of_sets:
        kept = [value, *(name for name in plain if name in OWN)]
        raise ValueError(
            f"The scores of tokens cannot be stored, for they depend on the set they stand in, by the features "
            f"{', '.join(map(repr, of_sets))}. Fit with features={kept}, and freeze that."
        )
    table = model.table.without_examples()
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
    scores = engine().scores(model.refined_function, model.placer.place(alone), model.threads)
    return FrozenModel(
        table=table,
        scores=scores[:-1].copy(),
        missing=scores[-1].copy(),
        rho=model.function.rho,
        cover=model.setting.cover,
        link=model.link,
    )
