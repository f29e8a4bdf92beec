"""Rows as Markdown tables and as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks._results import machine
from benchmarks.peers._cases import Case, Data
from benchmarks.peers._environments import CONTENDERS, OURS
from benchmarks.peers._run import Row, Runner

Cell = Callable[[Row, Row | None], str]

TEXT = """
Ours and its peers, one after the other on the same generated data, each in a process of its own. Absolute figures
depend on the machine and on who else uses it; the ratios are of one run. What is timed of ours begins with an Arrow
table: reading, finding keypoints, training. TensorFlow Lattice is called as its users call it, `fit(x, y, batch_size)`
with ragged tensors, and once more with batches that were cut and kept before the clock runs, as those of Deep Sets are.
All have done a first step before; vectorisers are timed.
"""
NUMERIC = """
Sets of 1 to 19 tokens, one feature increasing, no early stopping, one thread. Processor time of the process. Peers that
need longer train for fewer epochs; R² on fresh sets, of which at most 0.95 is possible, is that after these epochs.
Kernels is the share of our wall time within the native epochs.
"""
ITEMS = """
Sets of 1 to 19 of 5,000 items, their frequency as Zipf's law has it; defaults, two threads each, which do not wait
busily for each other. Peers read Python lists by scikit-learn's CountVectorizer. AUC of 20 classes: each against
the rest, averaged.
"""
PREDICT = """
One thread. Tokens of a whole table; and the median time of one set of 10 tokens or strings, which a busy machine
prolongs, beside its mean processor time. Ours reads an Arrow table (or a list of strings); TensorFlow Lattice and Deep
Sets are handed their tensors.
"""
GROWTH = """
Ours alone. Memory is what `fit` needs at its peak beyond the data that are there already, and its ratio to their size.
"""


def write(runner: Runner, folder: Path, commands: str) -> None:
    """Write ``peers.md`` and ``peers.json``."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "peers.md").write_text(markdown(runner, commands))
    document = {
        "command": commands,
        "machine": machine(),
        "versions": versions(runner.rows),
        "missing": runner.missing,
        "rows": [asdict(row) for row in runner.rows],
    }
    (folder / "peers.json").write_text(json.dumps(document, indent=1) + "\n")


def read(path: Path) -> tuple[list[Row], str]:
    """Read the rows of an earlier ``peers.json``, and the command that measured them."""
    document = json.loads(path.read_text())
    rows = []
    for stored in document["rows"]:
        case = stored["case"]
        data = Data(*case["data"])
        stored["case"] = Case(**(case | {"data": data, "contenders": tuple(case["contenders"])}))
        rows.append(Row(**stored))
    return rows, document["command"]


def markdown(runner: Runner, commands: str) -> str:
    """Return the tables, one for each part."""
    rows = runner.rows
    lines = ["# Ours and its peers", "", *TEXT.strip().splitlines(), f"(`{commands}`)", ""]
    if any(row.case.part == "growth" for row in rows):
        lines += ["![Growth](peers.png)", ""]
    lines += _section("Numeric tokens", NUMERIC, _of(rows, "numeric"), NUMERIC_COLUMNS)
    lines += _section("Sets of items", ITEMS, _of(rows, "items"), ITEMS_COLUMNS)
    lines += _section("Prediction", PREDICT, _of(rows, "predict"), PREDICT_COLUMNS)
    lines += _section("Growth", GROWTH, _of(rows, "growth"), GROWTH_COLUMNS)
    measured = len({(row.case.part, row.case.title) for row in rows})
    if measured < runner.total:
        lines += [f"These are {measured} of {runner.total} cases; the others were not asked for, or not reached.", ""]
    lines += [f"{CONTENDERS[name].title} is not here: {why}" for name, why in runner.missing.items()]
    named = [f"{package} {version}" for package, version in versions(rows).items()]
    repeats = max((row.repeats for row in rows), default=0)
    lines += ["", f"{machine()} In the processes: {', '.join(named)}. Medians of {repeats}.", ""]
    return "\n".join(lines)


