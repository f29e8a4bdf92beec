"""How strongly means are mixed with the prior: as the labels of examples say, by their tokens' values out of fold."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from clearset.engines import engine
from clearset.functions import Loss
from clearset.sets import gather
from clearset.tokens import AnyOccurrences, TokenReader
from clearset.training._fitting import Unit

FloatArray = npt.NDArray[np.float64]

# Examples of the prior that a mean may be mixed with.
SHRINKAGES = (1.0, 3.0, 10.0, 30.0)
# Examples whose labels say which of them.
EXAMPLES = 2_000
# Tokens are evidence that repeats itself in part: more than their mean, less than their sum.
POWER = 0.5


def choose_shrinkage(
    reader: TokenReader,
    occurrences: AnyOccurrences,
    labels: FloatArray,
    weights: FloatArray,
    loss: Loss,
    rng: np.random.Generator,
) -> TokenReader:
    """Return the reader with the shrinkage by which the mean values of examples' tokens tell their labels best.

    What is known of a rare token is chance for the most part, and of how many examples a token is rare depends on how
    far labels differ between tokens. Corrections that are learned later do not care how often a token was counted; a
    set function that had to learn to mistrust the values of rare tokens would mistrust their corrections as well.
    """
    counts = occurrences.counts[: len(labels)]
    known = np.flatnonzero((counts > 0) & (weights > 0))
    chosen = known if len(known) <= EXAMPLES else np.sort(known[rng.permutation(len(known))[:EXAMPLES]])
    if not len(chosen):
        return replace(reader, shrinkage=SHRINKAGES[0])
    tokens, offsets = gather(occurrences.offsets, chosen)
    rows, first = occurrences.at(tokens).rows, offsets[:-1]
    numbers = counts[chosen, None] ** (POWER - 1.0)
    targets, weighed = Unit.of(loss, labels, weights).scaled(labels[chosen], weights[chosen])

    def least_loss(candidate: TokenReader) -> float:
        values = numbers * np.add.reduceat(candidate.rows.values[rows], first, axis=0)
        values = (values - values.mean()) / max(float(values.std()), 1e-12)

        def objective(line: FloatArray) -> float:
            return float(engine().losses(loss, np.exp(line[0]) * values + line[1], targets) @ weighed)

        return float(minimize(objective, np.zeros(2), method="Nelder-Mead", options={"maxiter": 60}).fun)

    return min((replace(reader, shrinkage=shrinkage) for shrinkage in SHRINKAGES), key=least_loss)
