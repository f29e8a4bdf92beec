"""``clearset serve``: a saved model in the browser, and for other programs."""

import os
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from clearset.cli._options import KeyFile, Model, TableOptions

_KEY_VARIABLE = "CLEARSET_API_KEY"
_most = partial(typer.Option, rich_help_panel="Limits", show_default=False, min=1)


class LogFormat(StrEnum):
    """What lines of the log look like."""

    text = "text"
    json = "json"
    none = "none"


@dataclass(frozen=True, kw_only=True)
class LimitOptions:
    """How much is answered; what is None is as usual."""

    max_body: Annotated[int | None, _most(help="Bytes of the body of a request; usually 10 million.")] = None
    max_sets: Annotated[int | None, _most(help="Sets of a request; usually 100,000.")] = None
    max_tokens: Annotated[int | None, _most(help="Tokens of a prediction; usually 10 million.")] = None
    max_rows: Annotated[int | None, _most(help="Rows of an explanation; usually 20,000.")] = None
    max_waiting: Annotated[int | None, _most(help="Requests that wait for others; usually 100.")] = None
    max_seconds: Annotated[int | None, _most(help="Seconds that a request waits and is computed; usually 30.")] = None

    @property
    def given(self) -> dict[str, int]:
        """The limits that were given, by their names in `Limits`."""
        return {name.removeprefix("max_"): value for name, value in vars(self).items() if value is not None}


def serve(
    model: Model,
    options: TableOptions,
    limits: LimitOptions,
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
    processes: Annotated[
        int | None,
        typer.Option(help="Processes that compute; by default one more than there are processors.", min=1, max=256),
    ] = None,
    log_format: Annotated[LogFormat, typer.Option(help="The log of requests, on standard error.")] = LogFormat.text,
) -> None:
    """Explore a model in the browser, and offer it to other programs, until Ctrl-C."""
    from clearset.artifact import check_target
    from clearset.cli._keys import key_in
    from clearset.cli._model_data import load_model, read_shown
    from clearset.serve import (
        LOOPBACK,
        Access,
        Limits,
        check_alike,
        create_app,
        is_loopback,
        listening,
        log_to_stderr,
        run,
        usual_number,
    )

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
        other=None if compare is None or other is None else (compare.name, other),
        access=access,
        edits_to=edits_to,
        limits=Limits(**limits.given, processes=(processes or usual_number()) if hasattr(os, "fork") else 0),
    )
    if log_format is not LogFormat.none:
        log_to_stderr(log_format.value)

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
