"""``clearset card``: what is to be known of a saved model before it is used."""

import json
from typing import Annotated

import typer

from clearset.cli._options import KeyFile, Model


def card(
    model: Model,
    as_json: Annotated[bool, typer.Option("--json", help="JSON in place of Markdown.")] = False,
    key_file: KeyFile = None,
) -> None:
    """Print the model card: data, features, constraints, metrics, edits, versions and limits."""
    from clearset.cli._keys import key_in
    from clearset.cli._model_data import load_model

    made = load_model(model, key_in(key_file)).card()
    print(json.dumps(made.to_dict(), ensure_ascii=False, indent=1) if as_json else made.to_markdown(), end="")
