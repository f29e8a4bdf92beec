"""``clearset serve``: a saved model in the browser, and for other programs."""

from pathlib import Path
from typing import Annotated

import typer

from clearset.cli._options import Model, TableOptions


def serve(
    model: Model,
    options: TableOptions,
    data: Annotated[
        Path | None, typer.Option(help="CSV or Parquet, of the form the model was trained on: examples.")
    ] = None,
    compare: Annotated[
        Path | None, typer.Option(help="A saved model that was in use before: shows what changed on the data.")
    ] = None,
    edits_to: Annotated[
        Path | None, typer.Option(help="File that the page may save edited models to; by default it saves none.")
    ] = None,
    label: Annotated[str | None, typer.Option(help="Column of the data with the labels.")] = None,
    host: Annotated[str, typer.Option(help="Address to listen at; 0.0.0.0 lets other machines in.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen at; 0 for any that is free.", min=0, max=65535)] = 8000,
) -> None:
    """Explore a model in the browser, and offer it to other programs, until Ctrl-C."""
    from clearset.artifact import check_target
    from clearset.cli._model_data import load_model, read_shown
    from clearset.serve import LOOPBACK, check_alike, create_app, is_loopback, listening, run

    if data is None and (label or compare or options.given):
        raise ValueError("--label, --by, --compare and the like need data. Give some with --data.")
    if edits_to is not None:
        check_target(edits_to, model, data, compare)
    listening(host, port).close()  # fails at once if the port is taken
    fitted = load_model(model)
    other = None if compare is None else load_model(compare)
    if other is not None:
        check_alike(other, fitted, f"'{compare}'", f"'{model}'")
    shown = read_shown(fitted, data, options, label)
    own = is_loopback(host)
    app = create_app(
        fitted,
        shown.X,
        shown.y,
        names=shown.names,
        other=other,
        name="" if compare is None else compare.name,
        hosts=(*LOOPBACK, host) if own else None,
        edits_to=edits_to,
    )

    def ready(address: str) -> None:
        print(f"{address}  (Ctrl-C ends)", flush=True)
        if not own:
            print("Every machine that reaches this one can ask it, without a password.", flush=True)

    run(app, host, port, ready)
