"""Rows of a token table: what is known about one token, and about several as an Arrow table."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from clearset.tokens._codes import Int64
from clearset.tokens._features import means_of_values, token_values
from clearset.tokens._known_tokens import KnownTokens


@dataclass(frozen=True)
class TokenStatistics:
    """The statistics of one token.

    Parameters
    ----------
    token : tuple of str
        Its items.
    size, count : int
        The number of its items, and of the examples that hold it.
    weight, variance : float
        The weight of these examples, and the variance of their labels.
    mean, low, high : float or ndarray of shape (C,)
        The mean label and the ends of its 95% interval; of other than two classes one for each.
    class_weights : dict or None
        The weight of the examples of each class.
    kind : str or None, default=None
        The kind of the token, where tables have several.

    Examples
    --------
    >>> import clearset as cs
    >>> table = cs.TokenTable.build([["lime", "salt"], ["feta", "salt"]] * 5, ["thai", "greek"] * 5, cs.Items())
    >>> salt = table.lookup("salt")
    >>> salt.count, salt.mean, salt.class_weights
    (10, 0.5, {'greek': 5.0, 'thai': 5.0})
    """

    token: tuple[str, ...]
    size: int
    count: int
    weight: float
    mean: Any
    variance: float
    low: Any
    high: Any
    class_weights: dict[Any, float] | None
    kind: str | None = field(default=None, repr=False)  # the items of the token show it


def token_statistics(table: KnownTokens, number: int) -> TokenStatistics:
    """Return the statistics of the token of this number."""
    one = table.statistics.take(np.array([number]))
    low, high = one.intervals()
    weights = None
    if one.class_weights is not None and table.classes is not None:
        weights = dict(zip(table.classes.tolist(), one.class_weights[0].tolist(), strict=True))
    return TokenStatistics(
        table.spell(number),
        int(one.sizes[0]),
        int(one.counts[0]),
        float(one.weights[0]),
        _plain(one.means[0]),
        float(one.variances[0]),
        _plain(low[0]),
        _plain(high[0]),
        weights,
        None if one.kinds is None else one.kinds.names[int(one.kinds.numbers[0])],
    )


def arrow_rows(table: KnownTokens, numbers: npt.NDArray[Any] | None = None) -> pa.Table:
    """Return some tokens, by default all, as an Arrow table."""
    numbers = np.arange(len(table)) if numbers is None else numbers
    chosen = table.statistics.take(numbers)
    low, high = chosen.intervals()
    columns = {"token": table.spelled(numbers)}
    if chosen.kinds is not None:
        columns["kind"] = pa.array(chosen.kinds.names, pa.string()).take(pa.array(chosen.kinds.numbers))
    columns |= {
        "size": pa.array(chosen.sizes),
        "count": pa.array(chosen.counts),
        "weight": pa.array(chosen.weights),
        "mean": _column(chosen.means),
        "variance": pa.array(chosen.variances),
        "low": _column(low),
        "high": _column(high),
    }
    if chosen.class_weights is not None and chosen.means.ndim == 2:
        columns["class_weights"] = _column(chosen.class_weights)
    if table.corrections is not None:
        columns |= _corrected_columns(table, numbers)
    return pa.table(columns)


def _corrected_columns(table: KnownTokens, numbers: npt.NDArray[Any]) -> dict[str, pa.Array]:
    """Return the correction of each token, and the mean label of its corrected value; null without a correction."""
    corrections = table.corrections
    assert corrections is not None  # noqa: S101
    places = corrections.places(len(table))[numbers]
    known = np.flatnonzero(places >= 0)
    amounts = corrections.amounts[places[known]]
    values = token_values(table, table.statistics.take(numbers[known]), corrections.value, corrections.shrinkage)
    refined = means_of_values(table, values + amounts, corrections.value)
    return {
        name: _among_nulls(part, known, len(numbers)) for name, part in (("correction", amounts), ("refined", refined))
    }


def among_nulls(rows: Any, places: Int64, n_rows: int) -> Any:
    """Return `n_rows` rows: those given at their places, nulls elsewhere."""
    chosen = np.full(n_rows, -1)
    chosen[places] = np.arange(len(places))
    return rows.take(pa.array(chosen, mask=chosen < 0))


def _among_nulls(values: npt.NDArray[Any], places: Int64, n_rows: int) -> pa.Array:
    """Return a column with rows of values at their places, nulls elsewhere."""
    if values.shape[1] == 1:
        return among_nulls(pa.array(values[:, 0]), places, n_rows)
    # Lists of a fixed size can hold nulls, but Parquet files of them are written and read by PyArrow 26 and later only.
    sizes = np.zeros(n_rows, dtype=np.int32)
    sizes[places] = values.shape[1]
    offsets = np.append(0, sizes.cumsum()).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(values.ravel()), mask=pa.array(sizes == 0))


def _column(values: npt.NDArray[Any]) -> pa.Array:
    if values.ndim == 1:
        return pa.array(values)
    return pa.FixedSizeListArray.from_arrays(pa.array(values.ravel()), values.shape[1])


def _plain(value: Any) -> Any:
    return float(value) if np.ndim(value) == 0 else value
