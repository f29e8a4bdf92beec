"""``clearset edit``: a saved model with edits, verified, and what they change."""

from pathlib import Path
from typing import Annotated

import typer

from clearset.cli._options import KeyFile, Model, TableOptions


def edit(
    model: Model,
    options: TableOptions,
    undo: Annotated[
        int, typer.Option("--undo", count=True, help="First undo the last edit of MODEL; once more for each --undo.")
    ] = 0,
    drop_token: Annotated[list[str] | None, typer.Option(help="Token to take out: 'salt', or 'salt;lime'.")] = None,
    pin_token: Annotated[
        list[str] | None,
        typer.Option(help="Token and its mean label, or the share of a class: 'salt=0.3', or 'salt=0.3:thai'."),
    ] = None,
    flatten: Annotated[
        list[str] | None,
        typer.Option(help="Feature without effect: 'words', between values 'words=10:20', 'store=market;online'."),
    ] = None,
    cap: Annotated[
        list[str] | None, typer.Option(help="Feature whose effect stays beyond a value: 'price=:100'.")
    ] = None,
    forbid: Annotated[list[str] | None, typer.Option(help="Feature that is not to be used.")] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where to save the new model; by default it is not saved.")
    ] = None,
    data: Annotated[
        Path | None, typer.Option(help="CSV or Parquet, of the form the model was trained on, to compare on.")
    ] = None,
    label: Annotated[str | None, typer.Option(help="Column of DATA with the labels.")] = None,
    key_file: KeyFile = None,
) -> None:
    """Change a model by hand, in the order of the options below; print its edits and what they change."""
    from clearset.artifact import check_target
    from clearset.cli._edit_texts import edits_of
    from clearset.cli._keys import key_in, warn_of_lost_signatures
    from clearset.cli._model_data import load_model, read_shown

    if data is None and (label or options.given):
        raise ValueError("--label, --by and the like say how to read the data, but no --data was given.")
    key = key_in(key_file, to_sign=output is not None)
    if output is not None:
        check_target(output, model, data)
    fitted = load_model(model, key)
    shown = read_shown(fitted, data, options, label)
    texts = {"drop": drop_token, "pin": pin_token, "flatten": flatten, "cap": cap, "forbid": forbid}
    editor = fitted.edit()
    for _ in range(undo):
        editor.undo()
    for each in edits_of(fitted, {kind: given or [] for kind, given in texts.items()}):
        editor.apply(each)
    print(editor)
    print(repr(editor.model.certificate))
    if shown.X is not None:
        print(editor.compare(shown.X, shown.y))
    if output is not None:
        warn_of_lost_signatures(key, model)
        editor.model.save(output, key=key)
        print(f"Saved to {output}.")
