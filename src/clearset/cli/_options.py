"""The options that several commands take, each declared once."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from enum import StrEnum
from functools import partial, wraps
from pathlib import Path
from typing import Annotated, Any

import typer

CSV_SEPARATOR = ";"
TOKENS_HELP = "items, words, subsets, subsets:3, ngrams:3, cross, difference:1, or several, such as subsets:2+words."
COLUMN_HELP = "Column of items; for cross and difference give it twice."
MIN_COUNT_HELP = "The least number of examples of a token."
MAX_INTERVAL_HELP = "The greatest width of the mean label's 95% interval."

Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A saved model.")]
Data = Annotated[Path, typer.Argument(metavar="DATA", help="CSV or Parquet, of the form the model was trained on.")]
DataOrFolder = Annotated[
    Path,
    typer.Argument(
        metavar="DATA", help="CSV, Parquet or a folder of Parquet files, of the form the model was trained on."
    ),
]
By = Annotated[str | None, typer.Option(help="Key column: which set a row belongs to.")]
SetColumns = Annotated[str, typer.Option(help="Columns of whole sets in a long table: a,b.")]
Separator = Annotated[str | None, typer.Option(help="What stands between the items of a text; ';' by default in CSV.")]
FeaturesFile = Annotated[Path | None, typer.Option(help="YAML or TOML with features, trusts and model.")]
Ids = Annotated[
    list[str] | None, typer.Option("--id", help="Column with one value a set that is copied to the output; repeatable.")
]
MaxMemory = Annotated[
    str | None, typer.Option(help="Read Parquet in batches that take no more memory, such as 2GB; folders always are.")
]
KeyFile = Annotated[
    Path | None,
    typer.Option(
        envvar="CLEARSET_KEY_FILE",
        help="File with the key of signed files: what is read must be signed with it, what is saved is.",
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", help="No messages but errors.")]


def _one_character(given: str | None) -> str | None:
    character = "\t" if given in ("tab", "\\t") else given
    if character is not None and (len(character) != 1 or not character.isascii() or character in '"\r\n'):
        raise typer.BadParameter(f"{given!r} is not one character such as ';', and not tab.")
    return character


def _point_or_comma(given: str | None) -> str | None:
    if given not in (None, ".", ","):
        raise typer.BadParameter(f"{given!r} is neither , nor the usual point.")
    return given


def _known_encoding(given: str | None) -> str | None:
    try:
        "".encode(given or "utf-8")
    except (LookupError, ValueError):
        raise typer.BadParameter(f"{given!r} is unknown. Use utf-8, latin-1, cp1252 or utf-16, for example.") from None
    return given


def _whole_or_auto(given: str) -> int | str:
    try:
        return given if given == "auto" else int(given)
    except ValueError:
        raise typer.BadParameter(f"{given!r} is neither a whole number nor auto.") from None


# Typer takes no unions: the parser says what there may be.
_count = partial(typer.Option, parser=_whole_or_auto, metavar="<int>|auto")
_of_csv = partial(typer.Option, rich_help_panel="CSV files", show_default=False)


@dataclass(frozen=True, kw_only=True)
class CsvFormat:
    """How CSV files are written; what is None is as usual."""

    delimiter: Annotated[
        str | None, _of_csv(help="What stands between columns: a character or tab; usually ,", callback=_one_character)
    ] = None
    decimal: Annotated[
        str | None, _of_csv(help="What stands before decimals; usually a point.", callback=_point_or_comma)
    ] = None
    encoding: Annotated[
        str | None, _of_csv(help="Such as latin-1, cp1252 or utf-16; usually utf-8.", callback=_known_encoding)
    ] = None

    @property
    def given(self) -> bool:
        """Whether any option was given."""
        return any(vars(self).values())


@dataclass(frozen=True)
class TableOptions(CsvFormat):
    """How to read a table for a saved model."""

    by: By = None
    set_columns: SetColumns = ""
    column: Annotated[
        list[str] | None, typer.Option(help="Column of items, if not of the name the model was trained on.")
    ] = None
    separator: Separator = None


class Task(StrEnum):
    """What the label is."""

    regression = "regression"
    classification = "classification"


_MODEL = Path("model.clearset")
_of_strings = partial(typer.Option, rich_help_panel="Sets of strings, and texts")


@dataclass(frozen=True)
class TrainingOptions(CsvFormat):
    """What to train, on which data, and where to save it; what is None is left to the estimator."""

    data: Annotated[
        Path, typer.Argument(metavar="DATA", help="CSV or Parquet: one row a set, or with --by one row a token.")
    ]
    label: Annotated[str, typer.Option(help="Column to predict.")]
    features: FeaturesFile = None
    by: By = None
    set_columns: SetColumns = ""
    ignore: Annotated[str, typer.Option(help="Columns that are not to be features: a,b.")] = ""
    task: Annotated[Task | None, typer.Option(help="By default what the label looks like.")] = None
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to save the model.")] = _MODEL
    validation: Annotated[Path | None, typer.Option(help="Table to validate on, of the form of DATA.")] = None
    weight: Annotated[str | None, typer.Option(help="Column with the weight of each set.")] = None
    width: Annotated[int | None, typer.Option(help="Number of scores of a token.")] = None
    loss: Annotated[str | None, typer.Option(help="What training minimises.")] = None
    epochs: Annotated[Any, _count(help="Largest number of passes over the data.")] = None
    learning_rate: Annotated[float | None, typer.Option(help="Step size of the optimizer.")] = None
    batch_size: Annotated[Any, _count(help="Sets in a step.")] = None
    seed: Annotated[int | None, typer.Option(help="Seed; the same seed gives the same model.")] = None
    jobs: Annotated[int | None, typer.Option(help="Number of threads.")] = None
    device: Annotated[str | None, typer.Option(help="Where to train: cpu, or cuda for an NVIDIA GPU.")] = None
    key_file: KeyFile = None
    quiet: Quiet = False
    column: Annotated[
        list[str] | None, _of_strings(help=f"{COLUMN_HELP} Several without --tokens make a joint model.")
    ] = None
    joint: Annotated[
        bool, _of_strings("--joint", help="One model of all columns: items, texts, numbers and categories.")
    ] = False
    tokens: Annotated[str | None, _of_strings(help=f"{TOKENS_HELP} By default chosen.")] = None
    min_count: Annotated[int | None, _of_strings(help=MIN_COUNT_HELP)] = None
    max_interval: Annotated[float | None, _of_strings(help=MAX_INTERVAL_HELP)] = None
    cover: Annotated[bool | None, _of_strings("--cover/--all", help="Whether larger tokens shadow smaller ones.")] = (
        None
    )
    refine: Annotated[bool | None, _of_strings(help="Whether to learn corrections of items.")] = None
    separator: Separator = None


def spelled_out(command: Callable[..., None]) -> Callable[..., None]:
    """Let a command take the fields of data classes as options; typer knows plain parameters only."""
    signature = inspect.signature(command)
    groups: dict[str, Any] = {}
    plain: list[inspect.Parameter] = []
    for name, parameter in signature.parameters.items():
        if is_dataclass(parameter.annotation):
            groups[name] = parameter.annotation
            plain += inspect.signature(groups[name]).parameters.values()
        else:
            plain.append(parameter)
    plain = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in plain]

    @wraps(command)
    def run(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{field.name: given.pop(field.name) for field in fields(group)})
        command(**given)

    run.__signature__ = signature.replace(parameters=plain)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in plain}
    return run
