"""The progress bar of `fit`."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def progress_bar(options: dict[str, Any]) -> Iterator[Callable[[dict[str, float]], None] | None]:
    """Show epochs and losses on standard error while fitting, where ``verbose`` asks for it."""
    if not options["verbose"]:
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("fit"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("epochs"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[losses]}"),
    )
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task("fit", total=options["epochs"] * options["restarts"], losses="")

        def on_epoch(entry: dict[str, float]) -> None:
            names = [name for name in ("loss", "validation_loss") if name in entry]
            losses = ", ".join(f"{name.replace('_', ' ')} {entry[name]:.4g}" for name in names)
            progress.update(task, advance=1, losses=losses)

        yield on_epoch
        progress.update(task, total=progress.tasks[0].completed)
