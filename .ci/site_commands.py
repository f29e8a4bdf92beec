"""The page of the site about the commands, from what each says of itself with --help."""

import inspect
from typing import Any

import typer

from clearset.cli._app import app


def commands_page() -> str:
    """Return the page as Markdown."""
    group = typer.main.get_command(app)
    lines = [
        "# Commands",
        "",
        inspect.cleandoc("""
        `clearset --help` lists the commands, and `clearset COMMAND --help` says what stands here of each. A command
        ends with status 0, or writes one line about an error and ends with 1; after a wrong call with 2, after Ctrl-C
        with 130.
        """),
    ]
    for name, command in _commands(group):
        lines += ["", f"## clearset {name}", "", *_described(name, command)]
    return "\n".join([*lines, ""])


def _commands(group: Any) -> list[tuple[str, Any]]:
    found = []
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            found += [(f"{name} {inner}", each) for inner, each in _commands(command)]
        else:
            found.append((name, command))
    return found


def _described(name: str, command: Any) -> list[str]:
    context = command.context_class(command, info_name=f"clearset {name}")
    records = [record for each in command.params if (record := each.get_help_record(context))]
    rows = [f"| {_code(options)} | {_cell(said)} |" for options, said in records]
    usage = command.get_usage(context).removeprefix("Usage: ")
    return [
        "```text",
        usage,
        "```",
        "",
        inspect.cleandoc(command.help or ""),
        "",
        "| option | what it says |",
        "| --- | --- |",
        *rows,
    ]


def _code(text: str) -> str:
    return f"`{text}`"


def _cell(text: str) -> str:
    for plain, escaped in (("|", r"\|"), ("[", r"\["), ("<", "&lt;"), ("*", r"\*")):
        text = text.replace(plain, escaped)
    return " ".join(text.split())
