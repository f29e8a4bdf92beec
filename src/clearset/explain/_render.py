"""From a document to one HTML page that needs nothing else, and from a page to a file."""

import base64
import hashlib
import json
import os
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from clearset.artifact import check_target, write_file
from clearset.explain._bundle import bundle
from clearset.explain._document import report_document

TEMPLATES = Path(__file__).parent / "templates"
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


def render_report(document: dict[str, Any], *, script: Path | None = None, connect: str = "'none'") -> str:
    """Make the page of a document.

    Parameters
    ----------
    document : dict
        From `report_document`.
    script : Path, optional
        The JavaScript module whose function ``start`` builds the page; by default that of a page without a server.
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
    code = bundle(script or TEMPLATES / "page.js")
    style = "".join(_template(name) for name in STYLES)
    policy = (
        f"default-src 'none'; script-src {_hash(code)}; style-src {_hash(style)}; connect-src {connect}; "
        "base-uri 'none'; form-action 'none'"
    )
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    parts = {
        "TITLE": f"{escape(document['title'])} · clearset report",
        "POLICY": escape(policy),
        "STYLE": style,
        "DOCUMENT": text.translate(_ESCAPES),
        "SCRIPT": code,
    }
    pieces = _template("report.html").split("%%")
    page = "".join(parts[piece] if place % 2 else piece for place, piece in enumerate(pieces))
    return page.encode(
        errors="replace"
    ).decode()  # a lone surrogate, which Python strings can hold, is no UTF-8


def _template(name: str) -> str:
    """Read one of the files that pages are made of."""
    return (TEMPLATES / name).read_text(encoding="utf-8")


def _hash(code: str) -> str:
    """Name inline code by its hash: nothing else may run."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()}'"
