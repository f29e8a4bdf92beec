"""Models as files of `clearset.runtime`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np
import numpy.typing as npt

from clearset.artifact import check_target, write_file
from clearset.files import Key, check_signing_key
from clearset.functions import Link, SetFunction
from clearset.runtime import pack_runtime_file
from clearset.sets import BUILT_IN, Binning
from clearset.tokens import (
    OWN,
    PER_SET,
    Cross,
    Difference,
    Items,
    NGrams,
    Tokenizer,
    TokenReader,
    Union,
    Words,
    as_bytes,
)

Arrays = dict[str, npt.NDArray[Any]]


def write_value_runtime(
    path: str | PathLike[str],
    binning: Binning,
    function: SetFunction,
    link: Link,
    key: Key | None,
    *,
    sets_of_one: bool,
    unused: Sequence[str] = (),
) -> None:
    """Write a model over sets of numbers and categories.

    Parameters
    ----------
    path : path-like
        The file; an existing one is replaced only once the new one is complete.
    binning : Binning
        The features, keypoints and categories.
    function : SetFunction
        The set function.
    link : Link
        From outputs to predictions.
    key : bytes, Ed25519PrivateKey or None
        The key to sign the file with, if there is one.
    sets_of_one : bool
        Whether every set has one token, so that features are explained, not tokens.
    unused : sequence of str, default=()
        Features that sets need not have, because the model does not use them.
    """
    check_target(path)
    if key is not None:
        check_signing_key(key)
    arrays = _function_arrays(binning, function, link)
    layout = {"sizes": list(function.layout.sizes), "subsets": [list(subset) for subset in function.layout.subsets]}
    features = _described(binning, BUILT_IN)
    described = _description("values", features, function, link) | {
        "layout": layout,
        "sets_of_one": sets_of_one,
        "unused": list(unused),
    }
    write_file(path, pack_runtime_file(described, arrays, key))


def write_item_runtime(
    path: str | PathLike[str], reader: TokenReader, binning: Binning, function: SetFunction, link: Link, key: Key | None
) -> None:
    """Write a model over sets of strings or texts.

    Parameters
    ----------
    path : path-like
        The file; an existing one is replaced only once the new one is complete.
    reader : TokenReader
        Finds tokens, and knows their statistics.
    binning : Binning
        The features and keypoints, the value first.
    function : SetFunction
        The set function, with corrections of tokens.
    link : Link
        From outputs to predictions.
    key : bytes, Ed25519PrivateKey or None
        The key to sign the file with, if there is one.
    """
    check_target(path)
    if key is not None:
        check_signing_key(key)
    described_tokenizer, table = _tokenizer(reader), reader.table
    tokens = np.arange(len(table))
    placed = reader.placer(binning).place(reader.alone(tokens))
    own = [place for place, name in enumerate(reader.names[1:]) if name in OWN]
    corrections = function.corrections
    spelled = table.items_as_spelled(tokens)
    text, text_offsets = as_bytes(table.vocabulary)
    index = table.index
    arrays = _function_arrays(binning, function, link) | {
        "text": text[text_offsets[0] : text_offsets[-1]],
        "text_offsets": text_offsets - text_offsets[0],
        "tree.items": index.items,
        "tree.children": index.child_offsets,
        "tree.masks": index.masks & 1,
        "tree.first": index.first,
        "tree.tokens": table.tokens_at.astype(np.int32),
        "spelled": spelled.codes,
        "spelled_offsets": spelled.offsets,
        "sizes": table.sizes.astype(np.int32),
        "values": placed.values[: len(table)],
        "keypoints": placed.keypoints,
        "own.slots": placed.slots[own],
        "own.fractions": placed.fractions[own],
        "corrected": placed.corrected,
        "corrections": np.zeros((0, link.n_outputs)) if corrections is None else corrections,
    }
    roles = dict.fromkeys(OWN, "token") | dict.fromkeys(PER_SET, "set") | {"whole": "whole"}
    described = _description("items", _described(binning, roles), function, link) | {
        "tokenizer": described_tokenizer,
        "cover": reader.cover,
        "corrected": corrections is not None,
    }
    write_file(path, pack_runtime_file(described, arrays, key))


def _description(kind: str, features: list[dict[str, Any]], function: SetFunction, link: Link) -> dict[str, Any]:
    support = function.support
    classes = None if link.classes is None else np.asarray(link.classes).tolist()
    if classes is not None and not isinstance(classes[0], str | int | float):
        raise TypeError(
            f"The classes are of type {type(classes[0]).__name__}, which the file cannot hold. Fit on strings or whole "
            "numbers, such as labels.astype(str)."
        )
    return {
        "kind": kind,
        "features": features,
        "link": {"name": link.name, "classes": classes},
        "support": {
            "tokens": 1 if support is None else int(support.tokens),
            "alone": None if support is None else support.alone,
        },
    }


def _function_arrays(binning: Binning, function: SetFunction, link: Link) -> Arrays:
    calibration, support = np.asarray(function.calibration, np.float64), function.support
    usual = np.zeros((len(binning.features), len(calibration)))
    if support is not None:
        for place, feature in enumerate(binning.features):
            usual[place] = support.usual(calibration, binning.slots_of(feature.name))
    arrays: Arrays = {
        "calibration": calibration,
        "vertices": np.asarray(function.vertices, np.float64),
        "rho.calibrators": function.rho.calibrators,
        "rho.vertices": function.rho.vertices,
        "rho.output": function.rho.output,
        "base": np.zeros((function.outputs, function.width)) if support is None else support.base,
        "usual": usual,
    }
    if link.nothing is not None:
        arrays["nothing"] = link.nothing
    return arrays


def _described(binning: Binning, roles: Mapping[str, str]) -> list[dict[str, Any]]:
    edges = binning.slot_offsets.tolist()
    return [
        {
            "name": feature.name,
            "of": roles.get(feature.name, "value"),
            "first": edges[place],
            "missing": edges[place + 1] - 1,
            "keypoints": None if keypoints is None else keypoints.tolist(),
            "categories": None if categories is None else list(categories),
        }
        for place, (feature, keypoints, categories) in enumerate(
            zip(binning.features, binning.keypoints, binning.categories, strict=True)
        )
    ]


def _tokenizer(reader: TokenReader) -> dict[str, Any]:
    """Describe how strings become items; raise a ValueError for what needs code or columns of numbers."""
    tokenizer = reader.table.tokenizer
    if reader.details:
        raise ValueError(
            f"The model reads numbers of items ({', '.join(map(repr, reader.details))}), which a runtime file cannot "
            "carry. Fit without details, or keep the model as save() writes it."
        )
    if isinstance(tokenizer, Union):
        members = [
            {"tag": f"{kind}=", **_member(member)}
            for kind, member in zip(tokenizer.kinds, tokenizer.members, strict=True)
        ]
        return {"kind": "union", "members": members, "in_order": False}
    return _member(tokenizer)


def _member(tokenizer: Tokenizer) -> dict[str, Any]:
    if isinstance(tokenizer, Cross | Difference):
        kind = "cross" if isinstance(tokenizer, Cross) else "difference"
    elif isinstance(tokenizer, NGrams) and tokenizer.split is None:
        kind = "ngrams"
    elif isinstance(tokenizer, Items | Words):
        kind = "words" if isinstance(tokenizer, Words) else "items"
    else:
        raise ValueError(
            f"The model takes examples apart with {tokenizer!r}, a function of yours; a runtime file holds no code. "
            "Fit on lists of items, and apply the function before the model."
        )
    return {"kind": kind, "sides": list(tokenizer.sides), "in_order": tokenizer.in_order}
