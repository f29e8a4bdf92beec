"""``clearset importance``: what matters overall for the predictions of a saved model."""

from pathlib import Path
from typing import Annotated

import typer

from clearset.cli._options import Data, KeyFile, Model, TableOptions


def importance(
    model: Model,
    data: Data,
    options: TableOptions,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="PNG, SVG or PDF file for a plot; by default it is printed.")
    ] = None,
    label: Annotated[
        str | None, typer.Option(help="Class to look at, of several; by default each set's predicted one.")
    ] = None,
    permutation: Annotated[
        bool, typer.Option("--permutation", help="Shuffle features, within sets and between sets.")
    ] = False,
    target: Annotated[
        str | None, typer.Option(help="With --permutation, the column of labels: the score lost is told.")
    ] = None,
    top: Annotated[int, typer.Option(help="Features and tokens that are listed.", min=1)] = 20,
    key_file: KeyFile = None,
) -> None:
    """Rank features and tokens by how much they matter for predictions."""
    from clearset.artifact import check_target
    from clearset.cli._explanations import class_named, importance_lines
    from clearset.cli._keys import key_in
    from clearset.cli._model_data import load_model, read_for
    from clearset.cli._table_files import plain_column

    if target is not None and not permutation:
        raise ValueError("--target names the labels that --permutation compares with. Give both, or neither.")
    if output is not None:
        check_target(output, model, data)
        if output.suffix.lower() not in (".png", ".svg", ".pdf"):
            raise ValueError(f"'{output}' is no picture by its name. Use .png, .svg or .pdf.")
    fitted = load_model(model, key_in(key_file))
    wanted = None if label is None else class_named(fitted, label)
    table, X = read_for(fitted, data, options, [] if target is None else [target])
    labels = None if target is None else plain_column(table, target, data)
    method = "permutation" if permutation else "contribution"
    found = fitted.importance(X, labels, label=wanted, method=method)
    if output is not None:
        found.plot(most=top).savefig(output)
    else:
        print("\n".join(importance_lines(found, top)))
