"""Results of a task: one file of JSON that grows run by run, and a table in Markdown."""

import json
import os
import platform
import statistics
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from clearset.artifact import write_file
from clearset.experiments._task import Effort, Measure, Method, Task

_SECONDS = "Seconds of one fit on one thread, the median; what Deep Sets and the like are given is made before."
_TUNED = """
Options were chosen once, on the first split's training part (at most {to_tune:,} examples) and validation part, by
{budget} trials each, the first with the options as they were made:
""".strip()
_PACKAGES = ("clearset", "torch", "scikit-learn", "numpy", "pyarrow", "optuna")


class Results:
    """What is known of a task's methods, kept in a folder, which has results of one effort.

    What the folder holds with another fingerprint of a method than `fingerprints` has, if any are given, is dropped;
    with ``fresh`` everything is.
    """

    def __init__(
        self,
        task: Task,
        folder: Path,
        effort: Effort,
        fingerprints: Mapping[str, str] | None = None,
        *,
        fresh: bool = False,
    ) -> None:
        self.task = task
        self.effort = effort
        self.path = path_of(task, folder)
        held = {} if fresh else _read(self.path)
        if held and held["effort"] != effort.name:
            raise ValueError(
                f"'{self.path}' holds results of a {held['effort']} run. Name another folder with --output, or replace "
                "them with --fresh."
            )
        self.fingerprints = fingerprints
        self.methods: dict[str, dict[str, Any]] = {
            method.name: held["methods"][method.name]
            for method in task.methods
            if held and self._is_of(method, held["methods"].get(method.name))
        }

    def _is_of(self, method: Method, outcome: Mapping[str, Any] | None) -> bool:
        """Tell whether an outcome is of this method, as it is now."""
        if outcome is None:
            return False
        return self.fingerprints is None or outcome["fingerprint"] == self.fingerprints[method.name]

    @property
    def n_runs(self) -> int:
        """The number of runs that are known."""
        return len(self._all_runs())

    @property
    def seeds(self) -> range:
        """The seeds of its runs."""
        return range(min(self.task.seeds, self.effort.seeds))

    def tuning_of(self, method: Method) -> Mapping[str, Any] | None:
        """Return the outcome of a method's search, if it is known."""
        tuning: Mapping[str, Any] | None = self.methods.get(method.name, {}).get("tuning")
        return tuning

    def missing_seeds(self, method: Method) -> list[int]:
        """Return the seeds that a method has not been run with."""
        return [seed for seed in self.seeds if str(seed) not in self._runs(method.name)]

    def add_tuning(self, method: Method, outcome: Mapping[str, Any]) -> None:
        """Keep the outcome of a search; runs with other options are forgotten."""
        fingerprint = None if self.fingerprints is None else self.fingerprints[method.name]
        self.methods[method.name] = {"fingerprint": fingerprint, "tuning": dict(outcome), "runs": {}}
        self.write()

    def add_run(self, method: Method, seed: int, outcome: Mapping[str, Any]) -> None:
        """Keep the outcome of one run."""
        self.methods[method.name]["runs"][str(seed)] = {**outcome, "machine": machine()}
        self.write()

    def write(self) -> None:
        """Write both files, each in one step."""
        order = [method.name for method in self.task.methods if method.name in self.methods]
        content = {
            "task": self.task.name,
            "effort": self.effort.name,
            "methods": {name: self.methods[name] for name in order},
        }
        self.path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(self.path, json.dumps(content, indent=1) + "\n")
        replace_file(self.path.with_suffix(".md"), self.markdown())

    def markdown(self) -> str:
        """Return the table, with its title, text and notes."""
        task, effort = self.task, self.effort
        command = f"clearset reproduce {task.group or task.name}"
        lines = [f"# {task.title}", "", *task.text.strip().splitlines(), ""]
        if effort.examples is not None:
            command += " --quick"
            most = f"at most {effort.examples:,} training examples"
            lines += [f"**A {effort.name} run: {most}; these figures say little.**", ""]
        lines += [f"`{command}`", "", *self.table(), "", _SECONDS]
        tuned = [name for name, outcome in self.methods.items() if outcome["tuning"]["trials"]]
        if tuned:
            text = _TUNED.format(budget=effort.budget, to_tune=effort.to_tune)
            lines += ["", *text.splitlines(), "", *(f"- {name}: {self._options(name)}" for name in tuned)]
        machines = dict.fromkeys(run["machine"] for run in self._all_runs())
        return "\n".join([*lines, "", *machines, ""])

    def table(self) -> list[str]:
        """Return the lines of the table."""
        measures = self.task.measures
        of_paper = any(method.paper for method in self.task.methods)
        validated = any(run["validation"] for run in self._all_runs())
        header = ["method", *(measure.name for measure in measures)]
        header += ["paper"] if of_paper else []
        header += [f"validation {measures[0].name}"] if validated else []
        header += ["seconds"]
        rows = []
        for method in self.task.methods:
            if not (runs := list(self._runs(method.name).values())):
                continue
            cells = [method.name, *(mean_and_deviation(runs, measure) for measure in measures)]
            if of_paper:
                figures = [f"{method.paper[m.name]:g}" for m in measures if m.name in method.paper]
                cells.append(" / ".join(figures))
            if validated:
                held = [run["validation"][measures[0].name] for run in runs]
                cells.append(f"{statistics.fmean(held):.{measures[0].digits}f}")
            cells.append(f"{statistics.median(run['seconds'] for run in runs):.1f}")
            rows.append(cells)
        return table_lines(header, rows)

    def mean(self, name: str, measure: str) -> float | None:
        """Return the mean of a method's measure on the test data, if it was run."""
        runs = self._runs(name).values()
        return statistics.fmean(run["test"][measure] for run in runs) if runs else None

    def _runs(self, name: str) -> Mapping[str, Any]:
        runs: Mapping[str, Any] = self.methods.get(name, {}).get("runs", {})
        return runs

    def _all_runs(self) -> list[Mapping[str, Any]]:
        return [run for name in self.methods for run in self._runs(name).values()]

    def _options(self, name: str) -> str:
        options = self.methods[name]["tuning"]["options"]
        if not options:
            return "as it was made"
        return ", ".join(
            f"{key} {value:.3g}" if isinstance(value, float) else f"{key} {value}" for key, value in options.items()
        )


def path_of(task: Task, folder: Path) -> Path:
    """Return where the results of a task are kept in a folder."""
    return folder / f"{task.name}.json"


def mean_and_deviation(runs: list[Mapping[str, Any]], measure: Measure) -> str:
    """Return the mean over runs and, of several, the standard deviation."""
    values = [run["test"][measure.name] for run in runs]
    mean = f"{statistics.fmean(values):.{measure.digits}f}"
    return mean if len(values) < 2 else f"{mean} ± {statistics.stdev(values):.{measure.digits}f}"


def machine() -> str:
    """Return the name of the processor, and the versions of packages."""
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
    if not isinstance(content, dict) or not {"effort", "methods"} <= content.keys():
        raise ValueError(f"'{path}' holds no results. Name another folder with --output, or replace it with --fresh.")
    return content


def table_lines(header: list[str], rows: list[list[str]]) -> list[str]:
    """Return a table as lines of Markdown."""
    lines = [f"| {' | '.join(cells)} |" for cells in (header, *rows)]
    lines.insert(1, "|" + " --- |" * len(header))
    return lines


def replace_file(path: Path, text: str) -> None:
    """Write a file in one step."""
    write_file(path, text.encode())