def versions(rows: Sequence[Row]) -> dict[str, str]:
    """Return the versions that contenders said they had."""
    found: dict[str, str] = {}
    for row in rows:
        found |= row.said.get("versions", {})
    return dict(sorted(found.items()))


def ratio(row: Row, ours: Row | None, key: str) -> float | None:
    """Return ours divided by the row's own; None where one of them is not there, and for ours."""
    if ours is None or row.contender == OURS or not row.values.get(key) or key not in ours.values:
        return None
    return ours.values[key] / row.values[key]


def _of(rows: Sequence[Row], part: str) -> list[Row]:
    return [row for row in rows if row.case.part == part]


def _section(title: str, text: str, rows: list[Row], columns: dict[str, Cell]) -> list[str]:
    if not rows:
        return []
    ours = {row.case.title: row for row in rows if row.contender == OURS}
    lines = [f"## {title}", "", *text.strip().splitlines(), ""]
    lines += [f"| {' | '.join(columns)} |", f"|{' --- |' * len(columns)}"]
    for row in rows:
        if row.values:
            cells = [cell(row, ours.get(row.case.title)) for cell in columns.values()]
        else:
            named = [row.case.title, CONTENDERS[row.contender].title][: 2 if "who" in columns else 1]
            cells = [*named, row.why_not]
            cells += [""] * (len(columns) - len(cells))
        lines.append(f"| {' | '.join(cells)} |")
    return [*lines, ""]


def _value(key: str, form: str, scale: float = 1.0) -> Cell:
    return lambda row, _: format(row.values[key] * scale, form) if key in row.values else "-"


def _ratio(key: str) -> Cell:
    def cell(row: Row, ours: Row | None) -> str:
        found = ratio(row, ours, key)
        return "" if found is None else f"{found:.3g}"

    return cell


def _rate(row: Row, _: Row | None) -> str:
    """Tokens, or sets, for every second of processor time."""
    if "tokens_per_cpu" in row.values:
        return f"{row.values['tokens_per_cpu'] / 1e6:.2f} M tokens"
    return f"{row.case.data.n_sets / row.values['cpu']:,.0f} sets"


def _share_of_input(row: Row, _: Row | None) -> str:
    return f"{row.values['extra_mb'] / row.values['input_mb']:.1f}"


TITLE: dict[str, Cell] = {"data": lambda row, _: row.case.title}
NAMED = TITLE | {"who": lambda row, _: CONTENDERS[row.contender].title}
TIMES: dict[str, Cell] = {"wall s": _value("wall", ".2f"), "CPU s": _value("cpu", ".2f")}
NUMERIC_COLUMNS = (
    NAMED
    | {"epochs": _value("epochs", ".0f"), "M tokens per CPU-second": _value("tokens_per_cpu", ".2f", 1e-6)}
    | {"ours / its": _ratio("tokens_per_cpu"), "kernels": _value("kernel_share", ".0%")}
    | TIMES
    | {"peak MB": _value("peak_mb", ".0f"), "R²": _value("r2", ".3f"), "import s": _value("import", ".2f")}
)
ITEMS_COLUMNS = (
    NAMED
    | {"wall s": _value("wall", ".2f"), "our wall time / its": _ratio("wall")}
    | {"CPU s": _value("cpu", ".2f"), "our CPU time / its": _ratio("cpu")}
    | {"peak MB": _value("peak_mb", ".0f"), "accuracy": _value("accuracy", ".4f"), "AUC": _value("auc", ".4f")}
    | {"import s": _value("import", ".2f")}
)
PREDICT_COLUMNS = NAMED | {
    "M tokens per CPU-second": _value("tokens_per_cpu", ".2f", 1e-6),
    "ours / its": _ratio("tokens_per_cpu"),
    "one set µs": _value("latency", ".0f"),
    "our time / its": _ratio("latency"),
    "its CPU µs": _value("latency_cpu", ".0f"),
    "our CPU / its": _ratio("latency_cpu"),
}
GROWTH_COLUMNS = (
    TITLE | TIMES | {"per CPU-second": _rate, "memory MB": _value("extra_mb", ".0f"), "memory / data": _share_of_input}
)
