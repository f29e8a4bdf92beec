"""Models over sets of strings as SQL: tables with the scores of tokens, and a query that looks them up."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from clearset.export._sql_dialects import DOUBLE, Dialect, name
from clearset.export._sql_formulas import lattice, line
from clearset.export._sql_outputs import add_classes, finish
from clearset.export._sql_query import Places, Sql, Steps
from clearset.functions import Link, SetFunction, Support
from clearset.sets import Binning
from clearset.tokens import OWN, PER_SET, Items, TokenReader, TokenTable

FloatArray = npt.NDArray[np.float64]

# Rows of one INSERT.
_BATCH = 500


class CornerScores(NamedTuple):
    """Scores of tokens with the features of their sets, such as the number of items, calibrated to 0 and to 1.

    The last axis has a number for each of these corners, the last feature varies fastest.
    """

    tokens: FloatArray  # (1 or 2, T, C, K, corners): of tokens that are not the whole set, and that are
    missing: FloatArray  # (C, K, corners): of a set without known tokens


def item_sql(
    places: Places,
    reader: TokenReader,
    binning: Binning,
    function: SetFunction,
    link: Link,
    scores: Callable[[], CornerScores],
) -> Sql:
    """Return the tables and the query of a model over sets of items.

    Parameters
    ----------
    places : Places
        Where the sets stand.
    reader : TokenReader
        Knows the tokens.
    binning : Binning
        The features and keypoints, the value first.
    function : SetFunction
        The set function, with what training has shown.
    link : Link
        From outputs to predictions.
    scores : callable
        Scores all tokens; it is called once everything else is found to be right.
    """
    dialect, places = places.writer, places.checked(["item"], [])
    _check(reader)
    table, found = reader.table, scores()
    several = bool((table.sizes > 1).any())
    tables = _Tables(name(f"{places.prefix}scores"), name(f"{places.prefix}tokens") if several else None)
    steps = Steps(dialect)
    _add_sets(steps, places)
    _add_found(steps, tables, np.unique(table.sizes).tolist(), cover=reader.cover)
    of_sets = [place for place, feature in enumerate(binning.features) if feature.name in PER_SET]
    support = function.support or Support.unknown(link.n_outputs, function.width, binning.n_slots)
    _add_per_class(steps, tables, found)
    further = {} if link.nothing is None else {"unknown": link.nothing}
    for k in range(function.width):
        further[f"base{k + 1}"] = support.base[:, k]
        for v in range(found.missing.shape[2]):
            further[f"missing{k + 1}_{v}"] = found.missing[:, k, v]
    add_classes(steps, link, **further)
    _add_means(steps, binning, function, of_sets)
    query = finish(steps, function.rho, support, link, places.key)
    return Sql(places.dialect, query, "".join(_setup(dialect, tables, table, found)))


class _Tables(NamedTuple):
    """The tables that the setup makes."""

    scores: str
    tokens: str | None  # which items each token is made of; None where each is one item

    @property
    def column(self) -> str:
        """What names a token there."""
        return "item" if self.tokens is None else "token"


def _check(reader: TokenReader) -> None:
    tokenizer = reader.table.tokenizer
    if not isinstance(tokenizer, Items):
        raise ValueError(
            f"The model takes examples apart with {tokenizer!r}, and SQL finds items and subsets of items only. Fit on "
            "sets of items, with Items() or Subsets()."
        )
    if others := [each for each in reader.names[1:] if each not in (*OWN, *PER_SET, "whole")]:
        raise ValueError(
            f"The model reads numbers of items ({', '.join(map(repr, others))}), which the query does not look up. Fit "
            "without details."
        )


def _add_sets(steps: Steps, places: Places) -> None:
    key, item = places.token_key, places.column("item")
    steps.add(
        "items_read",
        "The items of each set, each once.",
        [f"DISTINCT {key} AS set_key", f"{steps.dialect.texts_of(item)} AS item"],
        f"FROM {name(places.table)} AS t\n  WHERE {key} IS NOT NULL AND {item} IS NOT NULL",
    )
    source = f"{name(places.table)} AS t" if places.sets is None else f"{name(places.sets)} AS s"
    rows = f"FROM {source}\n  WHERE {places.set_key} IS NOT NULL"
    steps.add("sets_read", "The sets.", [f"DISTINCT {places.set_key} AS set_key"], rows)
    counted = ["i.set_key", "COUNT(*) AS n_items"]
    steps.add("set_sizes", "How many items they have.", counted, "FROM items_read AS i\n  GROUP BY i.set_key")


def _add_found(steps: Steps, tables: _Tables, sizes: Sequence[int], *, cover: bool) -> None:
    """Add the steps that find the tokens of each set."""
    if tables.tokens is None:
        selected = ["i.set_key", "i.item AS token", "1 AS size"]
        steps.add("known", "Every item is a token.", selected, "FROM items_read AS i")
        return
    steps.add(
        "known" if not cover else "found",
        "The tokens of which a set has all items.",
        ["i.set_key", "p.token", "MAX(p.size) AS size"],
        f"FROM items_read AS i\n  JOIN {tables.tokens} AS p ON p.item = i.item\n"
        "  GROUP BY i.set_key, p.token\n  HAVING COUNT(*) = MAX(p.size)",
    )
    if not cover:
        return
    items = f"JOIN {tables.tokens} AS p ON p.token = f.token"
    larger: int | None = None
    for size in reversed(sizes):
        about = f"Of tokens with {size} item{'s' * (size > 1)}, "
        rows = f"FROM found AS f\n  {items}\n"
        if larger is None:
            about, rows = f"{about}all are kept.", f"{rows}  WHERE f.size = {size}"
        else:
            about += "those are kept that have an item which no larger token covers."
            rows += f"  LEFT JOIN covered_{larger} AS c ON c.set_key = f.set_key AND c.item = p.item\n"
            rows += f"  WHERE f.size = {size} AND c.item IS NULL"
        steps.add(f"kept_{size}", about, ["DISTINCT f.set_key", "f.token", "f.size"], rows)
        parts = [(["f.set_key", "p.item"], f"FROM kept_{size} AS f\n  {items}")]
        if larger is not None:
            parts.append((["c.set_key", "c.item"], f"FROM covered_{larger} AS c"))
        if size != sizes[0]:
            steps.add_union(f"covered_{size}", f"The items that tokens from {size} items on cover.", parts)
        larger = size
    kept = [(["k.set_key", "k.token", "k.size"], f"FROM kept_{size} AS k") for size in sizes]
    steps.add_union("known", "All tokens kept.", kept)


def _columns(scores: CornerScores) -> list[tuple[str, FloatArray]]:
    """Return the columns of scores with their numbers, ``(T, C)``; those of whole sets begin with ``w``."""
    kinds, _, _, width, n_corners = scores.tokens.shape
    return [
        (f"{'sw'[kind]}{k + 1}_{v}", scores.tokens[kind, :, :, k, v])
        for kind in range(kinds)
        for k in range(width)
        for v in range(n_corners)
    ]


def _add_per_class(steps: Steps, tables: _Tables, scores: CornerScores) -> None:
    """Add the mean scores of known tokens, and how many there are."""
    rows = f"FROM known AS f\n  JOIN {tables.scores} AS p ON p.{tables.column} = f.token"
    selected, about = ["f.set_key", "p.class", "COUNT(*) AS n"], "The mean scores of known tokens"
    whole = len(scores.tokens) > 1
    if whole:
        rows += "\n  JOIN set_sizes AS z ON z.set_key = f.set_key"
        about += "; w are those of tokens that are the whole set"
    for column, _ in _columns(scores):
        if column.startswith("s"):
            read = f"p.{column}"
            if whole:
                read = f"CASE WHEN f.size = z.n_items THEN p.w{column[1:]} ELSE {read} END"
            selected.append(f"AVG({read}) AS {column}")
    steps.add("per_class", f"{about}.", selected, f"{rows}\n  GROUP BY f.set_key, p.class")


def _add_means(steps: Steps, binning: Binning, function: SetFunction, of_sets: Sequence[int]) -> None:
    """Add the steps from mean scores with features of sets left open to mean scores."""
    dialect, width, n_corners = steps.dialect, function.width, 2 ** len(of_sets)
    names = [binning.features[place].name for place in of_sets]
    counts = {"items": "COALESCE(z.n_items, 0)", "tokens": "COALESCE(k.n, 0)"}
    scores = [
        f"COALESCE(k.s{k + 1}_{v}, l.missing{k + 1}_{v}) AS s{k + 1}_{v}"
        for k in range(width)
        for v in range(n_corners)
    ]
    steps.add(
        "scored",
        "Every set with every class; sets without a known token have the scores of missing values.",
        [
            "s.set_key",
            "l.class",
            "COALESCE(k.n, 0) AS n",
            *(f"CAST({counts[each]} AS {DOUBLE}) AS x_{each}" for each in names),
            *(f"CAST({score.replace(' AS ', f' AS {DOUBLE}) AS ')}" for score in scores),
        ],
        "FROM sets_read AS s\n  CROSS JOIN classes AS l\n  LEFT JOIN set_sizes AS z ON z.set_key = s.set_key\n"
        "  LEFT JOIN per_class AS k ON k.set_key = s.set_key AND k.class = l.class",
    )
    calibration = np.clip(np.asarray(function.calibration, np.float64), 0.0, 1.0)
    calibrated = [
        f"{line(dialect, f'm.x_{each}', _keypoints(binning, place), row[binning.slots_of(each)])} AS c{k + 1}_{each}"
        for k, row in enumerate(calibration)
        for each, place in zip(names, of_sets, strict=True)
    ]
    kept = [f"m.s{k + 1}_{v}" for k in range(width) for v in range(n_corners)]
    source = "scored"
    if names:
        about = f"Calibrators of the number of {' and of '.join(names)}."
        steps.add("sized", about, ["m.set_key", "m.class", "m.n", *kept, *calibrated], "FROM scored AS m")
        source = "sized"
    means = []
    for k in range(width):
        corners = np.array([f"m.s{k + 1}_{v}" for v in range(n_corners)], dtype=object).reshape((2,) * len(names))
        mean = lattice(dialect, corners, [[f"m.c{k + 1}_{each}"] for each in names])
        means.append(f"{mean} AS m{k + 1}")
    steps.add("means", "The mean scores of sets.", ["m.set_key", "m.class", "m.n", *means], f"FROM {source} AS m")


def _keypoints(binning: Binning, place: int) -> FloatArray:
    return np.asarray(binning.keypoints[place], np.float64)


def _setup(dialect: Dialect, tables: _Tables, table: TokenTable, scores: CornerScores) -> Iterator[str]:
    """Yield the statements that make and fill the tables."""
    n_tokens, n_classes = scores.tokens.shape[1:3]
    spelled, vocabulary = table.items_as_spelled(np.arange(n_tokens)), table.vocabulary.to_pylist()
    items = [dialect.text(vocabulary[code]) for code in spelled.codes.tolist()]
    columns = _columns(scores)
    kinds = ", ".join(f"{column} {DOUBLE}" for column, _ in columns)
    yield "BEGIN;\n"
    named = [str(token) for token in range(n_tokens)]
    if tables.tokens is None:
        named = items  # each token has one
    else:
        yield f"CREATE TABLE {tables.tokens} (token INTEGER, size INTEGER, item TEXT);\n"
        of_items = zip(
            map(str, spelled.rows.tolist()), map(str, spelled.sizes[spelled.rows].tolist()), items, strict=True
        )
        yield from _inserted(tables.tokens, of_items)
    column_type = "TEXT" if tables.tokens is None else "INTEGER"
    yield f"CREATE TABLE {tables.scores} ({tables.column} {column_type}, class INTEGER, {kinds});\n"
    classes = [str(place) for place in range(n_classes)]
    numbers = [dialect.numbers(values.ravel()) for _, values in columns]
    tokens = (each for each in named for _ in classes)
    yield from _inserted(tables.scores, zip(tokens, classes * n_tokens, *numbers, strict=True))
    if dialect.name != "duckdb":  # which joins by hashing
        for each, column in ((tables.tokens, "item"), (tables.tokens, "token"), (tables.scores, tables.column)):
            if each is not None:
                index = f'{each[:-1]}_by_{column}"'
                yield f"CREATE INDEX {index} ON {each} ({column});\n"
                yield f"ANALYZE {each};\n"
    yield "COMMIT;\n"


def _inserted(table: str, rows: Iterator[tuple[str, ...]]) -> Iterator[str]:
    while batch := list(islice(rows, _BATCH)):
        lines = ",\n".join(f"({', '.join(row)})" for row in batch)
        yield f"INSERT INTO {table} VALUES\n{lines};\n"
