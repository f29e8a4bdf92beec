"""``clearset predict``: the predictions of a saved model for a table."""

from pathlib import Path
from typing import Annotated

import typer


def predict(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A saved model.")],
    data: Annotated[
        Path, typer.Argument(metavar="DATA", help="CSV or Parquet, of the form the model was trained on.")
    ],
    by: Annotated[str | None, typer.Option(help="Key column: which set a row belongs to.")] = None,
    set_columns: Annotated[str, typer.Option(help="Columns of whole sets in a long table: a,b.")] = "",
    output: Annotated[
        Path | None, typer.Option(help="CSV or Parquet file; by default CSV is printed.")
    ] = None,
) -> None:
    """Predict the label of every set of a table."""
    import pyarrow as pa

    import clearset as cs
    from clearset.artifact import check_target
    from clearset.cli._tables import check_format, columns_of_fit, names_in, read_sets, write_table

    if by == "prediction":
        raise ValueError("The key column is named 'prediction', as the predictions are. Rename it.")
    if output is not None:
        check_format(output)
        check_target(output)
    fitted = cs.load(model)
    table = read_sets(data, by, names_in(set_columns))
    X = columns_of_fit(table, fitted)
    columns = {} if by is None else {by: table[by]}
    columns["prediction"] = pa.array(fitted.predict(X))
    if hasattr(fitted, "predict_proba"):
        shares = fitted.predict_proba(X)
        columns |= {f"proba_{each}": shares[:, k] for k, each in enumerate(fitted.classes_)}
    write_table(pa.table(columns), output)
