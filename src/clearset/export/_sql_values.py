"""Models over sets of numbers and categories as SQL."""

from __future__ import annotations

import numpy as np

from clearset.export._sql_dialects import DOUBLE, Dialect
from clearset.export._sql_formulas import lattice, line
from clearset.export._sql_outputs import add_classes, finish
from clearset.export._sql_query import Places, Sql, Steps, quoted
from clearset.export._value_model import ValueModel
from clearset.functions import SetFunction, Support
from clearset.sets import PLACE, PLACES, SIZE, Binning, feature_columns

# Columns of one step; databases allow some 1,600 at least.
_MOST_COLUMNS = 1500
# Doubles tell all whole numbers up to here apart.
_LARGEST = 2**53


def value_sql(places: Places, model: ValueModel) -> Sql:
    """Return the query of a model over sets of numbers and categories.

    Parameters
    ----------
    places : Places
        Where the sets stand.
    model : ValueModel
        The model.
    """
    binning, function, link = model.binning, model.function, model.link
    names = [feature.name for feature in binning.features]
    ordered = any(name in PLACES and name not in model.absent for name in names)
    places = places.checked(feature_columns(binning.features), model.set_columns, ordered=ordered)
    n_means, steps = len(function.calibration), Steps(places.writer)
    n_weights = sum(size for size in function.layout.sizes if size > 2) * n_means
    if max(n_means * len(names), n_weights) > _MOST_COLUMNS:
        raise ValueError(
            f"The query would have {max(n_means * len(names), n_weights):,} columns in one step, and databases take "
            f"some {_MOST_COLUMNS:,}: {n_means} scores of {len(names)} features. Fit with fewer features, classes or a "
            "smaller width."
        )
    _add_tokens(steps, places, model)
    _add_calibrated(steps, binning, function.calibration)
    _add_scores(steps, function)
    means = [f"AVG(c.s{r + 1}) AS m{r + 1}" for r in range(n_means)]
    n = "SUM(c.present) AS n"
    steps.add("means", "Their means over each set.", ["c.set_key", n, *means], "FROM scores AS c\n  GROUP BY c.set_key")
    if link.n_outputs > 1:
        add_classes(steps, link)
    support = function.support or Support.unknown(link.n_outputs, function.width, binning.n_slots)
    return Sql(places.dialect, finish(steps, function.rho, support, link, places.key))


def _add_tokens(steps: Steps, places: Places, model: ValueModel) -> None:
    """Add the step that reads the features of tokens as ``x1`` to ``xD``; NULL is missing."""
    binning, selected, known = model.binning, [f"{places.set_key} AS set_key"], []
    for place, feature in enumerate(binning.features):
        if feature.name == SIZE:
            read = f"CAST({places.count} AS {DOUBLE})"
        elif feature.name in model.absent:
            read = f"CAST(NULL AS {DOUBLE if feature.kind == 'numeric' else 'TEXT'})"
        elif feature.name in PLACES:
            read = f"CAST({places.place(from_end=feature.name == PLACE)} AS {DOUBLE})"
        else:
            column = places.column(feature.name)
            categories = binning.categories[place]
            strings = categories is not None and all(isinstance(each, str) for each in categories)
            truths = categories is not None and all(isinstance(each, bool) for each in categories)
            read = steps.dialect.texts_of(column) if strings else steps.dialect.numbers_of(column)
            read = f"CAST({column} AS INTEGER)" if truths and not strings else read
            known.append(f"{read} IS NOT NULL")
        selected.append(f"{read} AS x{place + 1}")
    there = f"{places.token_key} IS NOT NULL"
    if model.sets_of_one:
        there += f" AND ({' OR '.join(known or ['1 = 0'])})"
    present = f"CASE WHEN {there} THEN 1 ELSE 0 END"
    named = ", ".join(f"x{place + 1} is {quoted(feature.name)}" for place, feature in enumerate(binning.features))
    steps.add("tokens_read", f"The tokens: {named}.", [*selected, f"{present} AS present"], places.rows)


