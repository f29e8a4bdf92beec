"""The tables of the paper, reproduced."""

import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from clearset.artifact import locked
from clearset.experiments._all_tasks import TASKS
from clearset.experiments._fingerprints import of_data, of_method
from clearset.experiments._jobs import Job, work
from clearset.experiments._results import Results, path_of
from clearset.experiments._summary import write_summary
from clearset.experiments._task import FULL, QUICK
from clearset.tuning import need

RESULTS = Path("experiments", "results")


def _silent(*_: Any) -> None:
    """Do nothing."""


def reproduce(
    names: Sequence[str] = ("all",),
    folder: str | os.PathLike[str] | None = None,
    output: str | os.PathLike[str] | None = None,
    *,
    quick: bool = False,
    fresh: bool = False,
    jobs: int | None = None,
    on_start: Callable[[int, int], None] = _silent,
    on_job: Callable[[Job, float], None] = _silent,
) -> list[Results]:
    """Run tasks, and write a table of each in Markdown and JSON.

    What an earlier run has finished with the same data, methods and version is kept, and only the rest is done. Runs of
    different tasks may share a folder; a task that another run is working on there is refused.

    Parameters
    ----------
    names : sequence of str, default=("all",)
        ``puzzles``, ``intent``, ``celeba``, ``recipes``, ``wine``, ``churn``, ``ablations``, or ``all``.
    folder : path, optional
        The folder of the data; by default where the loaders of `clearset.datasets` look for them.
    output : path, optional
        The folder of the results; by default ``experiments/results``, and for a quick run ``quick`` in it.
    quick : bool, default=False
        Whether to run one seed, few examples and two trials a method: this takes minutes, and the figures mean little.
    fresh : bool, default=False
        Whether to ignore what an earlier run has finished.
    jobs : int, optional
        The number of processes at once; by default one for each core.
    on_start : callable, optional
        Called with the number of jobs and the number of runs that are kept.
    on_job : callable, optional
        Called with each job that is done, and its seconds.

    Returns
    -------
    list of Results
        The results of each task.

    Examples
    --------
    >>> from clearset.experiments import reproduce
    >>> reproduce(["tea"])
    Traceback (most recent call last):
    ValueError: There is no task 'tea'; choose among puzzles, intent, celeba, recipes, wine, churn, ablations, all.
    """
    for name in names:
        if name not in (*TASKS, "all"):
            raise ValueError(f"There is no task {name!r}; choose among {', '.join((*TASKS, 'all'))}.")
    if jobs is not None and jobs < 1:
        raise ValueError(f"jobs must be at least 1; received {jobs}.")
    chosen = [name for name in TASKS if "all" in names or name in names]
    tasks = [task for name in chosen for task in TASKS[name]]
    need("optuna")
    effort = QUICK if quick else FULL
    target = Path(output) if output is not None else RESULTS / "quick" if quick else RESULTS
    folder = None if folder is None else os.fspath(folder)
    fingerprints = []
    for task in tasks:
        data = of_data(task, folder)
        fingerprints.append({method.name: of_method(task, method, data, effort) for method in task.methods})
    target.mkdir(parents=True, exist_ok=True)
    with ExitStack() as locks:
        results = []
        for task, of_methods in zip(tasks, fingerprints, strict=True):
            # Another run of the task would write its own outcomes over these.
            locks.enter_context(locked(path_of(task, target), "name another folder with --output"))
            results.append(Results(task, target, effort, of_methods, fresh=fresh))
        kept = sum(outcome.n_runs for outcome in results)
        work(results, folder, effort, jobs or os.cpu_count() or 1, lambda n: on_start(n, kept), on_job)
        for outcome in results:
            outcome.write()
    write_summary(target, effort)
    return results
