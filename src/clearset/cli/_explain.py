"""``clearset explain``: what each token of a set adds to the prediction of a saved model."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clearset.cli._item_columns import CSV_SEPARATOR, Separator

if TYPE_CHECKING:
    import pyarrow as pa

    from clearset.models import Explanation, Model


def explain(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A saved model.")],
    data: Annotated[
        Path, typer.Argument(metavar="DATA", help="CSV or Parquet, of the form the model was trained on.")
    ],
    by: Annotated[str | None, typer.Option(help="Key column: which set a row belongs to.")] = None,
    set_columns: Annotated[str, typer.Option(help="Columns of whole sets in a long table: a,b.")] = "",
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="CSV, Parquet or JSON file for all sets; by default a few are printed."
        ),
    ] = None,
    column: Annotated[
        list[str] | None, typer.Option(help="Column of items, if not of the name the model was trained on.")
    ] = None,
    separator: Separator = None,
    label: Annotated[
        str | None, typer.Option(help="Class to explain, of several; by default the predicted one.")
    ] = None,
    effects: Annotated[
        bool, typer.Option("--effects", help="Find the best and worst value of every feature; JSON only.")
    ] = False,
    sets: Annotated[int, typer.Option(help="Sets that are printed, from the first on.", min=1)] = 3,
    top: Annotated[
        int, typer.Option(help="Tokens that are printed for each set, those with the largest share.", min=1)
    ] = 10,
) -> None:
    """Explain predictions: what every token of every set adds."""
    import clearset as cs
    from clearset.artifact import check_target
    from clearset.cli._explained_lines import explained_lines
    from clearset.cli._model_data import read_for
    from clearset.cli._table_files import names_in

    _check_output(output, effects)
    if output is not None:
        check_target(output, model, data)
    fitted = cs.load(model)
    wanted = None if label is None else _class_named(fitted, label)
    table, X = read_for(fitted, data, by, names_in(set_columns), column or [], separator)
    if output is None:
        table, X = table.slice(0, sets), X.slice(0, sets)
    explanation = fitted.explain(X, wanted, effects=effects)
    keys = None if by is None else table[by].combine_chunks()
    if output is None:
        print(
            "\n".join(
                explained_lines(explanation, None if keys is None else (str(by), keys.to_pylist()), X, top)
            )
        )
    else:
        _write(explanation, None if keys is None else (str(by), keys), output)


def _check_output(output: Path | None, effects: bool) -> None:
    from clearset.cli._table_files import check_format

    as_json = output is not None and output.suffix.lower() == ".json"
    if output is not None and not as_json:
        try:
            check_format(output)
        except ValueError:
            raise ValueError(f"'{output}' is neither .csv, .parquet nor .json. Use one of these.") from None
    if effects and not as_json:
        raise ValueError("--effects are written to JSON only. Give a file: --output explanation.json.")


def _class_named(model: "Model", label: str) -> Any:
    """Return the class with this name; raise an error where it cannot be explained."""
    from clearset.cli._table_files import did_you_mean

    if model.link.classes is None:
        raise ValueError(
            f"--label is {label!r}, but the model has no classes: it predicts a number. Leave it out."
        )
    classes = model.link.classes.tolist()
    names = {str(each): each for each in classes}
    if label not in names:
        raise ValueError(
            f"--label is {label!r}, which is no class of the model. {did_you_mean(label, names)}"
        )
    if len(classes) == 2 and label == str(classes[0]):
        raise ValueError(
            f"--label is {label!r}, the first of two classes; explanations speak for the second, {classes[1]!r}, and "
            "what is added to the one is taken from the other. Leave it out."
        )
    return names[label]


def _write(explanation: "Explanation", keys: "tuple[str, pa.Array] | None", path: Path) -> None:
    """Write all sets to a file; keys, if given, replace the numbers of the sets."""
    import json

    from clearset.cli._table_files import write_table

    if path.suffix.lower() == ".json":
        document = explanation.to_json()
        if keys is not None:
            for each, key in zip(document["sets"], keys[1].to_pylist(), strict=True):
                each["key"] = None if key != key else key  # NaN is no JSON
        path.write_text(json.dumps(document, ensure_ascii=False, allow_nan=False, default=str), "utf-8")
        return
    frame = explanation.to_frame()
    if keys is not None:
        name, column = keys
        if name in frame.column_names[1:]:
            raise ValueError(
                f"The key column is named {name!r}, as a column of the explanation is. Rename it."
            )
        frame = frame.set_column(0, name, column.take(frame["set"]))
    write_table(_without_lists(frame) if path.suffix.lower() == ".csv" else frame, path)


def _without_lists(table: "pa.Table") -> "pa.Table":
    """Replace lists by text, which CSV can hold, and make a column of each field of a structure."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    from clearset.cli._table_files import list_columns

    table = table.flatten().combine_chunks()
    for name in list_columns(table):
        column = table[name].combine_chunks()
        lengths = pc.list_value_length(column).fill_null(0).to_numpy()
        absent = np.append(column.is_null().to_numpy(zero_copy_only=False), False)
        offsets = pa.array(np.append(0, lengths.cumsum()).astype(np.int32), mask=absent)
        texts = pa.ListArray.from_arrays(offsets, pc.list_flatten(column).cast(pa.string()))
        table = table.set_column(table.column_names.index(name), name, pc.binary_join(texts, CSV_SEPARATOR))
    return table
