"""The file that declares features, trusts and options of the model."""

import dataclasses
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from clearset.cli._table_files import did_you_mean


@dataclass(frozen=True)
class Declarations:
    """The content of a features file; features None means every numeric column, and the size of sets."""

    features: list[Any] | None = None
    trusts: list[Any] = field(default_factory=list)
    model: dict[str, Any] = field(default_factory=dict)


def read_declarations(path: Path) -> Declarations:
    """Read a YAML or TOML file with the keys ``features``, ``trusts`` and ``model``.

    ::

        features:
          - word_count                    # a name alone is a feature without constraint
          - name: star_rating
            monotonic: increasing
          - {name: cs.SIZE, monotonic: increasing}
        trusts:
          - {feature: star_rating, by: word_count}
        model:
          width: 2
    """
    import clearset as cs

    content = _parse(path)
    check_keys(content, [each.name for each in dataclasses.fields(Declarations)], f"'{path}'")
    features = _items(content, "features", path)
    model = content.get("model") or {}
    if not isinstance(model, dict):
        raise ValueError(f"'{path}': model must map options to values, got {model!r}.")
    return Declarations(
        [each if isinstance(each, str) else _build(cs.Feature, each, path) for each in features] or None,
        [_build(cs.Trust, each, path) for each in _items(content, "trusts", path)],
        model,
    )


def check_keys(given: Mapping[Any, Any], known: Iterable[str], where: str) -> None:
    """Raise an error if there are unknown keys."""
    names = list(known)
    for key in given:
        if key not in names:
            raise ValueError(f"{where} has the unknown key {key!r}. {did_you_mean(str(key), names)}")


def _parse(path: Path) -> dict[str, Any]:
    suffix = path.suffix.lower()
    if suffix not in (".yaml", ".yml", ".toml"):
        raise ValueError(f"Features file '{path}' is neither YAML nor TOML by its name. Use .yaml or .toml.")
    if not path.is_file():
        raise FileNotFoundError(f"There is no features file '{path}'.")
    try:
        text = path.read_text(encoding="utf-8")
        content = tomllib.loads(text) if suffix == ".toml" else yaml.safe_load(text)
    except (yaml.YAMLError, ValueError) as error:
        raise ValueError(f"Cannot read features file '{path}': {error}") from error
    if not isinstance(content, dict):
        raise ValueError(f"Features file '{path}' must have the keys features, trusts or model.")
    return content


def _items(content: Mapping[str, Any], key: str, path: Path) -> list[Any]:
    items = content.get(key) or []
    if not isinstance(items, list):
        raise ValueError(f"'{path}': {key} must be a list, got {items!r}.")
    return items


def _build(declaration: Any, given: Any, path: Path) -> Any:
    """Return a Feature or a Trust with the fields `given`."""
    what = declaration.__name__.lower()
    fields = dataclasses.fields(declaration)
    if not isinstance(given, dict):
        raise ValueError(f"'{path}': a {what} is declared by {', '.join(f.name for f in fields)}; got {given!r}.")
    check_keys(given, [each.name for each in fields], f"'{path}': {what} {given!r}")
    for each in fields:
        if each.default is dataclasses.MISSING and each.name not in given:
            raise ValueError(f"'{path}': {what} {given!r} lacks {each.name!r}.")
    try:
        return declaration(**given)
    except (ValueError, TypeError) as error:
        raise type(error)(f"'{path}': {error}") from error
