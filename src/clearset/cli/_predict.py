"""``clearset predict``: the predictions of a saved model for a table."""

from pathlib import Path
from typing import Annotated, Any

import typer

from clearset.cli._options import Data, Model, TableOptions


def predict(
    model: Model,
    data: Data,
    options: TableOptions,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="CSV or Parquet file; by default CSV is printed.")
    ] = None,
    top: Annotated[
        int | None, typer.Option(help="Show so many classes, the most likely first, in place of all.", min=1)
    ] = None,
) -> None:
    """Predict the label of every set of a table."""
    import pyarrow as pa

    import clearset as cs
    from clearset.artifact import check_target
    from clearset.cli._model_data import read_for
    from clearset.cli._table_files import check_format, write_table
    from clearset.models import FittedJointModel

    by = options.by
    if by == "prediction":
        raise ValueError("The key column is named 'prediction', as the predictions are. Rename it.")
    if output is not None:
        check_format(output)
        check_target(output, model, data)
    loaded = cs.load(model)
    fitted = loaded.follow_on if isinstance(loaded, FittedJointModel) else loaded
    if not fitted.predicts:
        raise ValueError(f"'{model}' holds a {fitted.estimator}, which does not predict. Use it in Python.")
    link = fitted.link
    if top is not None and not link.has_probabilities:
        raise ValueError(f"--top is for classes, but '{model}' predicts a number.")
    table, X = read_for(loaded, data, options)
    if top is not None and link.classes is not None and top > len(link.classes):
        raise ValueError(f"--top is {top}, but the model knows {len(link.classes)} classes.")
    columns = {} if by is None else {by: table[by]}
    if isinstance(loaded, FittedJointModel):
        X = loaded.estimates(X)
    outputs = fitted.read(X).outputs()
    if top is not None:
        columns |= _most_likely(link.classes, link.probabilities(outputs), top)
    else:
        columns["prediction"] = pa.array(link.predictions(outputs))
        if link.classes is not None and link.has_probabilities:
            shares = link.probabilities(outputs)
            columns |= {f"proba_{each}": shares[:, k] for k, each in enumerate(link.classes)}
    write_table(pa.table(columns), output)


def _most_likely(classes: Any, shares: Any, top: int) -> dict[str, Any]:
    """Return the most likely classes, and their probabilities, as columns."""
    import numpy as np

    order = np.argsort(-shares, axis=1, kind="stable")
    columns = {}
    for place in range(top):
        number = "" if place == 0 else f"_{place + 1}"
        chosen = order[:, place]
        columns[f"prediction{number}"] = classes[chosen]
        columns[f"proba{number}"] = np.take_along_axis(shares, chosen[:, None], axis=1)[:, 0]
    return columns
