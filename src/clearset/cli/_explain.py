"""``clearset explain``: what each token of a set adds to the prediction of a saved model."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from clearset.cli._options import DataOrFolder, Ids, KeyFile, MaxMemory, Model, Quiet, TableOptions

if TYPE_CHECKING:
    import pyarrow as pa

_SETS, _TOP = 3, 10


def explain(
    model: Model,
    data: DataOrFolder,
    options: TableOptions,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="CSV, Parquet or JSON file for all sets; by default a few are printed."),
    ] = None,
    label: Annotated[
        str | None, typer.Option(help="Class to explain, of several; by default the predicted one.")
    ] = None,
    effects: Annotated[
        bool, typer.Option("--effects", help="Find the best and worst value of every feature; JSON only.")
    ] = False,
    sets: Annotated[
        int | None, typer.Option(help="Sets that are printed, from the first on.", min=1, show_default=str(_SETS))
    ] = None,
    top: Annotated[
        int | None,
        typer.Option(
            help="Tokens and features that are printed for each set, those that add most.",
            min=1,
            show_default=str(_TOP),
        ),
    ] = None,
    reasons: Annotated[
        int | None, typer.Option(help="Name so many tokens and features that lowered each prediction most.", min=1)
    ] = None,
    raised: Annotated[bool, typer.Option("--raised", help="With --reasons, those that raised it most.")] = False,
    ids: Ids = None,
    max_memory: MaxMemory = None,
    key_file: KeyFile = None,
    quiet: Quiet = False,
) -> None:
    """Explain predictions: what every token of every set adds to the base rate."""
    from clearset.artifact import check_target
    from clearset.cli._batches import batches_for, first_rows, in_batches, reported
    from clearset.cli._explanations import (
        check_output,
        check_printed,
        class_named,
        explained_lines,
        reason_lines,
        rows_of_explanation,
        rows_of_reasons,
        write_explanation,
    )
    from clearset.cli._id_columns import called_by, with_ids
    from clearset.cli._keys import key_in
    from clearset.cli._model_data import load_model, read_for
    from clearset.cli._sets_read import tell_sets
    from clearset.cli._table_files import write_table, writing

    if raised and reasons is None:
        raise ValueError("--raised says which reasons are meant. Give their number: --reasons 3.")
    check_output(output, effects, reasons)
    check_printed(output, sets, top, reasons)
    sets, top = sets or _SETS, top or _TOP
    direction = "raised" if raised else "lowered"
    if output is not None:
        check_target(output, model, data)
    fitted = load_model(model, key_in(key_file))
    wanted = None if label is None else class_named(fitted, label)
    copied = [name for name in ids or () if name != options.by]

    def rows(table: "pa.Table", X: "pa.Table", first_set: int = 0) -> "pa.Table":
        explanation = fitted.explain(X, wanted)
        keys = None if options.by is None else (options.by, table[options.by].combine_chunks())
        if reasons is not None:
            return rows_of_reasons(explanation.reasons(reasons, direction), table, copied, keys, first_set)
        return rows_of_explanation(with_ids(explanation, table, copied), keys, output, first_set)

    if in_batches(data, max_memory):
        if output is not None and output.suffix.lower() == ".json":
            raise ValueError("JSON is written whole, not in batches. Give a .csv or .parquet file.")
        keyed = [*([] if options.by is None else [options.by]), *copied]
        with reported(data, "Explaining", quiet or output is None) as stream:
            batches = batches_for(fitted, stream, data, options, keyed, max_memory)
            if output is not None:
                with writing(output) as write:
                    first_set = 0
                    for table, X in batches:
                        write(rows(table, X, first_set))
                        first_set += len(table)
                return
            table, X = first_rows(batches, sets)
    else:
        table, X = read_for(fitted, data, options, copied)
        if not quiet:
            tell_sets(fitted, fitted.read(X))
    if output is None:
        table, X = table.slice(0, sets), X.slice(0, sets)
        explanation = fitted.explain(X, wanted, effects=effects)
        called = called_by(table, copied if options.by is None else [options.by, *copied])
        lines = (
            explained_lines(explanation, called, top)
            if reasons is None
            else reason_lines(explanation, called, reasons, direction)
        )
        print("\n".join(lines))
        return
    if output.suffix.lower() != ".json":
        write_table(rows(table, X), output)
        return
    keys = None if options.by is None else (options.by, table[options.by].combine_chunks())
    write_explanation(with_ids(fitted.explain(X, wanted, effects=effects), table, copied), keys, output)
