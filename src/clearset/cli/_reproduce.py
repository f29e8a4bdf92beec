"""``clearset reproduce``: the tables of the paper, computed again."""

from pathlib import Path
from typing import Annotated

import typer


def reproduce(
    tasks: Annotated[
        list[str] | None,
        typer.Argument(help="puzzles, intent, celeba, recipes, wine, churn, ablations, or all.", show_default="all"),
    ] = None,
    data: Annotated[
        Path | None, typer.Option(help="Folder of the data sets; else $CLEARSET_DATA, else ../shared/data.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Few examples, one seed: a few minutes.")] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder of results; else experiments/results, or quick in it.")
    ] = None,
    jobs: Annotated[int | None, typer.Option(help="Processes at once; else one a core.")] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Do everything again, also what is finished.")] = False,
) -> None:
    """Run the paper's tasks and write a table of each: the paper's figures, ours, and those of baselines.

    What an earlier run has finished is kept: after an interrupt, the same command goes on.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from clearset.experiments import reproduce as run

    console = Console(stderr=True, highlight=False)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console) as progress:
        bar = progress.add_task("reading", total=None)

        def on_start(total: int, kept: int) -> None:
            progress.update(bar, total=total, description="reproduce")
            if kept:
                progress.console.print(f"{kept} runs are kept from an earlier run; --fresh does them again.")

        def on_job(job: object, seconds: float) -> None:
            progress.console.print(f"{job} ({seconds:.0f} s)", markup=False, soft_wrap=True)
            progress.advance(bar)

        results = run(
            tasks or ["all"], data, output, quick=quick, fresh=fresh, jobs=jobs, on_start=on_start, on_job=on_job
        )
    for outcome in results:
        print(f"\n{outcome.task.title}\n", *outcome.table(), sep="\n")
    print(f"\nWritten to {results[0].path.parent}")
