"""``clearset export``: a saved model as a file for other places."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from clearset.cli._options import KeyFile, Model


class Format(StrEnum):
    """What a model can be written as; a file of that kind ends in its name."""

    h = "h"
    onnx = "onnx"
    runtime = "runtime"
    sql = "sql"


class Dialect(StrEnum):
    """The databases that queries are written for."""

    duckdb = "duckdb"
    postgresql = "postgresql"
    sqlite = "sqlite"


def export(
    model: Model,
    output: Annotated[Path, typer.Argument(metavar="OUTPUT", help="The file; its ending names the format.")],
    format: Annotated[Format | None, typer.Option(help="By default what OUTPUT ends in.")] = None,  # noqa: A002
    explanations: Annotated[
        bool | None,
        typer.Option("--explanations/--predictions", help="Whether ONNX has scores and contributions too; by default."),
    ] = None,
    dialect: Annotated[Dialect | None, typer.Option(help="The database that SQL is written for.")] = None,
    table: Annotated[
        str | None, typer.Option(help="SQL: its table with a row for each token; by default tokens.")
    ] = None,
    key: Annotated[
        str | None, typer.Option(help="SQL: the column that names the set of a row; by default set.")
    ] = None,
    sets: Annotated[str | None, typer.Option(help="SQL: a table with a row for each set; by default none.")] = None,
    order: Annotated[
        str | None,
        typer.Option(help="SQL: the column by which tokens are in order, for models that read their places."),
    ] = None,
    key_file: KeyFile = None,
) -> None:
    """Write a model for another place, which scores the same without this package or with little of it."""
    from clearset.artifact import check_target
    from clearset.cli._keys import key_in
    from clearset.cli._model_data import load_model

    chosen = format or _by_ending(output)
    if explanations is not None and chosen is not Format.onnx:
        raise ValueError(f"--explanations and --predictions are for ONNX, not for {chosen}. Leave them out.")
    given = {"dialect": dialect and dialect.value, "table": table, "key": key, "sets": sets, "order": order}
    places: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if chosen is Format.sql and dialect is None:
        raise ValueError(f"SQL differs between databases. Give --dialect: {', '.join(Dialect)}.")
    if chosen is not Format.sql and places:
        raise ValueError(
            f"--dialect, --table, --key, --sets and --order are for SQL, not for {chosen}. Leave them out."
        )
    check_target(output, model)
    signing = key_in(key_file, to_sign=chosen is Format.runtime)
    fitted = load_model(model, signing)
    if chosen is Format.sql:
        files = fitted.to_sql(**places).write(output)
        print(f"The model is in {' and '.join(map(str, files))}.")
        return
    if chosen is Format.h:
        fitted.to_c(output)
    elif chosen is Format.runtime:
        fitted.to_runtime(output, key=signing)
    elif chosen is Format.onnx:
        fitted.to_onnx(output, explanations=explanations is not False)
    print(f"The model is in {output}.")


def _by_ending(output: Path) -> Format:
    ending = output.suffix.lower().removeprefix(".")
    if ending not in list(Format):
        allowed = ", ".join(f".{each}" for each in Format)
        raise ValueError(f"'{output}' does not tell the format. End its name with one of {allowed}, or give --format.")
    return Format(ending)
