"""How far a set of one token may leave the base rate, where training has no such sets."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from clearset.engines import engine
from clearset.functions import Link, SetFunction
from clearset.sets import Binning
from clearset.tokens import TokenReader

FloatArray = npt.NDArray[np.float64]

# Tokens that are asked, drawn at random.
ASKED = 2000
# So many of them must stay between the base rate and the far end of their own interval.
WITHIN = 0.975
HALVINGS = 12


def with_share_of_one(function: SetFunction, binning: Binning, reader: TokenReader, link: Link) -> SetFunction:
    """Return the function with the share that a single token counts in full, lowered where its own counts demand it.

    In training sets a token stands among others, and what it adds there may be more than what was counted for it alone.
    Of a set of this token only nothing else is known: its prediction should lie between the base rate and the far end
    of the confidence interval of the mean label, or of the class predicted, among the examples that have it.

    Parameters
    ----------
    function : SetFunction
        The trained function, with its support.
    binning : Binning
        Its features.
    reader : TokenReader
        Reads the table, which was made of the labels that the function predicts, with learned corrections.
    link : Link
        From outputs to predictions.

    Returns
    -------
    SetFunction
        The function; the same where sets of one token are supported, or where details would have to be known.
    """
    support, table = function.support, reader.table
    single = np.flatnonzero(table.sizes == 1)
    if support is None or support.tokens < 2 or not len(single) or reader.details:
        return function
    tokens = np.sort(np.random.default_rng(0).permutation(single)[:ASKED])
    placed = replace(reader, out_of_fold=()).placer(binning).place(reader.alone(tokens))
    scores = engine().scores(function, placed)
    low, high = (each[tokens] for each in table.intervals)
    if link.n_outputs == 1 and low.ndim == 2:
        low, high = low[:, 1], high[:, 1]  # of two classes, outputs speak for the second
    several = low.ndim == 2
    base = link.estimates(engine().rho(function.rho, support.base[None]))[0]

    def share_within(share: float) -> float:
        means = support.base + share * (scores - support.base)
        estimates = link.estimates(engine().rho(function.rho, means))
        chosen = estimates.argmax(axis=1)
        rows = np.arange(len(tokens))
        ends = (low[rows, chosen], high[rows, chosen]) if several else (low, high)
        said = estimates[rows, chosen]
        return float(((said >= np.minimum(ends[0], base[chosen])) & (said <= np.maximum(ends[1], base[chosen]))).mean())

    least, most = 0.0, support.share_of_one
    if share_within(most) >= WITHIN:
        return function
    for _ in range(HALVINGS):
        middle = (least + most) / 2
        least, most = (middle, most) if share_within(middle) >= WITHIN else (least, middle)
    return replace(function, support=replace(support, alone=least))
