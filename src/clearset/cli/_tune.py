"""``clearset tune``: search for the options that do best, and save the best model."""

import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from clearset.cli._options import TrainingOptions

if TYPE_CHECKING:
    from clearset.tuning import Tuning

_SHOWN = 5
_FIGURES = (".png", ".pdf", ".svg")
_search = partial(typer.Option, rich_help_panel="Search")


def tune(
    options: TrainingOptions,
    budget: Annotated[int, _search(help="Trials in all.", min=1)] = 30,
    folds: Annotated[
        int | None,
        _search(help="Cross-validate with so many folds: for few examples, where one split is noise.", min=2, max=31),
    ] = None,
    seconds: Annotated[float | None, _search(help="Start no further trial after so long.")] = None,
    scoring: Annotated[
        str | None, _search(help="A scikit-learn scorer, such as accuracy; by default the loss.")
    ] = None,
    storage: Annotated[
        Path | None, _search(help="File of JSON lines to keep trials in; the same call goes on there.")
    ] = None,
    plot: Annotated[Path | None, _search(help="Where to draw the trials: .png, .pdf or .svg.")] = None,
) -> None:
    """Search for the options that do best on validation data, and save the best model.

    Takes the options of fit. What an option or the features file names stays so; the rest is searched.
    """
    from rich.console import Console

    import clearset as cs
    from clearset.cli._keys import key_in
    from clearset.cli._training import read_training
    from clearset.tuning import default_space

    if plot is not None:
        _check_figure(plot)
    for path in (options.data, options.validation):
        if path is not None and path.is_dir():
            raise ValueError(f"tune reads data into memory, but '{path}' is a folder. Give a CSV or Parquet file.")
    key = key_in(options.key_file, to_sign=True)
    training = read_training(options)
    space = default_space(training.model, training.X, training.y)
    space = {name: domain for name, domain in space.items() if name not in training.named}
    if not space:
        raise ValueError("Everything that could be searched is named already. Leave some options out.")
    console = Console(quiet=options.quiet, highlight=False, soft_wrap=True)
    training.announce(console)
    console.print(f"Searching {', '.join(space)}.", markup=False)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Tuning was interrupted")  # reported below
        tuning = cs.tune(
            training.model,
            training.X,
            training.y,
            training.held_out,
            budget,
            folds=folds,
            space=space,
            scoring=scoring,
            sample_weight=training.weights,
            seconds=seconds,
            storage=storage,
            random_state=options.seed,
            verbose=0 if options.quiet else 1,
        )
    tuning.best_estimator_.save(options.output, key=key)
    if tuning.interrupted_:
        typer.echo("Interrupted: this is the best model so far.", err=True)
    if plot is not None:
        tuning.plot().savefig(plot, dpi=150)
    for line in _lines(tuning):
        console.print(line, markup=False)
    drawn = "" if plot is None else f", trials drawn in {plot}"
    console.print(f"\nSaved to {options.output}{drawn}. Next: clearset predict {options.output} DATA", markup=False)


def _lines(tuning: "Tuning") -> Iterator[str]:
    """Yield the table of the best trials, and what was chosen."""
    from clearset.estimators import is_auto
    from clearset.tuning import words

    best = tuning.ranked()[:_SHOWN]
    width = max(len(tuning.metric), 10)
    yield f"\nBest of {len(tuning.trials)} trials:"
    yield f"trial  {tuning.metric:>{width}}  seconds  parameters"
    for trial in best:
        said = ", ".join(f"{name} {words(value)}" for name, value in trial["params"].items())
        given = " (as given)" if trial["number"] == 0 else ""
        yield f"{trial['number']:>5}  {words(trial['score']):>{width}}  {trial['seconds']:>7.1f}  {said}{given}"
    if failed := [trial for trial in tuning.trials if trial["error"]]:
        yield f"{len(failed)} trials failed; trial {failed[0]['number']}: {failed[0]['error']}"
    yield "\nChosen:"
    longest = max(map(len, tuning.best_params_))
    for name, value in tuning.best_params_.items():
        yield f"  {name:<{longest}}  {words(value)}"
    best_model = tuning.best_estimator_.as_model()
    if best_model.semantic and any(is_auto(value) for value in tuning.best_params_.values()):
        yield f"The model itself chose {best_model.setting}."


def _check_figure(path: Path) -> None:
    """Raise an error if a figure could not be drawn, before any work."""
    from clearset.artifact import check_target
    from clearset.tuning import need

    if path.suffix.lower() not in _FIGURES:
        raise ValueError(f"'{path}' is no figure by its name. Use {', '.join(_FIGURES)}.")
    check_target(path)
    need("matplotlib")
