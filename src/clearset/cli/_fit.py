"""``clearset fit``: train a model on a table and save it."""

import warnings
from contextlib import ExitStack, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from clearset.cli._options import TrainingOptions


def fit(
    options: TrainingOptions,
    max_memory: Annotated[
        str | None, typer.Option(help="Memory to use for Parquet files that are read piece by piece, such as 2GB.")
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(help="File to keep progress in: after a crash the same command goes on. Removed at the end."),
    ] = None,
) -> None:
    """Train a model on a table and save it.

    Features are numbers, or with --column the items of lists or the words of texts. DATA may be a folder of Parquet
    files that need not fit into memory.
    """
    from rich.console import Console

    from clearset.cli._fit_summary import summary
    from clearset.cli._keys import key_in
    from clearset.cli._training import read_training
    from clearset.engines import OneProcess, several_processes, started_by_torchrun
    from clearset.estimators import kept_in

    key = key_in(options.key_file, to_sign=True)
    with ExitStack() as until_saved:
        with several_processes() if started_by_torchrun() else nullcontext(OneProcess()) as processes:
            if processes.rank > 0:  # one of them speaks and writes for all
                options = replace(options, quiet=True)
            if options.quiet:
                warnings.simplefilter("ignore")
            training = read_training(options, max_memory)
            console = Console(quiet=options.quiet, highlight=False, soft_wrap=True)
            training.announce(console)
            model, y, weights, held_out = training.model, training.y, training.weights, training.held_out
            label, weight = training.columns or (y, weights)
            until_saved.enter_context(kept_in(checkpoint, model))  # the disk may be full when it is to be saved
            model.fit(training.X, label, sample_weight=weight, validation_data=held_out)
        if processes.rank > 0:
            return
        model.save(options.output, key=key)
    if model.interrupted_:
        typer.echo("Interrupted: this is the best model so far.", err=True)
        if checkpoint is not None:
            typer.echo(f"The same command goes on from '{checkpoint}'.", err=True)
    for line in summary(model, y, weights, held_out):
        console.print(line, markup=False)
    console.print(f"\n{model.certificate_}", markup=False)
    console.print(f"\nSaved to {options.output}. Next: clearset predict {options.output} DATA", markup=False)
