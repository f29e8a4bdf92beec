"""Results of a task: one file of JSON that grows run by run, and a table in Markdown."""

import json
import os
import platform
import statistics
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from clearset.experiments._task import Effort, Method, Metric, Task

_PACKAGES = ("clearset", "torch", "scikit-learn", "numpy", "pyarrow", "optuna")


class Results:
    """What is known of a task's methods, kept in a folder.

    Parameters
    ----------
    task
        What was run.
    folder
        Where its files are.
    effort
        What was done with; results of another effort are not gone on from.
    fresh
        Forget what the folder holds.
    """

    def __init__(self, task: Task, folder: Path, effort: Effort, *, fresh: bool = False) -> None:
        self.task = task
        self.effort = effort
        self.path = folder / f"{task.name}.json"
        held = {} if fresh else _read(self.path)
        same = held.get("effort") == effort.name
        known = {method.name for method in task.methods}
        self.methods: dict[str, dict[str, Any]] = {
            name: outcome for name, outcome in held.get("methods", {}).items() if same and name in known
        }

    @property
    def seeds(self) -> range:
        """The seeds of its runs."""
        return range(min(self.task.seeds, self.effort.seeds))

    def tuning_of(self, method: Method) -> Mapping[str, Any] | None:
        """Give the outcome of a method's search, if it is known."""
        tuning: Mapping[str, Any] | None = self.methods.get(method.name, {}).get("tuning")
        return tuning

    def missing_seeds(self, method: Method) -> list[int]:
        """Give the seeds that a method has not been run with."""
        runs = self.methods.get(method.name, {}).get("runs", {})
        return [seed for seed in self.seeds if str(seed) not in runs]

    def add_tuning(self, method: Method, outcome: Mapping[str, Any]) -> None:
        """Keep the outcome of a search; runs with other options are forgotten."""
        self.methods[method.name] = {"tuning": dict(outcome), "runs": {}}
        self.write()

    def add_run(self, method: Method, seed: int, outcome: Mapping[str, Any]) -> None:
        """Keep the outcome of one run."""
        self.methods[method.name]["runs"][str(seed)] = dict(outcome)
        self.write()

    def write(self) -> None:
        """Write both files, each in one step."""
        order = [method.name for method in self.task.methods if method.name in self.methods]
        content = {
            "task": self.task.name,
            "effort": self.effort.name,
            "machine": machine(),
            "methods": {name: self.methods[name] for name in order},
        }
        self.path.parent.mkdir(parents=True, exist_ok=True)
        _replace(self.path, json.dumps(content, indent=1) + "\n")
        _replace(self.path.with_suffix(".md"), self.markdown())

    def markdown(self) -> str:
        """Give the table with what stands around it."""
        task = self.task
        command = f"clearset reproduce {task.name}" + (" --quick" if self.effort.name == "quick" else "")
        lines = [
            f"# {task.title}",
            "",
            *task.text.strip().splitlines(),
            "",
            f"`{command}`",
            "",
            *self.table(),
        ]
        options = [f"- {name}: {said}" for name in self.methods if (said := self._options(name))]
        if options:
            lines += ["", "Chosen on validation data, the same number of trials for each:", "", *options]
        return "\n".join([*lines, "", machine(), ""])

    def table(self) -> list[str]:
        """Give the lines of the table."""
        metrics = self.task.metrics
        of_paper = any(method.paper for method in self.task.methods)
        header = ["method", *(metric.name for metric in metrics)]
        header += ["paper"] if of_paper else []
        header += [f"validation {metrics[0].name}"] if self._has_validation() else []
        header += ["seconds"]
        lines = [_row(header), "|" + " --- |" * len(header)]
        for method in self.task.methods:
            runs = list(self.methods.get(method.name, {}).get("runs", {}).values())
            if not runs:
                continue
            cells = [method.name, *(mean_and_deviation(runs, metric) for metric in metrics)]
            if of_paper:
                figures = [f"{method.paper[m.name]:g}" for m in metrics if m.name in method.paper]
                cells.append(" / ".join(figures))
            if self._has_validation():
                held = [run["validation"][metrics[0].name] for run in runs]
                cells.append(f"{statistics.fmean(held):.{metrics[0].digits}f}")
            cells.append(f"{statistics.median(run['seconds'] for run in runs):.1f}")
            lines.append(_row(cells))
        return lines

    def mean(self, name: str, metric: str) -> float | None:
        """Give the mean of a method's measure on the test data, if it was run."""
        runs = self.methods.get(name, {}).get("runs", {}).values()
        return statistics.fmean(run["test"][metric] for run in runs) if runs else None

    def _has_validation(self) -> bool:
        return any(run["validation"] for outcome in self.methods.values() for run in outcome["runs"].values())

    def _options(self, name: str) -> str:
        options = self.methods[name]["tuning"]["options"]
        return ", ".join(
            f"{key} {value:.3g}" if isinstance(value, float) else f"{key} {value}"
            for key, value in options.items()
        )


def mean_and_deviation(runs: list[Mapping[str, Any]], metric: Metric) -> str:
    """Give the mean over runs and, of several, the standard deviation."""
    values = [run["test"][metric.name] for run in runs]
    mean = f"{statistics.fmean(values):.{metric.digits}f}"
    return mean if len(values) < 2 else f"{mean} ± {statistics.stdev(values):.{metric.digits}f}"


def machine() -> str:
    """Say what was run on, and with which versions."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    cpu = names[0] if names else platform.processor()
    versions = ", ".join(f"{package} {version(package)}" for package in _PACKAGES)
    return f"{cpu}, {os.cpu_count()} cores; Python {platform.python_version()}, {versions}."


def _read(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text())
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise ValueError(f"'{path}' cannot be read: {error}. Run with --fresh to make it anew.") from error
    return dict(content)


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _replace(path: Path, text: str) -> None:
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    unfinished.write_text(text)
    unfinished.replace(path)
