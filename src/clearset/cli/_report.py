"""``clearset report``: a saved model as one HTML file."""

from pathlib import Path
from typing import Annotated

import typer

from clearset.cli._options import KeyFile, Model, TableOptions


def report(
    model: Model,
    options: TableOptions,
    data: Annotated[
        Path | None,
        typer.Argument(metavar="[DATA]", help="CSV or Parquet, of the form the model was trained on, to show it on."),
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="The HTML file.")] = Path("report.html"),
    label: Annotated[str | None, typer.Option(help="Column of DATA with the labels, to see how good it is.")] = None,
    title: Annotated[
        str | None, typer.Option(help="What stands above the report; by default the kind of model.")
    ] = None,
    key_file: KeyFile = None,
) -> None:
    """Write a model as one HTML file that evaluates it in the browser."""
    from clearset.artifact import check_target
    from clearset.cli._keys import key_in
    from clearset.cli._model_data import load_model, read_shown

    if data is None and (label or options.given):
        raise ValueError("--label, --by and the like say how to read DATA, but no DATA was given.")
    if output.suffix.lower() not in (".html", ".htm", ""):
        raise ValueError(f"'{output}' would hold HTML. End its name with .html.")
    check_target(output, model, data)
    fitted = load_model(model, key_in(key_file))
    shown = read_shown(fitted, data, options, label)
    fitted.report(output, shown.X, shown.y, names=shown.names, title=title)
    print(f"The report is in {output}.")
