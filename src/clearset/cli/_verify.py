"""``clearset verify``: whether a saved model satisfies its declared constraints."""

from pathlib import Path
from typing import Annotated

import typer

from clearset.cli._options import By, CsvFormat, KeyFile, Model, SetColumns


def verify(
    model: Model,
    form: CsvFormat,
    data: Annotated[
        Path | None, typer.Argument(metavar="[DATA]", help="CSV or Parquet to probe the model on as well.")
    ] = None,
    by: By = None,
    set_columns: SetColumns = "",
    key_file: KeyFile = None,
) -> None:
    """Print the certificate of a model; exit status 1 if it does not hold."""
    import clearset as cs
    from clearset.cli._keys import key_in
    from clearset.cli._table_files import columns_of_fit, names_in, read_sets
    from clearset.models import SetModel

    if data is None and (by or set_columns or form.given):
        raise ValueError("--by and the like say how to read DATA, but no DATA was given.")
    fitted = cs.load(model, key=key_in(key_file))
    if data is None:
        certificate = fitted.verify()
    elif isinstance(fitted, SetModel):
        certificate = fitted.verify(columns_of_fit(read_sets(data, form, by, names_in(set_columns)), fitted))
    else:
        raise ValueError("A model of items or texts is probed with tokens of every kind. Leave DATA out.")
    print(certificate)
    if not certificate:
        raise ValueError(f"'{model}' breaks a declared constraint. Train it again and do not use this file.")