def _add_calibrated(steps: Steps, binning: Binning, calibration: np.ndarray) -> None:
    """Add the step that calibrates each feature for each score: ``c1_1`` to ``cR_D``, score and feature."""
    dialect = steps.dialect
    tables, joins = np.clip(np.asarray(calibration, np.float64), 0.0, 1.0), []
    calibrated = [[""] * len(binning.features) for _ in tables]
    for d, feature in enumerate(binning.features):
        slots, keypoints, categories = binning.slots_of(feature.name), binning.keypoints[d], binning.categories[d]
        if categories:
            columns = [f"c{r + 1}" for r in range(len(tables))]
            rows = [
                [_category(dialect, feature.name, category), *map(dialect.number, tables[:, slot])]
                for category, slot in zip(categories, range(slots.start, slots.stop), strict=True)
            ]
            about = f"The categories of {quoted(feature.name)}."
            steps.add_values(f"x{d + 1}_categories", about, ["category", *columns], rows)
            joins.append(f"\n  LEFT JOIN x{d + 1}_categories AS v{d + 1} ON v{d + 1}.category = t.x{d + 1}")
        for r, table in enumerate(tables):
            missing = float(table[slots.stop])
            if keypoints is not None:
                formula = line(dialect, f"t.x{d + 1}", keypoints, table[slots], missing)
            elif categories:
                formula = f"CAST(COALESCE(v{d + 1}.c{r + 1}, {dialect.number(missing)}) AS {DOUBLE})"
            else:
                formula = f"CAST({dialect.number(missing)} AS {DOUBLE})"
            calibrated[r][d] = f"{formula} AS c{r + 1}_{d + 1}"
    about = "Calibrators: c1_2 is what the first score makes of the second feature, from 0 to 1."
    columns = [each for row in calibrated for each in row]
    steps.add("calibrated", about, ["t.set_key", "t.present", *columns], f"FROM tokens_read AS t{''.join(joins)}")


def _category(dialect: Dialect, feature: str, category: str | float) -> str:
    if isinstance(category, str):
        return dialect.text(category)
    if isinstance(category, bool):
        return str(int(category))
    if abs(category) > _LARGEST:
        raise ValueError(
            f"Feature {feature!r} has the category {category}, which databases compare as a rounded number. Fit on "
            "strings instead."
        )
    return dialect.number(category)


def _add_scores(steps: Steps, function: SetFunction) -> None:
    """Add the step of the scores of tokens; lattices of more than two vertices have weights in a step before."""
    layout, weights, source = function.layout, dict[str, str](), "calibrated"
    larger = [d for d, size in enumerate(layout.sizes) if size > 2]
    for r in range(len(function.calibration)):
        for d in larger:
            place = f"c.c{r + 1}_{d + 1} * {layout.sizes[d] - 1}"
            for j in range(layout.sizes[d]):
                away = f"ABS({place} - {j})"
                weights[f"w{r + 1}_{d + 1}_{j}"] = f"CASE WHEN {away} < 1 THEN 1e0 - {away} ELSE 0e0 END"
    if weights:
        kept = [f"c.c{r + 1}_{d + 1}" for r in range(len(function.calibration)) for d in range(layout.n_features)]
        columns = [f"{formula} AS {column}" for column, formula in weights.items()]
        about = (
            "Lattices of more than two vertices: w1_2_0 is the weight of the first vertex, score and feature before it."
        )
        steps.add("weights", about, ["c.set_key", "c.present", *kept, *columns], "FROM calibrated AS c")
        source = "weights"
    dialect = steps.dialect
    scores, edges = ["c.set_key", "c.present"], layout.vertex_offsets
    for r, vertices in enumerate(np.asarray(function.vertices, np.float64)):
        parts = []
        for e, subset in enumerate(layout.subsets):
            cube = vertices[edges[e] : edges[e + 1]].reshape([layout.sizes[d] for d in subset])
            places = [
                [f"c.w{r + 1}_{d + 1}_{j}" for j in range(layout.sizes[d])] if d in larger else [f"c.c{r + 1}_{d + 1}"]
                for d in subset
            ]
            parts.append(lattice(dialect, cube, places))
        mean = parts[0] if len(parts) == 1 else "(" + "\n      + ".join(parts) + f") / {len(parts)}e0"
        scores.append(f"{mean} AS s{r + 1}")
    steps.add("scores", "Phi: the scores of each token, by its lattices.", scores, f"FROM {source} AS c")
