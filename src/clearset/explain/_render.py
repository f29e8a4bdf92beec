"""From a document to one HTML page that needs nothing else, and from a page to a file."""

import base64
import hashlib
import json
import os
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from clearset.artifact import check_target, write_file
from clearset.explain._document import report_document

SCRIPTS = (
    "evaluate.js",
    "tokens.js",
    "typing.js",
    "elements.js",
    "charts.js",
    "features.js",
    "prediction.js",
    "sections.js",
    "fields.js",
    "tokenlist.js",
    "sets.js",
    "combobox.js",
    "editor.js",
    "found.js",
    "search.js",
    "items.js",
    "page.js",
)
STYLES = ("report.css", "screens.css")

# What could end a script element or, in older browsers, a line of it; JSON reads the escapes back.
_ESCAPES = str.maketrans({char: f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"})


def write_report(
    model: Any,
    path: str | os.PathLike[str],
    X: Any = None,
    y: Any = None,
    *,
    names: Sequence[str | None] | None = None,
    title: str | None = None,
) -> None:
    """Write the report of a model; an existing file is replaced only once the new one is complete.

    Parameters
    ----------
    model
        A fitted model, as for `report_document`.
    path : path-like
        The file, by habit ``*.html``. Its folder must exist.
    X, y, names, title
        As for `report_document`.
    """
    target = Path(path)
    check_target(target)
    page = render_report(report_document(model, X, y, names=names, title=title))
    write_file(target, page.encode())


def render_report(document: dict[str, Any], *, scripts: Sequence[str] = (), connect: str = "'none'") -> str:
    """Make the page of a document.

    Parameters
    ----------
    document : dict
        From `report_document`.
    scripts : sequence of str
        JavaScript to run before the page is built, after its own.
    connect : str
        Where the page may fetch from, as a content security policy says it; by default from nowhere.

    Returns
    -------
    str
        HTML. Only its own scripts can run in it, and names from the document are only ever shown as text.

    Examples
    --------
    >>> import clearset as cs
    >>> from clearset.explain import render_report, report_document
    >>> model = cs.SetRegressor(random_state=0).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 4.0])
    >>> render_report(report_document(model)).startswith("<!doctype html>")
    True
    """
    *before, last = (template(name) for name in SCRIPTS)
    code = [*before, *scripts, last]
    style = "".join(template(name) for name in STYLES)
    policy = (
        f"default-src 'none'; script-src {_hashes(code)}; style-src {_hashes([style])}; connect-src {connect}; "
        "base-uri 'none'; form-action 'none'"
    )
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    parts = {
        "TITLE": f"{escape(document['title'])} · clearset report",
        "POLICY": escape(policy),
        "STYLE": style,
        "DOCUMENT": text.translate(_ESCAPES),
        "SCRIPTS": "\n".join(f"<script>{part}</script>" for part in code),
    }
    pieces = template("report.html").split("%%")
    page = "".join(parts[piece] if place % 2 else piece for place, piece in enumerate(pieces))
    return page.encode(
        errors="replace"
    ).decode()  # a lone surrogate, which Python strings can hold, is no UTF-8


def template(name: str) -> str:
    """Read one of the files that pages are made of."""
    return (files("clearset.explain") / "templates" / name).read_text(encoding="utf-8")


def _hashes(parts: Sequence[str]) -> str:
    """Name inline code by its hash: nothing else may run."""
    digests = (hashlib.sha256(part.encode()).digest() for part in parts)
    return " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
