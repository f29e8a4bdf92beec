"""``clearset serve``: a saved model in the browser, and for other programs."""

import os
from pathlib import Path
from typing import Annotated

import typer

from clearset.cli._options import KeyFile, Model, TableOptions

_KEY_VARIABLE = "CLEARSET_API_KEY"


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
        Path | None, typer.Option(help="File that the page may save edited models to; unsigned; by default none.")
    ] = None,
    label: Annotated[str | None, typer.Option(help="Column of the data with the labels.")] = None,
    host: Annotated[str, typer.Option(help="Address to listen at; 0.0.0.0 lets other machines in.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen at; 0 for any that is free.", min=0, max=65535)] = 8000,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(help="Name or address by which other machines ask, such as models.example; repeatable."),
    ] = None,
    api_key_file: Annotated[
        Path | None,
        typer.Option(help=f"File with the key that requests must bring; or the environment variable {_KEY_VARIABLE}."),
    ] = None,
    key_file: KeyFile = None,
) -> None:
    """Explore a model in the browser, and offer it to other programs, until Ctrl-C."""
    from clearset.artifact import check_target
    from clearset.cli._keys import key_in
    from clearset.cli._model_data import load_model, read_shown
    from clearset.serve import LOOPBACK, Access, check_alike, create_app, is_loopback, listening, run

    if data is None and (label or compare or options.given):
        raise ValueError("--label, --by, --compare and the like need data. Give some with --data.")
    if edits_to is not None:
        check_target(edits_to, model, data, compare)
    listening(host, port).close()  # fails at once if the port is taken
    access = Access((*LOOPBACK, host, *(allow_host or ())), _api_key(api_key_file))
    if access.key is None and not is_loopback(host):
        raise ValueError(
            f"With --host {host} other machines can ask, so that a key is needed. Write one to a file and name it by "
            f"--api-key-file, or set {_KEY_VARIABLE}."
        )
    key = key_in(key_file)
    fitted = load_model(model, key)
    other = None if compare is None else load_model(compare, key)
    if other is not None:
        check_alike(other, fitted, f"'{compare}'", f"'{model}'")
    shown = read_shown(fitted, data, options, label)
    app = create_app(
        fitted,
        shown.X,
        shown.y,
        names=shown.names,
        other=other,
        name="" if compare is None else compare.name,
        access=access,
        edits_to=edits_to,
    )

    def ready(address: str) -> None:
        print(f"{address}  (Ctrl-C ends)", flush=True)
        if access.key is not None:
            print("It needs the key: in a browser as the password, with any name.", flush=True)
        if not is_loopback(host):
            print(f"It may be asked as: {', '.join(access.hosts)}. --allow-host adds names.", flush=True)

    run(app, host, port, ready)


def _api_key(path: Path | None) -> str | None:
    """Return the key of a file, else that of the environment; None if there is none."""
    if path is None:
        return os.environ.get(_KEY_VARIABLE) or None
    try:
        with path.open(encoding="utf-8") as file:
            return file.read(10_000).strip()
    except OSError as error:
        raise ValueError(f"Cannot read --api-key-file '{path}': {error.strerror}.") from error
    except UnicodeError as error:
        raise ValueError(f"--api-key-file '{path}' is not a text file. Write the key alone into it.") from error
