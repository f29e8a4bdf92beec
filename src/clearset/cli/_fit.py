"""``clearset fit``: train a model on a table and save it."""

from pathlib import Path

import typer

from clearset.cli import _training as options
from clearset.cli._item_columns import Separator


def fit(
    data: options.Data,
    label: options.Label,
    features: options.FeaturesFile = None,
    by: options.By = None,
    set_columns: options.SetColumns = "",
    task: options.TaskOption = None,
    output: options.Output = Path("model.clearset"),
    validation: options.Validation = None,
    weight: options.Weight = None,
    width: options.Width = None,
    loss: options.LossOption = None,
    epochs: options.Epochs = None,
    learning_rate: options.LearningRate = None,
    batch_size: options.BatchSize = None,
    seed: options.Seed = None,
    jobs: options.Jobs = None,
    quiet: options.Quiet = False,
    column: options.Column = None,
    tokens: options.Tokens = None,
    min_count: options.MinCount = None,
    max_interval: options.MaxInterval = None,
    cover: options.Cover = None,
    refine: options.Refine = None,
    separator: Separator = None,
) -> None:
    """Train a model on a table and save it.

    Features are numbers, or with --column the items of lists or the words of texts.
    """
    from rich.console import Console

    from clearset.artifact import check_target
    from clearset.cli._summary import summary

    check_target(output, data, validation, features)
    training = options.read_training(
        data, label, features=features, by=by, set_columns=set_columns, task=task, validation=validation,
        weight=weight, column=column, tokens=tokens, min_count=min_count, max_interval=max_interval, cover=cover,
        refine=refine, separator=separator,
        parameters={
            "width": width, "loss": loss, "epochs": epochs, "learning_rate": learning_rate,
            "batch_size": batch_size, "random_state": seed, "n_jobs": jobs, "verbose": 0 if quiet else None,
        },
    )  # fmt: skip
    console = Console(quiet=quiet, highlight=False, soft_wrap=True)
    console.print(training.title, markup=False)
    model, y, weights, held_out = training.model, training.y, training.weights, training.held_out
    model.fit(training.X, y, sample_weight=weights, validation_data=held_out)
    model.save(output)
    if model.interrupted_:
        typer.echo("Interrupted: this is the best model so far.", err=True)
    for line in summary(model, y, weights, held_out):
        console.print(line, markup=False)
    console.print(f"\n{model.certificate_}", markup=False)
    console.print(f"\nSaved to {output}. Next: clearset predict {output} DATA", markup=False)
