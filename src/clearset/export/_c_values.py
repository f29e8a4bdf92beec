"""Models over sets of numbers and categories as one header in C99, without dependencies."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from os import PathLike
from typing import Any

import numpy as np

from clearset.artifact import check_target, write_file
from clearset.export._c_template import KEYWORDS, LINKS, TEMPLATE
from clearset.export._value_model import ValueModel
from clearset.functions import Support
from clearset.sets import PLACE, PLACE_FROM_START, SIZE

# Where built-in features are read; see the template.
_KINDS = {SIZE: 2, PLACE: 4, PLACE_FROM_START: 5}
# Numbers of one line.
_PER_LINE = 6


def write_value_c(path: str | PathLike[str], model: ValueModel, name: str) -> None:
    """Write a model as a header.

    Parameters
    ----------
    path : path-like
        The file; an existing one is replaced only once the new one is complete.
    model : ValueModel
        The model.
    name : str
        What all names in the header begin with.
    """
    check_target(path)
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name) or name in KEYWORDS:
        raise ValueError(f"name={name!r}, but names in C have letters, digits and _, and are no keywords.")
    header = TEMPLATE.replace("/*TABLES*/", "\n".join(_tables(model)))
    header = header.replace("/*LINK*/", LINKS[model.link.name])
    write_file(path, header.replace("NAME", name).encode("ascii"))


def _tables(model: ValueModel) -> Iterator[str]:
    """Yield the lines that differ between models."""
    function, link, binning = model.function, model.link, model.binning
    support = function.support or Support.unknown(link.n_outputs, function.width, binning.n_slots)
    layout, sources, told = function.layout, list(_sources(model)), {0: list[str](), 1: list[str]()}
    for feature, (kind, _) in zip(binning.features, sources, strict=True):
        if kind in told:
            told[kind].append(feature.name)
    for kind, what in ((0, "tokens"), (1, "sets")):
        yield f"// Columns of {what}, in order: {json.dumps(told[kind])}"
    if any(kind > 3 for kind, _ in sources):
        yield "// The order of tokens matters."
    sizes = {
        "FEATURES": len(sources),
        "TOKEN_COLUMNS": len(told[0]),
        "SET_COLUMNS": len(told[1]),
        "SLOTS": binning.n_slots,
        "OUTPUTS": function.outputs,
        "WIDTH": function.width,
        "LATTICES": len(layout.subsets),
        "VERTICES": layout.n_vertices,
        "KEYPOINTS": function.rho_keypoints,
        "SETS_OF_ONE": int(model.sets_of_one),
        "ENOUGH_TOKENS": support.tokens,
        "HAS_PRIOR": int(link.nothing is not None),
    }
    yield "enum { " + ", ".join(f"NAME_{each} = {size}" for each, size in sizes.items()) + " };"
    texts = ["0" if link.classes is None else _text(str(label)) for label in np.asarray(link.classes).ravel().tolist()]
    yield f"static const char *const NAME_classes[] = {{{', '.join(texts)}}};"
    starts, values, categories = list[int](), list[float](), list[str]()
    for source, feature, keypoints, known in zip(
        sources, binning.features, binning.keypoints, binning.categories, strict=True
    ):
        numbers, texts = _slots(keypoints, known)
        slots = binning.slots_of(feature.name)
        starts += [*source, slots.start, slots.stop - slots.start, int(keypoints is None)]
        values += [*numbers, 0.0]
        categories += [*texts, "0"]
    yield _integers("features", starts)
    yield f"static const char *const NAME_categories[] = {{{', '.join(categories)}}};"
    yield _integers("sizes", layout.sizes)
    yield _integers("subsets", [feature for subset in layout.subsets for feature in subset])
    yield _integers("subset_sizes", map(len, layout.subsets))
    yield _integers("vertex_offsets", layout.vertex_offsets)
    nothing = np.zeros(link.n_outputs) if link.nothing is None else link.nothing
    for table, numbers_ in {
        "slot_values": values,
        "calibration": np.clip(function.calibration, 0.0, 1.0),
        "vertices": function.vertices,
        "base": support.base,
        "shares": [support.share_of_one],
        "rho_calibrators": function.rho_calibrators,
        "rho_vertices": function.rho_vertices,
        "rho_output": function.rho_output,
        "rho_keypoints": np.linspace(-1.0, 1.0, function.rho_keypoints),
        "prior": nothing,
    }.items():
        yield _doubles(table, numbers_)


def _slots(keypoints: Any, known: Sequence[Any] | None) -> tuple[list[float], list[str]]:
    """Return the number that each slot of a feature stands for, and its text."""
    if keypoints is not None:
        return np.asarray(keypoints, np.float64).tolist(), ["0"] * len(keypoints)
    known = known or ()
    if any(isinstance(each, str) for each in known):
        return [float(code) for code in range(len(known))], [_text(each) for each in known]
    return [float(each) for each in known], ["0"] * len(known)


def _sources(model: ValueModel) -> Iterator[tuple[int, int]]:
    """Yield where each feature is read, of tokens (0), of sets (1), nowhere (3) or built in; and its column."""
    counts = [0] * 6
    for feature in model.binning.features:
        name = feature.name
        kind = 3 if name in model.absent else _KINDS.get(name, int(name in model.set_columns))
        yield kind, counts[kind]
        counts[kind] += 1


def _text(text: str) -> str:
    """Write a text as a literal: some letters and digits as they are, everything else by its bytes in UTF-8."""
    if "\0" in text:
        raise ValueError(f"{text!r} holds the character NUL, which ends texts in C. Rename it.")
    # N is not, lest the text has what stands for names in the header.
    kept = set(b"ABCDEFGHIJKLMOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
    plain = [chr(byte) if byte in kept else f"\\{byte:03o}" for byte in text.encode()]
    return f'"{"".join(plain)}"'


def _integers(table: str, numbers: Iterable[int]) -> str:
    return _array(f"static const int NAME_{table}[]", [str(int(number)) for number in numbers])


def _doubles(table: str, numbers: Any) -> str:
    listed = np.asarray(numbers, np.float64).ravel()
    if not np.isfinite(listed).all():
        raise ValueError("The model has a parameter that is infinite or not a number, which C cannot say.")
    return _array(f"static const double NAME_{table}[]", [repr(number) for number in listed.tolist()])


def _array(declared: str, texts: list[str]) -> str:
    lines = [", ".join(texts[start : start + _PER_LINE]) for start in range(0, len(texts), _PER_LINE)]
    return f"{declared} = {{\n  " + ",\n  ".join(lines) + "\n};"
