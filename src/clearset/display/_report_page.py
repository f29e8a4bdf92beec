"""From a document to one HTML page that needs nothing else, and from a page to a file."""

import base64
import hashlib
import json
import os
from html import escape
from pathlib import Path
from typing import Any

from clearset.artifact import write_file
from clearset.display._bundle import bundle

TEMPLATES = Path(__file__).parent / "templates"
STYLES = ("report.css", "tables.css", "screens.css")

# What could end a script element or, in older browsers, a line of it; JSON reads the escapes back.
_ESCAPES = str.maketrans({char: f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"})


def write_report(document: dict[str, Any], path: str | os.PathLike[str]) -> None:
    """Write the page of a document; an existing file is replaced only once the new one is complete.

    Parameters
    ----------
    document : dict
        From `clearset.models.report_document`.
    path : path-like
        The file, such as ``report.html``. Its folder must exist.
    """
    write_file(path, render_report(document).encode())


def render_report(document: dict[str, Any], *, script: Path | None = None, connect: str = "'none'") -> str:
    """Return the page of a document.

    Parameters
    ----------
    document : dict
        From `clearset.models.report_document`.
    script : Path, optional
        The JavaScript module whose function ``start`` builds the page; by default that of a page without a server.
    connect : str, default="'none'"
        The addresses from which the page may fetch, as in a content security policy.

    Returns
    -------
    str
        HTML. Only its own script can run in it, and names from the document are only shown as text.

    Examples
    --------
    >>> import clearset as cs
    >>> from clearset.display import render_report
    >>> from clearset.models import report_document
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
    return page.encode(errors="replace").decode()  # Python strings can hold lone surrogates, UTF-8 cannot


def _template(name: str) -> str:
    """Return one of the files that pages are made of."""
    return (TEMPLATES / name).read_text(encoding="utf-8")


def _hash(code: str) -> str:
    """Return the hash by which a content security policy allows inline code."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()}'"
