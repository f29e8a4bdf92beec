"""Tokens of a table as lines of text."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from clearset.tokens import TokenTable


def token_lines(table: TokenTable, rows: pa.Table) -> Iterator[str]:
    """Yield rows of a token table's Arrow form as lines of text; of several classes only the most frequent is shown."""
    several = table.means.ndim == 2
    refined = "refined" in rows.column_names
    head = f"{'count':>10}  {'mean' if not several else 'class':>12}  {'95% interval':>18}"
    yield f"{head}  {'refined':>8}  token" if refined else f"{head}  token"
    for row in rows.to_pylist():
        mean, low, high, corrected = row["mean"], row["low"], row["high"], row.get("refined")
        name = ""
        if several and table.classes is not None:
            best = int(np.argmax(mean))
            mean, low, high = mean[best], low[best], high[best]
            corrected = corrected and corrected[best]
            name = f"{table.classes[best]} "
        numbers = f"{row['count']:>10,}  {f'{name}{mean:.4g}':>12}  {f'{low:.4g} to {high:.4g}':>18}"
        if refined:
            numbers += f"  {'' if corrected is None else f'{corrected:.4g}':>8}"
        items = ", ".join(" ".join(item.split()) for item in row["token"])
        yield f"{numbers}  {items}"


def strongest(table: TokenTable, n: int) -> pa.Table:
    """Return the rows of the most informative tokens: their intervals are farthest from the mean of all examples.

    Examples
    --------
    >>> import clearset as cs
    >>> from clearset.cli._token_lines import strongest
    >>> baskets, bought = [["a", "b"], ["b"], ["a"], ["b", "c"]] * 10, [1, 0, 1, 1] * 10
    >>> table = cs.TokenTable.build(baskets, bought, cs.Items())
    >>> strongest(table, 1)["token"].to_pylist()
    [['a']]
    """
    (low, high), prior = table.intervals, np.asarray(table.prior)
    if low.ndim == 2:
        best = table.means.argmax(axis=1)
        gaps = (low - prior)[np.arange(len(low)), best]
    else:
        centre = prior[1] if prior.ndim else prior
        gaps = np.maximum(low - centre, centre - high)
    order = np.argsort(-np.nan_to_num(gaps, nan=-np.inf), kind="stable")[:n]
    return table.to_arrow().take(pa.array(order))
