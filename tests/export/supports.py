"""Models whose small sets are drawn to a base that training would not have found."""

from dataclasses import replace
from typing import Any

import numpy as np

from clearset.functions import Support


def with_support(model: Any, rng: np.random.Generator) -> Any:
    """Return a model whose small sets, and those without tokens, are drawn to a base anywhere."""
    model = model.as_model()
    counts, shape = rng.random(model.binning.n_slots), (model.link.n_outputs, model.function.width)
    support = Support(rng.uniform(-0.5, 0.5, shape), int(rng.integers(1, 5)), counts, 0.4)
    # A fit on strings always says what is predicted without a known token.
    told = model.semantic or rng.random() < 0.6
    nothing = rng.normal(size=model.link.n_outputs) if told else None
    return replace(model, function=replace(model.function, support=support), link=replace(model.link, nothing=nothing))
