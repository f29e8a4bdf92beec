"""Counting every token that occurs often enough."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from math import comb
from typing import Any

import numpy as np

from clearset.tokens import _reference
from clearset.tokens._codes import MAX_TOKENS, Coded, Float64, Int32, Joining, Mined, TokenLimitError
from clearset.tokens._exact_sums import ExactSums, Extent

MOST_BYTES = 4 * 2**30
"""The most memory of the result. While the parts of several threads are put together, twice as much may be in use."""

_native: Any = import_module("clearset._native") if find_spec("clearset._native") else None


def mine(
    coded: Coded,
    joining: Joining,
    channels: Int32,
    n_channels: int,
    *,
    weights: Float64 | None = None,
    values: Float64 | None = None,
    min_count: int = 1,
    threads: int = 1,
) -> Mined:
    """Count every token that occurs in at least ``min_count`` examples, and sum up its examples' labels.

    Codes from rare to frequent are the fastest. The channel of an example, in [0, n_channels), is its class, its fold,
    or both. ``min_count`` and counts do not look at weights. With values, which are best centred, sums hold w, w * y
    and w * y * y. The result depends neither on the number of threads nor on the order of the examples.

    Raises
    ------
    TokenLimitError
        If the tokens would need more memory than `MOST_BYTES`.

    Examples
    --------
    >>> coded = Coded.from_rows([[0, 1, 2], [1, 2], [2]])
    >>> mined = mine(coded, Joining("subsets", 2), np.array([0, 0, 1], np.int32), 2, min_count=2)
    >>> mined.items.tolist(), mined.parents.tolist(), mined.counts.tolist()
    ([1, 2, 2], [-1, -1, 0], [2, 3, 2])
    >>> mined.sums.tolist()
    [[2, 0], [2, 1], [2, 0]]
    """
    for name, numbers in {"weights": weights, "values": values}.items():
        if numbers is not None and numbers.shape != (coded.n_rows,):
            raise _one_each(name, numbers.shape, coded.n_rows)
    contributions = contributions_of(weights, values)
    if contributions is None:
        return mine_parts(coded, joining, channels, n_channels, min_count=min_count, threads=threads)
    exact = ExactSums.of(Extent.of(contributions))
    parts = exact.split(contributions)
    mined = mine_parts(coded, joining, channels, n_channels, parts, min_count=min_count, threads=threads)
    sums = exact.join(mined.sums)
    return mined._replace(sums=sums[..., 0] if values is None else sums)


def mine_parts(
    coded: Coded,
    joining: Joining,
    channels: Int32,
    n_channels: int,
    parts: Float64 | None = None,
    *,
    min_count: int = 1,
    threads: int = 1,
) -> Mined:
    """Count tokens as `mine`; sums, (n, n_channels, P), are those of parts, (B, P), which `ExactSums` splits off."""
    _check(coded, channels, n_channels)
    bytes_of_sums = 4 * n_channels if parts is None else 8 * n_channels * parts.shape[1]
    limit = min(MOST_BYTES // (16 + bytes_of_sums), MAX_TOKENS)
    least = _least_tokens(coded, joining) if min_count <= 1 else 0
    if least > limit:
        raise _limit_error(f"at least {least:,}", limit)
    min_count = min(max(min_count, 1), MAX_TOKENS)

    def mined(adding: Float64 | None) -> Mined:
        if _native is None:
            found = _reference.mine(coded, joining, channels, n_channels, adding, min_count, limit)
        else:
            found = _native.mine_tokens(
                np.ascontiguousarray(coded.codes, np.int32),
                np.ascontiguousarray(coded.offsets, np.int64),
                np.ascontiguousarray(channels, np.int32),
                n_channels,
                adding,
                joining.kind == "ngrams",
                joining.boundary if joining.kind == "crosses" else -1,
                joining.max_items,
                min_count,
                limit,
                threads,
                None,  # nothing is called while it runs
            )
        if isinstance(found, int):  # the number of tokens at which it stopped
            raise _limit_error(f"{found:,} so far", limit)
        return Mined(*found)

    if parts is None:
        return mined(None)
    # The kernel adds up one or three columns at a time.
    n_parts = parts.shape[1]
    width = 1 if n_parts == 1 else 3
    padded = np.pad(parts, ((0, 0), (0, -n_parts % width)))
    runs = [mined(np.ascontiguousarray(padded[:, first : first + width])) for first in range(0, n_parts, width)]
    sums = [run.sums.reshape(len(run.items), n_channels, width) for run in runs]
    return runs[0]._replace(sums=np.concatenate(sums, axis=2)[..., :n_parts])


def contributions_of(weights: Float64 | None, values: Float64 | None) -> Float64 | None:
    """Return what each example adds to its channel, (B, 1) or (B, 3); None where examples are only counted."""
    if values is None:
        return None if weights is None else np.ascontiguousarray(weights, np.float64)[:, None]
    values = np.asarray(values, np.float64)
    weights = np.ones_like(values) if weights is None else np.asarray(weights, np.float64)
    return np.stack([weights, weights * values, weights * values * values], axis=1)


def _least_tokens(coded: Coded, joining: Joining) -> int:
    """Return the number of tokens of the largest example, which may be more than fit into memory."""
    if joining.kind == "ngrams" or not coded.n_rows:
        return 0
    size = int(coded.sizes.max())
    if joining.kind == "crosses":
        left = np.bincount(coded.rows, weights=coded.codes < joining.boundary, minlength=coded.n_rows)
        return size + (int((left * (coded.sizes - left)).max()) if joining.max_items > 1 else 0)
    least = 0
    for items in range(1, min(size, joining.max_items) + 1):
        least += comb(size, items)
        if least > MAX_TOKENS:
            break
    return least


def _limit_error(found: str, limit: int) -> TokenLimitError:
    return TokenLimitError(
        f"These examples have too many tokens: {found}, and {limit:,} of them fill the {MOST_BYTES:,} bytes that are "
        "allowed. Ask for more examples per token (a higher MinCount, a stricter MaxInterval), lower max_size, or "
        "leave out some examples, those with most items first."
    )


def _one_each(name: str, shape: tuple[int, ...], n_rows: int) -> ValueError:
    return ValueError(f"{name} has shape {shape}; give one for each of the {n_rows} examples.")


def _check(coded: Coded, channels: Int32, n_channels: int) -> None:
    coded.check()
    if n_channels < 1:
        raise ValueError(f"n_channels is {n_channels}; there is at least one.")
    if len(coded.codes) and coded.codes.min() < 0:
        raise ValueError(f"Item codes must not be negative; the least is {coded.codes.min()}.")
    if len(coded.codes) > MAX_TOKENS:
        raise TokenLimitError(f"{len(coded.codes):,} items are more than {MAX_TOKENS:,}. Mine the examples in parts.")
    if channels.shape != (coded.n_rows,):
        raise _one_each("channels", channels.shape, coded.n_rows)
    if len(channels) and not (channels.min() >= 0 and channels.max() < n_channels):
        raise ValueError(
            f"channels must lie in [0, {n_channels}); they reach from {channels.min()} to {channels.max()}."
        )
