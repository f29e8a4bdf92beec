"""Work on tasks in processes of their own, as many at once as there are cores."""

import os
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait as wait_for
from threading import Thread
from typing import Any, NamedTuple

from clearset.experiments._results import Results
from clearset.experiments._task import Effort, Method, Task
from clearset.experiments._tuning import as_options, tuned

# Every process has a core of its own; threads of libraries would only be in each other's way.
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


class Job(NamedTuple):
    """One piece of work: a search where there is no seed, else a run."""

    results: Results
    method: Method
    seed: int | None

    def __str__(self) -> str:
        what = "tuning" if self.seed is None else f"seed {self.seed}"
        return f"{self.results.task.name}: {self.method.name}, {what}"


def work(
    all_results: Sequence[Results],
    folder: Any,
    effort: Effort,
    processes: int,
    on_start: Callable[[int], None],
    on_job: Callable[[Job, float], None],
) -> None:
    """Do the jobs whose results are missing, and save each outcome at once."""
    # `on_start` is called with the number of jobs, `on_job` with each job that is done and its seconds.
    ready, later = _plan(all_results)
    on_start(len(ready) + sum(map(len, later.values())))
    if not ready:
        return
    failed: list[str] = []
    with _pool(processes) as pool:
        running: dict[Future[tuple[dict[str, Any], float]], Job] = {}

        def start() -> None:
            # Few at a time: what has not begun can be given up at an interrupt.
            while ready and len(running) < processes:
                job = ready.pop(0)
                tuning = job.results.tuning_of(job.method)
                plain = {} if tuning is None else tuning["options"]
                names = (job.results.task.name, job.method.name, job.seed)
                running[pool.submit(_do, *names, plain, folder, effort)] = job

        try:
            start()
            while running:
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    job = running.pop(future)
                    try:
                        outcome, seconds = future.result()
                    except BrokenProcessPool:
                        raise
                    except Exception as error:  # one method must not end the others
                        failed.append(f"{job}: {error}")
                        later.pop((job.results.task.name, job.method.name), None)
                        continue
                    if job.seed is None:
                        job.results.add_tuning(job.method, outcome)
                        ready[:0] = later.pop((job.results.task.name, job.method.name))
                    else:
                        job.results.add_run(job.method, job.seed, outcome)
                    on_job(job, seconds)
                start()
        except BrokenProcessPool:
            raise OSError(
                "A process ended without an answer, perhaps for want of memory. What was finished is kept; run the "
                "same command again to go on, or with --jobs 1 to need less memory."
            ) from None
    if failed:
        raise ValueError(f"{len(failed)} jobs failed, all others are done. The first: {failed[0]}")


def _plan(all_results: Sequence[Results]) -> tuple[list[Job], dict[tuple[str, str], list[Job]]]:
    """Return the jobs that can begin at once, and those that wait for a search."""
    ready: list[Job] = []
    later: dict[tuple[str, str], list[Job]] = {}
    for results in all_results:
        for method in results.task.methods:
            if not method.space and results.tuning_of(method) is None:
                results.add_tuning(method, {"options": {}, "trials": 0})
            known = results.tuning_of(method) is not None
            seeds = results.missing_seeds(method) if known else list(results.seeds)
            runs = [Job(results, method, seed) for seed in seeds]
            if known:
                ready.extend(runs)
            else:
                ready.append(Job(results, method, None))
                later[results.task.name, method.name] = runs
    return ready, later


@contextmanager
def _pool(processes: int) -> Iterator[ProcessPoolExecutor]:
    before = {name: os.environ.get(name) for name in _ONE_THREAD}
    os.environ.update(_ONE_THREAD)
    # Processes are started anew: a copy of one with threads of torch may hang.
    pool = ProcessPoolExecutor(processes, mp_context=get_context("spawn"), initializer=_end_with_parent)
    try:
        yield pool
    except BaseException:
        for process in list((pool._processes or {}).values()):
            process.terminate()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _end_with_parent() -> None:
    """End this process as soon as the one that started it has ended, even if that was killed."""
    parent = parent_process()
    assert parent is not None  # noqa: S101

    def watch() -> None:
        wait_for([parent.sentinel])
        os._exit(1)

    Thread(target=watch, daemon=True).start()


def _do(
    task_name: str, method_name: str, seed: int | None, plain: dict[str, Any], folder: Any, effort: Effort
) -> tuple[dict[str, Any], float]:
    """Do a job, in a process of its own; return its outcome and its seconds."""
    from clearset.experiments._all_tasks import task_named

    task: Task = task_named(task_name)
    method = task.method(method_name)
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of settings that did not converge
        if seed is None:
            outcome = tuned(task, method, folder, effort)
        else:
            outcome = task.run(method, as_options(method.space, plain), seed, folder, effort)
    return outcome, time.perf_counter() - start
