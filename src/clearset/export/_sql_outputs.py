"""The last steps of a query: from mean scores to predictions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from clearset.export._sql_dialects import name
from clearset.export._sql_formulas import exponential, lattice, line
from clearset.export._sql_query import Steps
from clearset.functions import Link, Rho, Support


def add_classes(steps: Steps, link: Link, **columns: Any) -> None:
    """Add a table of the classes, with further columns of numbers, ``(C,)`` each."""
    dialect = steps.dialect
    labels = [0.0] if link.n_outputs == 1 else np.asarray(link.classes).tolist()
    names, rows = ["class", "label"], [[str(place), dialect.label(label)] for place, label in enumerate(labels)]
    for column, values in columns.items():
        names.append(column)
        for row, value in zip(rows, values, strict=True):
            row.append(dialect.number(value))
    steps.add_values("classes", "The classes.", names, rows)


def finish(steps: Steps, rho: Rho, support: Support, link: Link, key: str) -> str:
    """Return the query that follows on the step ``means``.

    Parameters
    ----------
    steps : Steps
        The steps so far. ``means`` has the columns ``set_key``, ``n`` (known tokens) and ``m1`` to ``mR``: the mean
        scores of all functions. Where classes share one function it has a row for each ``class``, and the step
        ``classes`` their ``base1`` to ``baseK`` and ``unknown``, what is said of a set without a known token.
    rho : Rho
        The functions.
    support : Support
        How far small sets may leave the base rate.
    link : Link
        From outputs to predictions.
    key : str
        The column that says which set a row belongs to.
    """
    dialect, crossed = steps.dialect, link.n_outputs > rho.outputs
    kept = ["m.set_key", "m.class"] if crossed else ["m.set_key"]
    join = "\n  JOIN classes AS l ON l.class = m.class" if crossed else ""
    total, width, number = rho.outputs * rho.width, rho.width, dialect.number
    means = "means"
    if support.tokens > 1:
        bases = [f"l.base{k + 1}" for k in range(width)] if crossed else list(map(number, support.base.ravel()))
        first, slope = support.share_of_one, (1.0 - support.share_of_one) / (support.tokens - 1)
        share = (
            f"CASE WHEN m.n >= {support.tokens} THEN 1e0 WHEN m.n = 0 THEN 0e0 "
            f"ELSE {number(first)} + (m.n - 1) * {number(slope)} END"
        )
        shrunk = [f"{base} + {share} * (m.m{r + 1} - {base}) AS m{r + 1}" for r, base in enumerate(bases)]
        about = f"Sets of fewer than {support.tokens} known tokens say less: their means move to the base rate."
        steps.add("shrunk", about, [*kept, "m.n", *_minus_negative(shrunk)], f"FROM means AS m{join}")
        means = "shrunk"
    keypoints = np.linspace(-1.0, 1.0, rho.output.shape[1])
    lines = [f"{line(dialect, f'm.m{r + 1}', keypoints, rho.calibrators[r])} AS r{r + 1}" for r in range(total)]
    steps.add("calibrated_means", "Rho: each mean by its calibrator,", [*kept, "m.n", *lines], f"FROM {means} AS m")
    fused = [
        lattice(
            dialect,
            np.asarray(vertices, np.float64).reshape((2,) * width),
            [[f"m.r{f * width + k + 1}"] for k in range(width)],
        )
        + f" AS z{f + 1}"
        for f, vertices in enumerate(rho.vertices)
    ]
    steps.add(
        "fused", "the means of each function by its lattice,", [*kept, "m.n", *fused], "FROM calibrated_means AS m"
    )
    outputs = []
    for f, table in enumerate(rho.output):
        output = line(dialect, f"m.z{f + 1}", keypoints, table)
        if link.nothing is not None:
            said = "l.unknown" if crossed else number(link.nothing[f])
            output = f"CASE WHEN m.n = 0 THEN {said} ELSE {output} END"
        outputs.append(f"{output} AS y{f + 1}")
    nothing = "" if link.nothing is None else "; of sets without a known token, the prior"
    steps.add("outputs", f"and the output by its calibrator{nothing}.", [*kept, *outputs], f"FROM fused AS m{join}")
    if link.n_outputs == 1:
        return _one_output(steps, link, key)
    return _classes(steps, link, key, [] if crossed else [f"y{f + 1}" for f in range(rho.outputs)])


def _minus_negative(formulas: Sequence[str]) -> list[str]:
    """Write ``- -1`` as ``+ 1``."""
    return [formula.replace("- -", "+ ") for formula in formulas]


def _one_output(steps: Steps, link: Link, key: str) -> str:
    selected = [f"o.set_key AS {name(key)}"]
    if link.classes is None:
        selected.append(f"{'EXP(o.y1)' if link.name == 'exp' else 'o.y1'} AS prediction")
        return steps.query("The predictions.", selected, "FROM outputs AS o")
    first, second = map(steps.dialect.label, np.asarray(link.classes).tolist())
    selected.append(f"CASE WHEN o.y1 > 0 THEN {second} ELSE {first} END AS prediction")
    if link.name == "margin":
        selected.append("o.y1 AS output")
        return steps.query("The predicted classes; a positive output is the second.", selected, "FROM outputs AS o")
    selected.append(f"{_expit('o.y1')} AS probability")
    return steps.query("The predicted classes, and the probability of the second.", selected, "FROM outputs AS o")


def _classes(steps: Steps, link: Link, key: str, columns: Sequence[str]) -> str:
    """Return the query for several classes; the outputs stand in these columns, or in rows already."""
    rows = "FROM outputs AS o\n  JOIN classes AS l ON l.class = o.class"
    output = "o.y1"
    if columns:
        cases = " ".join(f"WHEN {place} THEN o.{column}" for place, column in enumerate(columns))
        rows, output = "FROM outputs AS o\n  CROSS JOIN classes AS l", f"CASE l.class {cases} END"
    steps.add("by_class", "A row for each class.", ["o.set_key", "l.class", "l.label", f"{output} AS output"], rows)
    alone = "PARTITION BY o.set_key"
    if link.name == "softmax":
        shifted = f"o.output - MAX(o.output) OVER ({alone}) AS part"
        steps.add("shifted", "Softmax.", ["o.set_key", "o.class", "o.label", "o.output", shifted], "FROM by_class AS o")
        odds, source = exponential("o.part"), "shifted"
    else:
        odds, source = _expit("o.output") if link.name == "shares" else "o.output", "by_class"
    columns_kept = ["o.set_key", "o.class", "o.label", "o.output", f"{odds} AS odds"]
    steps.add("weighed", "What each class has before they are made to sum to 1.", columns_kept, f"FROM {source} AS o")
    told = "o.output" if link.name == "margin" else f"o.odds / SUM(o.odds) OVER ({alone}) AS probability"
    order = f"ROW_NUMBER() OVER ({alone} ORDER BY o.output DESC, o.class)"
    selected = [
        f"o.set_key AS {name(key)}",
        "o.label AS class",
        told,
        f"CASE WHEN {order} = 1 THEN 1 ELSE 0 END AS predicted",
    ]
    return steps.query(
        "A row for each set and class; predicted is 1 for the first choice.", selected, "FROM weighed AS o"
    )


def _expit(output: str) -> str:
    return (
        f"CASE WHEN {output} >= 0 THEN 1e0 / (1e0 + {exponential(f'-{output}')}) "
        f"ELSE {exponential(output)} / (1e0 + {exponential(output)}) END"
    )
