"""``clearset predict``: the predictions of a saved model for a table."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clearset.cli._options import DataOrFolder, Ids, KeyFile, MaxMemory, Model, Quiet, TableOptions

if TYPE_CHECKING:
    from clearset.functions import Link


def predict(
    model: Model,
    data: DataOrFolder,
    options: TableOptions,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="CSV or Parquet file; by default CSV is printed.")
    ] = None,
    top: Annotated[
        int | None, typer.Option(help="Show so many classes, the most likely first, in place of all.", min=1)
    ] = None,
    ids: Ids = None,
    max_memory: MaxMemory = None,
    key_file: KeyFile = None,
    quiet: Quiet = False,
) -> None:
    """Predict the label of every set of a table."""
    import numpy as np
    import pyarrow as pa

    import clearset as cs
    from clearset.artifact import check_target
    from clearset.cli._batches import batches_for, in_batches, reported
    from clearset.cli._keys import key_in
    from clearset.cli._model_data import read_for
    from clearset.cli._sets_read import tell_sets
    from clearset.cli._table_files import check_format, write_table, writing
    from clearset.engines import started_by_torchrun

    if started_by_torchrun() and os.environ.get("RANK", "0") != "0":
        return  # predictions are made by one process

    if output is not None:
        check_format(output)
        check_target(output, model, data)
    fitted = cs.load(model, key=key_in(key_file))
    if not fitted.predicts:
        raise ValueError(f"'{model}' holds a {fitted.estimator}, which does not predict. Use it in Python.")
    link = fitted.link
    if top is not None and not link.has_probabilities:
        raise ValueError(f"--top is for classes, but '{model}' predicts a number.")
    if top is not None and link.classes is not None and top > len(link.classes):
        raise ValueError(f"--top is {top}, but the model knows {len(link.classes)} classes.")
    copied = [name for name in (options.by, *(ids or ())) if name is not None]
    for name in _predictions(link, np.empty((0, link.n_outputs)), top):  # of no sets, for the names of the columns
        if name in copied:
            raise ValueError(f"Column {name!r} of '{data}' is named as a column of the predictions is. Rename it.")

    def rows(table: pa.Table, reading: Any) -> pa.Table:
        return pa.table({name: table[name] for name in copied} | _predictions(link, reading.outputs(), top))

    if in_batches(data, max_memory):
        with reported(data, "Predicting", quiet) as stream, writing(output) as write:
            for table, X in batches_for(fitted, stream, data, options, copied, max_memory):
                write(rows(table, fitted.read(X)))
        return
    table, X = read_for(fitted, data, options, copied)
    reading = fitted.read(X)
    if not quiet:
        tell_sets(fitted, reading)
    write_table(rows(table, reading), output)


def _predictions(link: "Link", outputs: Any, top: int | None) -> dict[str, Any]:
    """Return predictions, and probabilities where there are some, as columns."""
    if top is not None:
        return _most_likely(link.classes, link.probabilities(outputs), top)
    columns: dict[str, Any] = {"prediction": link.predictions(outputs)}
    if link.classes is not None and link.has_probabilities:
        shares = link.probabilities(outputs)
        columns |= {f"proba_{each}": shares[:, k] for k, each in enumerate(link.classes)}
    return columns


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
