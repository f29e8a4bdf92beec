"""All commands together; errors become one line and an exit status."""

import sys
import warnings
from collections.abc import Sequence
from typing import Annotated

import typer

from clearset.cli._card import card
from clearset.cli._demo import demo
from clearset.cli._edit import edit
from clearset.cli._explain import explain
from clearset.cli._export import export
from clearset.cli._fit import fit
from clearset.cli._importance import importance
from clearset.cli._options import spelled_out
from clearset.cli._predict import predict
from clearset.cli._report import report
from clearset.cli._reproduce import reproduce
from clearset.cli._serve import serve
from clearset.cli._table import tables
from clearset.cli._tune import tune
from clearset.cli._verify import verify

app = typer.Typer(help="Interpretable learning on sets.", add_completion=False, pretty_exceptions_enable=False)
for command in (demo, fit, predict, explain, importance, report, serve, verify, card, export, edit, tune, reproduce):
    app.command()(spelled_out(command))
app.add_typer(tables, name="table")


def _show_version(wanted: bool) -> None:
    if wanted:
        from clearset import __version__

        print(__version__)
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Interpretable learning on sets."""


# Typer brings its own copy of click in newer versions; this base of BadParameter is right in all of them.
_UsageError: type[typer.BadParameter] = typer.BadParameter.__mro__[1]
_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status.

    Parameters
    ----------
    arguments : sequence of str, optional
        What was typed after ``clearset``; by default what the process was started with.

    Returns
    -------
    int
        0; 1 after an error; 2 after a wrong call; 130 after Ctrl-C.

    Examples
    --------
    >>> import contextlib, io
    >>> from clearset.cli import main
    >>> with contextlib.redirect_stderr(io.StringIO()) as errors:
    ...     status = main(["verify", "nothing.clearset"])
    >>> status, errors.getvalue().startswith("clearset: Cannot read 'nothing.clearset'")
    (1, True)
    """
    typed = list(sys.argv[1:] if arguments is None else arguments)
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning
        return _run(typed)


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    print("clearset: warning:", " ".join(str(message).split()), file=sys.stderr)


def _run(typed: list[str]) -> int:
    try:
        status = app(typed or ["--help"], prog_name="clearset", standalone_mode=False)
    except _UsageError as error:
        return _fail(f"{error.format_message().rstrip('.')}. See 'clearset --help'.", 2)
    except (ValueError, TypeError, OSError, ImportError, ArithmeticError, RecursionError) as error:
        return _fail(str(error), 1)
    except (KeyboardInterrupt, typer.Abort):
        status = _INTERRUPTED
    if status == _INTERRUPTED:
        return _fail("interrupted.", _INTERRUPTED)
    return int(status or 0)


def _fail(message: str, status: int) -> int:
    print("clearset:", " ".join(message.split()), file=sys.stderr)
    return status
