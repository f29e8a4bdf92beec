"""The tables on one page."""

from collections.abc import Iterator
from pathlib import Path

from clearset.experiments._all_tasks import TASKS
from clearset.experiments._results import Results, replace_file, table_lines
from clearset.experiments._task import Effort, Task

_COLUMNS = ("width 1", "wider", "Deep Sets", "averaged or DNN", "today's alternative")


def write_summary(folder: Path, effort: Effort) -> None:
    """Write ``summary.md`` of the results: one line for each task and measure, the paper's figures in brackets."""
    held = [Results(task, folder, effort) for tasks in TASKS.values() for task in tasks if task.highlights]
    lines = [
        "# The paper's tables",
        "",
        "Means over splits and seeds on test data; in brackets the paper's figure for the same kind of model.",
        "Each table has its own page here, with deviations, seconds, chosen options and further rows.",
        "",
        "`clearset reproduce all" + (" --quick" if effort.name == "quick" else "") + "`",
        "",
        *summary_table(held),
        "",
    ]
    replace_file(folder / "summary.md", "\n".join(lines))


def summary_table(held: list[Results]) -> list[str]:
    """Return the lines of the table."""
    rows = [cells for results in held for cells in _rows(results)]
    return table_lines(["task", "measure", *_COLUMNS], rows)


def _rows(results: Results) -> Iterator[list[str]]:
    task = results.task
    if not results.methods:
        return
    for measure in task.measures:
        arrow = "lower" if measure.lower_is_better else "higher"
        cells = [f"[{task.title}]({task.name}.md)", f"{measure.name} ({arrow} is better)"]
        yield cells + [_cell(task, results, column, measure.name, measure.digits) for column in _COLUMNS]


def _cell(task: Task, results: Results, column: str, measure: str, digits: int) -> str:
    name = task.highlights[column]
    mean = results.mean(name, measure)
    if mean is None:
        return ""
    paper = task.method(name).paper.get(measure)
    return f"{mean:.{digits}f}" + ("" if paper is None else f" ({paper:g})")
