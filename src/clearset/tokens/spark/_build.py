"""Building a token table from a Spark DataFrame: what the driver asks for, pass after pass."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from clearset.sets import unknown_name
from clearset.tokens._candidates import FrequentTokens
from clearset.tokens._codes import Float64, Int64, Mined, Run, Sums
from clearset.tokens._counted_examples import rare_first
from clearset.tokens._counting import Described, filtered, kept_tokens, prior_from_sums
from clearset.tokens._exact_sums import ExactSums, Extent
from clearset.tokens._filters import Filter, least_count_of
from clearset.tokens._runs import mine_runs
from clearset.tokens._statistics import Statistics
from clearset.tokens._table import TokenTable
from clearset.tokens._tokenizers import Tokenizer
from clearset.tokens.spark import _passes
from clearset.tokens.spark._labels import LabelColumns, column, label_columns

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_EXTENT = "n long, tops array<long>, lows array<long>"


def build_on_spark(
    frame: DataFrame,
    y: Any,
    tokenizer: Tokenizer,
    filters: tuple[Filter, ...],
    task: str,
    sample_weight: Any,
    reader: Tokenizer | None = None,
) -> TokenTable:
    """Count the tokens of a Spark DataFrame as `TokenTable.build` does; `reader` reads items taken apart before."""
    # 1. Labels: classes or a number, the prior, and the grids on which sums of floats are exact.
    # 2. Items: counted by Spark's shuffle; those under the least count stay there.
    # 3. Tokens of two items, three, ...: counted alike, made of those that are frequent.
    # 4. Sums of weights and labels, of frequent tokens only.
    columns, empty = columns_of_items(frame, y, sample_weight, reader or tokenizer)
    labels, class_counts = label_columns(frame, empty, y, sample_weight, task)
    source = _passes.Source(columns, reader or tokenizer, tokenizer.in_order, labels)
    if sample_weight is not None:
        frame = frame.where(column(sample_weight) > 0)
    n_examples, prior, centre, exact = _prior(frame, labels, class_counts)
    leasts = [least_count_of(filters, labels.task, kind) for kind in tokenizer.kinds or (None,)]
    vocabulary, item_counts = _frequent_items(frame, source, tokenizer, min(leasts))
    context = frame.sparkSession.sparkContext
    with ExitStack() as stack:

        def broadcast(value: Any) -> Any:
            sent = context.broadcast(value)
            stack.callback(sent.destroy)
            return sent

        strings = broadcast(vocabulary)
        parts = "" if exact is None else "".join(f", part{i} double" for i in range(len(exact.columns)))
        encoded = frame.mapInArrow(
            lambda batches: _passes.encoded(batches, source, strings.value, centre, exact),
            "codes array<int>, channel int" + parts,
        ).persist()
        stack.callback(encoded.unpersist)
        runs = tokenizer.runs(vocabulary)

        def mine(run: Run, least: int) -> Mined:
            tokens, counts = FrequentTokens.of_items(run.joining, run.end - run.first), item_counts[run.first : run.end]
            while tokens.can_grow():
                keys, of_keys = _frequent(encoded, broadcast(tokens), run if len(runs) > 1 else None, least)
                if not len(keys):
                    break
                tokens, counts = tokens.grown(keys), np.concatenate([counts, of_keys])
            # Sums are asked for once, of all kinds together.
            return Mined(tokens.items, tokens.parents, tokens.levels, counts, np.zeros((len(counts), 0)))

        mined = mine_runs(runs, leasts, mine)
        tokens = FrequentTokens(tokenizer.joining(vocabulary), mined.items, mined.parents, mined.levels)
        sums = _token_sums(encoded, broadcast(tokens), len(tokens.items), labels, exact)
    sizes, kinds = Described.of(mined, vocabulary, tokenizer)
    statistics = Statistics(mined.counts, sums, sizes, mined.counts > 0, centre, kinds=kinds)
    passing = filtered(statistics, filters)
    vocabulary, index, statistics, _ = kept_tokens(mined, passing, (), vocabulary, tokenizer)
    return TokenTable(
        tokenizer=tokenizer,
        filters=filters,
        task=labels.task,
        classes=labels.classes,
        prior=prior,
        n_examples=n_examples,
        vocabulary=vocabulary,
        index=index,
        statistics=statistics,
    )


def columns_of_items(
    frame: DataFrame, y: Any, sample_weight: Any, reader: Tokenizer
) -> tuple[tuple[str, ...], pa.Table]:
    """Return the columns of items, checked, and the frame without its rows, in Arrow."""
    names = {"y": y} if sample_weight is None else {"y": y, "sample_weight": sample_weight}
    for argument, name in names.items():
        if not isinstance(name, str):
            raise TypeError(
                f"X is a DataFrame of Spark, so {argument} is the name of one of its columns; received a "
                f"{type(name).__name__}."
            )
        if name not in frame.columns:
            raise ValueError(unknown_name("Column", name, frame.columns))
    columns = tuple(name for name in frame.columns if name not in names.values())
    empty = frame.limit(0).toArrow()
    reader.parts(empty.select(list(columns)))  # that there are such columns, of such types
    return columns, empty


def _prior(
    frame: DataFrame, labels: LabelColumns, class_counts: Int64 | None
) -> tuple[int, Float64 | float, float | None, ExactSums | None]:
    """Return the number of examples, the prior, what is subtracted from numbers, and how contributions are split."""
    if class_counts is not None and labels.weight is None:
        return (
            int(class_counts.sum()),
            prior_from_sums(class_counts[:, None].astype(np.float64), labels.classes),
            None,
            None,
        )
    contribute = labels.prior_contributions
    extent = _extent(frame, labels, contribute)
    exact = ExactSums.of(extent)
    rows = (
        _labels_only(frame, labels)
        .mapInArrow(lambda batches: _passes.label_sums(batches, contribute, labels, exact), "sums array<double>")
        .toArrow()
    )
    # A row for each partition; they may be added up in any order.
    sums = np.stack(rows["sums"].to_numpy()).sum(axis=0).reshape(labels.n_channels, len(exact.columns))
    prior = prior_from_sums(exact.join(sums), labels.classes)
    if labels.classes is not None:
        return extent.n, prior, None, exact
    centre = float(prior)
    return extent.n, prior, centre, ExactSums.of(_extent(frame, labels, partial(labels.contributions, centre=centre)))


def _extent(frame: DataFrame, labels: LabelColumns, contribute: Any) -> Extent:
    rows = _labels_only(frame, labels).mapInArrow(lambda batches: _passes.extents(batches, contribute), _EXTENT)
    found = rows.toArrow().to_pylist()
    return Extent.joined(Extent(row["n"], np.array(row["tops"]), np.array(row["lows"])) for row in found)


def _labels_only(frame: DataFrame, labels: LabelColumns) -> DataFrame:
    return frame.select(*map(column, labels.names))


def _frequent_items(
    frame: DataFrame, source: _passes.Source, tokenizer: Tokenizer, least: int
) -> tuple[pa.LargeStringArray, Int64]:
    """Return the items of at least so many examples, in the order of a table's vocabulary, and their counts."""
    from pyspark.sql import functions as F  # noqa: N812

    items = frame.select(*map(column, source.columns))
    counted = items.mapInArrow(lambda batches: _passes.item_counts(batches, source), "item string, count long")
    found = counted.groupBy("item").agg(F.sum("count").alias("count")).where(F.col("count") >= least).toArrow()
    vocabulary = pa.concat_arrays([pa.array([], pa.large_string()), *found["item"].cast(pa.large_string()).chunks])
    counts = found["count"].to_numpy()
    order = rare_first(vocabulary, counts, tokenizer)
    return vocabulary.take(pa.array(order)), counts[order]


