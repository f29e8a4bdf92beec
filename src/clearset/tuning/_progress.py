"""The progress bar of `tune`."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress_bar(verbose: int, budget: int, done: int) -> Iterator[Callable[[int, str], None]]:
    """Show on standard error how many trials have ended, and the best so far; nothing where not verbose."""
    if not verbose:
        yield lambda _done, _text: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("tune"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("trials"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[text]}", markup=False),
    )
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task("tune", total=budget, completed=done, text="")
        yield lambda done, text: progress.update(task, completed=done, text=text)