def _frequent(encoded: DataFrame, tokens: Any, run: Run | None, least: int) -> tuple[Int64, Int64]:
    """Return the keys of tokens of one more item, ascending, and their counts: of a run of items, or of all."""
    from pyspark.sql import functions as F  # noqa: N812

    counted = encoded.select("codes").mapInArrow(
        lambda batches: _passes.candidate_counts(batches, tokens.value, run), "key long, count long"
    )
    found = counted.groupBy("key").agg(F.sum("count").alias("count")).where(F.col("count") >= least).toArrow()
    keys, counts = found["key"].to_numpy(), found["count"].to_numpy()
    order = np.argsort(keys)
    return keys[order], counts[order]


def _token_sums(encoded: DataFrame, tokens: Any, n_tokens: int, labels: LabelColumns, exact: ExactSums | None) -> Sums:
    """Return sums of the tokens: of a number (T, 3), of classes (T, C), in whole numbers where there are no weights."""
    from pyspark.sql import functions as F  # noqa: N812

    n_channels, n_parts = labels.n_channels, 1 if exact is None else len(exact.columns)
    names = [f"part{i}" for i in range(n_parts)]
    kind = "long" if exact is None else "double"
    schema = ", ".join(["token int", "channel int", *(f"{name} {kind}" for name in names)])
    found = (
        encoded.mapInArrow(lambda batches: _passes.token_sums(batches, tokens.value, n_channels), schema)
        .groupBy("token", "channel")
        .agg(*(F.sum(name).alias(name) for name in names))
        .toArrow()
    )
    sums = np.zeros((n_tokens, n_channels, n_parts), np.uint32 if exact is None else np.float64)
    places = found["token"].to_numpy(), found["channel"].to_numpy()
    for part, name in enumerate(names):
        sums[(*places, part)] = found[name].to_numpy()
    if exact is None:
        return sums[:, :, 0]
    joined = exact.join(sums)
    return joined[:, 0] if labels.task == "number" else joined[..., 0]
